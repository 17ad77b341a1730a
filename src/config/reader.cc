#include "config/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "config/config.h"

namespace roost::config {
namespace {

using Json = nlohmann::json;

void replaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// Turns the parser's "[..] parse error at ..: syntax error while parsing X - unexpected Y; last read: 'Z';
// expected W" into a sentence for people. `word` is the text of the token at fault.
std::string sentence(std::string_view what, std::string_view word) {
  if (const size_t end = what.find("] "); end != std::string_view::npos) what.remove_prefix(end + 2);
  const size_t dash = what.find(" - ");
  const std::string_view context = what.substr(0, dash == std::string_view::npos ? 0 : dash);
  std::string text(dash == std::string_view::npos ? what : what.substr(dash + 3));
  if (text.find("invalid literal") == 0) {
    const bool is_key = context.find("object key") != std::string_view::npos;
    const bool is_number =
        !is_key && std::string_view("+-.0123456789").find(word.substr(0, 1)) != std::string_view::npos;
    if (is_number) return inQuotes(word) + " is not a number that JSON knows";
    return inQuotes(word) + " cannot stand here: " +
           (is_key ? "a key stands in double quotes" : "text stands in double quotes");
  }
  if (const size_t last_read = text.find("; last read: '"); last_read != std::string::npos) {
    const size_t quote = text.find("'; expected ", last_read);
    text.erase(last_read, quote == std::string::npos ? std::string::npos : quote + 1 - last_read);
  }
  if (text.find("invalid string: control character U+000A") == 0 ||
      text.find("invalid string: missing closing") == 0) {
    return "this string is not closed in its line";
  }
  if (text.find("unexpected end of input") == 0) text.replace(0, 23, "the file ends too early");
  const char* close = context.find("parsing object") != std::string_view::npos ? "}" : "]";
  const std::string expected = fmt::format("expected '{}'", close);
  if (const size_t at = text.find(expected); at != std::string::npos) {
    text.replace(at, expected.size(), fmt::format("expected ',' or '{}'", close));
    if (text.find(" literal;") != std::string::npos) text += " (is a comma missing?)";
  }
  replaceAll(text, "; expected string literal", "; expected a key in double quotes");
  replaceAll(text, "string literal", "string");
  replaceAll(text, "number literal", "number");
  replaceAll(text, "or a literal", "or a value");
  return text;
}

// Receives the parser's events and builds the tree. Each event that is a key or a value takes the next
// token's place.
class TreeBuilder {
 public:
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  TreeBuilder(std::string_view text, Lines& lines, const std::vector<Token>& tokens, const std::string* file,
              Errors& errors)
      : text_(text), lines_(lines), tokens_(tokens), file_(file), errors_(errors) {}

  Value takeRoot() { return std::move(root_); }

