#include "push/message.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/random.h"
#include "push/message_ring.h"
#include "push/name_table.h"

namespace roost::push {
namespace {

TEST_CASE("push: ids, as they are written and read") {
  const MessageId id{1763668666, 17, 0x5f3a9c01};
  CHECK(id.text() == "1763668666:17-5f3a9c01");
  CHECK(MessageId{1, 2, 0xa}.tag() == "2-0000000a");
  const std::string many(200, '1');
  const struct {
    std::string text;
    bool is_id;
    MessageId id;
  } kCases[] = {
      {"1763668666:17-5f3a9c01", true, id},
      {"1763668666:\"17-5f3a9c01\"", true, id},
      {"1763668666:W/\"17-5f3a9c01\"", true, id},
      {"1763668666:17-5F3A9C01", true, id},
      {"1763668666", true, {1763668666, 0, 0}},
      {"1763668666:", true, {1763668666, 0, 0}},
      {"1763668666:0", true, MessageId::makeForeign(1763668666)},
      {"1763668666:1,[2]", true, MessageId::makeForeign(1763668666)},
      {"1763668666:17-5f3a9c0", true, MessageId::makeForeign(1763668666)},
      {"1763668666:17-5f3a9c012", true, MessageId::makeForeign(1763668666)},
      {"1763668666:17-00000000", true, MessageId::makeForeign(1763668666)},
      {"1763668666:-5f3a9c01", true, MessageId::makeForeign(1763668666)},
      {"1763668666:+17-5f3a9c01", true, MessageId::makeForeign(1763668666)},
      {"1763668666:17-0x3a9c01", true, MessageId::makeForeign(1763668666)},
      {"1763668666:99999999999999999999-5f3a9c01", true, MessageId::makeForeign(1763668666)},
      {"1763668666:18446744073709551615-5f3a9c01", true, {1763668666, UINT64_MAX, 0x5f3a9c01}},
      {"", false, {}},
      {":17-5f3a9c01", false, {}},
      {"-1:17-5f3a9c01", false, {}},
      {" 1:17-5f3a9c01", false, {}},
      {"1a", false, {}},
      {"9223372036854775808:1-00000001", false, {}},
      {many, false, {}},
  };
  for (const auto& one : kCases) {
    INFO(one.text);
    const auto read = MessageId::parse(one.text);
    CHECK(read.has_value() == one.is_id);
    if (read.has_value()) CHECK(*read == one.id);
  }
}

TEST_CASE("push: a message counts what it takes until its last reference is gone, and encodes a form once") {
  std::atomic<int64_t> account{0};
  static int encoded = 0;
  encoded = 0;
  {
    Message::Ref message = Message::make({1, 1, 1}, 5, BufferRef::copyOf(std::string(1000, 'x')),
                                         "text/plain", "news", &account);
    CHECK(account == static_cast<int64_t>(message->bytes()));
    CHECK(message->bytes() >= 1014);
    const int64_t before = account;
    const auto encode = [](const Message& of) {
      ++encoded;
      return BufferRef::copyOf("data: " + std::string(of.payload().view()));
    };
    const BufferRef first = message->form(2, encode);
    CHECK(message->form(2, encode).data() == first.data());
    CHECK(encoded == 1);
    CHECK(account == before + 1006);
    CHECK_FALSE(message.shared());
    const Message::Ref other = message;
    CHECK(message.shared());
    message = Message::Ref();
    CHECK(account == before + 1006);
  }
  CHECK(account == 0);
  {
    BufferRef payload = BufferRef::copyOf(std::string(1000, 'x'));  // as if a socket had them yet
    BufferRef form;
    {
      const Message::Ref message = Message::make({1, 1, 1}, 5, payload, "", "", &account);
      form = message->form(1, [](const Message&) { return BufferRef::copyOf("ten bytes."); });
    }
    CHECK(account == 1010);
    payload = BufferRef();
    CHECK(account == 10);
  }
  CHECK(account == 0);
}

TEST_CASE("push: the ring keeps a stretch of messages and knows their bytes") {
  MessageRing ring(5);
  uint64_t next = 5;
  for (int round = 0; round < 4; ++round) {  // it wraps, grows and shrinks
    for (int i = 0; i < 40 + round; ++i, ++next)
      ring.push(
          Message::make({1, next, 1}, 0, BufferRef::copyOf(std::string(next % 7, 'x')), "", "", nullptr));
    const uint64_t middle = ring.first() + ring.size() / 2;
    uint64_t bytes = 0;
    for (uint64_t seq = ring.first(); seq < middle; ++seq) {
      CHECK(ring.at(seq)->id().seq == seq);
      bytes += ring.at(seq)->bytes();
    }
    CHECK(ring.bytesBefore(middle) == bytes);
    CHECK(ring.bytesBefore(ring.next()) == ring.bytes());
    while (ring.size() > static_cast<uint32_t>(round % 2)) ring.pop();
  }
  CHECK(ring.next() == next);
}

struct Entry : Named<Entry> {
  Entry(const std::string& text, uint64_t its_hash) : Named(BufferRef::copyOf(text), its_hash) {}
};

TEST_CASE("push: a table of names finds each while it grows and shrinks") {
  NameTable<Entry> table;
  std::vector<std::unique_ptr<Entry>> entries;
  constexpr size_t kCount = 3000;
  for (size_t i = 0; i < kCount; ++i) {
    entries.push_back(
        std::make_unique<Entry>(std::to_string(i), scrambled(i / 3)));  // some hashes are the same
    table.insert(*entries.back());
    if (i % 251 != 0) continue;
    for (const auto& entry : entries) REQUIRE(table.find(entry->name.view(), entry->hash) == entry.get());
  }
  CHECK(table.find("x", entries[5]->hash) == nullptr);
  while (!entries.empty()) {
    table.erase(*entries.back());
    CHECK(table.find(entries.back()->name.view(), entries.back()->hash) == nullptr);
    entries.pop_back();
    REQUIRE(table.size() == entries.size());
    if (entries.size() % 251 != 0) continue;
    for (const auto& entry : entries) REQUIRE(table.find(entry->name.view(), entry->hash) == entry.get());
  }
  CHECK(table.any() == nullptr);
}

}  // namespace
}  // namespace roost::push
