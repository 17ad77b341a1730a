#include "config/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/config.h"

namespace roost::config {
namespace {

constexpr size_t kLongestQuote = 60;
constexpr size_t kLongestName = 64;  // longer text is no misspelt name

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Optimal string alignment distance: an exchange of two neighbours is one mistake, not two.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t differs = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + differs});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string Diagnostic::toString() const {
  std::string text = where.file;
  if (where.line > 0) text += fmt::format(":{}:{}", where.line, where.column);
  text += ": error: " + message;
  if (!excerpt.empty()) text += "\n" + excerpt;
  return text;
}

void Errors::add(const Mark& where, std::string message, std::string excerpt) {
  ++total_;
  if (entries_.size() < kMaxErrors) entries_.push_back({where, std::move(message), std::move(excerpt)});
}

bool Errors::full() const noexcept {
  return entries_.size() >= kMaxErrors;
}

std::vector<Diagnostic> Errors::take(const std::vector<const std::string*>& files) {
  const auto rank = [&files](const Mark& mark) {
    return std::find(files.begin(), files.end(), mark.file) - files.begin();
  };
  std::stable_sort(entries_.begin(), entries_.end(), [&rank](const Entry& a, const Entry& b) {
    if (a.where.file != b.where.file) return rank(a.where) < rank(b.where);
    return a.where.line != b.where.line ? a.where.line < b.where.line : a.where.column < b.where.column;
  });
  std::vector<Diagnostic> diagnostics;
  for (Entry& entry : entries_) {
    Position where;
    if (entry.where.file != nullptr) where.file = *entry.where.file;
    where.line = static_cast<int>(entry.where.line);
    where.column = static_cast<int>(entry.where.column);
    diagnostics.push_back({std::move(where), std::move(entry.message), std::move(entry.excerpt)});
  }
  if (total_ > entries_.size() && !files.empty()) {
    diagnostics.push_back(
        {{*files.front(), 0, 0}, fmt::format("and {} more errors", total_ - entries_.size()), {}});
  }
  entries_.clear();
  total_ = 0;
  return diagnostics;
}

std::string inQuotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, kLongestQuote)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  // A character of several bytes that was cut through goes as a whole.
  if (text.size() > kLongestQuote) {
    size_t end = kLongestQuote;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
      out.pop_back();
      --end;
    }
    out += "...";
  }
  return out + "\"";
}

std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates) {
  if (text.empty() || text.size() > kLongestName) return {};
  std::string_view best;
  // About one mistake in three characters; a word of one or two letters is too little to guess from.
  size_t best_distance = text.size() < 3 ? 1 : std::min<size_t>(text.size() / 3 + 1, 4);
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > kLongestName) continue;
    const size_t d = distance(text, candidate);
    if (d < best_distance || (d == best_distance && best.empty() && d < candidate.size())) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

std::string didYouMean(std::string_view text, const std::vector<std::string_view>& candidates) {
  const std::string_view best = nearest(text, candidates);
  return best.empty() ? std::string() : fmt::format(": did you mean {}?", inQuotes(best));
}

}  // namespace roost::config
