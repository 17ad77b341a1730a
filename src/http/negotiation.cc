#include "http/negotiation.h"

#include "http/ascii.h"
#include "http/response_head.h"
#include "http/token_list.h"

namespace roost::http {
namespace {

struct CodingNames {
  std::string_view name;
  std::string_view suffix;
};
constexpr CodingNames kNames[kCodingCount] = {
    {"identity", ""}, {"br", ".br"}, {"zstd", ".zst"}, {"gzip", ".gz"}};

bool isDigit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// The weight of an element from what follows its coding; -1 where that is malformed.
int weightOf(std::string_view parameters) noexcept {
  parameters = trimOws(parameters);
  if (parameters.empty()) return 1000;
  parameters = trimOws(parameters.substr(1));  // the semicolon
  if (parameters.size() < 3 || lowerAscii(parameters[0]) != 'q' || parameters[1] != '=') return -1;
  return parseWeight(parameters.substr(2));
}

bool anyElement(std::string_view list, std::string_view wanted) noexcept {
  for (TokenList elements(list); elements.next();) {
    if (equalsToken(elements.element(), wanted)) return true;
  }
  return false;
}

}  // namespace

std::string_view codingName(Coding coding) noexcept {
  return kNames[static_cast<size_t>(coding)].name;
}

std::string_view codingSuffix(Coding coding) noexcept {
  return kNames[static_cast<size_t>(coding)].suffix;
}

Coding codingByName(std::string_view name) noexcept {
  for (const Coding coding : kCodings) {
    if (equalsToken(name, codingName(coding)) || equalsToken(name, codingSuffix(coding).substr(1)))
      return coding;
  }
  return equalsToken(name, "x-gzip") ? Coding::kGzip : Coding::kIdentity;
}

bool CodingOrder::has(Coding coding) const noexcept {
  for (const Coding mine : *this) {
    if (mine == coding) return true;
  }
  return false;
}

void CodingOrder::add(Coding coding) noexcept {
  if (coding != Coding::kIdentity && !has(coding)) codings[count++] = coding;
}

int parseWeight(std::string_view text) noexcept {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return -1;
  if (text.size() > 1 && text[1] != '.') return -1;
  int thousandths = (text[0] - '0') * 1000;
  int unit = 100;
  for (const char c : text.substr(text.size() > 1 ? 2 : 1)) {
    if (!isDigit(c)) return -1;
    thousandths += (c - '0') * unit;
    unit /= 10;
  }
  return thousandths <= 1000 ? thousandths : -1;
}

AcceptedCodings::AcceptedCodings(const RequestHead& head) noexcept {
  weights_[0] = kUnnamed;
  if (!head.has(FieldId::kAcceptEncoding)) return;
  int of_others = -1;
  std::array<bool, kCodingCount> named{};
  TokenList list(head, FieldId::kAcceptEncoding);
  for (size_t i = 0; i < kMostElements && list.next(); ++i) {
    const std::string_view element = list.element();
    const size_t end = element.find(';');
    const std::string_view name = trimOws(element.substr(0, end));
    const bool any = name == "*";
    const Coding coding = any ? Coding::kIdentity : codingByName(name);
    // A file's suffix is no name of a coding here.
    const bool known = any || equalsToken(name, codingName(coding)) || equalsToken(name, "x-gzip");
    if (!known) continue;
    const int weight = weightOf(end == std::string_view::npos ? std::string_view{} : element.substr(end));
    if (weight < 0) continue;
    const auto index = static_cast<size_t>(coding);
    if (any) {
      if (of_others < 0) of_others = weight;
    } else if (!named[index]) {
      named[index] = true;
      weights_[index] = static_cast<uint16_t>(2 * weight);
    }
  }
  for (size_t i = 0; of_others >= 0 && i < kCodingCount; ++i) {
    if (!named[i]) weights_[i] = static_cast<uint16_t>(2 * of_others);
  }
}

Coding AcceptedCodings::best(const CodingOrder& offered) const noexcept {
  Coding best = Coding::kIdentity;
  uint16_t most = 0;
  for (const Coding coding : offered) {
    if (weight(coding) <= most) continue;
    best = coding;
    most = weight(coding);
  }
  return most >= weight(Coding::kIdentity) ? best : Coding::kIdentity;
}

void addVaryOnEncoding(ResponseHead& head) {
  bool said = false;
  head.forEach([&said](std::string_view name, std::string_view value) {
    if (equalsToken(name, "Vary")) said |= anyElement(value, "Accept-Encoding") || anyElement(value, "*");
  });
  if (!said) head.add("Vary", "Accept-Encoding");
}

bool hasCacheDirective(const ResponseHead& head, std::string_view directive) noexcept {
  bool found = false;
  head.forEach([&](std::string_view name, std::string_view value) {
    if (equalsToken(name, "Cache-Control")) found |= anyElement(value, directive);
  });
  return found;
}

}  // namespace roost::http
