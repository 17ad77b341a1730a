#include "db/columns.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace roost::db {

namespace {

constexpr unsigned int kBinaryCharset = 63;
constexpr unsigned int kJsonType = 245;  // Oracle's servers'

bool isJson(const MYSQL_FIELD& field) {
#if ROOST_MARIADB_CLIENT
  MARIADB_CONST_STRING format{nullptr, 0};
  return mariadb_field_attr(&format, &field, MARIADB_FIELD_ATTR_FORMAT_NAME) == 0 && format.str != nullptr &&
         std::string_view(format.str, format.length) == "json";
#else
  (void)field;
  return false;
#endif
}

Type textTypeOf(const MYSQL_FIELD& field) {
  if (isJson(field)) return Type::kJson;
  return field.charsetnr == kBinaryCharset ? Type::kBytes : Type::kText;
}

Type typeOf(const MYSQL_FIELD& field) {
  const bool is_unsigned = (field.flags & UNSIGNED_FLAG) != 0;
  switch (static_cast<unsigned int>(field.type)) {
    case MYSQL_TYPE_NULL:
      return Type::kNull;
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
      return is_unsigned ? Type::kUint : Type::kInt;
    case MYSQL_TYPE_YEAR:
      return Type::kUint;
    case MYSQL_TYPE_FLOAT:
      return Type::kFloat;
    case MYSQL_TYPE_DOUBLE:
      return Type::kDouble;
    case MYSQL_TYPE_DECIMAL:
    case MYSQL_TYPE_NEWDECIMAL:
      return Type::kDecimal;
    case MYSQL_TYPE_BIT:
      return Type::kBit;
    case MYSQL_TYPE_DATE:
    case MYSQL_TYPE_NEWDATE:
      return Type::kDate;
    case MYSQL_TYPE_TIME:
      return Type::kTime;
    case MYSQL_TYPE_DATETIME:
      return Type::kDateTime;
    case MYSQL_TYPE_TIMESTAMP:
      return Type::kTimestamp;
    case MYSQL_TYPE_GEOMETRY:
      return Type::kGeometry;
    case kJsonType:
      return Type::kJson;
    default:
      return textTypeOf(field);
  }
}

void put32(char* out, uint32_t number) noexcept {
  std::memcpy(out, &number, sizeof number);
}

}  // namespace

ResultColumn columnOf(const MYSQL_FIELD& field) {
  ResultColumn column;
  column.name.assign(field.name, field.name_length);
  column.type = typeOf(field);
  const bool is_time =
      column.type == Type::kTime || column.type == Type::kDateTime || column.type == Type::kTimestamp;
  // More than 6 stands for "as many as there are".
  column.decimals = static_cast<uint8_t>(std::min(field.decimals, is_time ? 6U : 255U));
  column.length = static_cast<uint32_t>(std::min<unsigned long>(field.length, UINT32_MAX));
  return column;
}

int8_t widthOf(enum_field_types type) noexcept {
  switch (type) {
    case MYSQL_TYPE_NULL:
      return 0;
    case MYSQL_TYPE_TINY:
      return 1;
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_YEAR:
      return 2;
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_FLOAT:
      return 4;
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_DOUBLE:
      return 8;
    default:
      return kCounted;
  }
}

Counted countedAt(const unsigned char* bytes) noexcept {
  uint64_t size = 0;
  switch (bytes[0]) {
    case 252:
      std::memcpy(&size, bytes + 1, 2);
      return {size, 3};
    case 253:
      std::memcpy(&size, bytes + 1, 3);
      return {size, 4};
    case 254:
      std::memcpy(&size, bytes + 1, 8);
      return {size, 9};
    default:
      return {bytes[0], 1};
  }
}

size_t packMoment(const MYSQL_TIME& time, bool is_span, char* out) noexcept {
  const auto byte = [](unsigned int number) { return static_cast<char>(number); };
  if (is_span) {
    out[0] = time.neg ? 1 : 0;
    put32(out + 1, time.day + time.hour / 24);
    out[5] = byte(time.hour % 24);
    out[6] = byte(time.minute);
    out[7] = byte(time.second);
    put32(out + 8, static_cast<uint32_t>(time.second_part));
    return time.second_part != 0 ? 12 : 8;
  }
  const auto year = static_cast<uint16_t>(time.year);
  std::memcpy(out, &year, sizeof year);
  out[2] = byte(time.month);
  out[3] = byte(time.day);
  out[4] = byte(time.hour);
  out[5] = byte(time.minute);
  out[6] = byte(time.second);
  put32(out + 7, static_cast<uint32_t>(time.second_part));
  return time.second_part != 0 ? 11 : 7;
}

}  // namespace roost::db
