#include "tables/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/utf8.h"
#include "tables/csv_reader.h"
#include "tables/exact_value.h"
#include "tables/json_builder.h"

namespace roost::tables {

Problem bodiesFull() {
  return {503, "bodies_full", "the bodies that wait for the database take all the memory they may", {}, {}};
}

const db::Value* BodyRow::find(uint16_t column) const noexcept {
  const auto found = std::lower_bound(columns.begin(), columns.end(), column);
  if (found == columns.end() || *found != column) return nullptr;
  return &values[static_cast<size_t>(found - columns.begin())];
}

void BodyRow::set(uint16_t column, db::Value value) {
  const auto found = std::lower_bound(columns.begin(), columns.end(), column);
  const auto at = found - columns.begin();
  if (found != columns.end() && *found == column) {
    values[static_cast<size_t>(at)] = std::move(value);
    return;
  }
  columns.insert(found, column);
  values.insert(values.begin() + at, std::move(value));
}

namespace {

// Which column a row's name means, and gathers the rows.
class RowGatherer {
 public:
  static constexpr int kIgnored = -1;
  static constexpr int kRefused = -2;

  RowGatherer(const ExposedTable& table, const BodyOptions& options, Body& out, Problem& problem)
      : table_(table), options_(options), out_(out), problem_(problem) {}

  bool ignoresOthers() const noexcept { return options_.columns != nullptr && !options_.columns->empty(); }

  // The position of the column in the table, or one of the above.
  int columnOf(std::string_view name) {
    if (ignoresOthers() &&
        std::find(options_.columns->begin(), options_.columns->end(), name) == options_.columns->end())
      return kIgnored;
    const Column* const column = table_.find(name);
    if (column == nullptr) {
      refuse("unknown_column", fmt::format("{} has no column \"{}\"", table_.name, name));
      problem_.hint = "Name what counts with columns=, and the rest is passed over.";
      return kRefused;
    }
    if (!table_.mayWrite(*column) && !(options_.names_rows && table_.mayName(*column))) {
      refuse("read_only_column", fmt::format("column \"{}\" cannot be written", name));
      if (column->auto_increment) problem_.hint = "The database makes its values: leave it out.";
      return kRefused;
    }
    return static_cast<int>(column - table_.table->columns.data());
  }

  bool beginRow() {
    if (out_.rows.size() >= options_.max_rows) {
      problem_ = {413, "too_many_rows", fmt::format("more than {} rows", options_.max_rows), {}, {}};
      return false;
    }
    if (!pay(kRowBytes)) return false;
    out_.rows.emplace_back();
    return true;
  }

  bool given(uint16_t column) const noexcept { return out_.rows.back().find(column) != nullptr; }

  bool add(uint16_t position, JsonValue value) {
    const Column& column = table_.table->columns[position];
    db::Value converted;
    if (!convertJson(column, std::move(value), options_.time_zone, converted, problem_)) return place();
    if (isInUniqueKey(*table_.table, position) && !makeExact(column, converted, problem_)) return place();
    if (!pay(kValueBytes + 2 * converted.bytes().size())) return false;
    out_.rows.back().set(position, std::move(converted));
    return true;
  }

  // All rows are there.
  void finish() {
    std::vector<bool> seen(table_.table->columns.size());
    for (const BodyRow& row : out_.rows)
      for (const uint16_t column : row.columns) seen[column] = true;
    for (size_t i = 0; i < seen.size(); ++i)
      if (seen[i]) out_.columns.push_back(static_cast<uint16_t>(i));
    if (!options_.missing_is_null) return;
    for (BodyRow& row : out_.rows) {
      if (row.columns.size() == out_.columns.size()) continue;
      for (const uint16_t column : out_.columns)
        if (row.find(column) == nullptr) row.set(column, db::Value::null());
    }
  }

  bool refuse(const char* code, std::string detail) {
    problem_ = {};
    problem_.status = 400;
    problem_.code = code;
    problem_.detail = std::move(detail);
    return place();
  }
  bool refuseNumber(size_t position) {
    return refuse("value_out_of_range",
                  fmt::format("the number that ends at byte {} is too large", position));
  }
  bool refuseWhole(std::string detail) {
    refuse("bad_body", "");
    problem_.detail = std::move(detail);
    return false;
  }

