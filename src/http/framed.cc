#include "http/framed.h"

#include <cassert>
#include <cstring>

#include "http/h1/writer.h"

namespace roost::http {

BufferRef makeFramed(size_t size, char*& content) {
  assert(size > 0);
  char line[18];
  const std::string_view head = h1::chunkSizeLine(size, line);
  BufferRef framed = BufferRef::allocateForPeer(head.size() + size + 2);
  if (!framed) return framed;
  char* out = framed.mutableData();
  std::memcpy(out, head.data(), head.size());
  std::memcpy(out + head.size() + size, "\r\n", 2);
  content = out + head.size();
  return framed;
}

std::string_view contentOf(const BufferRef& framed) noexcept {
  std::string_view text = framed.view();
  text.remove_prefix(text.find('\n') + 1);
  text.remove_suffix(2);
  return text;
}

}  // namespace roost::http
