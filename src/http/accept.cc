#include "http/accept.h"

#include "http/ascii.h"
#include "http/token_list.h"

namespace roost::http {
namespace {

bool isDigit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// Of a range that covers the type: how closely it names it.
int specificity(std::string_view range) noexcept {
  if (range.back() != '*') return 3;
  return range == "*/*" ? 1 : 2;
}

// The weight among a range's parameters.
int weightOf(std::string_view parameters) noexcept {
  while (!parameters.empty()) {
    const size_t end = parameters.find(';');
    const std::string_view parameter = trimOws(parameters.substr(0, end));
    if (parameter.size() > 2 && lowerAscii(parameter[0]) == 'q' && parameter[1] == '=') {
      return parseQuality(parameter.substr(2));
    }
    if (end == std::string_view::npos) break;
    parameters.remove_prefix(end + 1);
  }
  return 1000;
}

}  // namespace

int parseQuality(std::string_view text) noexcept {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return 1000;
  if (text.size() > 1 && text[1] != '.') return 1000;
  int thousandths = (text[0] - '0') * 1000;
  int unit = 100;
  for (size_t i = 2; i < text.size(); ++i, unit /= 10) {
    if (!isDigit(text[i])) return 1000;
    thousandths += (text[i] - '0') * unit;
  }
  return thousandths > 1000 ? 1000 : thousandths;
}

bool rangeCovers(std::string_view range, std::string_view type) noexcept {
  type = trimOws(type.substr(0, type.find(';')));
  if (range == "*/*" || equalsToken(range, type)) return !range.empty();
  if (range.size() < 3 || range.substr(range.size() - 2) != "/*") return false;
  const std::string_view kind = range.substr(0, range.size() - 1);
  return equalsToken(kind, type.substr(0, kind.size()));
}

int qualityOf(const RequestHead& head, std::string_view type) noexcept {
  if (!head.has(FieldId::kAccept)) return 1000;
  int best = 0;
  int quality = 0;
  for (TokenList list(head, FieldId::kAccept); list.next();) {
    const std::string_view element = list.element();
    const size_t semicolon = element.find(';');
    const std::string_view range = trimOws(element.substr(0, semicolon));
    if (range.empty() || !rangeCovers(range, type) || specificity(range) <= best) continue;
    best = specificity(range);
    quality = semicolon == std::string_view::npos ? 1000 : weightOf(element.substr(semicolon + 1));
  }
  return quality;
}

}  // namespace roost::http
