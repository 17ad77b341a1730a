#include "http/template.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/hex.h"
#include "http/target.h"

namespace roost::http {
namespace {

// As forms encode: %XX and '+' for a space.
void appendDecoded(std::string& out, std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size();
    const int high = escape ? hexValue(text[i + 1]) : -1;
    const int low = escape ? hexValue(text[i + 2]) : -1;
    if (high >= 0 && low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
}

void appendIp(std::string& out, const net::PeerAddr& address) {
  char text[net::PeerAddr::kMaxText];
  out.append(text, address.formatIp(text));
}

// The value behind "name=" in a list; nothing where the name is not there.
std::string_view findPair(std::string_view list, std::string_view name, char separator) noexcept {
  while (!list.empty()) {
    const size_t end = std::min(list.find(separator), list.size());
    std::string_view pair = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    while (!pair.empty() && pair.front() == ' ') pair.remove_prefix(1);
    if (pair.size() > name.size() && pair[name.size()] == '=' && pair.substr(0, name.size()) == name) {
      return pair.substr(name.size() + 1);
    }
  }
  return {};
}

}  // namespace

Result<Template> Template::compile(std::string_view text, const std::vector<std::string>& names,
                                   Escape escape) {
  constexpr std::pair<std::string_view, Variable> kVariables[] = {{"method", Variable::kMethod},
                                                                  {"scheme", Variable::kScheme},
                                                                  {"host", Variable::kHost},
                                                                  {"target", Variable::kTarget},
                                                                  {"path", Variable::kPath},
                                                                  {"encoded_path", Variable::kEncodedPath},
                                                                  {"query", Variable::kQuery},
                                                                  {"client", Variable::kClient},
                                                                  {"client_port", Variable::kClientPort},
                                                                  {"peer", Variable::kPeer},
                                                                  {"request_id", Variable::kRequestId},
                                                                  {"user", Variable::kUser}};
  constexpr std::pair<std::string_view, Variable> kPrefixes[] = {
      {"header.", Variable::kHeader}, {"cookie.", Variable::kCookie}, {"query.", Variable::kQueryArgument}};
  Template made;
  std::string literal;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      literal += c;
      ++i;
      continue;
    }
    if (c == '}') return Status::error("a \"}\" without its \"{\"; write \"}}\" for the character");
    if (c != '{') {
      literal += c;
      continue;
    }
    const size_t end = text.find('}', i);
    if (end == std::string_view::npos) {
      return Status::error("a \"{\" without its \"}\"; write \"{{\" for the character");
    }
    const std::string_view name = text.substr(i + 1, end - i - 1);
    i = end;
    Part part{std::exchange(literal, {}), Variable::kParam, std::string(name), escape};
    bool known = std::find(names.begin(), names.end(), name) != names.end();
    for (const auto& [word, variable] : kVariables) {
      if (known || word != name) continue;
      part.variable = variable;
      known = true;
    }
    for (const auto& [prefix, variable] : kPrefixes) {
      if (known || name.substr(0, prefix.size()) != prefix || name.size() == prefix.size()) continue;
      part.variable = variable;
      part.name = std::string(name.substr(prefix.size()));
      known = true;
    }
    if (!known) return Status::error(fmt::format("there is no variable \"{{{}}}\"", name));
    made.parts_.push_back(std::move(part));
  }
  made.text_ = std::move(literal);
  return made;
}

void Template::append(std::string& out, const Exchange& exchange, const Captures* captures) const {
  for (const Part& part : parts_) {
    out += part.before;
    const size_t start = out.size();
    appendValue(out, part, exchange, captures);
    if (part.escape == Escape::kNone) continue;
    const std::string value = out.substr(start);
    out.resize(start);
    appendEscaped(out, value, part.escape);
  }
  out += text_;
}

void Template::appendFieldValue(std::string& out, const Exchange& exchange) const {
  const size_t start = out.size();
  append(out, exchange);
  const auto forbidden = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  };
  out.erase(std::remove_if(out.begin() + static_cast<ptrdiff_t>(start), out.end(), forbidden), out.end());
}

void Template::appendValue(std::string& out, const Part& part, const Exchange& exchange,
                           const Captures* captures) {
  const RequestHead& request = exchange.request();
  switch (part.variable) {
    case Variable::kMethod:
      out += request.view(request.method_text);
      return;
    case Variable::kScheme:
      out += exchange.scheme();
      return;
    case Variable::kHost:
      out += exchange.host();
      return;
    case Variable::kTarget:
      if (part.escape == Escape::kNone) {
        out += request.view(request.target);
        return;
      }
      // In a URI it is path and query, whatever the target's form.
      out += request.view(request.path).substr(0, 1) == "/" ? request.view(request.path) : "/";
      if (request.has_query) (out += '?') += request.view(request.query);
      return;
    case Variable::kPath:
      if (part.escape != Escape::kNone && exchange.path().substr(0, 1) != "/") out += '/';
      out += exchange.path();
      return;
    case Variable::kEncodedPath:
      if (part.escape != Escape::kNone && exchange.path().substr(0, 1) != "/") out += '/';
      appendEncodedPath(out, exchange.path());
      return;
    case Variable::kQuery:
      out += exchange.query();
      return;
    case Variable::kClient:
      appendIp(out, exchange.client());
      return;
    case Variable::kClientPort:
      out += std::to_string(exchange.client().port);
      return;
    case Variable::kPeer:
      appendIp(out, exchange.peer());
      return;
    case Variable::kRequestId:
      out += exchange.requestId();
      return;
    case Variable::kUser:
      out += exchange.user();
      return;
    case Variable::kHeader:
      out += request.get(part.name);
      return;
    case Variable::kCookie:
      out += findPair(request.get(FieldId::kCookie), part.name, ';');
      return;
    case Variable::kQueryArgument:
      appendDecoded(out, findPair(exchange.query(), part.name, '&'));
      return;
    case Variable::kParam:
      out += captures != nullptr && captures->has(part.name) ? captures->get(part.name)
                                                             : exchange.param(part.name);
      return;
  }
}

}  // namespace roost::http
