#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "http/ws/accept_key.h"
#include "http/ws/frame_decoder.h"
#include "http/ws/mask.h"
#include "http/ws/utf8.h"
#include "unit/http/ws/socket_fixture.h"

namespace roost::http::ws {
namespace {

std::string frame(Opcode opcode, std::string_view payload, bool fin = true, bool masked = true,
                  bool compressed = false) {
  return makeFrame(opcode, payload, fin, compressed, masked);
}

// What a stream of frames is, as text; fed `step` bytes at a time. Pieces of one frame are joined.
std::string decode(std::string bytes, const FrameRules& rules, size_t step) {
  FrameDecoder decoder;
  std::string told;
  std::string held;
  for (size_t at = 0; at < bytes.size(); at += step) {
    held.append(bytes, at, step);
    for (;;) {
      FramePiece piece;
      const FrameDecoder::Step what = decoder.next(held.data(), held.size(), rules, piece);
      if (what == FrameDecoder::Step::kError) {
        return told + "error " + std::to_string(decoder.errorCode()) + " " + decoder.errorText();
      }
      if (what == FrameDecoder::Step::kNeedMore) break;
      REQUIRE(piece.consumed > 0);
      if (piece.begins) told += "<" + std::to_string(static_cast<int>(piece.opcode));
      if (piece.begins && piece.compressed) told += "z";
      if (piece.begins) told += ":";
      told.append(piece.data, piece.size);
      if (piece.ends) told += ">";
      held.erase(0, piece.consumed);
    }
  }
  return told + (decoder.idle() && held.empty() ? "" : "...");
}

TEST_CASE("frames are taken apart however they were split", "[ws]") {
  struct Case {
    const char* name;
    std::string bytes;
    std::string expected;
  };
  const std::string long_text(70000, 'x');
  const std::vector<Case> cases = {
      {"text", frame(Opcode::kText, "hello"), "<1:hello>"},
      {"empty", frame(Opcode::kBinary, ""), "<2:>"},
      {"126 bytes", frame(Opcode::kBinary, long_text.substr(0, 126)), "<2:" + long_text.substr(0, 126) + ">"},
      {"65535 bytes", frame(Opcode::kText, long_text.substr(0, 65535)),
       "<1:" + long_text.substr(0, 65535) + ">"},
      {"65536 bytes", frame(Opcode::kText, long_text.substr(0, 65536)),
       "<1:" + long_text.substr(0, 65536) + ">"},
      {"fragments",
       frame(Opcode::kText, "one ", false) + frame(Opcode::kContinuation, "", false) +
           frame(Opcode::kContinuation, "two"),
       "<1:one two>"},
      {"ping between fragments",
       frame(Opcode::kText, "a", false) + frame(Opcode::kPing, "?") + frame(Opcode::kContinuation, "b"),
       "<1:a<9:?>b>"},
      {"controls",
       frame(Opcode::kPing, "") + frame(Opcode::kPong, std::string(125, 'p')) +
           frame(Opcode::kClose, "\x03\xe8"),
       "<9:><10:" + std::string(125, 'p') + "><8:\x03\xe8>"},
      {"two messages", frame(Opcode::kText, "a") + frame(Opcode::kBinary, "b"), "<1:a><2:b>"},
      {"message not ended", frame(Opcode::kText, "a", false), "<1:a..."},
      {"payload cut", frame(Opcode::kText, "abc").substr(0, 8), "<1:ab..."},
      {"header cut", frame(Opcode::kText, "abc").substr(0, 5), "..."},
      {"control frame cut", frame(Opcode::kPing, "abc").substr(0, 8), "..."},
  };
  for (const Case& c : cases) {
    for (const size_t step : {c.bytes.size(), size_t{1}, size_t{3}, size_t{1000}}) {
      if (c.bytes.size() > 1000 && step < 1000) continue;
      INFO(c.name << ", " << step << " bytes at a time");
      CHECK(decode(c.bytes, {}, step) == c.expected);
    }
  }
}

TEST_CASE("what breaks the rules of framing is told as soon as the header is there", "[ws]") {
  struct Case {
    const char* name;
    std::string bytes;
    std::string expected;
  };
  using namespace std::string_literals;
  FrameRules rules;
  rules.max_frame_bytes = 1000;
  rules.max_message_bytes = 1500;
  const std::string thousand(1000, 'x');
  const std::vector<Case> cases = {
      {"RSV1 without compression", "\xc1\x80"s, "error 1002 reserved bit set"},
      {"RSV2", "\xa1\x80"s, "error 1002 reserved bit set"},
      {"RSV3", "\x91\x80"s, "error 1002 reserved bit set"},
      {"RSV1 on a ping", "\xc9\x80"s, "error 1002 reserved bit set"},
      {"opcode 3", "\x83\x80"s, "error 1002 unknown opcode"},
      {"opcode 7", "\x87\x80"s, "error 1002 unknown opcode"},
      {"opcode 11", "\x8b\x80"s, "error 1002 unknown opcode"},
      {"opcode 15", "\x8f\x80"s, "error 1002 unknown opcode"},
      {"fragmented ping", "\x09\x80"s, "error 1002 fragmented control frame"},
      {"long ping", "\x89\xfe"s, "error 1002 control frame too long"},
      {"not masked", "\x81\x05"s, "error 1002 frame is not masked"},
      {"continuation of nothing", "\x80\x80"s, "error 1002 nothing to continue"},
      {"text within text", frame(Opcode::kText, "a", false) + "\x81\x80"s,
       "<1:aerror 1002 message within a message"},
      {"125 in two bytes", "\x82\xfe\x00\x7d"s, "error 1002 length not in its shortest form"},
      {"65535 in eight bytes", "\x82\xff\0\0\0\0\0\0\xff\xff"s, "error 1002 length not in its shortest form"},
      {"highest bit", "\x82\xff\x80\0\0\0\0\0\0\0"s, "error 1002 length not in its shortest form"},
      {"frame limit", "\x82\xfe\x03\xe9"s, "error 1009 frame too big"},
      {"huge frame", "\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff"s, "error 1009 frame too big"},
      {"message limit", frame(Opcode::kText, thousand, false) + "\x80\xfe\x01\xf5"s,
       "<1:" + thousand + "error 1009 message too big"},
  };
  for (const Case& c : cases) {
    for (const size_t step : {c.bytes.size(), size_t{1}}) {
      INFO(c.name << ", " << step << " bytes at a time");
      CHECK(decode(c.bytes, rules, step) == c.expected);
    }
  }
  CHECK(decode(frame(Opcode::kText, thousand, false) + frame(Opcode::kContinuation, thousand.substr(500)),
               rules, 999) == "<1:" + thousand + thousand.substr(500) + ">");
  rules.role = Role::kClient;
  CHECK(decode(frame(Opcode::kText, "hi", true, false), rules, 1) == "<1:hi>");
  CHECK(decode(frame(Opcode::kText, "hi"), rules, 1) == "error 1002 frame is masked");
  rules.role = Role::kServer;
  rules.compression = true;
  CHECK(decode(frame(Opcode::kText, "z", false, true, true) + frame(Opcode::kContinuation, "z"), rules, 1) ==
        "<1z:zz>");
  CHECK(decode(frame(Opcode::kText, "z", false, true, true) +
                   frame(Opcode::kContinuation, "z", true, true, true),
               rules, 1) == "<1z:zerror 1002 reserved bit set");
}

TEST_CASE("every instruction set masks alike, in place and across buffers", "[ws]") {
  Kernels sets[kMaxKernels];
  const size_t count = kernelSets(sets);
  std::mt19937 random(7);
  for (size_t size = 0; size < 300; ++size) {
    std::string bytes(size + 3, '\0');
    for (char& c : bytes) c = static_cast<char>(random() & (size % 2 == 0 ? 0x7f : 0xff));
    const auto key = static_cast<uint32_t>(random());
    char key_bytes[4];
    std::memcpy(key_bytes, &key, 4);
    std::string expected = bytes.substr(3);
    bool ascii = true;
    for (size_t i = 0; i < size; ++i) {
      expected[i] = static_cast<char>(expected[i] ^ key_bytes[i % 4]);
      ascii = ascii && static_cast<unsigned char>(expected[i]) < 0x80;
    }
    INFO("size " << size);
    for (size_t i = 0; i < count; ++i) {
      INFO(sets[i].name);
      std::string out(size, '\0');
      CHECK(sets[i].mask(out.data(), bytes.data() + 3, size, key) == ascii);
      CHECK(out == expected);
      std::string text(size, 'a');
      if (size > 5) text[size - 5] = '\x80';
      CHECK(sets[i].ascii(text.data(), size) == (size > 5 ? size - 5 : size));
    }
    std::string in_place = bytes;
    CHECK(applyMask(in_place.data() + 3, in_place.data() + 3, size, key) == ascii);
    CHECK(in_place.substr(3) == expected);
    // In two parts, cut anywhere.
    std::string parts = bytes.substr(3);
    const size_t cut = size / 3;
    applyMask(parts.data(), parts.data(), cut, key);
    applyMask(parts.data() + cut, parts.data() + cut, size - cut, advanceKey(key, cut));
    CHECK(parts == expected);
  }
}

// By the table of RFC 3629 section 4, without any shortcut: how many bytes are fine, and whether the text may
// end there.
struct Naive {
  size_t good = 0;
  bool complete = true;
};
Naive naiveUtf8(std::string_view text) {
  struct Form {
    int lead_low, lead_high, second_low, second_high, more;
  };
  static constexpr Form kForms[] = {
      {0x00, 0x7f, 0, 0, 0},       {0xc2, 0xdf, 0x80, 0xbf, 1}, {0xe0, 0xe0, 0xa0, 0xbf, 2},
      {0xe1, 0xec, 0x80, 0xbf, 2}, {0xed, 0xed, 0x80, 0x9f, 2}, {0xee, 0xef, 0x80, 0xbf, 2},
      {0xf0, 0xf0, 0x90, 0xbf, 3}, {0xf1, 0xf3, 0x80, 0xbf, 3}, {0xf4, 0xf4, 0x80, 0x8f, 3},
  };
  Naive result;
  size_t at = 0;
  while (at < text.size()) {
    const int lead = static_cast<unsigned char>(text[at]);
    const Form* form = std::find_if(std::begin(kForms), std::end(kForms),
                                    [&](const Form& f) { return lead >= f.lead_low && lead <= f.lead_high; });
    if (form == std::end(kForms)) return {at, false};
    for (int i = 1; i <= form->more; ++i) {
      const size_t place = at + static_cast<size_t>(i);
      if (place == text.size()) return {place, false};
      const int byte = static_cast<unsigned char>(text[place]);
      const int low = i == 1 ? form->second_low : 0x80;
      const int high = i == 1 ? form->second_high : 0xbf;
      if (byte < low || byte > high) return {place, false};
    }
    at += 1 + static_cast<size_t>(form->more);
  }
  result.good = at;
  return result;
}

bool agrees(std::string_view text) {
  const Naive naive = naiveUtf8(text);
  const bool valid_so_far = naive.good == text.size();
  Utf8Check whole;
  if (whole.add(text.data(), text.size()) != valid_so_far) return false;
  if (valid_so_far && whole.complete() != naive.complete) return false;
  Utf8Check bytewise;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!bytewise.add(text.data() + i, 1)) return i == naive.good;
  }
  return valid_so_far && bytewise.complete() == naive.complete;
}

