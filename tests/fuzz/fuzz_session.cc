// links: roost_http roost_sim
// Bytes of a client, cut into segments, through a whole HTTP/1 session on the simulated kernel. The input's
// first byte says how short calls are, the second which call fails (0: none); then come segments: a length
// byte, a flag byte, that many bytes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "unit/http/h1/session_fixture.h"

namespace {

using roost::http::SessionFixture;

#define CHECK_OR_DIE(condition)                                            \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                        \
    }                                                                      \
  } while (false)

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  SessionFixture f;
  f.file_bytes = "content of a file";
  f.server.options.max_body_bytes = 4096;
  f.server.options.max_discard_body_bytes = 512;
  f.server.start();
  auto& sys = f.server.net.sys;
  const size_t open_before = sys.openFds();
  sys.setMaxRecv(data[0] % 8 == 0 ? 0 : data[0] % 64);
  sys.setMaxSend(data[0] % 4 == 0 ? 0 : data[0]);
  sys.setCapacity(data[0] % 2 == 0 ? 256 * 1024 : 3000);
  if (data[1] != 0) sys.failAnyNth(data[1]);
  const bool faulty = data[1] != 0;
  roost::test::SimPeer peer = f.server.connect();
  std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  std::string got;
  while (rest.size() >= 2) {
    const size_t length = static_cast<uint8_t>(rest[0]);
    const auto flags = static_cast<uint8_t>(rest[1]);
    peer.write(rest.substr(2, length));
    rest.remove_prefix(std::min(rest.size(), 2 + length));
    CHECK_OR_DIE(f.server.settle());
    if ((flags & 1) != 0) f.answerLater();
    if ((flags & 2) != 0) f.resumeLater();
    if ((flags & 4) != 0) got += peer.read(100);
    if (flags == 0xff) peer.shutdownWrite();
    CHECK_OR_DIE(f.server.settle());
  }
  for (int i = 0; i < 4000; ++i) {
    f.answerLater();
    f.resumeLater();
    CHECK_OR_DIE(f.server.settle());
    const std::string more = peer.read();
    if (more.empty()) break;
    got += more;
  }
  // Every answer belongs to a request: one that was handled, or one that was refused or not found.
  const bool knows_heads = got.find("HTTP/1.1 101") == std::string::npos;
  size_t starts = 0;
  for (size_t at = got.find("HTTP/1.1 "); at != std::string::npos; at = got.find("HTTP/1.1 ", at + 1))
    ++starts;
  const std::string_view sent(reinterpret_cast<const char*>(data), size);
  const size_t line_ends = static_cast<size_t>(std::count(sent.begin(), sent.end(), '\n'));
  if (knows_heads) CHECK_OR_DIE(starts <= 2 * line_ends + 2);
  if (!got.empty() && !faulty)
    CHECK_OR_DIE(
        got.compare(0, std::min<size_t>(got.size(), 9), "HTTP/1.1 ", std::min<size_t>(got.size(), 9)) == 0);
  CHECK_OR_DIE(f.fate.handled >= f.fate.aborted);
  // It ends or waits: once the client is gone and all timeouts are over, nothing is left.
  peer.close();
  CHECK_OR_DIE(f.server.net.pass(200'000, 20'000));
  CHECK_OR_DIE(f.server.net.io().size() == 0);
  CHECK_OR_DIE(sys.openFds() == open_before);
  return 0;
}
