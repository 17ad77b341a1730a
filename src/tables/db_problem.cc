#include "tables/db_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace roost::tables {
namespace {

// What the detail names, where it is shown.
enum class Names : uint8_t { kNothing, kColumn, kKey, kForeignKey, kConstraint };

struct Known {
  uint32_t number;  // as in mysqld_error.h
  int status;
  const char* code;
  const char* detail;
  Names names = Names::kNothing;
};

constexpr const char* kNotNull = "a value is needed";
constexpr const char* kBadValue = "a value is not of its column's type";
constexpr const char* kRange = "a value is out of its column's range";
constexpr const char* kUnique = "there is another row with these values";
constexpr const char* kNoKeys = "the table's AUTO_INCREMENT has come to its end";
constexpr const char* kNoParent = "a row that is referred to does not exist";
constexpr const char* kHasChildren = "other rows refer to this one";
constexpr const char* kCheck = "a row does not pass a check of its table";
constexpr const char* kForbidden = "the server's database account may not do this";
constexpr const char* kSchema = "the schema has changed just now";
constexpr const char* kReadOnly = "the database takes no writes at the moment";
constexpr const char* kNotWritable = "the table cannot be written in this way";
constexpr const char* kRegex = "a pattern is no regular expression";
constexpr const char* kSlow = "the statement took longer than it may";
constexpr const char* kAway = "the database cannot be reached";
constexpr const char* kFull = "the database has no room left";
constexpr const char* kLarge = "the request is larger than the database takes";
constexpr const char* kText = "a text cannot be held by its column's character set";

// By number.
constexpr std::array kKnown = {
    Known{167, 409, "keys_used_up", kNoKeys},
    Known{1020, 409, "deadlock", "another write was quicker"},
    Known{1021, 507, "database_full", kFull},
    Known{1030, 503, "database_unavailable", kAway},
    Known{1040, 503, "database_unavailable", kAway},
    Known{1044, 403, "forbidden", kForbidden},
    Known{1045, 503, "database_unavailable", kAway},
    Known{1048, 400, "not_null_violation", kNotNull, Names::kColumn},
    Known{1053, 503, "database_unavailable", kAway},
    Known{1054, 503, "schema_changed", kSchema},
    Known{1062, 409, "unique_violation", kUnique, Names::kKey},
    Known{1072, 503, "schema_changed", kSchema},
    Known{1114, 507, "database_full", kFull},
    Known{1139, 400, "bad_pattern", kRegex},
    Known{1142, 403, "forbidden", kForbidden},
    Known{1143, 403, "forbidden", kForbidden},
    Known{1146, 503, "schema_changed", kSchema},
    Known{1153, 413, "too_large", kLarge},
    Known{1169, 409, "unique_violation", kUnique},
    Known{1191, 503, "schema_changed", kSchema},
    Known{1203, 503, "database_unavailable", kAway},
    Known{1205, 503, "lock_timeout", "rows that are needed were locked for too long"},
    Known{1213, 409, "deadlock", "another write was in the way of this one"},
    Known{1216, 409, "foreign_key_violation", kNoParent},
    Known{1217, 409, "foreign_key_violation", kHasChildren},
    Known{1226, 503, "database_unavailable", kAway},
    Known{1227, 403, "forbidden", kForbidden},
    Known{1263, 400, "not_null_violation", kNotNull, Names::kColumn},
    Known{1264, 400, "value_out_of_range", kRange, Names::kColumn},
    Known{1265, 400, "bad_value", kBadValue, Names::kColumn},
    Known{1267, 400, "bad_value", kText},
    Known{1270, 400, "bad_value", kText},
    Known{1271, 400, "bad_value", kText},
    Known{1288, 400, "not_writable", kNotWritable},
    Known{1290, 503, "database_read_only", kReadOnly},
    Known{1292, 400, "bad_value", kBadValue, Names::kColumn},
    Known{1300, 400, "bad_value", kText},
    Known{1317, 504, "query_timeout", kSlow},
    Known{1348, 400, "not_writable", kNotWritable, Names::kColumn},
    Known{1356, 503, "schema_changed", kSchema},
    Known{1364, 400, "not_null_violation", kNotNull, Names::kColumn},
    Known{1366, 400, "bad_value", kBadValue, Names::kColumn},
    Known{1367, 400, "bad_value", kBadValue},
    Known{1369, 400, "check_violation", "a row would not be one of the view's"},
    Known{1370, 403, "forbidden", kForbidden},
    Known{1390, 400, "too_complex", "the request has more values than a statement"},
    Known{1393, 400, "not_writable", kNotWritable},
    Known{1394, 400, "not_writable", kNotWritable},
    Known{1395, 400, "not_writable", kNotWritable},
    Known{1406, 400, "value_too_long", "a value is longer than its column holds", Names::kColumn},
    Known{1411, 400, "bad_value", kBadValue},
    Known{1412, 503, "schema_changed", kSchema},
    Known{1423, 400, "not_null_violation", kNotNull},
    Known{1451, 409, "foreign_key_violation", kHasChildren},
    Known{1452, 409, "foreign_key_violation", kNoParent, Names::kForeignKey},
    Known{1461, 503, "database_unavailable", kAway},
    Known{1467, 409, "keys_used_up", kNoKeys},
    Known{1471, 400, "not_writable", kNotWritable},
    Known{1525, 400, "bad_value", kBadValue},
    Known{1526, 400, "bad_value", "no partition of the table holds such a row"},
    Known{1586, 409, "unique_violation", kUnique, Names::kKey},
    Known{1644, 400, "refused_by_database", "the database refuses this write"},
    Known{1690, 400, "value_out_of_range", kRange},
    Known{1792, 503, "database_read_only", kReadOnly},
    Known{1836, 503, "database_read_only", kReadOnly},
    Known{1906, 400, "read_only_column", "a value is made by the database itself", Names::kColumn},
    Known{1918, 400, "bad_value", kBadValue},
    Known{1927, 503, "database_unavailable", kAway},
    Known{1969, 504, "query_timeout", kSlow},
    Known{3024, 504, "query_timeout", kSlow},
    Known{3105, 400, "read_only_column", "a value is made by the database itself", Names::kColumn},
    Known{3140, 400, "bad_value", "a text is no JSON", Names::kColumn},
    Known{3685, 400, "bad_pattern", kRegex},
    Known{3819, 400, "check_violation", kCheck, Names::kConstraint},
    Known{3988, 400, "bad_value", kText},
    Known{4025, 400, "check_violation", kCheck, Names::kConstraint},
    Known{4037, 400, "bad_value", "a text is no JSON"},
    Known{4038, 400, "bad_value", "a text is no JSON"},
};

constexpr bool sorted() noexcept {
  for (size_t i = 1; i < kKnown.size(); ++i)
    if (kKnown[i - 1].number >= kKnown[i].number) return false;
  return true;
}
static_assert(sorted());

constexpr uint32_t kFirstOfRegex = 3685;  // MySQL has a number for each way to get a pattern wrong
constexpr uint32_t kLastOfRegex = 3700;

const Known* known(uint32_t number) noexcept {
  if (number > kFirstOfRegex && number <= kLastOfRegex) number = kFirstOfRegex;
  const auto* const found =
      std::lower_bound(kKnown.begin(), kKnown.end(), number,
                       [](const Known& entry, uint32_t wanted) { return entry.number < wanted; });
  return found != kKnown.end() && found->number == number ? found : nullptr;
}

// Whether the message ends in the name, in one of the server's quotes, behind `before` ("column "), with
// or without those of database and table before it. What stands further ahead may be a client's value.
bool namesLast(std::string_view message, std::string_view before, std::string_view name) {
  const size_t at = message.rfind(before);
  if (at == std::string_view::npos) return false;
  std::string_view rest = message.substr(at + before.size());
  rest = rest.substr(0, rest.find(" at row"));
  for (const char quote : {'\'', '`'}) {
    std::string quoted(1, quote);
    quoted.append(name) += quote;
    if (rest.size() >= quoted.size() && rest.substr(0, quoted.size()) == quoted) return true;
    if (rest.size() >= quoted.size() && rest.substr(rest.size() - quoted.size()) == quoted) return true;
    if (quote == '\'' && !rest.empty() && rest.back() == quote) {  // 'table.key'
      quoted.replace(0, 1, ".");
      if (rest.size() > quoted.size() && rest.substr(rest.size() - quoted.size()) == quoted) return true;
    }
  }
  return false;
}

const Column* namedColumn(std::string_view message, const ExposedTable& table) {
  for (const uint16_t position : table.shown) {
    const Column& column = table.table->columns[position];
    for (const std::string_view before : {"olumn ", "ield "})
      if (namesLast(message, before, column.name)) return &column;
  }
  return nullptr;
}

bool isShown(const ExposedTable& table, const std::vector<uint16_t>& columns) {
  return std::all_of(columns.begin(), columns.end(), [&table](uint16_t column) {
    return std::find(table.shown.begin(), table.shown.end(), column) != table.shown.end();
  });
}

std::string listed(const ExposedTable& table, const std::vector<uint16_t>& columns) {
  std::string text;
  for (const uint16_t column : columns) {
    if (!text.empty()) text += ", ";
    text += table.table->columns[column].name;
  }
  return text;
}

std::string namedKey(std::string_view message, const ExposedTable& table) {
  for (const Key& key : table.table->keys) {
    if (key.unique && namesLast(message, "for key ", key.name) && isShown(table, key.columns))
      return fmt::format(" ({} of key \"{}\")", listed(table, key.columns), key.name);
  }
  return {};
}

std::string namedForeignKey(std::string_view message, const ExposedTable& table) {
  for (const ForeignKey& key : table.table->foreign_keys) {
    const std::string constraint = "CONSTRAINT `" + key.name + '`';
    if (message.find(constraint) != std::string_view::npos && isShown(table, key.columns))
      return fmt::format(" ({} of foreign key \"{}\")", listed(table, key.columns), key.name);
  }
  return {};
}

// A check that stands with a column has its name; others' names say nothing of what is shown.
std::string namedConstraint(std::string_view message, const ExposedTable& table) {
  for (const uint16_t position : table.shown) {
    const std::string& name = table.table->columns[position].name;
    for (const char* const quoted :
         {"CONSTRAINT `{}` failed", "constraint '{}' is violated", ".{}` failed"})  // MariaDB: `table.column`
      if (message.find(fmt::format(fmt::runtime(quoted), name)) != std::string_view::npos)
        return fmt::format(" (column \"{}\")", name);
  }
  return {};
}

std::string named(const Known& entry, std::string_view message, const ExposedTable& table) {
  switch (entry.names) {
    case Names::kColumn: {
      const Column* const column = namedColumn(message, table);
      return column == nullptr ? std::string() : fmt::format(" (column \"{}\")", column->name);
    }
    case Names::kKey:
      return namedKey(message, table);
    case Names::kForeignKey:
      return namedForeignKey(message, table);
    case Names::kConstraint:
      return namedConstraint(message, table);
    case Names::kNothing:
      break;
  }
  return {};
}

Problem refused(const db::Error& error, const ExposedTable* table) {
  Problem problem;
  problem.sqlstate = error.sqlstate;
  if (const Known* const entry = known(error.number)) {
    problem.status = entry->status;
    problem.code = entry->code;
    problem.detail = entry->detail;
    if (table != nullptr) problem.detail += named(*entry, error.message, *table);
    return problem;
  }
  const std::string_view state_class = std::string_view(error.sqlstate).substr(0, 2);
  const auto say = [&problem](int status, const char* code, const char* detail) {
    problem.status = status;
    problem.code = code;
    problem.detail = detail;
    return problem;
  };
  if (state_class == "22") return say(400, "bad_value", kBadValue);
  if (state_class == "23")
    return say(409, "constraint_violation", "a row does not keep to its table's constraints");
  if (state_class == "40") return say(409, "deadlock", "another write was in the way of this one");
  if (state_class == "45") return say(400, "refused_by_database", "the database refuses this write");
  return say(500, "database_error", "the database could not carry this out");
}

Problem plain(int status, const char* code, const char* detail) {
  Problem problem;
  problem.status = status;
  problem.code = code;
  problem.detail = detail;
  return problem;
}

// Why no connection can be made.
const char* whyAway(uint32_t number) noexcept {
  switch (number) {
    case 1040:
    case 1203:
    case 1226:
      return "the database takes no more connections";
    case 1044:
    case 1045:
    case 1130:
    case 1251:
    case 1524:
    case 1698:
    case 1862:
    case 2059:
    case 2061:
    case 3118:
      return "the database does not let the server's account in";
    case 1049:
      return "the database server has no database of the configured name";
    case 2026:
      return "no TLS connection to the database can be made";
    default:
      return kAway;
  }
}

Problem unknownOutcome() {
  Problem problem =
      plain(503, "outcome_unknown", "the connection to the database was lost before it answered");
  problem.hint = "What was asked for may have been done, or not. Look before asking again.";
  return problem;
}

bool endsConnection(uint32_t number) noexcept {
  return number == 1053 || number == 1927;
}

}  // namespace

