// links: roost_redis
// Replies of a Redis server: whatever the bytes and wherever they are split, the same replies are read, and
// limits hold.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "redis/reply_reader.h"
#include "support/fuzz_require.h"

namespace {

using roost::test::require;

using roost::redis::Reply;
using roost::redis::ReplyLimits;
using roost::redis::ReplyReader;

constexpr size_t kMaxElements = 200;

size_t show(const Reply& reply, std::string& out) {
  out +=
      std::to_string(static_cast<int>(reply.type)) + ":" + std::to_string(reply.integer) + ":" + reply.text;
  require(reply.elements.empty() || reply.type == Reply::Type::kArray, "arrays alone have elements");
  size_t elements = reply.elements.size();
  out += "[";
  for (const Reply& element : reply.elements) elements += show(element, out);
  out += "]";
  return elements;
}

std::string read(std::string_view bytes, size_t step) {
  ReplyLimits limits;
  limits.max_elements = kMaxElements;
  ReplyReader reader(limits);
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += step) {
    reader.feed(bytes.substr(at, step));
    while (const std::unique_ptr<Reply> reply = reader.next()) {
      require(show(*reply, text) <= kMaxElements, "no more elements than allowed");
      text += ";";
    }
    if (reader.failed()) {
      require(reader.next() == nullptr, "nothing comes after a failure");
      return text + reader.error();
    }
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = read(bytes, size + 1);
  for (const size_t step : {size_t{1}, size_t{3}, size_t{17}, size / 2 + 1}) {
    require(read(bytes, step) == whole, "same replies");
  }
  return 0;
}
