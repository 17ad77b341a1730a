// Builds a RequestHead without the parser, so that what reads fields can be tested by itself.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "http/message.h"

namespace roost::http::test {

// Owns the text its head() points into; keep it alive as long as the head is used.
class HeadBuilder {
 public:
  explicit HeadBuilder(Method method = Method::kGet) {
    head_.method = method;
    head_.first.fill(RequestHead::kNoField);
    head_.last.fill(RequestHead::kNoField);
  }
  HeadBuilder(Method method, std::initializer_list<std::pair<FieldId, std::string_view>> fields)
      : HeadBuilder(method) {
    for (const auto& [id, value] : fields) add(id, value);
  }

  // The value as the parser leaves it: without surrounding whitespace.
  HeadBuilder& add(FieldId id, std::string_view value) {
    const uint8_t index = head_.field_count++;
    Field& field = head_.fields[index];
    field = Field{0, static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(value.size()), 0, id, 0};
    text_.append(value);
    const size_t slot = static_cast<size_t>(id);
    if (head_.first[slot] == RequestHead::kNoField) {
      head_.first[slot] = index;
    } else {
      head_.fields[head_.last[slot]].next = index;
    }
    head_.last[slot] = index;
    return *this;
  }

  const RequestHead& head() {
    head_.text = text_.data();
    head_.size = static_cast<uint32_t>(text_.size());
    return head_;
  }

 private:
  std::string text_;
  RequestHead head_;
};

}  // namespace roost::http::test
