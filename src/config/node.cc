#include "config/node.h"

#include <algorithm>

#include "config/value.h"

namespace roost::config {
namespace {

Position positionOf(const Mark& mark) {
  Position position;
  if (mark.file != nullptr) position.file = *mark.file;
  position.line = static_cast<int>(mark.line);
  position.column = static_cast<int>(mark.column);
  return position;
}

}  // namespace

Value* Value::find(std::string_view name) noexcept {
  return const_cast<Value*>(static_cast<const Value*>(this)->find(name));
}

const Value* Value::find(std::string_view name) const noexcept {
  if (kind != Kind::kObject) return nullptr;
  for (const Value& child : children) {
    if (child.key == name) return &child;
  }
  return nullptr;
}

void Value::erase(std::string_view name) {
  children.erase(std::remove_if(children.begin(), children.end(),
                                [name](const Value& child) { return child.key == name; }),
                 children.end());
}

bool Node::isNull() const noexcept {
  return value_ != nullptr && value_->is(Kind::kNull);
}
bool Node::isBool() const noexcept {
  return value_ != nullptr && value_->is(Kind::kBool);
}
bool Node::isInt() const noexcept {
  return value_ != nullptr && value_->is(Kind::kInt);
}
bool Node::isNumber() const noexcept {
  return isInt() || (value_ != nullptr && value_->is(Kind::kDouble));
}
bool Node::isString() const noexcept {
  return value_ != nullptr && value_->is(Kind::kString);
}
bool Node::isArray() const noexcept {
  return value_ != nullptr && value_->is(Kind::kArray);
}
bool Node::isObject() const noexcept {
  return value_ != nullptr && value_->is(Kind::kObject);
}
bool Node::isDefault() const noexcept {
  return value_ != nullptr && value_->is_default;
}

const std::string& Node::asString() const noexcept {
  static const std::string kNone;
  return isString() ? value_->string : kNone;
}

int64_t Node::asInt() const noexcept {
  return isInt() ? value_->integer : 0;
}

double Node::asDouble() const noexcept {
  if (isInt()) return static_cast<double>(value_->integer);
  return isNumber() ? value_->number : 0;
}

bool Node::asBool() const noexcept {
  return isBool() && value_->boolean;
}

std::size_t Node::size() const noexcept {
  return value_ != nullptr ? value_->children.size() : 0;
}

Node Node::at(std::size_t index) const noexcept {
  return index < size() ? Node(&value_->children[index]) : Node();
}

Node Node::operator[](std::string_view key) const noexcept {
  return value_ != nullptr ? Node(value_->find(key)) : Node();
}

MemberRange Node::members() const noexcept {
  return MemberRange(*this);
}

Position Node::position() const {
  return value_ != nullptr ? positionOf(value_->at) : Position();
}

Position Node::keyPosition() const {
  if (value_ == nullptr) return {};
  return positionOf(value_->key_at.file != nullptr ? value_->key_at : value_->at);
}

Member MemberRange::Iterator::operator*() const noexcept {
  const Node value = object_.at(index_);
  return {value.value_ != nullptr ? std::string_view(value.value_->key) : std::string_view(), value};
}

Diagnostic errorAt(Node node, std::string message) {
  return {node.position(), std::move(message), {}};
}

}  // namespace roost::config
