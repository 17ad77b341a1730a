#include "modules/mysql/embed_merge.h"

#include <utility>

namespace roost::modules::mysql {
namespace {

using db::Type;

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// A key's part as text that is the same for what the database finds equal, whatever the two columns' widths.
void appendKey(Type type, const db::Cell& cell, std::string& out) {
  switch (type) {
    case Type::kInt:
      out += std::to_string(db::readInt(cell));
      break;
    case Type::kUint:
      out += std::to_string(db::readUint(cell));
      break;
    case Type::kText: {
      std::string_view text = cell.view();
      while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
      for (const char c : text) out += lower(c);
      break;
    }
    case Type::kDecimal: {  // "1.50" is "1.5", whatever the columns' scales
      std::string_view text = cell.view();
      if (text.find('.') != std::string_view::npos) {
        while (text.back() == '0') text.remove_suffix(1);
        if (text.back() == '.') text.remove_suffix(1);
      }
      out.append(text);
      break;
    }
    default:
      out.append(cell.view());
  }
  out += '\0';
}

// False: a part is NULL, which joins nothing.
bool keyOf(const db::ResultColumns& columns, const db::Row& row, const uint16_t* positions, size_t count,
           std::string& out) {
  for (size_t i = 0; i < count; ++i) {
    const size_t at = positions != nullptr ? positions[i] : i;
    if (row[at].isNull()) return false;
    appendKey(columns[at].type, row[at], out);
  }
  return true;
}

db::Value valueOf(const db::ResultColumn& column, const db::Cell& cell) {
  switch (column.type) {
    case Type::kInt:
      return db::Value::ofInt(db::readInt(cell));
    case Type::kUint:
      return db::Value::ofUint(db::readUint(cell));
    case Type::kBit:
      return db::Value::ofUint(db::readBit(cell));
    case Type::kFloat:
      return db::Value::ofDouble(static_cast<double>(db::readFloat(cell)));
    case Type::kDouble:
      return db::Value::ofDouble(db::readDouble(cell));
    case Type::kText:
    case Type::kJson:
    case Type::kDecimal:
      return db::Value::ofText(std::string(cell.view()));
    case Type::kDate:
    case Type::kTime:
    case Type::kDateTime:
    case Type::kTimestamp: {
      const std::vector<tables::OutputColumn> none;
      tables::OutputOptions local;
      local.time_zone = {};
      std::string text;
      tables::RowWriter(none, local).value({}, column, cell, text);
      return db::Value::ofText(text.substr(1, text.size() - 2));  // without its quotes
    }
    default:
      return db::Value::ofBytes(std::string(cell.view()));
  }
}

}  // namespace

EmbedMerge::EmbedMerge(const std::vector<tables::EmbedPlan>& plans, const tables::OutputOptions& options)
    : plans_(plans), options_(options) {
  parts_.reserve(plans.size());
  for (const tables::EmbedPlan& plan : plans)
    parts_.push_back({{}, {}, {}, tables::RowWriter(plan.columns, options_), 0});
}

void EmbedMerge::addRow(const tables::RowWriter& writer, const db::ResultColumns& columns,
                        const db::Row& row) {
  writer.object(columns, row, text_);
  text_.pop_back();
  ends_.push_back(text_.size());
  std::string key;
  for (size_t i = 0; i < plans_.size(); ++i) {
    Part& part = parts_[i];
    const std::vector<uint16_t>& from = plans_[i].from;
    key.clear();
    if (!keyOf(columns, row, from.data(), from.size(), key)) {
      part.of_row.push_back(nullptr);
      continue;
    }
    const auto [at, is_new] = part.groups.try_emplace(key);
    part.of_row.push_back(&at->second);
    if (!is_new) continue;
    for (const uint16_t position : from) part.keys.push_back(valueOf(columns[position], row[position]));
    bytes_ += key.size() + 64;
  }
  bytes_ = bytes_ + text_.size() - (ends_.size() > 1 ? ends_[ends_.size() - 2] : 0);
}

bool EmbedMerge::addInner(size_t index, const db::ResultColumns& columns, const db::Row& row) {
  Part& part = parts_[index];
  const tables::EmbedPlan& plan = plans_[index];
  if (++part.rows > plan.max_rows) return false;
  std::string key;
  const bool has_key = keyOf(columns, row, nullptr, plan.from.size(), key);
  const auto found = has_key ? part.groups.find(key) : part.groups.end();
  if (found == part.groups.end()) {
    has_stray_ = true;
    return false;
  }
  if (plan.max_rows_each != 0 && found->second.rows >= plan.max_rows_each) return true;
  ++found->second.rows;
  std::string& text = found->second.text;
  const size_t before = text.size();
  if (before != 0) {
    if (!plan.many) return true;
    text += ',';
  }
  part.writer.object(columns, row, text);
  bytes_ += text.size() - before;
  return true;
}

void EmbedMerge::appendTo(std::string& out, std::string_view before) const {
  size_t from = 0;
  for (size_t i = 0; i < ends_.size(); ++i) {
    if (i != 0) out.append(before);
    const std::string_view row(text_.data() + from, ends_[i] - from);
    out.append(row);
    from = ends_[i];
    bool first = row.size() == 1;
    for (size_t k = 0; k < plans_.size(); ++k) {
      if (!first) out += ',';
      first = false;
      out.append(plans_[k].json_key);
      const Group* const group = parts_[k].of_row[i];
      const bool none = group == nullptr || group->text.empty();
      if (plans_[k].many) {
        out += '[';
        if (!none) out.append(group->text);
        out += ']';
      } else {
        out.append(none ? std::string_view("null") : std::string_view(group->text));
      }
    }
    out += '}';
  }
}

}  // namespace roost::modules::mysql
