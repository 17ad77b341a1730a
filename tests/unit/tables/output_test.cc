#include "tables/output.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace roost;
using namespace roost::tables;
using db::Type;

namespace {

template <class T>
std::string bytesOf(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string ints(int64_t value, size_t size) {
  return bytesOf(value).substr(0, size);
}

std::string date(int year, int month, int day) {
  return bytesOf(static_cast<uint16_t>(year)) + static_cast<char>(month) + static_cast<char>(day);
}
std::string moment(const std::string& day, int hour, int minute, int second, uint32_t micro = 0) {
  std::string bytes = day;
  for (const int part : {hour, minute, second}) bytes += static_cast<char>(part);
  return micro == 0 ? bytes : bytes + bytesOf(micro);
}
std::string span(bool negative, uint32_t days, int hour, int minute, int second, uint32_t micro = 0) {
  std::string bytes(1, negative ? '\1' : '\0');
  bytes += bytesOf(days);
  for (const int part : {hour, minute, second}) bytes += static_cast<char>(part);
  return micro == 0 ? bytes : bytes + bytesOf(micro);
}

enum Flags : uint8_t { kPlainColumn = 0, kBool = 1, kIsJson = 2, kAsText = 4 };

OutputColumn columnOf(uint8_t flags, const std::string& name = "c") {
  OutputColumn column;
  column.name = name;
  column.json_key = "\"" + name + "\":";
  column.is_bool = (flags & kBool) != 0;
  column.is_json = (flags & kIsJson) != 0;
  column.as_text = (flags & kAsText) != 0;
  return column;
}

db::ResultColumn resultOf(Type type, uint8_t decimals = 0) {
  db::ResultColumn result;
  result.type = type;
  result.decimals = decimals;
  return result;
}

struct Case {
  Type type;
  std::string bytes;
  std::string json;
  std::string csv;
  uint8_t flags = kPlainColumn;
  uint8_t decimals = 0;
};

std::string jsonOf(const Case& c, const OutputOptions& options = {}) {
  const std::vector<OutputColumn> columns{columnOf(c.flags)};
  std::string out;
  RowWriter(columns, options)
      .value(columns[0], resultOf(c.type, c.decimals), {c.bytes.data(), c.bytes.size()}, out);
  return out;
}

std::string csvOf(const Case& c) {
  const std::vector<OutputColumn> columns{columnOf(c.flags)};
  const db::ResultColumns results{resultOf(c.type, c.decimals)};
  const db::Cell cell{c.bytes.data(), c.bytes.size()};
  std::string out;
  RowWriter(columns, {}).csvLine(results, db::Row(&cell, 1), out);
  return out;
}

std::string stringOf(std::string_view text) {
  std::string out;
  appendJsonString(text, out);
  return out;
}

}  // namespace

TEST_CASE("every type is written as JSON and CSV have it", "[tables][output]") {
  using Limits64 = std::numeric_limits<int64_t>;
  const std::string noon = moment(date(2026, 11, 20), 22, 13, 5);
  const Case cases[] = {
      {Type::kInt, ints(-128, 1), "-128", "-128"},
      {Type::kInt, ints(0, 1), "0", "0"},
      {Type::kInt, ints(-32768, 2), "-32768", "-32768"},
      {Type::kInt, ints(-2147483648LL, 4), "-2147483648", "-2147483648"},
      {Type::kInt, ints(Limits64::min(), 8), "-9223372036854775808", "-9223372036854775808"},
      {Type::kInt, ints(Limits64::max(), 8), "9223372036854775807", "9223372036854775807"},
      {Type::kUint, ints(255, 1), "255", "255"},
      {Type::kUint, ints(2155, 2), "2155", "2155"},
      {Type::kUint, ints(4294967295LL, 4), "4294967295", "4294967295"},
      {Type::kUint, ints(-1, 8), "18446744073709551615", "18446744073709551615"},
      {Type::kInt, ints(0, 1), "false", "false", kBool},
      {Type::kInt, ints(1, 1), "true", "true", kBool},
      {Type::kInt, ints(-7, 1), "true", "true", kBool},
      {Type::kInt, ints(7, 4), "\"7\"", "7", kAsText},
      {Type::kInt, ints(1, 1), "\"true\"", "true", kBool | kAsText},
      {Type::kFloat, bytesOf(0.1f), "0.1", "0.1"},
      {Type::kFloat, bytesOf(-0.0f), "-0", "-0"},
      {Type::kFloat, bytesOf(3.4028235e38f), "3.4028235e+38", "3.4028235e+38"},
      {Type::kFloat, bytesOf(1e-45f), "1e-45", "1e-45"},
      {Type::kFloat, bytesOf(16777216.0f), "16777216", "16777216"},
      {Type::kFloat, bytesOf(std::numeric_limits<float>::infinity()), "null", "null"},
      {Type::kDouble, bytesOf(0.1), "0.1", "0.1"},
      {Type::kDouble, bytesOf(1.0 / 3), "0.3333333333333333", "0.3333333333333333"},
      {Type::kDouble, bytesOf(1.7976931348623157e308), "1.7976931348623157e+308", "1.7976931348623157e+308"},
      {Type::kDouble, bytesOf(5e-324), "5e-324", "5e-324"},
      {Type::kDouble, bytesOf(std::numeric_limits<double>::quiet_NaN()), "null", "null"},
      {Type::kDecimal, "-12345678901234567890.50", "-12345678901234567890.50", "-12345678901234567890.50"},
      {Type::kDecimal, "0.00", "0.00", "0.00"},
      {Type::kDecimal, "00012.30", "12.30", "12.30"},
      {Type::kDecimal, "000.30", "0.30", "0.30"},
      {Type::kDecimal, "000", "0", "0"},
      {Type::kText, "", "\"\"", "\"\""},
      {Type::kText, "a,b", "\"a,b\"", "\"a,b\""},
      {Type::kText, "say \"hi\"", "\"say \\\"hi\\\"\"", "\"say \"\"hi\"\"\""},
      {Type::kText, "two\r\nlines", "\"two\\r\\nlines\"", "\"two\r\nlines\""},
      {Type::kText, "plain", "\"plain\"", "plain"},
      {Type::kText, "caf\xc3\xa9 \xff", "\"caf\xc3\xa9 \xef\xbf\xbd\"", "caf\xc3\xa9 \xef\xbf\xbd"},
      {Type::kJson, "{\"a\": [1, 2]}", "{\"a\": [1, 2]}", "\"{\"\"a\"\": [1, 2]}\""},
      {Type::kText, "[1]", "[1]", "[1]", kIsJson},
      {Type::kText, "[1", "\"[1\"", "[1", kIsJson},
      {Type::kJson, "{\n \"a\":\r\n 1}", "{  \"a\":   1}", "\"{\n \"\"a\"\":\r\n 1}\""},
      {Type::kJson, "\"in\"", "\"\\\"in\\\"\"", "\"\"\"in\"\"\"", kAsText},
      {Type::kBytes, std::string("\0\xff\x10", 3), "\"AP8Q\"", "AP8Q"},
      {Type::kBytes, "", "\"\"", ""},
      {Type::kBytes, "a", "\"YQ==\"", "YQ=="},
      {Type::kBytes, "ab", "\"YWI=\"", "YWI="},
      {Type::kGeometry, std::string("\0\0\0\0", 4) + "abc", "\"YWJj\"", "YWJj"},
      {Type::kBit, "\1", "true", "true", kBool},
      {Type::kBit, std::string(1, '\0'), "false", "false", kBool},
      {Type::kBit, "\1\2", "258", "258"},
      {Type::kBit, std::string(8, '\xff'), "18446744073709551615", "18446744073709551615"},
      {Type::kDate, date(2026, 2, 3), "\"2026-02-03\"", "2026-02-03"},
      {Type::kDate, date(9999, 12, 31), "\"9999-12-31\"", "9999-12-31"},
      // What is no date is null: no reader of JSON takes such a one.
      {Type::kDate, "", "null", ""},
      {Type::kDate, date(2026, 0, 0), "null", ""},
      {Type::kDateTime, "", "null", ""},
      {Type::kDateTime, moment(date(2026, 11, 0), 1, 2, 3), "null", ""},
      {Type::kTimestamp, "", "null", ""},
      {Type::kDateTime, noon, "\"2026-11-20T22:13:05+00:00\"", "2026-11-20T22:13:05+00:00"},
      {Type::kTimestamp, noon, "\"2026-11-20T22:13:05.000+00:00\"", "2026-11-20T22:13:05.000+00:00", 0, 3},
      {Type::kDateTime, date(2026, 1, 1), "\"2026-01-01T00:00:00+00:00\"", "2026-01-01T00:00:00+00:00"},
      {Type::kDateTime, moment(date(999, 1, 1), 0, 0, 0, 1200), "\"0999-01-01T00:00:00.001200+00:00\"",
       "0999-01-01T00:00:00.001200+00:00", 0, 6},
      {Type::kDateTime, moment(date(2026, 1, 1), 0, 0, 0, 120000), "\"2026-01-01T00:00:00.12+00:00\"",
       "2026-01-01T00:00:00.12+00:00", 0, 2},
      {Type::kDateTime, moment(date(2026, 1, 1), 1, 2, 3, 5), "\"2026-01-01T01:02:03.000005+00:00\"",
       "2026-01-01T01:02:03.000005+00:00", 0, 31},
      {Type::kTime, span(false, 0, 12, 0, 0), "\"12:00:00\"", "12:00:00"},
      {Type::kTime, span(true, 34, 22, 59, 59), "\"-838:59:59\"", "-838:59:59"},
      {Type::kTime, span(false, 0, 1, 2, 3, 500000), "\"01:02:03.5\"", "01:02:03.5", 0, 1},
      {Type::kTime, "", "\"00:00:00\"", "00:00:00"},
  };
  for (const Case& c : cases) {
    INFO("type " << static_cast<int>(c.type) << ", wanted " << c.json);
    CHECK(jsonOf(c) == c.json);
    CHECK(csvOf(c) == c.csv);
  }
}

TEST_CASE("NULL is null in JSON and nothing in CSV", "[tables][output]") {
  const std::vector<OutputColumn> columns{columnOf(0, "a"), columnOf(0, "b"), columnOf(0, "gone")};
  std::vector<OutputColumn> shown = columns;
  shown[2].hidden = true;
  const db::ResultColumns results{resultOf(Type::kText), resultOf(Type::kInt), resultOf(Type::kInt)};
  const std::string one = ints(1, 4);
  const db::Cell cells[] = {{}, {one.data(), one.size()}, {one.data(), one.size()}};
  const RowWriter writer(shown, {});
  std::string out;
  writer.object(results, db::Row(cells, 3), out);
  CHECK(out == "{\"a\":null,\"b\":1}");
  out.clear();
  OutputOptions stripped;
  stripped.strip_nulls = true;
  RowWriter(shown, stripped).object(results, db::Row(cells, 3), out);
  CHECK(out == "{\"b\":1}");
  out.clear();
  writer.csvHeading(out);
  CHECK(out == "a,b");
  out.clear();
  writer.csvLine(results, db::Row(cells, 3), out);
  CHECK(out == ",1");
}

TEST_CASE("a row without shown columns is an empty object", "[tables][output]") {
  std::vector<OutputColumn> columns{columnOf(0)};
  columns[0].hidden = true;
  const std::string one = ints(1, 4);
  const db::Cell cell{one.data(), one.size()};
  std::string out;
  RowWriter(columns, {}).object({resultOf(Type::kInt)}, db::Row(&cell, 1), out);
  CHECK(out == "{}");
}

TEST_CASE("numbers that JavaScript cannot hold become strings where that is wanted", "[tables][output]") {
  OutputOptions options;
  options.bigint = options.decimal = BigNumber::kString;
  options.time_zone = "-03:30";
  CHECK(jsonOf({Type::kInt, ints(5, 8), "", ""}, options) == "\"5\"");
  CHECK(jsonOf({Type::kInt, ints(5, 4), "", ""}, options) == "5");
  CHECK(jsonOf({Type::kUint, ints(-1, 8), "", ""}, options) == "\"18446744073709551615\"");
  CHECK(jsonOf({Type::kBit, std::string(8, '\xff'), "", ""}, options) == "\"18446744073709551615\"");
  CHECK(jsonOf({Type::kBit, "\1\1", "", ""}, options) == "257");
  CHECK(jsonOf({Type::kDecimal, "1.50", "", ""}, options) == "\"1.50\"");
  CHECK(jsonOf({Type::kDateTime, date(2026, 1, 1), "", ""}, options) == "\"2026-01-01T00:00:00-03:30\"");
}

TEST_CASE("JSON strings escape what they must, wherever it stands", "[tables][output]") {
  CHECK(stringOf(std::string("\0\x1f\b\f\n\r\t\"\\/\x7f", 11)) ==
        "\"\\u0000\\u001f\\b\\f\\n\\r\\t\\\"\\\\/\x7f\"");
  // Every position and every length: blocks, their ends, and what is left of them.
  for (size_t size = 1; size < 70; ++size) {
    for (size_t at = 0; at < size; ++at) {
      std::string text(size, 'x');
      std::string wanted = text;
      text[at] = '"';
      wanted.replace(at, 1, "\\\"");
      REQUIRE(stringOf(text) == "\"" + wanted + "\"");
      text.replace(at, 1, "\xe2\x82\xac");
      REQUIRE(stringOf(text) == "\"" + text + "\"");
    }
  }
  const std::string large(5000, 'y');
  CHECK(stringOf(large + "\n" + large) == "\"" + large + "\\n" + large + "\"");
}

TEST_CASE("what is no UTF-8 becomes U+FFFD, byte by byte", "[tables][output]") {
  const std::string bad = "\xef\xbf\xbd";
  const std::pair<std::string, std::string> cases[] = {
      {"\x80", bad},
      {"a\xc3", "a" + bad},
      {"\xc0\xaf", bad + bad},
      {"\xe0\x80\x80", bad + bad + bad},
      {"\xed\xa0\x80", bad + bad + bad},
      {"\xf5\x80\x80\x80", bad + bad + bad + bad},
      {"\xf4\x90\x80\x80", bad + bad + bad + bad},
      {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
      {"\xf0\x9f\x98", bad + bad + bad},
      {"\xe2\x82\xac\xe2\x82", "\xe2\x82\xac" + bad + bad},
  };
  for (const auto& [text, wanted] : cases) {
    CHECK(stringOf(text) == "\"" + wanted + "\"");
    CHECK(stringOf("0123456789abcdef" + text + "0123456789abcdef") ==
          "\"0123456789abcdef" + wanted + "0123456789abcdef\"");
  }
}
