#include "modules/mysql/read_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "http/conditional.h"
#include "http/exchange.h"
#include "http/field_syntax.h"
#include "modules/mysql/entity_tag.h"
#include "modules/mysql/problem_reply.h"

namespace roost::modules::mysql {
namespace {

using tables::Format;

void appendNumber(std::string& out, uint64_t number) {
  std::array<char, 20> digits;
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

// What stands between the brackets of an array, or before the end of the last line: of one row the same text
// as the object's alone.
std::string_view innerText(const Form& form, std::string_view body) noexcept {
  if (form.format == Format::kJson && !form.single) return body.substr(1, body.size() - 2);
  return form.format == Format::kNdjson && !body.empty() ? body.substr(0, body.size() - 1) : body;
}

}  // namespace

uint64_t numberIn(const db::ResultColumns& columns, const db::Row& row, size_t index) noexcept {
  if (index >= row.size() || row[index].isNull()) return 0;
  switch (columns[index].type) {
    case db::Type::kInt:
      return static_cast<uint64_t>(db::readInt(row[index]));
    case db::Type::kUint:
      return db::readUint(row[index]);
    case db::Type::kDouble:
      return static_cast<uint64_t>(db::readDouble(row[index]));
    default:
      break;
  }
  uint64_t number = 0;
  const std::string_view text = row[index].view();
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

uint64_t explainedRows(const db::ResultColumns& columns, const db::Row& row) noexcept {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == "rows") return numberIn(columns, row, i);
  }
  return 0;
}

void noteVersion(const tables::ExposedTable& table, const tables::ReadPlan& plan,
                 const db::ResultColumns& columns, const db::Row& row, ReadFacts& facts) {
  if (!plan.one_by_key) return;
  const std::string& name = table.table->columns[static_cast<size_t>(table.version)].name;
  for (size_t i = 0; i < columns.size() && i < plan.columns.size(); ++i) {
    if (columns[i].name != name || row[i].isNull()) continue;
    facts.version = contentHash(row[i].view(), static_cast<uint64_t>(columns[i].type));
    return;
  }
}

ReadFacts expected(const ReadFacts& facts, const tables::ReadPlan& plan) noexcept {
  ReadFacts told = facts;
  told.rows = 0;
  if (!facts.exact) return told;
  told.rows = *facts.total - std::min(plan.offset, *facts.total);
  if (plan.limit) told.rows = std::min(told.rows, *plan.limit);
  return told;
}

int statusOf(const ReadFacts& facts) noexcept {
  return facts.total && facts.rows > 0 && facts.rows < *facts.total ? 206 : 200;
}

void describeRows(http::Exchange& exchange, const Form& form, const tables::Preferences& preferences,
                  http::ResponseHead& head) {
  head.add("Content-Type", form.content_type);
  head.add("Vary", "Accept, Prefer, Range");
  head.add("Cache-Control", "no-cache");  // kept, but asked about each time: a tag makes that cheap
  const http::RequestHead& request = exchange.request();
  std::array<char, 512> location;
  const std::string_view path = request.view(request.path);
  const std::string_view query = request.view(request.query);
  if (path.size() + query.size() + 1 <= location.size()) {
    char* to = std::copy(path.begin(), path.end(), location.data());
    if (!query.empty()) {
      *to++ = '?';
      to = std::copy(query.begin(), query.end(), to);
    }
    const std::string_view text(location.data(), static_cast<size_t>(to - location.data()));
    if (http::isFieldValue(text)) head.add("Content-Location", text);
  }
  if (preferences.count == tables::Preferences::Count::kNone && !preferences.strict) return;
  const std::string applied = tables::appliedPreferences(preferences, false);
  if (!applied.empty()) head.add("Preference-Applied", applied);
}

void describeRange(const ReadFacts& facts, const tables::ReadPlan& plan, http::ResponseHead& head) {
  std::string text;
  text.reserve(48);
  if (facts.rows == 0) {
    text += '*';
  } else {
    appendNumber(text, plan.offset);
    text += '-';
    appendNumber(text, plan.offset + facts.rows - 1);
  }
  text += '/';
  if (facts.total) {
    appendNumber(text, *facts.total);
  } else {
    text += '*';
  }
  head.add("Range-Unit", "items");
  head.add("Content-Range", text);
}

void appendRow(const Form& form, bool first, const tables::RowWriter& writer,
               const db::ResultColumns& columns, const db::Row& row, std::string& out) {
  switch (form.format) {
    case Format::kJson:
      if (!form.single) out += first ? '[' : ',';
      return writer.object(columns, row, out);
    case Format::kNdjson:
      writer.object(columns, row, out);
      out += '\n';
      return;
    case Format::kCsv:
      if (first) {
        writer.csvHeading(out);
        out += "\r\n";
      }
      writer.csvLine(columns, row, out);
      out += "\r\n";
      return;
  }
}

void finishText(const Form& form, bool merged, uint64_t rows, const tables::RowWriter& writer,
                std::string& out) {
  switch (form.format) {
    case Format::kJson:
      if (form.single) return;
      if (merged || rows == 0) out.insert(out.begin(), '[');
      out += ']';
      return;
    case Format::kNdjson:
      if (merged && rows > 0) out += '\n';
      return;
    case Format::kCsv:
      if (rows > 0) return;
      writer.csvHeading(out);
      out += "\r\n";
      return;
  }
}

void replyShared(http::Exchange& exchange, http::ResponseHead& head, BufferRef body) {
  if (body.size() == 0) return exchange.reply(head, {});
  head.content_length = static_cast<int64_t>(body.size());
  exchange.begin(head, false);
  exchange.send(std::move(body), true);
}

bool mayAnswer(http::Exchange& exchange, const Form& form, const std::string& tag, http::ResponseHead& head) {
  head.add("ETag", tag);
  http::Validators validators;
  validators.etag = tag;
  switch (http::evaluate(exchange.request(), validators)) {
    case http::Precondition::kProceed:
      return true;
    case http::Precondition::kNotModified:
      head.status = 304;
      head.unsent_type = form.content_type;
      head.remove("Content-Type");
      exchange.begin(head, true);
      return false;
    case http::Precondition::kPreconditionFailed:
      replyProblem(exchange, {412, "precondition_failed", "If-Match names another state", {}, {}});
      return false;
  }
  return false;
}

void replyTagged(http::Exchange& exchange, const Form& form, const ReadFacts& facts, std::string_view body,
                 http::ResponseHead& head) {
  const uint64_t hash = facts.version ? *facts.version : contentHash(innerText(form, body));
  if (mayAnswer(exchange, form, entityTag(hash, facts.version.has_value(), form.tag_suffix), head))
    exchange.reply(head, body);
}

tables::Problem rangeProblem(uint64_t offset, uint64_t total) {
  return {416,
          "range_not_satisfiable",
          fmt::format("an offset of {} was asked for, and there are {} rows", offset, total),
          {},
          {}};
}

tables::Problem embedProblem(uint32_t most, bool stray) {
  if (stray)
    return {400,
            "unsupported_key",
            "rows are joined by texts that only the database finds equal",
            "read the two tables apart",
            {}};
  return {400,
          "too_many_rows",
          fmt::format("rows within rows are put together of at most {} each", most),
          "ask for fewer by limit",
          {}};
}

tables::Problem notOneRow() {
  return {406, "PGRST116", "a single object was asked for, and the result is none or several", {}, {}};
}

tables::Problem notAcceptable() {
  return {406,
          "not_acceptable",
          "Accept names nothing that rows can be sent as",
          "application/json, application/vnd.pgrst.object+json, application/x-ndjson, text/csv",
          {}};
}

}  // namespace roost::modules::mysql