TEST_CASE("UTF-8 is checked as RFC 3629 has it, and told at the first wrong byte", "[ws]") {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      const char two[] = {static_cast<char>(a), static_cast<char>(b)};
      if (!agrees({two, 2})) FAIL(a << " " << b);
    }
  }
  std::mt19937 random(3);
  const std::string pieces[] = {"a",
                                "plain text that is a bit longer",
                                "\xc3\xa9",
                                "\xe2\x82\xac",
                                "\xed\x9f\xbf",
                                "\xf0\x9f\x98\x80",
                                "\xf4\x8f\xbf\xbf",
                                "\xee\x80\x80",
                                "\xe0\xa0\x80"};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (auto i = random() % 12; i > 0; --i) text += pieces[random() % std::size(pieces)];
    if (round % 2 == 0 && !text.empty()) text[random() % text.size()] = static_cast<char>(random());
    if (round % 3 == 0) text.resize(random() % (text.size() + 1));
    if (!agrees(text)) FAIL("disagreement in round " << round);
  }
}

TEST_CASE("Close frames are read and written", "[ws]") {
  using namespace std::string_literals;
  CHECK(readClose({}).code == kNoStatus);
  CHECK(readClose({}).error == 0);
  CHECK(readClose("\x03").error == kProtocolError);
  CHECK(readClose("\x03\xe8"s).code == 1000);
  CHECK(readClose("\x03\xe8"
                  "bye"s)
            .reason == "bye");
  CHECK(readClose("\x03\xe8\xff"s).error == kInvalidPayload);
  CHECK(readClose("\x03\xe8\xc3"s).error == kInvalidPayload);  // cut off
  for (const unsigned code : {1000U, 1003U, 1007U, 1011U, 1014U, 3000U, 4999U})
    CHECK(isCloseCode(uint16_t(code)));
  for (const unsigned code : {0U, 999U, 1004U, 1005U, 1006U, 1015U, 1016U, 2999U, 5000U, 65535U}) {
    INFO(code);
    const char payload[] = {static_cast<char>(code >> 8), static_cast<char>(code & 0xff)};
    CHECK(readClose({payload, 2}).error == kProtocolError);
  }
  char out[kMaxControlBytes];
  CHECK(writeClose(out, kNoStatus, "x") == 0);
  CHECK(std::string(out, writeClose(out, 1001, "off")) == "\x03\xe9off");
  CHECK(writeClose(out, 1000, std::string(300, 'x')) == kMaxControlBytes);
  // A reason is cut before a character, not within one.
  CHECK(writeClose(out, 1000, std::string(122, 'x') + "\xe2\x82\xac") == 124);
}

TEST_CASE("the keys of the handshake", "[ws]") {
  const auto accept = acceptKey("dGhlIHNhbXBsZSBub25jZQ==");  // RFC 6455 section 1.3
  CHECK(std::string_view(accept.data(), accept.size()) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  CHECK(isKey("dGhlIHNhbXBsZSBub25jZQ=="));
  for (const char* bad : {"", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZ!==",
                          "dGhlIHNhbXBsZSBub25jZQ==dGhl", "AAAAAAAAAAAAAAAAAAAAAAAA"}) {
    INFO(bad);
    CHECK_FALSE(isKey(bad));
  }
  const auto key = makeKey(0x0706050403020100, 0x0f0e0d0c0b0a0908);
  CHECK(isKey({key.data(), key.size()}));
}

}  // namespace
}  // namespace roost::http::ws
