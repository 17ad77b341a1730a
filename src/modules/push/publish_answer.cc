#include "modules/push/publish_answer.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <array>
#include <iterator>

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

double asMs(int64_t ns) noexcept {
  return ns < 0 ? -1.0 : static_cast<double>(ns) / 1e6;
}

// Up to twice the least, so that those who were refused together do not come back together.
uint64_t retryAfterS(int status) noexcept {
  thread_local uint64_t state = randomWord();
  const uint64_t least = status == 429 ? 1 : 2;
  return least + scrambled(++state) % (least * 2);
}

void appendText(std::string& out, const ChannelInfo& info, const Waited* waited) {
  fmt::format_to(
      std::back_inserter(out),
      FMT_COMPILE("queued messages: {}\r\nlast requested: {} sec. ago\r\nactive subscribers: {}\r\n"
                  "last message id: {}"),
      info.messages, info.requested_ago_s, info.subscribers, info.last_id.text());
  if (waited == nullptr) return;
  fmt::format_to(std::back_inserter(out),
                 "\r\ndelivered: {}\r\nlast delivery: {:.3f} ms (-1=none)\r\nall delivered: {}",
                 waited->delivered, asMs(waited->last_delivery_ns), waited->all ? "yes" : "no");
}

void appendXml(std::string& out, const ChannelInfo& info, const Waited* waited) {
  fmt::format_to(std::back_inserter(out),
                 "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\r\n<channel>\r\n  <messages>{}</messages>\r\n"
                 "  <requested>{}</requested>\r\n  <subscribers>{}</subscribers>\r\n"
                 "  <last_message_id>{}</last_message_id>\r\n",
                 info.messages, info.requested_ago_s, info.subscribers, info.last_id.text());
  if (waited != nullptr) {
    fmt::format_to(std::back_inserter(out),
                   "  <delivered>{}</delivered>\r\n  <last_delivery_ms>{:.3f}</last_delivery_ms>\r\n"
                   "  <all_delivered>{}</all_delivered>\r\n",
                   waited->delivered, asMs(waited->last_delivery_ns), waited->all);
  }
  out += "</channel>";
}

void appendYaml(std::string& out, const ChannelInfo& info, const Waited* waited) {
  fmt::format_to(std::back_inserter(out),
                 "---\r\nmessages: {}\r\nrequested: {}\r\nsubscribers: {}\r\nlast_message_id: \"{}\"\r\n",
                 info.messages, info.requested_ago_s, info.subscribers, info.last_id.text());
  if (waited != nullptr) {
    fmt::format_to(std::back_inserter(out),
                   "delivered: {}\r\nlast_delivery_ms: {:.3f}\r\nall_delivered: {}\r\n", waited->delivered,
                   asMs(waited->last_delivery_ns), waited->all);
  }
  out += "\r\n";
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
  fmt::format_to(
      std::back_inserter(out),
      FMT_COMPILE("\"messages\": {}, \"requested\": {}, \"subscribers\": {}, \"last_message_id\": \"{}\""),
      info.messages, info.requested_ago_s, info.subscribers, info.last_id.text());
  if (waited == nullptr) return;
  fmt::format_to(std::back_inserter(out),
                 ", \"delivered\": {}, \"last_delivery_ms\": {:.3f}, \"all_delivered\": {}",
                 waited->delivered, asMs(waited->last_delivery_ns), waited->all);
}

void appendInfo(std::string& out, AnswerForm form, const ChannelInfo& info, const Waited* waited) {
  switch (form) {
    case AnswerForm::kJson:
    case AnswerForm::kTextJson:
      out += '{';
      appendJsonMembers(out, info, waited);
      out += " }";
      return;
    case AnswerForm::kXml:
      return appendXml(out, info, waited);
    case AnswerForm::kYaml:
      return appendYaml(out, info, waited);
    case AnswerForm::kText:
      return appendText(out, info, waited);
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

void replyRefused(http::Exchange& exchange, int status, AnswerForm form, std::string_view why) {
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
  if (status == 429 || status == 503) head.addNumber("Retry-After", retryAfterS(status));
  exchange.reply(head, body);
}

}  // namespace roost::modules::push
