// Full-text searches: PostgreSQL's ways of writing one become MySQL's boolean mode.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tables/sql_context.h"

namespace roost::tables {
namespace {

constexpr size_t kMostWords = 64;

bool isSpace(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool isWordCharacter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// The words of a text, without what boolean mode would take for an operator.
std::vector<std::string> wordsOf(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (isWordCharacter(c)) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// One word, or several in their order; empty: nothing is left of it.
std::string phraseOf(std::string_view text) {
  const std::vector<std::string> words = wordsOf(text);
  if (words.empty()) return {};
  if (words.size() == 1) return words.front();
  std::string phrase = "\"";
  for (const std::string& word : words) phrase += word + ' ';
  phrase.back() = '"';
  return phrase;
}

// "+a +b" of plainto_tsquery.
std::string plainSearch(std::string_view text) {
  std::string search;
  for (const std::string& word : wordsOf(text)) search += (search.empty() ? "+" : " +") + word;
  return search;
}

// "quoted phrase" word -word or word, of websearch_to_tsquery: each group of words joined by "or" must be
// there.
class WebSearch {
 public:
  std::string run(std::string_view text) {
    while (!text.empty()) {
      if (isSpace(text.front())) {
        text.remove_prefix(1);
        continue;
      }
      const bool negated = text.front() == '-';
      if (negated) text.remove_prefix(1);
      add(takeTerm(text), negated);
    }
    flush();
    return std::move(search_);
  }

 private:
  // A quoted phrase or a word.
  std::string takeTerm(std::string_view& text) {
    const bool phrase = !text.empty() && text.front() == '"';
    if (phrase) text.remove_prefix(1);
    size_t end = 0;
    while (end < text.size() && (phrase ? text[end] != '"' : !isSpace(text[end]) && text[end] != '"')) ++end;
    const std::string_view term = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + (phrase ? 1 : 0)));
    is_or_ = !phrase && (term == "or" || term == "OR" || term == "Or");
    return phraseOf(term);
  }

  void add(std::string term, bool negated) {
    if (is_or_ && !negated && !group_.empty()) {
      or_ = true;
      return;
    }
    if (term.empty()) return;
    if (negated) {
      flush();
      append("-" + term);
      return;
    }
    if (!or_) flush();
    or_ = false;
    group_.push_back(std::move(term));
  }

  void append(const std::string& part) { search_ += (search_.empty() ? "" : " ") + part; }

  void flush() {
    or_ = false;
    if (group_.empty()) return;
    std::string part = group_.size() > 1 ? "+(" : "+";
    for (const std::string& term : group_) part += (part.size() > 2 ? " " : "") + term;
    append(group_.size() > 1 ? part + ")" : part);
    group_.clear();
  }

  std::string search_;
  std::vector<std::string> group_;
  bool or_ = false;  // the next word belongs to the group
  bool is_or_ = false;
};

// "cat & (dog | !rat)" of to_tsquery, to "+cat +(dog ...)". Recursive descent; deep nesting is refused.
class TsQuery {
 public:
  explicit TsQuery(std::string_view text) noexcept : rest_(text) {}

  // False: `error` says why.
  bool run(std::string& out, std::string& error) {
    Node node;
    bool good = either(node, 0);
    skip();
    if (good && !rest_.empty()) good = fail("'&' or '|' is expected between words");
    if (good && node.negated) good = fail("a search for what is not there is a negated filter: not.fts");
    if (!good) {
      error = error_;
      return false;
    }
    out = node.all ? node.text : '+' + node.text;
    return true;
  }

 private:
  // A part of the search: `text` as a term that may stand behind '+' or '-', or, where `all`, a list of such.
  struct Node {
    std::string text;
    bool negated = false;
    bool all = false;
  };

  bool fail(std::string_view what) {
    error_ = what;
    return false;
  }

  void skip() noexcept {
    while (!rest_.empty() && isSpace(rest_.front())) rest_.remove_prefix(1);
  }