Problem problemOf(const db::Error& error, const ExposedTable* table, bool wrote) {
  switch (error.kind) {
    case db::ErrorKind::kStatement:
      if (wrote && endsConnection(error.number)) return unknownOutcome();
      return refused(error, table);
    case db::ErrorKind::kTimeout:
      return plain(504, "query_timeout", kSlow);
    case db::ErrorKind::kLost:
      if (wrote) return unknownOutcome();
      return plain(503, "database_unavailable", "the connection to the database was lost");
    case db::ErrorKind::kUnavailable:
      return plain(503, "database_unavailable", whyAway(error.number));
    case db::ErrorKind::kQueueFull:
      return plain(503, "pool_full", "too many requests wait for the database");
    case db::ErrorKind::kQueueTimeout:
      return plain(504, "pool_timeout", "no connection to the database became free in time");
    case db::ErrorKind::kTooLarge:
      return plain(413, "too_large", kLarge);
    case db::ErrorKind::kShutdown:
      break;
  }
  return plain(503, "shutting_down", "the server is stopping");
}

Problem schemaProblemOf(const db::Error& error) {
  std::string why = "reading it was refused";
  if (error.kind == db::ErrorKind::kUnavailable) why = whyAway(error.number);
  if (error.kind == db::ErrorKind::kLost) why = "the connection to the database was lost";
  if (error.kind == db::ErrorKind::kTimeout) why = "reading it took too long";
  if (error.number == 0 && error.kind == db::ErrorKind::kStatement) why = error.message;  // the loader's own
  if (error.number != 0) why += fmt::format(" (error {})", error.number);
  return {503, "schema_unavailable", "the schema cannot be read: " + why, "The server's log says more.",
          error.sqlstate};
}

db::Error asFarAsKnown(const db::Error& error, bool has_link, bool may_be_done, bool commits) {
  db::Error told = error;
  const bool interrupted = has_link && error.number != 0 && !commits;
  if (may_be_done && !interrupted && told.kind == db::ErrorKind::kTimeout) told.kind = db::ErrorKind::kLost;
  return told;
}

uint32_t retryAfter(const db::Error& error) noexcept {
  switch (error.kind) {
    case db::ErrorKind::kStatement: {
      const Known* const entry = known(error.number);
      const bool again = error.number == 1205 || error.number == 1213 || error.number == 1020 ||
                         (entry != nullptr && entry->status == 503);
      return again ? 1 : 0;
    }
    case db::ErrorKind::kUnavailable:
      return std::max(error.retry_after_s, 1u);
    case db::ErrorKind::kLost:
    case db::ErrorKind::kQueueFull:
    case db::ErrorKind::kQueueTimeout:
    case db::ErrorKind::kShutdown:
      return 1;
    case db::ErrorKind::kTimeout:
    case db::ErrorKind::kTooLarge:
      break;
  }
  return 0;
}

}  // namespace roost::tables
