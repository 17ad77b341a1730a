#include "modules/mysql/batch_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "tables/body.h"
#include "tables/json_builder.h"

namespace roost::modules::mysql {
namespace {

using Text = std::string BatchEntry::*;

struct Member {
  std::string_view name;
  Text text;
};
constexpr std::array kMembers = {Member{"method", &BatchEntry::method}, Member{"path", &BatchEntry::table},
                                 Member{"query", &BatchEntry::query}, Member{"prefer", &BatchEntry::prefer}};
constexpr std::array kFields = {Member{"prefer", &BatchEntry::prefer}, Member{"accept", &BatchEntry::accept},
                                Member{"if-match", &BatchEntry::if_match},
                                Member{"if-none-match", &BatchEntry::if_none_match}};

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

template <size_t N>
Text find(const std::array<Member, N>& members, std::string_view name) noexcept {
  for (const Member& member : members)
    if (member.name == name) return member.text;
  return nullptr;
}

// Takes the list's values in their order; bodies are put together again as text.
class BatchReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  BatchReader(std::string_view base, uint32_t max_entries, std::vector<BatchEntry>& out,
              tables::Problem& problem)
      : base_(base), max_entries_(max_entries), out_(out), problem_(problem) {}

  bool null() override { return literal("null"); }
  bool boolean(bool value) override { return literal(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return literal(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return literal(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return literal(text); }
  bool binary(binary_t&) override { return false; }

  bool string(string_t& value) override {
    if (place_ == Place::kBody) return inBody(body_.string(value));
    if (text_ == nullptr || (place_ != Place::kEntry && place_ != Place::kHeaders)) return refuseShape();
    out_.back().*text_ = std::move(value);
    text_ = nullptr;
    return true;
  }
  bool key(string_t& name) override {
    if (place_ == Place::kBody) return inBody(body_.key(name));
    is_body_ = is_headers_ = false;
    const std::string known = place_ == Place::kHeaders ? lowered(name) : std::move(name);
    if (std::find(seen_.begin(), seen_.end(), known) != seen_.end() && place_ == Place::kEntry)
      return refuse(fmt::format("\"{}\" stands twice", known));
    if (place_ == Place::kEntry) seen_.push_back(known);
    text_ = place_ == Place::kHeaders ? find(kFields, known) : find(kMembers, known);
    is_body_ = place_ == Place::kEntry && known == "body";
    is_headers_ = place_ == Place::kEntry && known == "headers";
    if (text_ != nullptr && !(out_.back().*text_).empty())
      return refuse(fmt::format("\"{}\" stands twice", known));
    if (text_ == nullptr && !is_body_ && !is_headers_)
      return refuse(fmt::format("\"{}\" means nothing here", known));
    return true;
  }
  bool start_object(std::size_t) override {
    if (place_ == Place::kBody) return inBody(body_.open(true));
    if (place_ == Place::kList) return beginEntry();
    if (place_ == Place::kEntry && is_headers_) {
      place_ = Place::kHeaders;
      return true;
    }
    return beginBody() && inBody(body_.open(true));
  }
  bool end_object() override {
    if (place_ == Place::kBody) return endNested();
    const bool is_entry = place_ == Place::kEntry;
    place_ = is_entry ? Place::kList : Place::kEntry;
    return !is_entry || finishEntry();
  }
  bool start_array(std::size_t) override {
    if (place_ == Place::kBody) return inBody(body_.open(false));
    if (place_ == Place::kNone) {
      place_ = Place::kList;
      return true;
    }
    return beginBody() && inBody(body_.open(false));
  }
  bool end_array() override { return place_ != Place::kBody || endNested(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    problem_ = {400, "bad_body", fmt::format("the body is no JSON, at byte {}", position), {}, {}};
    return false;
  }

 private:
  enum class Place : uint8_t { kNone, kList, kEntry, kHeaders, kBody };

  bool refuse(std::string why) {
    problem_ = {400, "bad_batch", std::move(why), {}, {}};
    if (!out_.empty()) nameOperation(out_.size() - 1, problem_);
    return false;
  }
  bool refuseShape() {
    return refuse("a batch is an array of objects with \"method\", \"path\" and \"body\"");
  }

  bool beginEntry() {
    if (out_.size() >= max_entries_) {
      problem_ = {413, "too_many_operations", fmt::format("more than {} operations", max_entries_), {}, {}};
      return false;
    }
    out_.emplace_back();
    seen_.clear();
    text_ = nullptr;
    is_body_ = is_headers_ = false;
    place_ = Place::kEntry;
    return true;
  }
  bool beginBody() {
    if (place_ != Place::kEntry || !is_body_) return refuseShape();
    place_ = Place::kBody;
    return true;
  }
  bool inBody(bool fine) { return fine || refuse(body_.fault()); }
  bool endNested() {
    if (!inBody(body_.close())) return false;
    if (body_.done()) endBody();
    return true;
  }
  void endBody() {
    out_.back().body = body_.take();
    place_ = Place::kEntry;
    is_body_ = false;
  }
  bool literal(std::string_view text) {
    if (place_ == Place::kBody) return inBody(body_.literal(text));
    return refuseShape();
  }

  // "/data/orders?id=eq.1" has all in one.
  bool finishEntry() {
    BatchEntry& entry = out_.back();
    std::string path = std::move(entry.table);
    if (entry.method.empty() || path.empty()) return refuse("\"method\" and \"path\" are missing");
    const size_t mark = path.find('?');
    if (mark != std::string::npos) {
      if (!entry.query.empty()) return refuse("the query stands twice");
      entry.query = path.substr(mark + 1);
      path.resize(mark);
    }
    if (path.compare(0, base_.size(), base_) == 0) path.erase(0, base_.size());
    if (!path.empty() && path[0] == '/') path.erase(0, 1);
    entry.table = std::move(path);
    return true;
  }

  const std::string_view base_;
  const uint32_t max_entries_;
  std::vector<BatchEntry>& out_;
  tables::Problem& problem_;
  tables::JsonBuilder body_{tables::kMaxJsonDepth + 2};
  Place place_ = Place::kNone;
  Text text_ = nullptr;  // where the next text goes
  bool is_body_ = false;
  bool is_headers_ = false;
  std::vector<std::string> seen_;
};

}  // namespace

void nameOperation(size_t index, tables::Problem& problem) {
  problem.detail.insert(0, fmt::format("operation {}: ", index + 1));
}

bool readBatch(std::string_view text, std::string_view base, uint32_t max_entries,
               std::vector<BatchEntry>& out, tables::Problem& problem) {
  BatchReader reader(base, max_entries, out, problem);
  problem = {400, "bad_batch", "a batch is an array of objects", {}, {}};
  return nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
}

}  // namespace roost::modules::mysql
