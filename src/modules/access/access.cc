#include "modules/access/access.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "http/exchange.h"
#include "modules/access/address_file.h"
#include "net/cidr_map.h"

namespace roost::embedded {
extern const std::string_view access_schema;
}

namespace roost::modules::access {
namespace {

// What is said of a network, and where that stands.
struct Rule {
  bool allow;
  bool in_file;
  uint32_t place;  // index in the list, or line of the file
};
using Rules = std::vector<std::pair<net::Cidr, Rule>>;

class AccessFilter final : public http::RequestFilter {
 public:
  AccessFilter(Rules rules, bool allows_others) : rules_(std::move(rules)), allows_others_(allows_others) {}

  http::Verdict onRequest(http::Exchange& exchange) const noexcept override {
    const Rule* rule = rules_.find(exchange.client());
    const bool allowed = rule == nullptr ? allows_others_ : rule->allow;
    if (http::Trace* trace = exchange.trace()) explain(*trace, exchange.client(), rule, allowed);
    if (allowed) return http::Verdict::kContinue;
    exchange.replyError(403);
    return http::Verdict::kReplied;
  }

 private:
  static void explain(http::Trace& trace, const net::PeerAddr& client, const Rule* rule, bool allowed) {
    char text[net::PeerAddr::kMaxText];
    const std::string_view ip(text, client.formatIp(text));
    std::string why = "no entry covers it";
    if (rule != nullptr) {
      const char* list = rule->allow ? "allow" : "deny";
      why = rule->in_file ? fmt::format("line {} of its {}_file", rule->place, list)
                          : fmt::format("{}[{}]", list, rule->place);
    }
    trace.note(fmt::format("access: {} is {} ({})", ip, allowed ? "allowed" : "denied", why));
  }

  const net::CidrMap<Rule> rules_;
  const bool allows_others_;
};

Status addList(config::Node list, bool allow, Rules& rules) {
  for (size_t i = 0; i < list.size(); ++i) {
    const auto network = net::Cidr::parse(list.at(i).asString());
    if (!network.ok()) {
      return Status::error(fmt::format("{}[{}] (line {}): {}", allow ? "allow" : "deny", i,
                                       list.at(i).position().line, network.status().message()));
    }
    rules.push_back({*network, {allow, false, static_cast<uint32_t>(i)}});
  }
  return {};
}

Status addFile(const std::string& path, bool allow, Rules& rules) {
  if (path.empty()) return {};
  auto lines = readAddressFile(path);
  if (!lines.ok()) return lines.status();
  for (const AddressLine& line : *lines) rules.push_back({line.network, {allow, true, line.line}});
  return {};
}

class Access final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"access", embedded::access_schema, false, true};
  }
  Status start(const module::StartContext&) override { return {}; }
  Result<module::RouteParts> build(config::Node options, const module::RouteContext&) override {
    // Of equal networks the first counts, so deny comes before allow.
    Rules rules;
    Status status = addList(options["deny"], false, rules);
    if (status.ok()) status = addFile(options["deny_file"].asString(), false, rules);
    if (status.ok()) status = addList(options["allow"], true, rules);
    if (status.ok()) status = addFile(options["allow_file"].asString(), true, rules);
    if (!status.ok()) return status;
    const bool has_allow_list = options["allow"].size() > 0 || !options["allow_file"].asString().empty();
    const bool has_deny_list = options["deny"].size() > 0 || !options["deny_file"].asString().empty();
    const config::Node others = options["default"];
    if (!has_allow_list && !has_deny_list && others.isNull()) {
      return Status::error("neither \"allow\" nor \"deny\" nor a \"default\": nothing is said of anybody");
    }
    const bool allows_others = others.isNull() ? !has_allow_list : others.asString() == "allow";
    module::RouteParts parts;
    parts.request_filters.push_back(std::make_shared<AccessFilter>(std::move(rules), allows_others));
    return parts;
  }
};

}  // namespace

std::unique_ptr<module::Module> makeAccess() {
  return std::make_unique<Access>();
}

}  // namespace roost::modules::access
