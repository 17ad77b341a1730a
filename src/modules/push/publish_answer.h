// What publishers are answered: a channel's numbers in the form they ask for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "push/hub.h"

namespace roost::http {
class Exchange;
class ResponseHead;
struct RequestHead;
}  // namespace roost::http

namespace roost::modules::push {

constexpr std::string_view kNoMemory = "the server has no memory for this now";

enum class AnswerForm : uint8_t { kText, kJson, kTextJson, kXml, kYaml };

// By Accept; text where it asks for nothing that there is.
AnswerForm answerForm(const http::RequestHead& head) noexcept;
std::string_view contentType(AnswerForm form) noexcept;

// What a publisher that waited is told beside the channel's numbers.
struct Waited {
  uint32_t delivered = 0;
  int64_t last_delivery_ns = -1;
  bool all = false;
};

// Appends them. `waited` may be nullptr.
void appendInfo(std::string& out, AnswerForm form, const ::roost::push::ChannelInfo& info,
                const Waited* waited);
// The members of JSON's object, without its braces.
void appendJsonMembers(std::string& out, const ::roost::push::ChannelInfo& info, const Waited* waited);

// Answers with a channel's numbers.
void replyInfo(http::Exchange& exchange, int status, AnswerForm form, const ::roost::push::ChannelInfo& info);
// Answers with what has become of a message.
void replyPublished(http::Exchange& exchange, AnswerForm form, const ::roost::push::PublishResult& result,
                    bool waited);
// 503: there is no memory for what it has sent.
void replyNoMemory(http::Exchange& exchange, AnswerForm form);
// Answers that it was refused, in a sentence. 429 and 503 say when to come back: after `retry_after_ns` where
// that is known, otherwise not all at the same time.
void replyRefused(http::Exchange& exchange, int status, AnswerForm form, std::string_view why,
                  int64_t retry_after_ns = 0);
// Retry-After of a 429 or 503.
void addRetryAfter(http::ResponseHead& head, int status, int64_t retry_after_ns);

}  // namespace roost::modules::push