 private:
  // What a row takes, and what a value does: in a row, whose vectors may have room for twice as many, and in
  // a statement.
  static constexpr size_t kRowBytes = 2 * sizeof(BodyRow) + 64;
  static constexpr size_t kValueBytes = 3 * sizeof(db::Value) + 3 * sizeof(uint16_t);

  bool pay(size_t bytes) {
    if (options_.lease == nullptr || options_.lease->take(bytes)) return true;
    problem_ = bodiesFull();
    return false;
  }
  // Says which row it is. Always false.
  bool place() {
    if (out_.is_list && !out_.rows.empty())
      problem_.detail.insert(0, fmt::format("row {}: ", out_.rows.size()));
    return false;
  }

  const ExposedTable& table_;
  const BodyOptions& options_;
  Body& out_;
  Problem& problem_;
};

constexpr int kNumberOverflow = 406;  // of the library: 1e309, which no double holds

// Takes the values of rows in their order; what nests is put together again as text.
class RowReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  RowReader(RowGatherer& rows, Body& out, bool is_line) : rows_(rows), out_(out), is_line_(is_line) {}

  bool refused() const noexcept { return refused_; }

  bool null() override { return scalar(JsonValue::Kind::kNull, "null"); }
  bool boolean(bool value) override {
    return scalar(value ? JsonValue::Kind::kTrue : JsonValue::Kind::kFalse, value ? "true" : "false");
  }
  bool number_integer(number_integer_t value) override {
    return scalar(JsonValue::Kind::kNumber, std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return scalar(JsonValue::Kind::kNumber, std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return scalar(JsonValue::Kind::kNumber, text);
  }
  bool binary(binary_t&) override { return false; }
  bool string(string_t& value) override {
    if (nested_) return checked(builder_.string(value));
    return scalar(JsonValue::Kind::kString, std::move(value));
  }

  bool key(string_t& name) override {
    if (nested_) return checked(builder_.key(name));
    column_ = rows_.columnOf(name);
    if (column_ == RowGatherer::kRefused) return stop();
    if (column_ == RowGatherer::kIgnored) return true;
    if (rows_.given(static_cast<uint16_t>(column_)))
      return refuse("bad_body", fmt::format("\"{}\" stands twice", name));
    return true;
  }

  bool start_object(std::size_t) override {
    if (nested_ || in_row_) return open(true);
    if (!in_list_) out_.is_list = is_line_;
    in_row_ = true;
    return rows_.beginRow() || stop();
  }
  bool end_object() override {
    if (nested_) return close();
    in_row_ = false;
    return true;
  }
  bool start_array(std::size_t) override {
    if (nested_ || in_row_) return open(false);
    if (in_list_ || is_line_) return refuseShape();
    in_list_ = out_.is_list = true;
    return true;
  }
  bool end_array() override {
    if (nested_) return close();
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& why) override {
    refused_ = true;
    if (why.id == kNumberOverflow) return rows_.refuseNumber(position);
    return rows_.refuseWhole(fmt::format("the body is no JSON, at byte {}", position));
  }

 private:
  bool stop() noexcept {
    refused_ = true;
    return false;
  }
  bool refuse(const char* code, std::string detail) {
    rows_.refuse(code, std::move(detail));
    return stop();
  }
  bool refuseShape() {
    rows_.refuseWhole(is_line_ ? "each line is an object" : "the body is an object or an array of objects");
    return stop();
  }
  bool checked(bool fine) { return fine || refuse("bad_body", builder_.fault()); }

  bool scalar(JsonValue::Kind kind, std::string text) {
    if (nested_) return checked(builder_.literal(text));
    if (!in_row_) return refuseShape();
    return add({kind, std::move(text)});
  }
  bool add(JsonValue value) {
    if (column_ == RowGatherer::kIgnored) return true;
    return rows_.add(static_cast<uint16_t>(column_), std::move(value)) || stop();
  }
  bool open(bool is_object) {
    nested_ = true;
    return checked(builder_.open(is_object));
  }
  bool close() {
    if (!checked(builder_.close())) return false;
    if (!builder_.done()) return true;
    nested_ = false;
    return add({JsonValue::Kind::kDocument, builder_.take()});
  }

  RowGatherer& rows_;
  Body& out_;
  const bool is_line_;
  JsonBuilder builder_{kMaxJsonDepth};
  bool in_list_ = false;
  bool in_row_ = false;
  bool nested_ = false;  // within a row's value
  bool refused_ = false;
  int column_ = RowGatherer::kIgnored;
};

bool readJson(std::string_view text, RowGatherer& rows, Body& out, bool is_line) {
  RowReader reader(rows, out, is_line);
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &reader)) return true;
  if (!reader.refused()) rows.refuseWhole("the body is no JSON");
  return false;
}

bool readLines(std::string_view text, RowGatherer& rows, Body& out) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (!readJson(line, rows, out, true)) return false;
  }
  out.is_list = true;
  return true;
}

