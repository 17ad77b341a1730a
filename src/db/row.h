// Rows as the server sends them to a prepared statement (the binary protocol), unconverted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roost::db {

// How a cell's bytes are to be read.
enum class Type : uint8_t {
  kNull,     // the column is NULL in every row
  kInt,      // 1, 2, 4 or 8 bytes, little-endian, signed
  kUint,     // the same, unsigned; YEAR too
  kFloat,    // 4 bytes
  kDouble,   // 8 bytes
  kDecimal,  // text
  kText,     // of utf8mb4; ENUM and SET too
  kJson,     // text that the server knows to be JSON
  kBytes,    // of the binary character set
  kBit,      // 1 to 8 bytes, big-endian
  kDate,     // kDate, kTime, kDateTime: packed, see Moment
  kTime,
  kDateTime,  // DATETIME
  kTimestamp,
  kGeometry,  // bytes
};

// One column of a result.
struct ResultColumn {
  std::string name;  // alias or name
  Type type = Type::kNull;
  uint8_t decimals = 0;  // fractional digits of times
  uint32_t length = 0;   // display width, as the server says it
};
using ResultColumns = std::vector<ResultColumn>;

// data == nullptr: NULL.
struct Cell {
  const char* data = nullptr;
  size_t size = 0;
  bool isNull() const noexcept { return data == nullptr; }
  std::string_view view() const noexcept { return {data, size}; }
};

// Valid during the call it is passed to.
class Row {
 public:
  Row(const Cell* cells, size_t count) noexcept : cells_(cells), count_(count) {}
  size_t size() const noexcept { return count_; }
  const Cell& operator[](size_t index) const noexcept { return cells_[index]; }

 private:
  const Cell* cells_;
  size_t count_;
};

// A date, a time of day or a span, or both, unpacked.
struct Moment {
  bool negative = false;  // kTime only
  uint16_t year = 0;
  uint8_t month = 0;
  uint8_t day = 0;
  uint32_t hour = 0;  // of kTime: up to 838
  uint8_t minute = 0;
  uint8_t second = 0;
  uint32_t microsecond = 0;
};

// REQUIRES, of each: the cell is not NULL and the column of the type.
int64_t readInt(const Cell& cell) noexcept;
uint64_t readUint(const Cell& cell) noexcept;
float readFloat(const Cell& cell) noexcept;
double readDouble(const Cell& cell) noexcept;
uint64_t readBit(const Cell& cell) noexcept;
Moment readMoment(Type type, const Cell& cell) noexcept;

}  // namespace roost::db
