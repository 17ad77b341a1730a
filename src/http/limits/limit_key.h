#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/sip_hash.h"
#include "base/status.h"
#include "http/template.h"
#include "net/address_hash.h"

namespace roost::http {

// What a limit counts by: the client's address, or any text made of the request. Immutable; any thread.
class LimitKey {
 public:
  // `text` is a template (http/template.h); "{client}" alone is the address, IPv6 by its first bits.
  // `names` as in Template::compile. Errors: its.
  static Result<LimitKey> compile(std::string_view text, unsigned ipv6_prefix_bits,
                                  const std::vector<std::string>& names = {});

  // A number that stands for the key of this request under the secret; false where the key is an empty text,
  // which no limit counts. Allocates nothing once a thread has seen its longest key. REQUIRES: not parked.
  bool hash(const Exchange& exchange, const SipKey& secret, uint64_t& out) const noexcept;
  // The key in words, for an explanation.
  std::string describe(const Exchange& exchange) const;

 private:
  LimitKey(Template made, unsigned ipv6_prefix_bits, bool is_address)
      : template_(std::move(made)), ipv6_prefix_bits_(ipv6_prefix_bits), is_address_(is_address) {}
  Template template_;
  unsigned ipv6_prefix_bits_;
  bool is_address_;
};

}  // namespace roost::http
