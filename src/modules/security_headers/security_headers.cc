#include "modules/security_headers/security_headers.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "http/exchange.h"
#include "http/field_syntax.h"

namespace roost::embedded {
extern const std::string_view security_headers_schema;
}

namespace roost::modules::security_headers {
namespace {

constexpr std::string_view kByPreset = "preset";

// A key, its field, and what the presets say. "": the field is not sent.
struct Known {
  std::string_view key;
  std::string_view field;
  std::string_view basic;
  std::string_view strict;
};
// A policy of content must let the built-in pages keep their inline style.
constexpr std::array<Known, 8> kKnown{{
    {"content_type_options", "X-Content-Type-Options", "nosniff", "nosniff"},
    {"referrer_policy", "Referrer-Policy", "strict-origin-when-cross-origin", "no-referrer"},
    {"frame_options", "X-Frame-Options", "SAMEORIGIN", "DENY"},
    {"content_security_policy", "Content-Security-Policy", "frame-ancestors 'self'",
     "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; "
     "base-uri 'self'; form-action 'self'; frame-ancestors 'none'"},
    {"permissions_policy", "Permissions-Policy", "",
     "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), serial=(), usb=()"},
    {"opener_policy", "Cross-Origin-Opener-Policy", "", "same-origin"},
    {"resource_policy", "Cross-Origin-Resource-Policy", "", "same-origin"},
    {"embedder_policy", "Cross-Origin-Embedder-Policy", "", ""},
}};

struct Field {
  std::string name;
  std::string value;
};

// What the handler has said itself stands: it knows its page better.
class Fields final : public http::HeadFilter {
 public:
  explicit Fields(std::vector<Field> fields) : fields_(std::move(fields)) {}
  void onHead(std::string_view, http::ResponseHead& head) const noexcept override {
    for (const Field& field : fields_) {
      if (!head.has(field.name)) head.add(field.name, field.value);
    }
  }

 private:
  const std::vector<Field> fields_;
};

// RFC 6797 section 7.2: never over plain HTTP, so it depends on the request.
class TransportSecurity final : public http::ResponseFilter {
 public:
  explicit TransportSecurity(std::string value) : value_(std::move(value)) {}
  void onHead(http::Exchange& exchange, http::ResponseHead& head) const noexcept override {
    constexpr std::string_view kName = "Strict-Transport-Security";
    if (exchange.scheme() == "https" && !head.has(kName)) head.add(kName, value_);
  }

 private:
  const std::string value_;
};

Result<std::vector<Field>> fieldsOf(config::Node node, const std::string& preset) {
  std::vector<Field> fields;
  for (const Known& known : kKnown) {
    const config::Node own = node[known.key];
    const bool by_preset = !own.exists() || (own.isString() && own.asString() == kByPreset);
    std::string value;
    if (by_preset) {
      value = preset == "basic" ? known.basic : preset == "strict" ? known.strict : std::string_view{};
    } else {
      value = own.asString();  // null: empty
    }
    if (!http::isFieldValue(value)) {
      return Status::error("\"" + std::string(known.key) + "\" begins or ends with a space");
    }
    if (!value.empty()) fields.push_back({std::string(known.field), std::move(value)});
  }
  return fields;
}

// The value of Strict-Transport-Security (RFC 6797 section 6.1).
Result<std::string> transportSecurity(config::Node node) {
  constexpr int64_t kPreloadAge_s = 31'536'000;
  const int64_t age_s = node["max_age_s"].asInt();
  const bool subdomains = node["include_subdomains"].asBool();
  std::string value = "max-age=" + std::to_string(age_s);
  if (subdomains) value += "; includeSubDomains";
  if (node["preload"].asBool()) {
    if (!subdomains || age_s < kPreloadAge_s) {
      return Status::error(
          "\"preload\": browsers' lists take only hosts with \"include_subdomains\" and a \"max_age_s\" of a "
          "year (31536000) or more");
    }
    value += "; preload";
  }
  return value;
}

class SecurityHeaders final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"security_headers", embedded::security_headers_schema, false, true};
  }
  Status start(const module::StartContext&) override { return {}; }
  Result<module::RouteParts> build(config::Node node, const module::RouteContext&) override {
    const std::string& preset = node.isString() ? node.asString() : node["preset"].asString();
    Result<std::vector<Field>> fields = fieldsOf(node, preset);
    if (!fields.ok()) return fields.status();
    module::RouteParts parts;
    if (!fields->empty()) parts.head_filters.push_back(std::make_shared<Fields>(std::move(*fields)));
    if (node["hsts"].isObject()) {
      Result<std::string> value = transportSecurity(node["hsts"]);
      if (!value.ok()) return value.status();
      parts.response_filters.push_back(std::make_shared<TransportSecurity>(std::move(*value)));
    }
    return parts;
  }
};

}  // namespace

std::unique_ptr<module::Module> makeSecurityHeaders() {
  return std::make_unique<SecurityHeaders>();
}

}  // namespace roost::modules::security_headers
