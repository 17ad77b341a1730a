#include "base/form_text.h"

#include "base/hex.h"

namespace roost {

bool appendFormDecoded(std::string_view sent, std::string& out) {
  out.reserve(out.size() + sent.size());
  for (size_t i = 0; i < sent.size(); ++i) {
    if (sent[i] != '%') {
      out += sent[i] == '+' ? ' ' : sent[i];
      continue;
    }
    const int high = i + 2 < sent.size() ? hexValue(sent[i + 1]) : -1;
    const int low = i + 2 < sent.size() ? hexValue(sent[i + 2]) : -1;
    if (high < 0 || low < 0) return false;
    out += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return true;
}

}  // namespace roost