JsonValue csvValue(const CsvField& field) {
  if (!field.quoted && (field.text.empty() || field.text == "NULL")) return {};
  return {JsonValue::Kind::kString, field.text};
}

// A JSON column's text is a document already.
bool addCsv(const ExposedTable& table, RowGatherer& rows, uint16_t column, const CsvField& field) {
  JsonValue value = csvValue(field);
  if (table.table->columns[column].is_json && value.kind == JsonValue::Kind::kString) {
    if (!nlohmann::json::accept(value.text))
      return rows.refuse("bad_value",
                         fmt::format("column \"{}\" takes JSON", table.table->columns[column].name));
    value.kind = JsonValue::Kind::kDocument;
  }
  return rows.add(column, std::move(value));
}

bool readCsv(std::string_view text, const ExposedTable& table, RowGatherer& rows, Body& out) {
  out.is_list = true;
  if (!isUtf8(text)) return rows.refuseWhole("the body is not UTF-8");
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // which spreadsheets write
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) text.remove_prefix(kByteOrderMark.size());
  CsvReader reader(text);
  std::vector<CsvField> fields;
  std::vector<int> columns;
  if (!reader.next(fields)) return rows.refuseWhole("there is no line of headings");
  for (const CsvField& heading : fields) {
    columns.push_back(rows.columnOf(heading.text));
    if (columns.back() == RowGatherer::kRefused) return false;
    if (columns.back() >= 0 && std::count(columns.begin(), columns.end(), columns.back()) > 1)
      return rows.refuse("bad_body", fmt::format("\"{}\" stands twice", heading.text));
  }
  while (reader.next(fields)) {
    if (!rows.beginRow()) return false;
    if (fields.size() != columns.size())
      return rows.refuse("bad_body",
                         fmt::format("{} values under {} headings", fields.size(), columns.size()));
    for (size_t i = 0; i < fields.size(); ++i) {
      if (columns[i] < 0) continue;
      if (!addCsv(table, rows, static_cast<uint16_t>(columns[i]), fields[i])) return false;
    }
  }
  return reader.fault().empty() || rows.refuse("bad_body", std::string(reader.fault()));
}

}  // namespace

bool readBody(std::string_view text, BodyFormat format, const ExposedTable& table, const BodyOptions& options,
              Body& out, Problem& problem) {
  RowGatherer rows(table, options, out, problem);
  if (rows.ignoresOthers()) {
    for (const std::string& name : *options.columns)
      if (rows.columnOf(name) == RowGatherer::kRefused) return false;
  }
  bool read = false;
  switch (format) {
    case BodyFormat::kJson:
      read = readJson(text, rows, out, false);
      break;
    case BodyFormat::kNdjson:
      read = readLines(text, rows, out);
      break;
    case BodyFormat::kCsv:
      read = readCsv(text, table, rows, out);
      break;
  }
  if (read) rows.finish();
  return read;
}

}  // namespace roost::tables
