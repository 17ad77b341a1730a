#include "net/out_queue.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "support/sim_sys.h"
#include "support/temp_file.h"

namespace roost::net {
namespace {

using test::Call;
using test::SimPeer;
using test::SimSys;

struct Fixture {
  SimSys sys;
  ChunkPool chunks;
  OutPool pool{chunks};
  PlainTransport transport{sys};
  OutQueue queue;
  std::pair<int, SimPeer> pair = sys.connectedPair();

  ~Fixture() { queue.clear(pool); }
  IoResult flush() { return queue.flush(pool, transport, pair.first); }
  OpenFile file(std::string_view content) { return OpenFile(sys, test::tempFile(content)); }
};

TEST_CASE("out queue: several memory pieces go out in one call", "[out_queue]") {
  Fixture f;
  f.queue.addCopy(f.pool, "one ");
  f.queue.addCopy(f.pool, "two ");
  f.queue.addShared(f.pool, BufferRef::copyOf("three four"), 6, 4);
  f.queue.addCopy(f.pool, " five");
  CHECK(f.queue.memoryBytes() == 17);
  const IoResult result = f.flush();
  CHECK(result.state == IoState::kDone);
  CHECK(result.bytes == 17);
  CHECK(f.queue.empty());
  CHECK(f.queue.memoryBytes() == 0);
  CHECK(f.sys.sendCalls() == 1);
  CHECK(f.pair.second.read() == "one two four five");
}

TEST_CASE("out queue: a partial write anywhere is resumed exactly", "[out_queue]") {
  const std::string shared = test::patternOf(300, 2);
  const std::string file = test::patternOf(500, 3);
  const std::string expected =
      "head|" + shared.substr(10, 200) + "|mid|" + file.substr(7, 400) + "tail" + file.substr(0, 50);
  for (size_t step = 1; step <= expected.size() + 1; ++step) {
    Fixture f;
    f.sys.setMaxSend(step);
    f.queue.addCopy(f.pool, "head|");
    f.queue.addShared(f.pool, BufferRef::copyOf(shared), 10, 200);
    f.queue.addCopy(f.pool, "|mid|");
    OpenFile open = f.file(file);
    f.queue.addFile(f.pool, open, 7, 400);
    f.queue.addCopy(f.pool, "tail");
    f.queue.addFile(f.pool, std::move(open), 0, 50);
    size_t sent = 0;
    int rounds = 0;
    for (;;) {
      const IoResult result = f.flush();
      sent += result.bytes;
      ++rounds;
      REQUIRE(rounds < 2000);
      if (result.state == IoState::kDone) break;
      REQUIRE(result.state == IoState::kWantWrite);
    }
    REQUIRE(sent == expected.size());
    REQUIRE(f.pair.second.read() == expected);
  }
}

TEST_CASE("out queue: memory before a file asks the kernel to wait for it", "[out_queue]") {
  Fixture f;
  f.queue.addCopy(f.pool, "head");
  f.queue.addFile(f.pool, f.file("body"), 0, 4);
  CHECK(f.flush().state == IoState::kDone);
  const auto sends = f.pair.second.sends();
  REQUIRE(sends.size() == 2);
  CHECK(sends[0].more);
  CHECK_FALSE(sends[1].more);
  CHECK(sends[1].from_file);
}

TEST_CASE("out queue: more pieces than one call takes", "[out_queue]") {
  Fixture f;
  std::string expected;
  for (int i = 0; i < 200; ++i) {
    const std::string piece = std::to_string(i) + ",";
    f.queue.addShared(f.pool, BufferRef::copyOf(piece), 0, piece.size());
    expected += piece;
  }
  CHECK(f.flush().state == IoState::kDone);
  CHECK(f.sys.sendCalls() == 4);
  const auto sends = f.pair.second.sends();
  CHECK(sends.front().more);
  CHECK_FALSE(sends.back().more);
  CHECK(f.pair.second.read() == expected);
}

TEST_CASE("out queue: copies longer than a chunk", "[out_queue]") {
  Fixture f;
  f.sys.setCapacity(4 << 20);
  f.pair = f.sys.connectedPair();
  std::string expected;
  for (const size_t size : {size_t{1}, size_t{4000}, size_t{200}, size_t{100000}, size_t{70000}, size_t{3}}) {
    const std::string piece = test::patternOf(size, static_cast<unsigned>(size));
    f.queue.addCopy(f.pool, piece);
    expected += piece;
  }
  CHECK(f.queue.memoryBytes() == expected.size());
  CHECK(f.flush().state == IoState::kDone);
  CHECK(f.pair.second.read() == expected);
}

// A client that asks for many files at once and reads nothing: one head of 250 bytes in front of each range.
TEST_CASE("out queue: heads between ranges of files share chunks", "[out_queue][regression]") {
  Fixture f;
  const OpenFile open = f.file(test::patternOf(4000));
  const std::string head = test::patternOf(250);
  for (int i = 0; i < 100; ++i) {
    f.queue.addCopy(f.pool, head);
    f.queue.addFile(f.pool, open, 0, 4000);
  }
  CHECK(f.queue.memoryBytes() == 25000);
  // Where a head lies in two chunks, that is a slice more.
  const size_t slices = 208;
  CHECK(f.queue.heldBytes() < slices * OutQueue::kSliceBytes + 8 * (ChunkPool::kMedium + 128));
  CHECK(f.queue.heldBytes() > 200 * OutQueue::kSliceBytes + 25000);
  CHECK(f.queue.reclaimableBytes() == f.queue.heldBytes());
}

TEST_CASE("out queue: what a small answer holds is small", "[out_queue]") {
  Fixture f;
  f.queue.addCopy(f.pool, "short");
  CHECK(f.queue.heldBytes() < ChunkPool::kSmall + OutQueue::kSliceBytes + 128);
}

TEST_CASE("out queue: of a shared buffer its share is reclaimable", "[out_queue]") {
  Fixture f;
  const BufferRef block = BufferRef::copyOf(test::patternOf(40000));
  const BufferRef another = block;
  f.queue.addShared(f.pool, block, 0, 40000);
  f.queue.addShared(f.pool, BufferRef::copyOf(test::patternOf(7000)), 100, 6900);
  CHECK(f.queue.heldBytes() == 2 * OutQueue::kSliceBytes + 46900);
  CHECK(f.queue.reclaimableBytes() == 2 * OutQueue::kSliceBytes + 40000 / 3 + 7000);
}

TEST_CASE("out queue: whatever is mixed comes out in order, and what is held goes with it", "[out_queue]") {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    Fixture f;
    f.sys.setCapacity(64 << 20);
    f.pair = f.sys.connectedPair();
    const std::string content = test::patternOf(9000, 7);
    const OpenFile open = f.file(content);
    std::string expected;
    std::string got;
    for (int step = 0; step < 120; ++step) {
      const size_t size = random() % 3 == 0 ? random() % 6000 + 1 : random() % 400 + 1;
      switch (random() % 5) {
        case 0:
          f.queue.addFile(f.pool, open, 0, size);
          expected += content.substr(0, size);
          break;
        case 1:
          f.queue.addShared(f.pool, BufferRef::copyOf(content), 5, size);
          expected += content.substr(5, size);
          break;
        case 2:
          f.sys.setMaxSend(random() % 700 + 1);
          static_cast<void>(f.flush());
          break;
        default:
          f.queue.addCopy(f.pool, std::string_view(content).substr(9, size));
          expected += content.substr(9, size);
      }
      if (!f.queue.empty()) REQUIRE(f.queue.heldBytes() >= OutQueue::kSliceBytes);
      REQUIRE(f.queue.unsentBytes() + got.size() + f.pair.second.readable() == expected.size());
    }
    f.sys.setMaxSend(0);
    while (!f.queue.empty()) {
      // The two are counted in different ways; a shared block is held as a whole.
      REQUIRE(f.queue.heldBytes() <= f.queue.reclaimableBytes());
      static_cast<void>(f.queue.flush(f.pool, f.transport, f.pair.first, 2000));
      got += f.pair.second.read();
    }
    CHECK(f.queue.heldBytes() == 0);
    REQUIRE((got + f.pair.second.read() == expected));
  }
}

TEST_CASE("out queue: a full socket is said, and the rest stays", "[out_queue]") {
  Fixture f;
  f.sys.setCapacity(1000);
  f.pair = f.sys.connectedPair();
  const std::string bytes = test::patternOf(2500);
  f.queue.addShared(f.pool, BufferRef::copyOf(bytes), 0, bytes.size());
  std::string got;
  IoResult result = f.flush();
  CHECK(result.state == IoState::kWantWrite);
  CHECK(result.bytes == 1000);
  CHECK(f.queue.memoryBytes() == 1500);
  CHECK(f.flush().state == IoState::kWantWrite);
  while (!f.queue.empty()) {
    got += f.pair.second.read();
    result = f.flush();
  }
  CHECK(result.state == IoState::kDone);
  CHECK(got + f.pair.second.read() == bytes);
}

TEST_CASE("out queue: interruptions are not errors", "[out_queue]") {
  Fixture f;
  f.sys.interruptEvery(2);
  f.queue.addCopy(f.pool, "abc");
  f.queue.addFile(f.pool, f.file("defg"), 0, 4);
  f.queue.addCopy(f.pool, "hi");
  CHECK(f.flush().state == IoState::kDone);
  CHECK(f.pair.second.read() == "abcdefghi");
}

TEST_CASE("out queue: a file that shrinks while it is sent ends the sending", "[out_queue]") {
  Fixture f;
  const int fd = test::tempFile(test::patternOf(5000));
  f.queue.addFile(f.pool, OpenFile(f.sys, fd), 0, 5000);
  f.sys.setMaxSend(2000);
  CHECK(f.flush().state == IoState::kWantWrite);
  REQUIRE(::ftruncate(fd, 3000) == 0);
  IoResult result = f.flush();
  CHECK(result.bytes == 1000);
  while (result.state == IoState::kWantWrite) result = f.flush();
  CHECK(result.state == IoState::kEof);
}

TEST_CASE("out queue: errors carry their errno", "[out_queue]") {
  Fixture f;
  f.queue.addCopy(f.pool, "abc");
  f.sys.failNth(Call::kSend, 1, EPIPE);
  const IoResult result = f.flush();
  CHECK(result.state == IoState::kError);
  CHECK(result.sys_errno == EPIPE);
}

TEST_CASE("out queue: a file that has shrunk says what is missing", "[out_queue]") {
  Fixture f;
  const OpenFile file = f.file("abc");
  f.queue.addFile(f.pool, file, 1, 10);
  IoResult result = f.flush();
  if (result.state == IoState::kWantWrite) result = f.flush();
  REQUIRE(result.state == IoState::kEof);
  CHECK(f.queue.missingRange().fd == file.fd());
  CHECK(f.queue.missingRange().offset == 3);
  CHECK(f.queue.missingRange().size == 8);
}

TEST_CASE("out queue: an open file closes with its last reference", "[out_queue]") {
  SimSys sys;
  ChunkPool chunks;
  OutPool pool(chunks);
  OutQueue queue;
  const int fd = sys.openAt(-100, "/dev/null", 0);
  REQUIRE(sys.openFds() == 1);
  OpenFile file(sys, fd);
  queue.addFile(pool, file, 0, 10);
  file = OpenFile();
  CHECK(sys.openFds() == 1);
  queue.clear(pool);
  CHECK(sys.openFds() == 0);
  CHECK(queue.empty());
}

}  // namespace
}  // namespace roost::net