  bool null() { return add(Kind::kNull) != nullptr; }
  bool boolean(bool value) {
    add(Kind::kBool)->boolean = value;
    return true;
  }
  bool number_integer(number_integer_t value) {
    add(Kind::kInt)->integer = value;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<int64_t>::max())) {
      add(Kind::kDouble)->number = static_cast<double>(value);
    } else {
      add(Kind::kInt)->integer = static_cast<int64_t>(value);
    }
    return true;
  }
  bool number_float(number_float_t value, const string_t&) {
    add(Kind::kDouble)->number = value;
    return true;
  }
  bool string(string_t& value) {
    add(Kind::kString)->string = std::move(value);
    return true;
  }
  bool binary(binary_t&) { return false; }
  bool start_object(size_t) { return open(Kind::kObject); }
  bool start_array(size_t) { return open(Kind::kArray); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(string_t& name) {
    key_at_ = nextMark();
    Level& level = open_.back();
    const auto [seen, fresh] = level.keys.emplace(name, key_at_.line);
    level.is_repeated = !fresh;
    if (!fresh)
      errors_.add(key_at_,
                  fmt::format("the key {} is given twice, first in line {}", inQuotes(name), seen->second));
    key_ = std::move(name);
    return true;
  }

  bool parse_error(size_t position, const std::string&, const Json::exception& error) {
    // The parser counts the bytes it has read; the token that made it stop began before that.
    size_t offset = position > 0 ? position - 1 : 0;
    const std::string_view what = error.what();
    const bool in_string = what.find("invalid string") != std::string_view::npos;
    const bool open_string = what.find("U+000A") != std::string_view::npos ||
                             what.find("missing closing") != std::string_view::npos;
    const bool at_end = what.find("unexpected end of input") != std::string_view::npos;
    if (!at_end && (!in_string || open_string)) {
      offset = tokenAt(offset, what.find("invalid literal") != std::string_view::npos);
    }
    std::string message = sentence(what, wordAt(offset));
    if (at_end && !open_.empty()) {
      const Value& value = *open_.back().value;
      message += fmt::format("; the '{}' of line {} is still open", value.is(Kind::kObject) ? '{' : '[',
                             value.at.line);
    }
    errors_.add(lines_.mark(file_, offset), std::move(message), lines_.excerpt(offset));
    return false;
  }

 private:
  struct Level {
    Value* value;
    std::unordered_map<std::string, uint32_t> keys;  // with their lines
    bool is_repeated = false;                        // the member being read is a second one
  };

  // Where the token begins that covers the offset. The parser sees that a word is none of its own only at the
  // character behind it: then the token before is meant.
  size_t tokenAt(size_t offset, bool is_word) const {
    auto after = std::upper_bound(tokens_.begin(), tokens_.end(), offset,
                                  [](size_t at, const Token& token) { return at < token.offset; });
    if (after == tokens_.begin()) return offset;
    auto token = std::prev(after);
    const bool punctuation =
        std::string_view("{}[],:\"").find(text_[token->offset]) != std::string_view::npos;
    if (is_word && punctuation && token != tokens_.begin()) --token;
    return token->offset;
  }

  std::string_view wordAt(size_t offset) const {
    if (offset >= text_.size()) return {};
    return text_.substr(offset, std::max<size_t>(1, text_.substr(offset).find_first_of(" \t\r\n{}[],:\"")));
  }

  Mark nextMark() {
    while (next_ < tokens_.size() && !tokens_[next_].is_value) ++next_;
    return next_ < tokens_.size() ? lines_.mark(file_, tokens_[next_++].offset) : Mark{file_, 0, 0};
  }

  Value* add(Kind kind) {
    Value* place = &root_;
    if (!open_.empty()) {
      Level& level = open_.back();
      if (level.is_repeated) {
        level.is_repeated = false;
        spare_.push_back(std::make_unique<Value>());
        place = spare_.back().get();
      } else {
        place = &level.value->children.emplace_back();
      }
      if (level.value->is(Kind::kObject)) {
        place->key = std::move(key_);
        place->key_at = key_at_;
      }
    }
    place->kind = kind;
    place->at = nextMark();
    return place;
  }

  bool open(Kind kind) {
    Value* value = add(kind);
    if (open_.size() >= static_cast<size_t>(kMaxDepth)) {
      errors_.add(value->at, fmt::format("nested too deep: at most {} levels are allowed", kMaxDepth));
      return false;
    }
    open_.push_back({value, {}, false});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  Lines& lines_;
  const std::vector<Token>& tokens_;
  const std::string* file_;
  Errors& errors_;
  Value root_;
  std::vector<Level> open_;
  std::vector<std::unique_ptr<Value>> spare_;  // values of repeated keys: read, and then not used
  std::string key_;
  Mark key_at_;
  size_t next_ = 0;
};

}  // namespace

std::optional<Value> readText(std::string_view text, const std::string* file, Errors& errors) {
  Lines lines(text);
  std::string json(text);
  std::vector<Token> tokens;
  if (const auto error = blankExtensions(json, tokens)) {
    errors.add(lines.mark(file, error->offset), error->message, lines.excerpt(error->offset));
    return std::nullopt;
  }
  if (tokens.empty()) {
    errors.add({file, 0, 0}, text.empty() ? "the file is empty; the least that will do is {}"
                                          : "the file holds no configuration; the least that will do is {}");
    return std::nullopt;
  }
  TreeBuilder builder(json, lines, tokens, file, errors);
  if (!Json::sax_parse(json, &builder)) return std::nullopt;
  return builder.takeRoot();
}

}  // namespace roost::config
