#include "tables/output.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/base64.h"
#include "tables/json_text.h"
#include "tables/text_sink.h"

namespace roost::tables {
namespace {

using db::Type;

constexpr size_t kLongestNumber = 32;  // to_chars of a double takes 24
constexpr size_t kLongestMoment = 48;  // "2026-11-20T22:13:05.123456+00:00"
constexpr size_t kBlobPiece = 576;     // bytes that become base64 at a time
constexpr size_t kSridBytes = 4;       // before the WKB of a geometry
constexpr uint8_t kUndeclared = 31;    // decimals of a result that has no fixed number of them

void putDigits(char*& to, uint32_t number, int digits) noexcept {
  for (int i = digits; i-- > 0; number /= 10) to[i] = static_cast<char>('0' + number % 10);
  to += digits;
}

void putTwo(char*& to, uint32_t number) noexcept {
  to[0] = static_cast<char>('0' + number / 10 % 10);
  to[1] = static_cast<char>('0' + number % 10);
  to += 2;
}

void putDate(char*& to, const db::Moment& moment) noexcept {
  putDigits(to, moment.year, 4);
  *to++ = '-';
  putTwo(to, moment.month);
  *to++ = '-';
  putTwo(to, moment.day);
}

void putClock(char*& to, const db::Moment& moment, uint8_t decimals) noexcept {
  if (moment.hour >= 100) {
    putDigits(to, moment.hour, 3);
  } else {
    putTwo(to, moment.hour);
  }
  *to++ = ':';
  putTwo(to, moment.minute);
  *to++ = ':';
  putTwo(to, moment.second);
  if (decimals > 6) decimals = moment.microsecond != 0 ? 6 : 0;
  if (decimals == 0) return;
  *to++ = '.';
  uint32_t fraction = moment.microsecond;
  for (int i = decimals; i < 6; ++i) fraction /= 10;
  putDigits(to, fraction, decimals);
}

// Dates as RFC 3339 has them, spans as the server does: "-838:59:59".
void putMoment(TextSink& sink, Type type, uint8_t decimals, const db::Cell& cell,
               std::string_view time_zone) {
  const db::Moment moment = db::readMoment(type, cell);
  char* to = sink.place(kLongestMoment);
  if (type == Type::kTime) {
    if (moment.negative) *to++ = '-';
    putClock(to, moment, decimals);
    return sink.used(to);
  }
  putDate(to, moment);
  if (type != Type::kDate) {
    *to++ = 'T';
    putClock(to, moment, decimals);
  }
  sink.used(to);
  if (type != Type::kDate) sink.put(time_zone);
}

template <class Number>
void putNumber(TextSink& sink, Number number) {
  char* const to = sink.place(kLongestNumber);
  sink.used(std::to_chars(to, to + kLongestNumber, number).ptr);
}

// ZEROFILL writes "000.50", which JSON does not have.
std::string_view withoutFill(std::string_view decimal) noexcept {
  while (decimal.size() > 1 && decimal[0] == '0' && decimal[1] != '.') decimal.remove_prefix(1);
  return decimal;
}

void putBase64(TextSink& sink, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kBlobPiece);
    char* const to = sink.place(base64Size(kBlobPiece));
    encodeBase64(piece, to);
    sink.used(to + base64Size(piece.size()));
    bytes.remove_prefix(piece.size());
  }
}

void putBool(TextSink& sink, bool value) {
  sink.put(value ? std::string_view("true") : std::string_view("false"));
}

// Line breaks stand only between the tokens of JSON, where a space is as good: an answer in lines needs them.
void putJson(TextSink& sink, std::string_view json) {
  for (size_t end; (end = json.find_first_of("\r\n")) != std::string_view::npos;) {
    sink.put(json.substr(0, end));
    sink.put(' ');
    json.remove_prefix(end + 1);
  }
  sink.put(json);
}

// "0000-00-00", "2026-00-00", which servers keep that were not strict: no date of RFC 3339, and none that
// clients could read.
bool isNoDate(Type type, const db::Cell& cell) noexcept {
  if (type != Type::kDate && type != Type::kDateTime && type != Type::kTimestamp) return false;
  const db::Moment moment = db::readMoment(type, cell);
  return moment.month == 0 || moment.day == 0;
}

bool isText(Type type) noexcept {
  return type == Type::kText || type == Type::kJson;
}

// Whether JSON has no kind of its own for it, or none that every reader can hold.
bool isQuoted(const OutputColumn& column, Type type, const db::Cell& cell, const OutputOptions& options) {
  if (column.as_text) return true;
  switch (type) {
    case Type::kInt:
    case Type::kUint:
      return cell.size == 8 && options.bigint == BigNumber::kString && !column.is_bool;
    case Type::kBit:
      return cell.size > 6 && options.bigint == BigNumber::kString;
    case Type::kDecimal:
      return options.decimal == BigNumber::kString;
    case Type::kNull:
    case Type::kFloat:
    case Type::kDouble:
      return false;
    default:
      return true;
  }
}

