// What is read of the client library's structures, without a server.
#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

#include "db/client.h"
#include "db/columns.h"
#include "db/pending_calls.h"
#include "db/prepared.h"
#include "db/statement_cache.h"
#include "event/loop.h"

namespace roost::db {
namespace {

template <class T>
std::string bytesOf(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

Cell cellOf(const std::string& bytes) {
  return {bytes.data(), bytes.size()};
}

TEST_CASE("Rows: numbers of every width") {
  CHECK(readInt(cellOf(bytesOf<int8_t>(-128))) == -128);
  CHECK(readInt(cellOf(bytesOf<int16_t>(-32768))) == -32768);
  CHECK(readInt(cellOf(bytesOf<int32_t>(INT32_MIN))) == INT32_MIN);
  CHECK(readInt(cellOf(bytesOf<int64_t>(INT64_MIN))) == INT64_MIN);
  CHECK(readUint(cellOf(bytesOf<uint8_t>(255))) == 255);
  CHECK(readUint(cellOf(bytesOf<uint16_t>(65535))) == 65535);
  CHECK(readUint(cellOf(bytesOf<uint32_t>(UINT32_MAX))) == UINT32_MAX);
  CHECK(readUint(cellOf(bytesOf<uint64_t>(UINT64_MAX))) == UINT64_MAX);
  CHECK(readFloat(cellOf(bytesOf(1.5F))) == 1.5F);
  CHECK(readDouble(cellOf(bytesOf(-2.5e-300))) == -2.5e-300);
  CHECK(readBit({"\x01\x02", 2}) == 0x102);
  CHECK(readBit({"\xff\xff\xff\xff\xff\xff\xff\xff", 8}) == UINT64_MAX);
}

TEST_CASE("Rows: dates and times in each of their lengths") {
  const Moment date = readMoment(Type::kDate, {"\xea\x07\x0b\x14", 4});
  CHECK((date.year == 2026 && date.month == 11 && date.day == 20 && date.hour == 0));
  const Moment at = readMoment(Type::kDateTime, {"\xea\x07\x0b\x14\x16\x0d\x05", 7});
  CHECK((at.hour == 22 && at.minute == 13 && at.second == 5 && at.microsecond == 0));
  const Moment exact = readMoment(Type::kTimestamp, {"\xea\x07\x0b\x14\x16\x0d\x05\x40\xe2\x01\x00", 11});
  CHECK((exact.second == 5 && exact.microsecond == 123456));
  const Moment span = readMoment(Type::kTime, {"\x01\x22\x00\x00\x00\x16\x3b\x3b", 8});
  CHECK((span.negative && span.hour == 838 && span.minute == 59 && span.second == 59));
  const Moment zero = readMoment(Type::kTime, {"", 0});
  CHECK((!zero.negative && zero.hour == 0 && zero.second == 0));
  CHECK(readMoment(Type::kDate, {"", 0}).year == 0);
}

TEST_CASE("Rows: what a library has unpacked is packed as the server had it") {
  MYSQL_TIME time;
  std::memset(&time, 0, sizeof time);
  time.year = 2026;
  time.month = 11;
  time.day = 20;
  time.hour = 22;
  time.minute = 13;
  time.second = 5;
  char packed[12];
  CHECK(std::string(packed, packMoment(time, false, packed)) ==
        std::string("\xea\x07\x0b\x14\x16\x0d\x05", 7));
  time.second_part = 123456;
  CHECK(readMoment(Type::kDateTime, {packed, packMoment(time, false, packed)}).microsecond == 123456);
  std::memset(&time, 0, sizeof time);
  time.neg = true;
  time.hour = 838;
  const Moment span = readMoment(Type::kTime, {packed, packMoment(time, true, packed)});
  CHECK((span.negative && span.hour == 838 && span.microsecond == 0));
}

TEST_CASE("Rows: lengths before values") {
  const auto told = [](const char* bytes) {
    const Counted counted = countedAt(reinterpret_cast<const unsigned char*>(bytes));
    return std::make_pair(counted.size, counted.skip);
  };
  CHECK(told("\x00") == std::make_pair(uint64_t{0}, size_t{1}));
  CHECK(told("\xfa") == std::make_pair(uint64_t{250}, size_t{1}));
  CHECK(told("\xfc\xfb\x00") == std::make_pair(uint64_t{251}, size_t{3}));
  CHECK(told("\xfd\x00\x00\x01") == std::make_pair(uint64_t{65536}, size_t{4}));
  CHECK(told("\xfe\x00\x00\x00\x01\x00\x00\x00\x00") == std::make_pair(uint64_t{1} << 24, size_t{9}));
}

MYSQL_FIELD fieldOf(enum_field_types type, unsigned int flags = 0, unsigned int charset = 45) {
  static char name[] = "c";
  MYSQL_FIELD field;
  std::memset(&field, 0, sizeof field);
  field.name = name;
  field.name_length = 1;
  field.type = type;
  field.flags = flags;
  field.charsetnr = charset;
  return field;
}

TEST_CASE("Columns: types of the server in our words") {
  struct Case {
    enum_field_types type;
    unsigned int flags;
    unsigned int charset;
    Type read;
    int width;
  };
  const Case cases[] = {
      {MYSQL_TYPE_TINY, 0, 63, Type::kInt, 1},
      {MYSQL_TYPE_SHORT, UNSIGNED_FLAG, 63, Type::kUint, 2},
      {MYSQL_TYPE_INT24, 0, 63, Type::kInt, 4},
      {MYSQL_TYPE_LONG, 0, 63, Type::kInt, 4},
      {MYSQL_TYPE_LONGLONG, UNSIGNED_FLAG, 63, Type::kUint, 8},
      {MYSQL_TYPE_YEAR, 0, 63, Type::kUint, 2},
      {MYSQL_TYPE_FLOAT, 0, 63, Type::kFloat, 4},
      {MYSQL_TYPE_DOUBLE, 0, 63, Type::kDouble, 8},
      {MYSQL_TYPE_NEWDECIMAL, 0, 63, Type::kDecimal, -1},
      {MYSQL_TYPE_VAR_STRING, 0, 45, Type::kText, -1},
      {MYSQL_TYPE_STRING, ENUM_FLAG, 45, Type::kText, -1},
      {MYSQL_TYPE_BLOB, 0, 45, Type::kText, -1},
      {MYSQL_TYPE_BLOB, 0, 63, Type::kBytes, -1},
      {MYSQL_TYPE_BIT, 0, 63, Type::kBit, -1},
      {MYSQL_TYPE_DATE, 0, 63, Type::kDate, -1},
      {MYSQL_TYPE_TIME, 0, 63, Type::kTime, -1},
      {MYSQL_TYPE_DATETIME, 0, 63, Type::kDateTime, -1},
      {MYSQL_TYPE_TIMESTAMP, 0, 63, Type::kTimestamp, -1},
      {MYSQL_TYPE_GEOMETRY, 0, 63, Type::kGeometry, -1},
      {static_cast<enum_field_types>(245), 0, 63, Type::kJson, -1},
      {MYSQL_TYPE_NULL, 0, 63, Type::kNull, 0},
  };
  for (const Case& one : cases) {
    INFO("type " << static_cast<int>(one.type));
    CHECK(columnOf(fieldOf(one.type, one.flags, one.charset)).type == one.read);
    CHECK(widthOf(one.type) == one.width);
  }
  MYSQL_FIELD time = fieldOf(MYSQL_TYPE_DATETIME);
  time.decimals = 39;
  CHECK(columnOf(time).decimals == 6);
}

TEST_CASE("Errors: which leave the connection alive") {
  CHECK(kindOf(1062) == ErrorKind::kStatement);
  CHECK(kindOf(1317) == ErrorKind::kStatement);
  CHECK(kindOf(1969) == ErrorKind::kTimeout);
  CHECK(kindOf(3024) == ErrorKind::kTimeout);
  CHECK(kindOf(1153) == ErrorKind::kTooLarge);
  for (const uint32_t number : {0U, 1053U, 1927U, 2006U, 2013U, 2014U, 2027U, 4031U, 5001U}) {
    INFO(number);
    CHECK(kindOf(number) == ErrorKind::kLost);
  }
}

TEST_CASE("Errors: which are answered by preparing again") {
  CHECK(needsPreparing(1243, "INSERT INTO t VALUES (1)"));
  CHECK(needsPreparing(1615, "INSERT INTO t VALUES (1)"));
  CHECK(needsPreparing(kNewMetadata, " (select * FROM t)"));
  CHECK_FALSE(needsPreparing(kNewMetadata, "INSERT INTO t VALUES (1) RETURNING *"));
  CHECK_FALSE(needsPreparing(kNewMetadata, "sel"));
  CHECK_FALSE(needsPreparing(1062, "SELECT 1"));
}

TEST_CASE("Options: labels of targets") {
  CHECK(Target{"db.example.org", 3307, ""}.label() == "db.example.org:3307");
  CHECK(Target{"::1", 3306, ""}.label() == "[::1]:3306");
  CHECK(Target{"ignored", 1, "/run/mysqld/mysqld.sock"}.label() == "/run/mysqld/mysqld.sock");
}

TEST_CASE("StatementCache: the least recently used goes first") {
  const MysqlPtr mysql(mysql_init(nullptr));
  StatementCache cache(2);
  const auto keep = [&](const char* text) {
    return &cache.keep(text, std::make_unique<Prepared>(mysql.get()));
  };
  Prepared* const one = keep("SELECT 1");
  CHECK_FALSE(cache.full());
  keep("SELECT 2");
  CHECK(cache.full());
  CHECK(cache.find("SELECT 1") == one);
  CHECK(cache.takeOldest() != nullptr);
  CHECK(cache.find("SELECT 2") == nullptr);
  CHECK(cache.find("SELECT 1") == one);
  CHECK(cache.take("SELECT 1").get() == one);
  CHECK(cache.take("SELECT 1") == nullptr);
  CHECK(cache.takeOldest() == nullptr);
  CHECK(cache.size() == 0);
}

struct Told {
  int connected = 0;
  int failed = 0;
  int killed = 0;
  int not_killed = 0;
  int destroyed = 0;
};

struct Connect final : ConnectCall {
  explicit Connect(Told& of) : told(of) {}
  ~Connect() override { ++told.destroyed; }
  void onConnected(std::unique_ptr<Wire>) noexcept override { ++told.connected; }
  void onFailed(const Error&) noexcept override { ++told.failed; }
  Told& told;
};

struct Kill final : KillCall {
  explicit Kill(Told& of) : told(of) {}
  ~Kill() override { ++told.destroyed; }
  void onDone(bool killed) noexcept override { ++(killed ? told.killed : told.not_killed); }
  Told& told;
};

TEST_CASE("PendingCalls: each is answered once, and none of a loop that is gone") {
  auto loop = std::move(event::Loop::create(realSys(), 0).value());
  auto other = std::move(event::Loop::create(realSys(), 1).value());
  Told told;
  PendingCalls calls;
  const auto never = PendingCalls::Clock::time_point::max();
  const uint64_t failing = calls.add(*loop, std::make_unique<Connect>(told), never);
  const uint64_t killing = calls.add(*loop, std::make_unique<Kill>(told));
  const uint64_t of_other = calls.add(*other, std::make_unique<Connect>(told), never);
  const uint64_t kill_of_other = calls.add(*other, std::make_unique<Kill>(told));
  CHECK(calls.failed(failing, {}));
  CHECK_FALSE(calls.failed(failing, {}));
  calls.killed(killing, true);
  calls.killed(killing, true);
  CHECK(told.failed == 0);
  loop->runOnce(0);
  CHECK((told.failed == 1 && told.killed == 1 && told.destroyed == 2));
  calls.forget(*other);
  CHECK(told.destroyed == 4);
  CHECK_FALSE(
      calls.connected(of_other, [](event::Loop&, std::unique_ptr<ConnectCall>) { FAIL("forgotten"); }));
  calls.killed(kill_of_other, true);
  const uint64_t left = calls.add(*loop, std::make_unique<Connect>(told), never);
  calls.close();
  CHECK(told.destroyed == 5);
  CHECK_FALSE(calls.failed(left, {}));
  CHECK((told.failed == 1 && told.killed == 1 && told.connected == 0 && told.not_killed == 0));
}

}  // namespace
}  // namespace roost::db
