#include "db/row.h"

#include <cstring>

namespace roost::db {

namespace {

template <class T>
T load(const char* bytes) noexcept {
  T value;
  std::memcpy(&value, bytes, sizeof value);  // the protocol and every machine we run on are little-endian
  return value;
}

uint8_t byteAt(const Cell& cell, size_t at) noexcept {
  return static_cast<uint8_t>(cell.data[at]);
}

Moment readTime(const Cell& cell) noexcept {
  Moment moment;
  if (cell.size < 8) return moment;
  moment.negative = byteAt(cell, 0) != 0;
  moment.hour = load<uint32_t>(cell.data + 1) * 24 + byteAt(cell, 5);
  moment.minute = byteAt(cell, 6);
  moment.second = byteAt(cell, 7);
  if (cell.size >= 12) moment.microsecond = load<uint32_t>(cell.data + 8);
  return moment;
}

}  // namespace

int64_t readInt(const Cell& cell) noexcept {
  switch (cell.size) {
    case 1:
      return load<int8_t>(cell.data);
    case 2:
      return load<int16_t>(cell.data);
    case 4:
      return load<int32_t>(cell.data);
    case 8:
      return load<int64_t>(cell.data);
    default:
      return 0;
  }
}

uint64_t readUint(const Cell& cell) noexcept {
  switch (cell.size) {
    case 1:
      return load<uint8_t>(cell.data);
    case 2:
      return load<uint16_t>(cell.data);
    case 4:
      return load<uint32_t>(cell.data);
    case 8:
      return load<uint64_t>(cell.data);
    default:
      return 0;
  }
}

float readFloat(const Cell& cell) noexcept {
  return cell.size == 4 ? load<float>(cell.data) : 0;
}

double readDouble(const Cell& cell) noexcept {
  return cell.size == 8 ? load<double>(cell.data) : 0;
}

uint64_t readBit(const Cell& cell) noexcept {
  uint64_t bits = 0;
  for (size_t i = 0; i < cell.size; ++i) bits = bits << 8 | byteAt(cell, i);
  return bits;
}

Moment readMoment(Type type, const Cell& cell) noexcept {
  if (type == Type::kTime) return readTime(cell);
  Moment moment;
  if (cell.size < 4) return moment;
  moment.year = load<uint16_t>(cell.data);
  moment.month = byteAt(cell, 2);
  moment.day = byteAt(cell, 3);
  if (cell.size < 7) return moment;
  moment.hour = byteAt(cell, 4);
  moment.minute = byteAt(cell, 5);
  moment.second = byteAt(cell, 6);
  if (cell.size >= 11) moment.microsecond = load<uint32_t>(cell.data + 7);
  return moment;
}

}  // namespace roost::db
