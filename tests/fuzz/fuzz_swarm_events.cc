// links: roost_tools_swarm
// The load generator's event stream: the same events come out however the bytes are cut, and numbers are read
// from their text alone.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tools/swarm/sequence.h"
#include "tools/swarm/sse_scanner.h"

namespace {

std::vector<std::string> eventsOf(std::string_view text, size_t piece) {
  roost::swarm::SseScanner scanner;
  std::vector<std::string> events;
  while (!text.empty()) {
    // A copy of just these bytes, so that a look beyond them is seen.
    const std::vector<char> copy(text.begin(),
                                 text.begin() + static_cast<long>(std::min(piece, text.size())));
    std::string_view now(copy.data(), copy.size());
    text.remove_prefix(now.size());
    while (!now.empty()) {
      size_t consumed = 0;
      const bool event = scanner.next(now, consumed);
      if (consumed == 0 || consumed > now.size()) std::abort();
      if (event) events.push_back(std::string(scanner.type()) + '\n' + std::string(scanner.data()));
      now.remove_prefix(consumed);
    }
  }
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = eventsOf(text, size);
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{5}}) {
    if (eventsOf(text, piece) != whole) std::abort();
  }
  for (const std::string& event : whole) {
    const std::string content = event.substr(event.find('\n') + 1);
    const roost::swarm::Numbered numbered = roost::swarm::readNumbered(content);
    if (numbered.ok && (content.empty() || content[0] < '0' || content[0] > '9')) std::abort();
  }
  return 0;
}
