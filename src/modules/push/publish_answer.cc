#include "modules/push/publish_answer.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/random.h"
#include "http/accept.h"
#include "http/exchange.h"
#include "http/template.h"
#include "modules/push/publisher.h"

namespace roost::modules::push {
namespace {

using ::roost::push::ChannelInfo;
using ::roost::push::PublishResult;
using ::roost::push::PublishStatus;

struct Type {
  std::string_view name;
  AnswerForm form;
};
// The first is what is sent where several are liked as well.
constexpr std::array<Type, 9> kTypes = {{{"text/plain", AnswerForm::kText},
                                         {"application/json", AnswerForm::kJson},
                                         {"text/json", AnswerForm::kTextJson},
                                         {"text/xml", AnswerForm::kXml},
                                         {"application/xml", AnswerForm::kXml},
                                         {"text/yaml", AnswerForm::kYaml},
                                         {"application/yaml", AnswerForm::kYaml},
                                         {"text/x-yaml", AnswerForm::kYaml},
                                         {"application/x-yaml", AnswerForm::kYaml}}};

constexpr size_t kUsualBytes = 256;  // of an answer

double asMs(int64_t ns) noexcept {
  return ns < 0 ? -1.0 : static_cast<double>(ns) / 1e6;
}

// Up to twice the least, so that those who were refused together do not come back together.
uint64_t retryAfterS(int status) noexcept {
  thread_local uint64_t state = randomWord();
  const uint64_t least = status == 429 ? 1 : 2;
  return least + scrambled(++state) % (least * 2);
}

// A form is what stands before each value, and at the ends.
struct Words {
  std::array<std::string_view, 4> before;  // messages, requested, subscribers, id
  std::string_view behind_id;
  std::array<std::string_view, 3> before_waited;  // delivered, last delivery, all delivered
  std::string_view behind_waited;
  std::array<std::string_view, 2> yes_no;
  std::string_view end;
};

constexpr Words kTextWords = {{"queued messages: ", "\r\nlast requested: ",
                               " sec. ago\r\nactive subscribers: ", "\r\nlast message id: "},
                              {},
                              {"\r\ndelivered: ", "\r\nlast delivery: ", " ms (-1=none)\r\nall delivered: "},
                              {},
                              {"yes", "no"},
                              {}};
constexpr Words kJsonWords = {
    {"\"messages\": ", ", \"requested\": ", ", \"subscribers\": ", ", \"last_message_id\": \""},
    "\"",
    {", \"delivered\": ", ", \"last_delivery_ms\": ", ", \"all_delivered\": "},
    {},
    {"true", "false"},
    {}};
constexpr Words kXmlWords = {
    {"<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\r\n<channel>\r\n  <messages>",
     "</messages>\r\n  <requested>", "</requested>\r\n  <subscribers>",
     "</subscribers>\r\n  <last_message_id>"},
    "</last_message_id>\r\n",
    {"  <delivered>", "</delivered>\r\n  <last_delivery_ms>", "</last_delivery_ms>\r\n  <all_delivered>"},
    "</all_delivered>\r\n",
    {"true", "false"},
    "</channel>"};
constexpr Words kYamlWords = {
    {"---\r\nmessages: ", "\r\nrequested: ", "\r\nsubscribers: ", "\r\nlast_message_id: \""},
    "\"\r\n",
    {"delivered: ", "\r\nlast_delivery_ms: ", "\r\nall_delivered: "},
    "\r\n",
    {"true", "false"},
    "\r\n"};

void appendNumber(std::string& out, std::string_view before, int64_t number) {
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(before).append(digits.data(), end);
}

void append(std::string& out, const Words& words, const ChannelInfo& info, const Waited* waited) {
  appendNumber(out, words.before[0], info.messages);
  appendNumber(out, words.before[1], info.requested_ago_s);
  appendNumber(out, words.before[2], info.subscribers);
  out.append(words.before[3]).append(info.last_id.text()).append(words.behind_id);
  if (waited != nullptr) {
    appendNumber(out, words.before_waited[0], waited->delivered);
    out.append(words.before_waited[1]).append(fmt::format("{:.3f}", asMs(waited->last_delivery_ns)));
    out.append(words.before_waited[2]).append(words.yes_no[waited->all ? 0 : 1]);
    out.append(words.behind_waited);
  }
  out.append(words.end);
}

}  // namespace

AnswerForm answerForm(const http::RequestHead& head) noexcept {
  const std::string_view accept = head.get(http::FieldId::kAccept);
  if (accept.empty() || accept == "*/*") return AnswerForm::kText;
  int best = 0;
  AnswerForm form = AnswerForm::kText;
  for (const Type& type : kTypes) {
    const int quality = http::qualityOf(head, type.name);
    if (quality <= best) continue;
    best = quality;
    form = type.form;
  }
  return form;
}

std::string_view contentType(AnswerForm form) noexcept {
  switch (form) {
    case AnswerForm::kJson:
      return "application/json";
    case AnswerForm::kTextJson:
      return "text/json";
    case AnswerForm::kXml:
      return "text/xml";
    case AnswerForm::kYaml:
      return "text/yaml";
    case AnswerForm::kText:
      break;
  }
  return "text/plain";
}

void appendJsonMembers(std::string& out, const ChannelInfo& info, const Waited* waited) {
  append(out, kJsonWords, info, waited);
}

void appendInfo(std::string& out, AnswerForm form, const ChannelInfo& info, const Waited* waited) {
  out.reserve(out.size() + kUsualBytes);
  switch (form) {
    case AnswerForm::kJson:
    case AnswerForm::kTextJson:
      out += '{';
      append(out, kJsonWords, info, waited);
      out += " }";
      return;
    case AnswerForm::kXml:
      return append(out, kXmlWords, info, waited);
    case AnswerForm::kYaml:
      return append(out, kYamlWords, info, waited);
    case AnswerForm::kText:
      return append(out, kTextWords, info, waited);
  }
}

void replyInfo(http::Exchange& exchange, int status, AnswerForm form, const ChannelInfo& info) {
  std::string body;
  appendInfo(body, form, info, nullptr);
  http::ResponseHead head(status);
  head.add("Content-Type", contentType(form));
  head.add("Cache-Control", "no-store");
  exchange.reply(head, body);
}

void replyPublished(http::Exchange& exchange, AnswerForm form, const PublishResult& result, bool waited) {
  if (result.status != PublishStatus::kPublished)
    return replyRefused(exchange, statusOf(result), form, textOf(result.status));
  const Waited told{result.delivered, result.last_delivery_ns, result.all_delivered};
  std::string body;
  appendInfo(body, form, result.channel, waited ? &told : nullptr);
  http::ResponseHead head(statusOf(result));
  head.add("Content-Type", contentType(form));
  if (result.repeated) head.add("Idempotency-Replayed", "true");
  exchange.reply(head, body);
}

void replyNoMemory(http::Exchange& exchange, AnswerForm form) {
  exchange.context().noteNoMemory();
  replyRefused(exchange, 503, form, kNoMemory);
}

void addRetryAfter(http::ResponseHead& head, int status, int64_t retry_after_ns) {
  if (status != 429 && status != 503) return;
  constexpr int64_t kSecondNs = 1'000'000'000;
  const bool known = retry_after_ns > 0;
  head.addNumber("Retry-After", known ? static_cast<uint64_t>((retry_after_ns + kSecondNs - 1) / kSecondNs)
                                      : retryAfterS(status));
}

void replyRefused(http::Exchange& exchange, int status, AnswerForm form, std::string_view why,
                  int64_t retry_after_ns) {
  if (http::Trace* trace = exchange.trace()) trace->note(fmt::format("{}: {}", status, why));
  http::ResponseHead head(status);
  std::string body;
  if (form == AnswerForm::kJson || form == AnswerForm::kTextJson) {
    head.add("Content-Type", contentType(form));
    body = fmt::format("{{\"status\": {}, \"error\": \"", status);
    http::appendEscaped(body, why, http::Escape::kJson);
    body += "\" }";
  } else {
    head.add("Content-Type", "text/plain");
    body = why;
    body += '\n';
  }
  addRetryAfter(head, status, retry_after_ns);
  exchange.reply(head, body);
}

}  // namespace roost::modules::push
