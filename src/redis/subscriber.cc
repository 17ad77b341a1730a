#include "redis/subscriber.h"

#include <string>
#include <utility>

namespace roost::redis {
namespace {

constexpr std::string_view kPing[] = {"PING"};

bool isText(const Reply& reply, size_t index) noexcept {
  return index < reply.elements.size() && reply.elements[index].type == Reply::Type::kString;
}

}  // namespace

Subscriber::Subscriber(net::IoContext& io, net::Resolver& resolver, const RedisOptions& options,
                       SubscriptionListener& listener)
    : options_(options), listener_(listener), link_(io, resolver, options, *this) {
  link_.start();
}

Subscriber::~Subscriber() = default;

void Subscriber::say(std::string_view word, std::string_view name) {
  const std::string_view command[] = {word, name};
  std::string bytes;
  appendCommand(bytes, command, 2);
  link_.send(bytes);
}

void Subscriber::add(std::string_view name, bool is_pattern) {
  Names& names = is_pattern ? patterns_ : channels_;
  if (!names.emplace(name, false).second) return;
  if (link_.up()) say(is_pattern ? "PSUBSCRIBE" : "SUBSCRIBE", name);
}

void Subscriber::drop(std::string_view name, bool is_pattern) {
  Names& names = is_pattern ? patterns_ : channels_;
  const auto found = names.find(name);
  if (found == names.end()) return;
  names.erase(found);
  if (link_.up()) say(is_pattern ? "PUNSUBSCRIBE" : "UNSUBSCRIBE", name);
}

void Subscriber::onUp() noexcept {
  pinged_ = false;
  link_.setDeadline(options_.ping_interval_ms);
  for (auto& [name, said_yes] : channels_) say("SUBSCRIBE", name);
  for (auto& [name, said_yes] : patterns_) say("PSUBSCRIBE", name);
}

// A name may have been dropped, or dropped and added again, since this was asked for.
void Subscriber::confirm(Names& names, std::string_view name, bool is_pattern) noexcept {
  const auto found = names.find(name);
  if (found == names.end() || std::exchange(found->second, true)) return;
  listener_.onSubscribed(name, is_pattern);
}

void Subscriber::onReply(std::unique_ptr<Reply> reply) noexcept {
  pinged_ = false;
  link_.setDeadline(options_.ping_interval_ms);
  if (reply->isError()) return link_.drop({RedisError::kAuth, 0, reply->text});
  if (reply->type == Reply::Type::kStatus) return;  // PONG, where nothing is subscribed to
  if (!isText(*reply, 0)) return link_.drop({RedisError::kProtocol, 0, "not a message"});
  const std::string& kind = reply->elements[0].text;
  const std::string_view first =
      isText(*reply, 1) ? std::string_view(reply->elements[1].text) : std::string_view{};
  if (kind == "message" && isText(*reply, 2)) {
    if (channels_.count(first) != 0) listener_.onMessage(first, {}, reply->elements[2].text);
  } else if (kind == "pmessage" && isText(*reply, 2) && isText(*reply, 3)) {
    if (patterns_.count(first) != 0)
      listener_.onMessage(reply->elements[2].text, first, reply->elements[3].text);
  } else if (kind == "subscribe") {
    confirm(channels_, first, false);
  } else if (kind == "psubscribe") {
    confirm(patterns_, first, true);
  } else if (kind != "unsubscribe" && kind != "punsubscribe" && kind != "pong") {
    link_.drop({RedisError::kProtocol, 0, "not a message"});
  }
}

void Subscriber::onDown(const RedisFailure& failure) noexcept {
  for (auto& [name, said_yes] : channels_) said_yes = false;
  for (auto& [name, said_yes] : patterns_) said_yes = false;
  listener_.onLost(failure);
}

void Subscriber::onDeadline() noexcept {
  if (std::exchange(pinged_, true)) return link_.drop({RedisError::kTimeout, 0, "no sign of life"});
  std::string bytes;
  appendCommand(bytes, kPing, 1);
  link_.send(bytes);
  link_.setDeadline(options_.command_timeout_ms);
}

}  // namespace roost::redis
