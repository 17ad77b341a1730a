#include "http/h1/request_parser.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/handwritten_parser.h"
#include "bench/parser_inputs.h"
#include "http/h1/framing.h"
#include "unit/http/h1/request_corpus.h"

namespace roost::http::h1 {
namespace {

// Every machine this processor runs: all must agree.
std::vector<HeadMachine> machines() {
  HeadMachine all[kMaxHeadMachines];
  const size_t count = headMachines(all);
  return {all, all + count};
}

// A copy of exactly this size with the slack the parser may read, filled with bytes that would go on well.
class Bytes {
 public:
  explicit Bytes(std::string_view text, char slack = ':')
      : bytes_(new char[text.size() + RequestParser::kSlack]), size_(text.size()) {
    std::memcpy(bytes_.get(), text.data(), text.size());
    std::memset(bytes_.get() + text.size(), slack, RequestParser::kSlack);
  }
  const char* data() const { return bytes_.get(); }
  size_t size() const { return size_; }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_;
};

// All there is to know about a parse, as text.
std::string describe(ParseState state, int status, const char* reason, const RequestHead& head) {
  if (state == ParseState::kNeedMore) return "more";
  if (state == ParseState::kError) return "error " + std::to_string(status) + " " + reason;
  const auto span = [&](Span s) { return std::to_string(s.off) + "+" + std::to_string(s.len) + " "; };
  std::string text = std::to_string(head.size) + " m" + std::to_string(static_cast<int>(head.method)) + " v" +
                     std::to_string(head.version_minor) + " f" + std::to_string(static_cast<int>(head.form)) +
                     " " + span(head.method_text) + span(head.target) + span(head.path) + span(head.query) +
                     span(head.authority) + (head.has_query ? "? " : "  ") + std::to_string(head.present) +
                     " " + std::to_string(head.repeated) + " ";
  for (size_t id = 1; id < kFieldIdCount; ++id) {
    text += std::to_string(head.first[id]) + ",";
    if ((head.repeated >> id & 1) != 0) text += std::to_string(head.last[id]) + ",";
  }
  for (size_t i = 0; i < head.field_count; ++i) {
    const Field& field = head.fields[i];
    text += " [" + std::string(head.name(field)) + "=" + std::string(head.value(field)) + " " +
            std::to_string(static_cast<int>(field.id)) + " " + std::to_string(field.next) + "]";
  }
  return text;
}

template <class Parser>
std::string reasonOf(const Parser& parser) {
  if constexpr (std::is_same_v<Parser, RequestParser>) return parser.errorReason();
  return "";
}

// Parses `text` in pieces that end at the given places and at its end, each from a buffer of its own.
template <class Parser>
std::string parsePieces(Parser& parser, std::string_view text, std::vector<size_t> ends,
                        const HeadLimits& limits = {}) {
  RequestHead head;
  parser.reset();
  ends.push_back(text.size());
  std::string result = "more";
  for (const size_t end : ends) {
    const Bytes bytes(text.substr(0, end), end % 2 == 0 ? ':' : '\n');
    const ParseState state = parser.parse(bytes.data(), bytes.size(), limits, head);
    const int status = state == ParseState::kError ? parser.errorStatus() : 0;
    result = describe(state, status, reasonOf(parser).c_str(), head);
    if (state != ParseState::kNeedMore) break;
  }
  return result;
}

std::vector<size_t> everyByte(std::string_view text) {
  std::vector<size_t> ends;
  for (size_t end = 0; end < text.size(); ++end) ends.push_back(end);
  return ends;
}

std::string parseWhole(std::string_view text, const HeadLimits& limits = {}) {
  RequestParser parser;
  return parsePieces(parser, text, {}, limits);
}

std::string parseStatus(std::string_view text, const HeadLimits& limits = {}) {
  return parseWhole(text, limits).substr(0, 9);
}

// Without the reason, which the hand-written parser does not know.
std::string statusOnly(const std::string& result) {
  return result.compare(0, 6, "error ") == 0 ? result.substr(0, 9) : result;
}

TEST_CASE("the corpus parses as its RFC sections say") {
  const auto corpus = requestCorpus();
  REQUIRE(corpus.size() >= 150);
  for (const CorpusEntry& entry : corpus) {
    INFO(entry.text);
    const std::string result = parseWhole(entry.text);
    if (entry.status == 0) {
      CHECK(result.compare(0, 5, "error") != 0);
      CHECK(result != "more");
    } else {
      CHECK(result.substr(0, 9) == "error " + std::to_string(entry.status));
    }
  }
}

TEST_CASE("every split of the corpus gives the same result on every machine") {
  for (const CorpusEntry& entry : requestCorpus()) {
    INFO(entry.text);
    HandwrittenParser by_hand;
    const std::string expected = parseWhole(entry.text);
    CHECK(statusOnly(expected) == statusOnly(parsePieces(by_hand, entry.text, {})));
    CHECK(statusOnly(expected) == statusOnly(parsePieces(by_hand, entry.text, everyByte(entry.text))));
    for (const HeadMachine& machine : machines()) {
      INFO(machine.name);
      RequestParser parser(machine.scan);
      REQUIRE(parsePieces(parser, entry.text, {}) == expected);
      REQUIRE(parsePieces(parser, entry.text, everyByte(entry.text)) == expected);
      for (size_t split = 0; split < entry.text.size(); ++split) {
        REQUIRE(parsePieces(parser, entry.text, {split}) == expected);
      }
    }
  }
}

TEST_CASE("a prefix of a good request is never an error") {
  for (const CorpusEntry& entry : requestCorpus()) {
    if (entry.status != 0) continue;
    INFO(entry.text);
    RequestParser parser;
    RequestHead head;
    const Bytes whole(entry.text);
    REQUIRE(parser.parse(whole.data(), whole.size(), {}, head) == ParseState::kDone);
    for (size_t end = 0; end < head.size; ++end) {
      RequestParser fresh;
      CHECK(parsePieces(fresh, entry.text.substr(0, end), {}) == "more");
    }
  }
}

TEST_CASE("a token split across segments at every byte") {
  const std::string request(bench::kBrowserRequest);
  for (const HeadMachine& machine : machines()) {
    INFO(machine.name);
    RequestParser parser(machine.scan);
    const std::string expected = parsePieces(parser, request, {});
    CHECK(expected.find("[User-Agent=Mozilla/5.0") != std::string::npos);
    CHECK(parsePieces(parser, request, everyByte(request)) == expected);
    for (size_t first = 0; first < request.size(); ++first) {
      REQUIRE(parsePieces(parser, request, {first}) == expected);
      REQUIRE(parsePieces(parser, request, {first, (first + request.size()) / 2}) == expected);
    }
  }
}

TEST_CASE("lower-case content-length is seen") {
  const Bytes bytes("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 12\r\n\r\n");
  RequestParser parser;
  RequestHead head;
  REQUIRE(parser.parse(bytes.data(), bytes.size(), {}, head) == ParseState::kDone);
  CHECK(head.get(FieldId::kContentLength) == "12");
  const FramingResult framing = requestFraming(head);
  CHECK(framing.kind == BodyKind::kLength);
  CHECK(framing.content_length == 12);
}

TEST_CASE("Connection: Close in other case") {
  for (const char* value : {"close", "Close", "CLOSE", "keep-alive, cLOSE", "x,close ,y"}) {
    const Bytes bytes(std::string("GET / HTTP/1.1\r\nHost: a\r\ncOnNeCtIoN: ") + value + "\r\n\r\n");
    RequestParser parser;
    RequestHead head;
    REQUIRE(parser.parse(bytes.data(), bytes.size(), {}, head) == ParseState::kDone);
    INFO(value);
    CHECK_FALSE(requestFraming(head).keep_alive);
  }
}

TEST_CASE("a bad request does not poison the next one on a reused parser") {
  const std::string good = "GET /b HTTP/1.1\r\nHost: b\r\n\r\n";
  const std::string expected = parseWhole(good);
  RequestParser parser;
  for (const CorpusEntry& entry : requestCorpus()) {
    INFO(entry.text);
    parsePieces(parser, entry.text, {});
    CHECK(parsePieces(parser, good, {}) == expected);
    parsePieces(parser, entry.text.substr(0, entry.text.size() / 2), {});  // abandoned half-way
    CHECK(parsePieces(parser, good, {}) == expected);
  }
}

TEST_CASE("a pipelined second request starts at the right byte") {
  const std::string first = "GET /1 HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n";
  const std::string second = "HEAD /2?q HTTP/1.0\r\n\r\n";
  const Bytes bytes(first + second + first);
  RequestParser parser;
  RequestHead head;
  size_t at = 0;
  for (const std::string& expected : {first, second, first}) {
    parser.reset();
    REQUIRE(parser.parse(bytes.data() + at, bytes.size() - at, {}, head) == ParseState::kDone);
    CHECK(head.size == expected.size());
    CHECK(head.field_count == (expected == second ? 0 : 2));
    at += head.size;
  }
  CHECK(at == bytes.size());
}

TEST_CASE("the parts of a target", "[RFC 9112 section 3.2]") {
  struct Parts {
    const char* line;
    TargetForm form;
    const char* path;
    const char* query;
    const char* authority;
  };
  const Parts all[] = {
      {"GET /a/b?c=d?e", TargetForm::kOrigin, "/a/b", "c=d?e", ""},
      {"GET /", TargetForm::kOrigin, "/", "", ""},
      {"GET /?", TargetForm::kOrigin, "/", "", ""},
      {"GET http://h:1/p?q", TargetForm::kAbsolute, "/p", "q", "h:1"},
      {"GET http://h", TargetForm::kAbsolute, "/", "", "h"},
      {"GET https://[::1]?q", TargetForm::kAbsolute, "/", "q", "[::1]"},
      {"CONNECT h:443", TargetForm::kAuthority, "", "", "h:443"},
      {"OPTIONS *", TargetForm::kAsterisk, "*", "", ""},
  };
  for (const Parts& parts : all) {
    INFO(parts.line);
    const Bytes bytes(std::string(parts.line) + " HTTP/1.1\r\nHost: h\r\n\r\n");
    RequestParser parser;
    RequestHead head;
    REQUIRE(parser.parse(bytes.data(), bytes.size(), {}, head) == ParseState::kDone);
    CHECK(head.form == parts.form);
    CHECK(head.view(head.path) == parts.path);
    CHECK(head.view(head.query) == parts.query);
    CHECK(head.view(head.authority) == parts.authority);
    CHECK(head.has_query == (std::strchr(parts.line, '?') != nullptr));
    CHECK(head.view(head.target) == std::string_view(parts.line).substr(head.method_text.len + 1));
  }
}

TEST_CASE("methods are case-sensitive tokens", "[RFC 9110 section 9.1]") {
  for (int i = 0; i < static_cast<int>(Method::kUnknown); ++i) {
    const auto method = static_cast<Method>(i);
    std::string name(methodName(method));
    const std::string target = method == Method::kConnect ? "h:1" : "/";
    for (const bool lower : {false, true}) {
      if (lower) name[0] = static_cast<char>(name[0] | 0x20);
      const std::string sent_target = lower ? "/" : target;
      const Bytes bytes(name + " " + sent_target + " HTTP/1.1\r\nHost: h\r\n\r\n");
      RequestParser parser;
      RequestHead head;
      INFO(name);
      REQUIRE(parser.parse(bytes.data(), bytes.size(), {}, head) == ParseState::kDone);
      CHECK(head.method == (lower ? Method::kUnknown : method));
      CHECK(head.view(head.method_text) == name);
    }
  }
}

TEST_CASE("limits hold to the byte, however the head is split") {
  const std::string head(bench::kBrowserRequest);
  const std::string target = "/assets/app-3f9d2c.js?v=20240611";
  const auto check = [&](const HeadLimits& limits, const char* status) {
    for (const HeadMachine& machine : machines()) {
      RequestParser parser(machine.scan);
      CHECK(parsePieces(parser, head, {}, limits).substr(0, 9) == status);
      CHECK(parsePieces(parser, head, everyByte(head), limits).substr(0, 9) == status);
      for (size_t split = 0; split < head.size(); split += 7) {
        CHECK(parsePieces(parser, head, {split}, limits).substr(0, 9) == status);
      }
    }
  };
  const std::string good = parseStatus(head);
  HeadLimits limits;
  limits.max_head_bytes = static_cast<uint32_t>(head.size());
  check(limits, good.c_str());
  limits.max_head_bytes -= 1;
  check(limits, "error 431");
  limits = {};
  limits.max_target_bytes = static_cast<uint32_t>(target.size());
  check(limits, good.c_str());
  limits.max_target_bytes -= 1;
  check(limits, "error 414");
  limits = {};
  limits.max_fields = 14;
  check(limits, good.c_str());
  limits.max_fields = 13;
  check(limits, "error 431");
}

TEST_CASE("a head that never ends is refused at the limit") {
  HeadLimits limits;
  limits.max_head_bytes = 4096;
  RequestHead head;
  const std::string begin = "GET / HTTP/1.1\r\nX: ";
  RequestParser parser;
  const Bytes almost(begin + std::string(4095 - begin.size(), 'a'));
  CHECK(parser.parse(almost.data(), almost.size(), limits, head) == ParseState::kNeedMore);
  const Bytes full(begin + std::string(4096 - begin.size(), 'a'));
  CHECK(parser.parse(full.data(), full.size(), limits, head) == ParseState::kError);
  CHECK(parser.errorStatus() == 431);
}

TEST_CASE("a target too long outranks what else is wrong with it") {
  HeadLimits limits;
  limits.max_target_bytes = 100;
  const std::string bad = "GET /" + std::string(99, 'a') + "#";
  const std::string long_bad = "GET /" + std::string(100, 'a') + "#";
  for (const HeadMachine& machine : machines()) {
    RequestParser parser(machine.scan);
    CHECK(parsePieces(parser, bad, {}, limits).substr(0, 9) == "error 400");
    CHECK(parsePieces(parser, bad, everyByte(bad), limits).substr(0, 9) == "error 400");
    CHECK(parsePieces(parser, long_bad, {}, limits).substr(0, 9) == "error 414");
    CHECK(parsePieces(parser, long_bad, everyByte(long_bad), limits).substr(0, 9) == "error 414");
  }
}

TEST_CASE("more field lines than the table holds are refused whatever the limit") {
  HeadLimits limits;
  limits.max_fields = 1000;
  std::string head = "GET / HTTP/1.1\r\n";
  for (size_t i = 0; i < RequestHead::kMaxFields; ++i) head += "Accept: a\r\n";
  CHECK(parseWhole(head + "\r\n", limits).compare(0, 5, "error") != 0);
  CHECK(parseStatus(head + "X: b\r\n\r\n", limits) == "error 431");
  CHECK(parseStatus(head + "X:b\r\n\r\n", limits) == "error 431");
}

TEST_CASE("lines of one field are linked in order") {
  const Bytes bytes("GET / HTTP/1.1\r\nVia: 1\r\nX: x\r\nvia:2\r\nHost: h\r\nVIA: 3\r\nX: y\r\n\r\n");
  RequestParser parser;
  RequestHead head;
  REQUIRE(parser.parse(bytes.data(), bytes.size(), {}, head) == ParseState::kDone);
  std::string values;
  for (const Field* field = head.find(FieldId::kVia); field != nullptr; field = head.nextOf(*field)) {
    values += std::string(head.value(*field)) + ",";
  }
  CHECK(values == "1,2,3,");
  CHECK(head.last[static_cast<size_t>(FieldId::kVia)] == 4);
  CHECK(head.repeated == fieldBit(FieldId::kVia));
  CHECK(head.present == (fieldBit(FieldId::kVia) | fieldBit(FieldId::kHost) | fieldBit(FieldId::kOther)));
  CHECK(head.get("x") == "x");
  CHECK(head.nextOf(head.fields[1]) == nullptr);
}

TEST_CASE("every byte in every place is judged alike by all machines and by hand") {
  const std::string base = "GET /path?q=1 HTTP/1.1\r\nHost: example\r\nX-Name_2: value here\r\n\r\n";
  for (size_t at = 0; at < base.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = base;
      text[at] = static_cast<char>(byte);
      HandwrittenParser by_hand;
      const std::string expected = statusOnly(parsePieces(by_hand, text, {}));
      for (const HeadMachine& machine : machines()) {
        RequestParser parser(machine.scan);
        const std::string whole = parsePieces(parser, text, {});
        if (statusOnly(whole) != expected || parsePieces(parser, text, everyByte(text)) != whole) {
          INFO(machine.name << " byte " << byte << " at " << at);
          REQUIRE(statusOnly(whole) == expected);
          REQUIRE(parsePieces(parser, text, everyByte(text)) == whole);
        }
      }
    }
  }
}

TEST_CASE("errors say what is wrong") {
  struct Wrong {
    const char* text;
    const char* reason;
  };
  const Wrong all[] = {
      {"GET / HTTP/1.1\nHost: a", "error 400 line feed without carriage return"},
      {"GET / HTTP/1.1\r\nHost: a\rb", "error 400 carriage return without line feed"},
      {"GET /\r\n", "error 400 request line without HTTP version"},
      {"GET /#a HTTP/1.1\r\n", "error 400 fragment in the request target"},
      {"GET * HTTP/1.1\r\n", "error 400 target * is for OPTIONS only"},
      {"CONNECT a HTTP/1.1\r\n", "error 400 CONNECT needs host:port as its target"},
      {"GET http://u@h/ HTTP/1.1\r\n", "error 400 malformed authority in the request target"},
      {"GET / HTTP/3.0\r\n", "error 505 HTTP version not supported"},
      {"GET / HTTP/1.1\r\nHost : a", "error 400 whitespace in or after a field name"},
      {"GET / HTTP/1.1\r\n: a", "error 400 field without a name"},
      {"GET / HTTP/1.1\r\nX: a\r\n b", "error 400 line begins with whitespace"},
      {"GET / HTTP/1.1\r\nX: a\x02", "error 400 control character in the head"},
      {"G\x80", "error 400 malformed method"},
  };
  // With the end of the head behind it: most mistakes in a short beginning are told no sooner.
  for (const Wrong& wrong : all) CHECK(parseWhole(wrong.text + std::string("\r\n\r\n")) == wrong.reason);
}

TEST_CASE("what is no text, or no HTTP/1.1, is refused at once") {
  using namespace std::string_view_literals;
  const std::string_view all[] = {
      "GET / HTTP/1.1\nHost: x\n\n",
      "GET / HTTP/1.1\r\nHost: x\n",
      "\n",
      "GET / HTTP/1.1\r\nX: a\rb",
      "GET / HTTP/1.1\r\r",
      "GET / HTTP/1.1\r\nX: a\0"sv,
      "\x16\x03\x01\x02\x00\x01"sv,
      "G\x80",
      "GET /\x80",
      "SSH-2.0-client\r\n",
      "GET /\r\n",
      "GET / HTTP/1.10\r\n",
      "GET / HTTP/2.0\r\n",
      "EHLO example.org\r\n",
      "GET / HTTP/1.0\r\nHost : x",
      "\r\n\r\n\r\n\r\n\r\n",
  };
  for (const HeadMachine& machine : machines()) {
    for (const std::string_view text : all) {
      INFO(machine.name << " " << text);
      RequestParser parser(machine.scan);
      CHECK(parsePieces(parser, text, {}).compare(0, 5, "error") == 0);
      CHECK(parsePieces(parser, text, everyByte(text)).compare(0, 5, "error") == 0);
    }
  }
}

TEST_CASE("other mistakes in a short beginning are told when it is short no longer") {
  struct Wrong {
    const char* text;
    const char* status;
  };
  const Wrong all[] = {
      {"GET /#a HTTP/1.1\r\n", "error 400"},    {"GE(T /", "error 400"},
      {"GET * HTTP/1.1\r\n", "error 400"},      {"GET / HTTP/1.1\r\nHost : a", "error 400"},
      {"GET / HTTP/1.1\r\n: a", "error 400"},   {"GET / HTTP/1.1\r\nX: a\r\n b", "error 400"},
      {"CONNECT a HTTP/1.1\r\nX", "error 400"}, {"GET  / HTTP/1.1\r\nX: a\r", "error 400"},
  };
  for (const HeadMachine& machine : machines()) {
    for (const Wrong& wrong : all) {
      const std::string begin(wrong.text);
      INFO(machine.name << " " << begin);
      const auto status = [&](const std::string& text, std::vector<size_t> ends) {
        RequestParser parser(machine.scan);
        return parsePieces(parser, text, std::move(ends)).substr(0, 9);
      };
      CHECK(status(begin, {}) == "more");
      CHECK(status(begin, everyByte(begin)) == "more");
      const std::string ended = begin + "\r\n\r\n";
      CHECK(status(ended, {}) == wrong.status);
      CHECK(status(ended, everyByte(ended)) == wrong.status);
      const std::string longer = begin + std::string(kWaitingBytes + 1 - begin.size(), 'a');
      CHECK(status(longer, {}) == wrong.status);
      CHECK(status(longer, everyByte(longer)) == wrong.status);
    }
  }
}

TEST_CASE("limits below a short beginning hold, however it is split") {
  const std::string head = "GET /abcdef HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n";
  const auto check = [&](const HeadLimits& limits, const std::string& expected) {
    for (const HeadMachine& machine : machines()) {
      RequestParser parser(machine.scan);
      CHECK(parsePieces(parser, head, {}, limits).substr(0, 9) == expected);
      CHECK(parsePieces(parser, head, everyByte(head), limits).substr(0, 9) == expected);
      for (size_t split = 0; split < head.size(); ++split) {
        CHECK(parsePieces(parser, head, {split}, limits).substr(0, 9) == expected);
      }
    }
  };
  const std::string good = parseStatus(head);
  REQUIRE(good != "more");
  HeadLimits limits;
  limits.max_head_bytes = static_cast<uint32_t>(head.size());
  check(limits, good);
  for (const size_t bytes : {head.size() - 1, size_t{30}, size_t{20}, size_t{3}, size_t{1}, size_t{0}}) {
    limits.max_head_bytes = static_cast<uint32_t>(bytes);
    check(limits, "error 431");
  }
  limits = {};
  limits.max_target_bytes = 7;
  check(limits, good);
  for (const uint32_t bytes : {6, 1, 0}) {
    limits.max_target_bytes = bytes;
    check(limits, "error 414");
  }
  limits = {};
  limits.max_fields = 2;
  check(limits, good);
  for (const uint16_t fields : {uint16_t{1}, uint16_t{0}}) {
    limits.max_fields = fields;
    check(limits, "error 431");
  }
}

TEST_CASE("a head left for later shows nothing of the one before") {
  for (const HeadMachine& machine : machines()) {
    RequestParser parser(machine.scan);
    RequestHead head;
    const Bytes first("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    REQUIRE(parser.parse(first.data(), first.size(), {}, head) == ParseState::kDone);
    REQUIRE(head.method == Method::kHead);
    parser.reset();
    const Bytes second("GET / HTTP/1.1\r\nHo");
    REQUIRE(parser.parse(second.data(), second.size(), {}, head) == ParseState::kNeedMore);
    CHECK(head.method != Method::kHead);
  }
}

}  // namespace
}  // namespace roost::http::h1
