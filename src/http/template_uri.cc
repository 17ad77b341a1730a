// Templates for URIs: which part of one a variable stands in, and what its value may be there.
#include <array>
#include <utility>

#include "http/escape.h"
#include "http/target.h"
#include "http/template.h"

namespace roost::http {
namespace {

constexpr std::string_view kUnreservedMarks = "-._~";
constexpr std::string_view kReserved = ":/?#[]@!$&'()*+,;=";

constexpr bool isAlnum(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool isUnreserved(char c) noexcept {
  return isAlnum(c) || kUnreservedMarks.find(c) != std::string_view::npos;
}

template <class Keep>
void appendEncoded(std::string& out, std::string_view value, Keep&& keep) {
  for (const char c : value) {
    if (keep(c)) {
      out += c;
    } else {
      appendPercentEncoded(out, c);
    }
  }
}

// Within a string's quotes. "</script>" would end a script that holds it.
void appendJsonText(std::string& out, std::string_view value) {
  std::string quoted;
  appendJson(quoted, value);
  for (const char c : std::string_view(quoted).substr(1, quoted.size() - 2)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
}

// JavaScript has two more kinds of quotes than JSON, one of them with "${", and once had two more line ends.
void appendScriptText(std::string& out, std::string_view value) {
  std::string text;
  appendJsonText(text, value);
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i, 3);
    if (rest[0] == '\'') {
      out += "\\u0027";
    } else if (rest[0] == '`') {
      out += "\\u0060";
    } else if (rest[0] == '$') {
      out += "\\u0024";
    } else if (rest == "\u2028" || rest == "\u2029") {
      out += rest == "\u2028" ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += rest[0];
    }
  }
}

// The length of "scheme://" or "//" that `text` begins with, 0 for none.
size_t authorityMark(std::string_view text) noexcept {
  if (text.substr(0, 2) == "//") return 2;
  size_t end = 0;
  while (end < text.size() &&
         (isAlnum(text[end]) || std::string_view("+-.").find(text[end]) != std::string_view::npos)) {
    ++end;
  }
  return end > 0 && text.substr(end, 3) == "://" ? end + 3 : 0;
}

// Where one is behind `text`, which begins in `place`.
Escape placeBehind(Escape place, std::string_view text) noexcept {
  for (const char c : text) {
    if (c == '?' || c == '#') place = Escape::kUriQuery;
    if (c == '/' && place == Escape::kUriHost) place = Escape::kUriPath;
  }
  return place;
}

std::string asUri(std::string_view text) {
  std::string out;
  appendEscaped(out, text, Escape::kUri);
  return out;
}

}  // namespace

void appendEscaped(std::string& out, std::string_view value, Escape escape) {
  switch (escape) {
    case Escape::kNone:
      out += value;
      return;
    case Escape::kHtml:
      return appendHtml(out, value);
    case Escape::kJson:
      return appendJsonText(out, value);
    case Escape::kScript:
      return appendScriptText(out, value);
    case Escape::kUriHost:
      return appendEncoded(out, value, isUnreserved);
    case Escape::kUriPath:
      return appendEncodedPath(out, value);
    case Escape::kUriQuery:
      return appendEncoded(out, value, [](char c) { return isUnreserved(c) || c == '/'; });
    case Escape::kUri:
      return appendEncoded(out, value, [](char c) {
        return isUnreserved(c) || c == '%' || kReserved.find(c) != std::string_view::npos;
      });
  }
}

Result<Template> Template::compileUri(std::string_view text, const std::vector<std::string>& names) {
  if (Status status = checkForeignVariables(text); !status.ok()) return status;
  Result<Template> compiled = compile(text, names);
  if (!compiled.ok()) return compiled;
  Template made = std::move(compiled).value();
  const std::string& first = made.parts_.empty() ? made.text_ : made.parts_[0].before;
  const std::string& second = made.parts_.size() < 2 ? made.text_ : made.parts_[1].before;
  const bool scheme = !made.parts_.empty() && first.empty() && made.parts_[0].variable == Variable::kScheme &&
                      second.compare(0, 3, "://") == 0;
  made.is_own_path_ = !scheme && authorityMark(first) == 0;
  made.placeInUri(made.is_own_path_ ? Escape::kUriPath : Escape::kUriHost);
  return made;
}

Result<Template> Template::compileQuery(std::string_view text, const std::vector<std::string>& names) {
  if (Status status = checkForeignVariables(text); !status.ok()) return status;
  Result<Template> compiled = compile(text, names);
  if (!compiled.ok()) return compiled;
  Template made = std::move(compiled).value();
  made.placeInUri(Escape::kUriQuery);
  return made;
}

// `place` is where the text begins, without its scheme.
void Template::placeInUri(Escape place) {
  size_t behind_mark = 0;  // of the literal at hand
  if (place == Escape::kUriHost) behind_mark = authorityMark(parts_.empty() ? text_ : parts_[0].before);
  for (Part& part : parts_) {
    if (&part == &parts_[0] && place == Escape::kUriHost && behind_mark == 0) {  // {scheme}
      behind_mark = 3;
      continue;
    }
    place = placeBehind(place, std::string_view(part.before).substr(behind_mark));
    behind_mark = 0;
    part.before = asUri(part.before);
    const bool is_path = part.variable == Variable::kPath || part.variable == Variable::kEncodedPath ||
                         part.variable == Variable::kTarget;
    if (is_path && place == Escape::kUriHost) place = Escape::kUriPath;  // they begin with a slash
    part.escape = place;
    const bool as_it_is = (part.variable == Variable::kHost && place == Escape::kUriHost) ||
                          (part.variable == Variable::kEncodedPath && place == Escape::kUriPath) ||
                          (part.variable == Variable::kTarget && place == Escape::kUriPath) ||
                          (part.variable == Variable::kQuery && place == Escape::kUriQuery);
    if (as_it_is) part.escape = Escape::kUri;
    // It may have had a query.
    if (part.variable == Variable::kTarget && place == Escape::kUriPath) place = Escape::kUriQuery;
  }
  text_ = asUri(text_);
}

void Template::appendUri(std::string& out, const Exchange& exchange) const {
  const size_t start = out.size();
  append(out, exchange);
  if (!is_own_path_) return;
  size_t slashes = start;
  while (slashes < out.size() && out[slashes] == '/') ++slashes;
  out.erase(start, slashes - start);
  out.insert(start, 1, '/');
}

}  // namespace roost::http