  bool take(char c) noexcept {
    skip();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  static std::string grouped(const Node& node) { return node.all ? '(' + node.text + ')' : node.text; }

  bool either(Node& out, int depth) {
    if (!both(out, depth)) return false;
    if (!take('|')) return true;
    std::string list;
    do {
      if (out.negated) return fail("\"a | !b\" has no counterpart in MySQL");
      list += (list.empty() ? "" : " ") + grouped(out);
      out = Node{};
      if (!both(out, depth)) return false;
    } while (take('|'));
    if (out.negated) return fail("\"a | !b\" has no counterpart in MySQL");
    out.text = '(' + list + ' ' + grouped(out) + ')';
    out.all = false;
    return true;
  }

  bool both(Node& out, int depth) {
    if (!unary(out, depth)) return false;
    if (!take('&')) return true;
    std::string list;
    bool positive = false;
    for (bool more = true; more;) {
      positive = positive || !out.negated;
      list += (list.empty() ? "" : " ") + std::string(out.negated ? "-" : "+") + grouped(out);
      out = Node{};
      if (!unary(out, depth)) return false;
      more = take('&');
    }
    positive = positive || !out.negated;
    if (!positive) return fail("a search for what is not there is a negated filter: not.fts");
    out.text = list + ' ' + std::string(out.negated ? "-" : "+") + grouped(out);
    out.negated = false;
    out.all = true;
    return true;
  }

  bool unary(Node& out, int depth) {
    if (depth > 16 || ++words_ > kMostWords) return fail("a search of too many parts");
    if (take('!')) {
      if (!unary(out, depth + 1)) return false;
      if (out.negated) return fail("\"!!\" in a search");
      out.negated = true;
      return true;
    }
    if (take('(')) {
      if (!either(out, depth + 1)) return false;
      return take(')') || fail("')' is expected in a search");
    }
    return phrase(out);
  }

  // Words joined by "<->" are a phrase.
  bool phrase(Node& out) {
    std::string words;
    bool prefix = false;
    do {
      if (prefix) return fail("\":*\" within a phrase");
      std::string word;
      if (!term(word, prefix)) return false;
      words += ' ' + word;
      skip();
    } while (takeFollowedBy());
    out.text = phraseOf(words);
    if (out.text.empty()) return fail("a word is expected in a search");
    if (prefix && out.text.front() == '"') return fail("\":*\" within a phrase");
    if (prefix) out.text += '*';
    return true;
  }

  bool takeFollowedBy() noexcept {
    if (rest_.substr(0, 3) != "<->") return false;
    rest_.remove_prefix(3);
    return true;
  }

  // A word or 'several words', with ":*" behind where only its beginning counts.
  bool term(std::string& out, bool& prefix) {
    skip();
    const bool is_quoted = take('\'');
    const size_t end =
        std::min(is_quoted ? rest_.find('\'') : rest_.find_first_of(" \t\n\r&|!()<>:'"), rest_.size());
    out = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (is_quoted && !take('\'')) return fail("a quote is not closed in a search");
    if (wordsOf(out).empty()) return fail("a word is expected in a search");
    if (rest_.empty() || rest_.front() != ':') return true;
    rest_.remove_prefix(1);
    prefix = !rest_.empty() && rest_.front() == '*';
    if (!prefix) return fail("weights of words have no counterpart in MySQL");
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
  std::string error_;
  size_t words_ = 0;
};

bool searchText(const Condition& condition, std::string& out, std::string& error) {
  const std::string& text = condition.values.front();
  if (condition.mode.empty()) return TsQuery(text).run(out, error);
  if (condition.mode == "plain") {
    out = plainSearch(text);
  } else if (condition.mode == "phrase") {
    out = phraseOf(text);
    if (!out.empty()) out.insert(out.begin(), '+');
  } else {
    out = WebSearch().run(text);
  }
  return true;
}

// The index that has this column alone, or the one of this name, if all it covers is shown.
const Key* findIndex(const SqlContext& context, const std::string& name) {
  const Table& table = *context.table.table;
  const Column* const column = context.fixed ? table.find(name) : context.table.find(name);
  const Key* named = nullptr;
  for (const Key& key : table.keys) {
    if (!key.fulltext) continue;
    if (column != nullptr && key.columns.size() == 1 && &table.columns[key.columns[0]] == column) return &key;
    const bool shown = context.fixed || std::all_of(key.columns.begin(), key.columns.end(), [&](uint16_t at) {
                         return context.table.find(table.columns[at].name) != nullptr;
                       });
    if (column == nullptr && key.name == name && shown) named = &key;
  }
  return named;
}

// Which indexes cover the column beside others, for the hint.
std::string indexesWith(const SqlContext& context, const std::string& name) {
  std::string hint;
  const Table& table = *context.table.table;
  for (const Key& key : table.keys) {
    const bool covers = key.fulltext && std::any_of(key.columns.begin(), key.columns.end(), [&](uint16_t at) {
                          return table.columns[at].name == name && context.table.find(name) != nullptr;
                        });
    if (covers)
      hint += fmt::format("{}{}", hint.empty() ? "search a whole index by its name: " : ", ", key.name);
  }
  return hint;
}

}  // namespace

bool appendFullText(const SqlContext& context, const Condition& condition, db::Statement& out) {
  const std::string& name = condition.path.column;
  if (!condition.path.steps.empty())
    return context.refuse("no_fulltext_key",
                          pathText(condition.path) + ": there is no full-text index within JSON");
  const Key* const key = findIndex(context, name);
  if (key == nullptr) {
    const std::string hint = indexesWith(context, name);
    if (hint.empty() && context.find(name) == nullptr) return false;
    return context.refuse("no_fulltext_key", name + ": there is no full-text index of this column alone",
                          hint);
  }
  std::string search;
  std::string error;
  if (!searchText(condition, search, error)) return context.refuse("bad_value", name + ": " + error);
  out.text << "MATCH(";
  for (const uint16_t& at : key->columns) {
    if (&at != &key->columns.front()) out.text << ",";
    context.append(context.table.table->columns[at], out.text);
  }
  out.text << ") AGAINST(? IN BOOLEAN MODE)";
  out.values.push_back(db::Value::ofText(std::move(search)));
  return true;
}

}  // namespace roost::tables
