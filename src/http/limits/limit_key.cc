#include "http/limits/limit_key.h"

#include <utility>

namespace roost::http {

Result<LimitKey> LimitKey::compile(std::string_view text, unsigned ipv6_prefix_bits,
                                   const std::vector<std::string>& names) {
  if (Status foreign = checkForeignVariables(text); !foreign.ok()) return foreign;
  auto made = Template::compile(text, names);
  if (!made.ok()) return made.status();
  if (made->isLiteral() && made->text().empty()) return Status::error("an empty key counts nothing");
  return LimitKey(std::move(made).value(), ipv6_prefix_bits, text == "{client}");
}

bool LimitKey::hash(const Exchange& exchange, const SipKey& secret, uint64_t& out) const noexcept {
  if (is_address_) {
    out = net::AddressHash(secret, ipv6_prefix_bits_)(exchange.client());
    return true;
  }
  thread_local std::string text;
  text.clear();
  template_.append(text, exchange);
  out = sipHash13(secret, text);
  return !text.empty();
}

std::string LimitKey::describe(const Exchange& exchange) const {
  std::string text;
  template_.append(text, exchange);
  return text;
}

}  // namespace roost::http
