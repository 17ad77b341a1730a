// Content codings and which of them a client takes (RFC 9110 sections 8.4.1 and 12.5.3). Pure functions, any
// thread that may read the head.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/message.h"

namespace roost::http {

class ResponseHead;

// What content may be coded with; kIdentity is not coded at all.
enum class Coding : uint8_t { kIdentity, kBrotli, kZstd, kGzip };
constexpr size_t kCodingCount = 4;
constexpr std::array<Coding, 3> kCodings = {Coding::kBrotli, Coding::kZstd, Coding::kGzip};

// As in Content-Encoding: "br", "zstd", "gzip"; "identity".
std::string_view codingName(Coding coding) noexcept;
// What a file's name has at its end when it is coded: ".br", ".zst", ".gz"; "" for identity.
std::string_view codingSuffix(Coding coding) noexcept;
// The coding by either of its names ("zstd", "zst", "gz", "x-gzip"), in any case; kIdentity for every other.
Coding codingByName(std::string_view name) noexcept;

// Codings in the order in which the server would rather send them, none twice.
struct CodingOrder {
  std::array<Coding, kCodings.size()> codings{};
  uint8_t count = 0;

  const Coding* begin() const noexcept { return codings.data(); }
  const Coding* end() const noexcept { return codings.data() + count; }
  bool has(Coding coding) const noexcept;
  void add(Coding coding) noexcept;  // nothing where it is there already
};

// What a request's Accept-Encoding says, as far as this server is concerned.
//
//   - Without the field nothing is known of what the client can decode: identity alone.
//   - "x-gzip" is gzip. Of a coding that is named twice the first mention counts. "*" is what every coding
//   that
//     is not named has, identity among them.
//   - Identity that neither is named nor meant by "*" is taken, but any coding that is named comes before it.
//   - An element with a malformed weight, or with any other parameter, is passed over; so is all that follows
//     the first kMostElements.
//
// A value of a few bytes.
class AcceptedCodings {
 public:
  static constexpr size_t kMostElements = 64;

  AcceptedCodings() noexcept { weights_[0] = kUnnamed; }
  explicit AcceptedCodings(const RequestHead& head) noexcept;

  // How much the client wants it, from 1 to kMost; 0: not at all. Comparable with others, nothing more.
  static constexpr uint16_t kMost = 2000;
  uint16_t weight(Coding coding) const noexcept { return weights_[static_cast<size_t>(coding)]; }
  bool takes(Coding coding) const noexcept { return weight(coding) > 0; }
  // Whether any coding but identity is taken at all.
  bool takesAny() const noexcept { return (weights_[1] | weights_[2] | weights_[3]) != 0; }

  // The best of those offered and identity: the greatest weight, then the order of the offer, identity last.
  // kIdentity also where not even that is acceptable.
  Coding best(const CodingOrder& offered) const noexcept;

 private:
  // Twice the thousandths, so that there is something below the least weight a client can give.
  static constexpr uint16_t kUnnamed = 1;
  std::array<uint16_t, kCodingCount> weights_{};
};

// A weight (RFC 9110 section 12.4.2) in thousandths, "0.5" or "1"; -1 where it is none.
int parseWeight(std::string_view text) noexcept;

// Makes sure that the head says Vary: Accept-Encoding (or *).
void addVaryOnEncoding(ResponseHead& head);
// Whether a Cache-Control line of the head has this directive, which takes no argument.
bool hasCacheDirective(const ResponseHead& head, std::string_view directive) noexcept;

}  // namespace roost::http