template <class Number>
void putFinite(TextSink& sink, Number number) {
  if (std::isfinite(number)) return putNumber(sink, number);
  sink.put(std::string_view("null"));
}

// Everything but text, without quotes: no character of it needs escaping anywhere.
void putBare(TextSink& sink, const OutputColumn& column, const db::ResultColumn& result, const db::Cell& cell,
             const OutputOptions& options) {
  switch (result.type) {
    case Type::kInt: {
      const int64_t number = db::readInt(cell);
      return column.is_bool ? putBool(sink, number != 0) : putNumber(sink, number);
    }
    case Type::kUint: {
      const uint64_t number = db::readUint(cell);
      return column.is_bool ? putBool(sink, number != 0) : putNumber(sink, number);
    }
    case Type::kBit: {
      const uint64_t number = db::readBit(cell);
      return column.is_bool ? putBool(sink, number != 0) : putNumber(sink, number);
    }
    case Type::kFloat:
      return putFinite(sink, db::readFloat(cell));
    case Type::kDouble:
      return putFinite(sink, db::readDouble(cell));
    case Type::kDecimal:
      return sink.put(withoutFill(cell.view()));
    case Type::kDate:
    case Type::kTime:
    case Type::kDateTime:
    case Type::kTimestamp:
      return putMoment(sink, result.type, result.decimals, cell, options.time_zone);
    case Type::kGeometry:
      return putBase64(sink, cell.view().substr(std::min(cell.size, kSridBytes)));
    case Type::kBytes:
      return putBase64(sink, cell.view());
    case Type::kText:
    case Type::kJson:
    case Type::kNull:
      break;
  }
}

void putValue(TextSink& sink, const OutputColumn& column, const db::ResultColumn& result,
              const db::Cell& cell, const OutputOptions& options) {
  if (cell.isNull() || result.type == Type::kNull || isNoDate(result.type, cell))
    return sink.put(std::string_view("null"));
  if (isText(result.type)) {
    const bool is_json = (column.is_json || result.type == Type::kJson) && !column.as_text;
    return is_json && isJson(cell.view()) ? putJson(sink, cell.view()) : putJsonString(sink, cell.view());
  }
  const bool quoted = isQuoted(column, result.type, cell, options);
  if (quoted) sink.put('"');
  putBare(sink, column, result, cell, options);
  if (quoted) sink.put('"');
}

}  // namespace

RowWriter::RowWriter(const std::vector<OutputColumn>& columns, const OutputOptions& options) noexcept
    : columns_(columns), options_(options) {}

void RowWriter::object(const db::ResultColumns& result, const db::Row& row, std::string& out) const {
  TextSink sink(out);
  char before = '{';
  const size_t count = std::min(columns_.size(), row.size());
  for (size_t i = 0; i < count; ++i) {
    const OutputColumn& column = columns_[i];
    if (column.hidden || (options_.strip_nulls && row[i].isNull())) continue;
    sink.put(before);
    sink.put(column.json_key);
    putValue(sink, column, result[i], row[i], options_);
    before = ',';
  }
  if (before == '{') sink.put('{');
  sink.put('}');
}

void RowWriter::csvLine(const db::ResultColumns& result, const db::Row& row, std::string& out) const {
  TextSink sink(out);
  bool first = true;
  const size_t count = std::min(columns_.size(), row.size());
  for (size_t i = 0; i < count; ++i) {
    const OutputColumn& column = columns_[i];
    if (column.hidden) continue;
    if (!first) sink.put(',');
    first = false;
    if (row[i].isNull() || isNoDate(result[i].type, row[i])) continue;
    if (isText(result[i].type)) {
      putCsvText(sink, row[i].view());
    } else {
      putBare(sink, column, result[i], row[i], options_);
    }
  }
}

void RowWriter::csvHeading(std::string& out) const {
  TextSink sink(out);
  bool first = true;
  for (const OutputColumn& column : columns_) {
    if (column.hidden) continue;
    if (!first) sink.put(',');
    first = false;
    putCsvText(sink, column.name);
  }
}

void RowWriter::value(const OutputColumn& column, const db::ResultColumn& result, const db::Cell& cell,
                      std::string& out) const {
  TextSink sink(out);
  putValue(sink, column, result, cell, options_);
}

void appendJsonString(std::string_view utf8, std::string& out) {
  TextSink sink(out);
  putJsonString(sink, utf8);
}

}  // namespace roost::tables
