#include "push/publish_queue.h"

#include <cassert>
#include <utility>

namespace roost::push {

struct PublishQueue::Waiting : LineHook, AgeHook {
  Waiting(PublishLine& of, PublishRequest&& asked) noexcept : line(of), request(std::move(asked)) {}
  PublishLine& line;
  PublishRequest request;
};

PublishLine& PublishQueue::open(const ChannelKey& key) {
  auto made = std::make_unique<PublishLine>(key.name, key.hash);
  lines_.insert(*made);
  return *made.release();
}

void PublishQueue::close(PublishLine& line) noexcept {
  assert(line.empty());
  lines_.erase(line);
  delete &line;
}

void PublishQueue::add(PublishLine& line, PublishRequest request) {
  line.bytes_ += request.bytes;
  auto* waiting = new Waiting(line, std::move(request));
  line.requests_.insertBefore(static_cast<LineHook&>(*waiting));
  by_age_.insertBefore(static_cast<AgeHook&>(*waiting));
}

PublishRequest PublishQueue::pop(PublishLine& line) noexcept {
  const std::unique_ptr<Waiting> first(static_cast<Waiting*>(static_cast<LineHook*>(line.requests_.next)));
  static_cast<LineHook&>(*first).unlink();
  static_cast<AgeHook&>(*first).unlink();
  line.bytes_ -= first->request.bytes;
  return std::move(first->request);
}

PublishLine* PublishQueue::overdue(int64_t now_ns) noexcept {
  if (!by_age_.linked()) return nullptr;
  auto& oldest = static_cast<Waiting&>(static_cast<AgeHook&>(*by_age_.next));
  assert(oldest.line.requests_.next == &static_cast<LineHook&>(oldest));
  return oldest.request.until_ns <= now_ns ? &oldest.line : nullptr;
}

void PublishQueue::clear() noexcept {
  while (PublishLine* line = lines_.any()) {
    while (!line->empty()) pop(*line);
    close(*line);
  }
}

}  // namespace roost::push
