#include "modules/compress/policy.h"

#include <algorithm>
#include <utility>

#include "base/memory.h"
#include "http/ascii.h"
#include "http/exchange.h"
#include "http/token_list.h"
#include "modules/compress/encoder.h"
#include "modules/compress/stage.h"

namespace roost::modules::compress {
namespace {

using http::Coding;

// Answers of this thread's loop that are being coded. A stage may be destroyed after its loop's thread has
// ended.
thread_local const std::shared_ptr<size_t> live_stages = std::make_shared<size_t>(0);

bool hasContent(int status) noexcept {
  return status >= 200 && status != 204 && status != 205 && status != 304;
}

// RFC 9110 section 8.8.3.3: two codings of one representation must not share a strong tag. A weak one serves
// all of them, and If-None-Match, which compares weakly, still finds it.
void weakenTag(http::ResponseHead& head) {
  const std::string_view tag = head.get("ETag");
  if (tag.empty() || tag.substr(0, 2) == "W/") return;
  const std::string weak = "W/" + std::string(tag);
  head.remove("ETag");
  head.add("ETag", weak);
}

// A part in bytes is one of the content as it was not coded; in another unit (rows of a table) the content is
// whole in itself.
bool isPartInBytes(const http::ResponseHead& head) noexcept {
  const std::string_view range = head.get("Content-Range");
  return range.empty() ? head.status == 206 : range.substr(0, 5) == "bytes";
}

bool mayTransform(const http::ResponseHead& head) noexcept {
  return !head.has("Content-Encoding") && !http::hasCacheDirective(head, "no-transform");
}

}  // namespace

Policy::Policy(const Options& options)
    : min_bytes_(options.min_bytes), levels_(options.levels), max_streams_(options.max_streams) {
  order_ = options.order;
  max_kept_bytes_ = options.max_kept_bytes;
  for (const std::string& type : options.types) {
    if (type.back() == '*') {
      kinds_.push_back(type.substr(0, type.size() - 1));
    } else if (type.front() == '*') {
      suffixes_.push_back(type.substr(1));
    } else {
      types_.push_back(type);
    }
  }
  for (const Coding coding : http::kCodings) {
    tag_suffixes_[static_cast<size_t>(coding)] =
        std::string(http::codingSuffix(coding).substr(1)) + std::to_string(level(coding));
  }
}

bool Policy::isWorthy(std::string_view content_type) const noexcept {
  constexpr size_t kLongest = 128;
  const std::string_view given = http::trimOws(content_type.substr(0, content_type.find(';')));
  if (given.empty() || given.size() > kLongest) return false;
  char text[kLongest];
  std::transform(given.begin(), given.end(), text, http::lowerAscii);
  const std::string_view type(text, given.size());
  for (const std::string& whole : types_) {
    if (type == whole) return true;
  }
  // Its events must not wait for one another.
  if (type == "text/event-stream") return false;
  for (const std::string& kind : kinds_) {
    if (type.substr(0, kind.size()) == kind) return true;
  }
  for (const std::string& suffix : suffixes_) {
    if (type.size() > suffix.size() && type.substr(type.size() - suffix.size()) == suffix) return true;
  }
  return false;
}

bool Policy::applies(std::string_view content_type, int64_t size) const noexcept {
  if (size >= 0 && static_cast<uint64_t>(size) < min_bytes_) return false;
  return isWorthy(content_type);
}

bool Policy::encode(Coding coding, std::string_view content, std::string& out) const noexcept {
  const size_t before = out.size();
  const auto encoder = makeEncoder(coding, level(coding), static_cast<int64_t>(content.size()));
  bool is_coded = false;
  if (encoder == nullptr ||
      !memory::forAnswer([&] { is_coded = encoder->encode(content, Flush::kEnd, out); }))
    return false;
  if (!is_coded) return false;
  return out.size() - before < content.size();
}

void Policy::onHead(http::Exchange& exchange, http::ResponseHead& head, bool fin) const noexcept {
  if (head.negotiated || !mayTransform(head)) return;
  const bool not_modified = head.status == 304;
  if (!not_modified) {
    if (!hasContent(head.status) || isPartInBytes(head)) return;
    if (fin && !exchange.isHead()) return;
    if (!applies(head.get("Content-Type"), head.content_length)) return;
  }
  http::addVaryOnEncoding(head);
  const Coding coding = http::AcceptedCodings(exchange.request()).best(order_);
  if (coding == Coding::kIdentity) return;
  if (not_modified) return weakenTag(head);
  if (!exchange.isHead()) {
    auto encoder = *live_stages < max_streams_ && !memory::reserveInUse()
                       ? makeEncoder(coding, level(coding), head.content_length)
                       : nullptr;
    if (encoder == nullptr) {
      if (auto* trace = exchange.trace())
        trace->note("compress: too many answers are being coded; sent as it is");
      return;
    }
    exchange.setBodyStage(std::make_unique<Stage>(
        exchange, std::move(encoder), isCheap(coding, level(coding)), head.content_length, live_stages));
  }
  if (auto* trace = exchange.trace())
    trace->note("compress: coded with " + std::string(http::codingName(coding)));
  head.add("Content-Encoding", http::codingName(coding));
  head.remove("Accept-Ranges");
  weakenTag(head);
  head.content_length = http::ResponseHead::kUnknownLength;
}

}  // namespace roost::modules::compress
