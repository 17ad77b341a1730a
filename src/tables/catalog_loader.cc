#include "tables/catalog_loader.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "tables/column_facts.h"

namespace roost::tables {
namespace {

constexpr int kLoadAttempts = 4;
constexpr std::string_view kRowEnd = "ROW END";  // of a table that keeps its rows' histories

// A row of information_schema, whatever types a server's version gives its columns.
class Facts {
 public:
  Facts(const db::ResultColumns& columns, const db::Row& row) noexcept : columns_(columns), row_(row) {}

  bool isNull(size_t at) const noexcept { return at >= row_.size() || row_[at].isNull(); }
  std::string text(size_t at) const { return isNull(at) ? std::string() : std::string(row_[at].view()); }
  std::optional<std::string> maybeText(size_t at) const {
    return isNull(at) ? std::nullopt : std::optional<std::string>(text(at));
  }
  bool is(size_t at, std::string_view word) const { return !isNull(at) && row_[at].view() == word; }

  std::optional<uint64_t> number(size_t at) const noexcept {
    if (isNull(at)) return std::nullopt;
    switch (columns_[at].type) {
      case db::Type::kInt:
        return static_cast<uint64_t>(db::readInt(row_[at]));
      case db::Type::kUint:
        return db::readUint(row_[at]);
      default:
        break;
    }
    const std::string_view digits = row_[at].view();
    uint64_t read = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), read);
    return parsed.ec == std::errc() ? std::optional<uint64_t>(read) : std::nullopt;
  }

 private:
  const db::ResultColumns& columns_;
  const db::Row& row_;
};

// Whether information_schema has a table of checks that says something of columns. MySQL before 8.0.16 has
// none at all, and what later ones say is not needed: there JSON is a type.
bool hasChecks(const db::Connection& connection) {
  constexpr uint32_t kFirst = 100'310;
  return connection.isMariaDb() && versionNumber(connection.serverVersion()) >= kFirst;
}

// Fills one Catalog.
class Loader {
 public:
  Loader(db::Connection& connection, const std::string& database, db::Error& error)
      : connection_(connection), database_(database), error_(error) {}

  bool load(Catalog& catalog) {
    catalog_ = &catalog;
    if (!readTables() || !readViews() || !readColumns() || !readJson() || !readKeys() || !readForeignKeys())
      return false;
    finish();
    return true;
  }

 private:
  template <class OnRow>
  bool run(db::SqlText text, OnRow&& on_row) {
    const db::Statement statement{std::move(text), {db::Value::ofText(database_)}};
    return connection_.run(
        statement,
        [&on_row](const db::ResultColumns& columns, const db::Row& row) { on_row(Facts(columns, row)); },
        error_);
  }

  Table* table(const Facts& facts) noexcept {
    const auto found = catalog_->tables.find(facts.text(0));
    return found == catalog_->tables.end() ? nullptr : &found->second;
  }

  static std::optional<uint16_t> position(const Table& table, const std::string& column) noexcept {
    const Column* found = table.find(column);
    if (found == nullptr) return std::nullopt;
    return static_cast<uint16_t>(found - table.columns.data());
  }

  bool readTables() {
    return run(
        db::SqlText("SELECT TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES "
                    "WHERE TABLE_SCHEMA = ? AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW')"),
        [this](const Facts& facts) {
          Table made;
          made.name = facts.text(0);
          made.identifier = db::Identifier::ofSchema(made.name);
          made.is_view = facts.is(1, "VIEW");
          if (!made.is_view) made.comment = facts.text(2);
          catalog_->tables.emplace(made.name, std::move(made));
        });
  }

  bool readViews() {
    return run(
        db::SqlText("SELECT TABLE_NAME, IS_UPDATABLE FROM information_schema.VIEWS WHERE TABLE_SCHEMA = ?"),
        [this](const Facts& facts) {
          if (Table* view = table(facts)) view->updatable = facts.is(1, "YES");
        });
  }

  bool readColumns() {
    return run(
        db::SqlText("SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, COLUMN_DEFAULT, IS_NULLABLE, "
                    "CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, "
                    "COLLATION_NAME, EXTRA, GENERATION_EXPRESSION, COLUMN_COMMENT "
                    "FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? "
                    "ORDER BY TABLE_NAME, ORDINAL_POSITION"),
        [this](const Facts& facts) {
          Table* const owner = table(facts);
          if (owner == nullptr || owner->columns.size() == UINT16_MAX) return;
          owner->columns.push_back(columnOf(columnFacts(facts)));
          if (facts.is(12, kRowEnd)) row_ends_.emplace(owner->name, facts.text(1));
        });
  }

  static ColumnFacts columnFacts(const Facts& facts) {
    ColumnFacts read;
    read.name = facts.text(1);
    read.data_type = facts.text(2);
    read.column_type = facts.text(3);
    read.default_text = facts.maybeText(4);
    read.nullable = facts.is(5, "YES");
    read.max_length = facts.number(6);
    read.numeric_precision = facts.number(7);
    read.numeric_scale = facts.number(8);
    read.datetime_precision = facts.number(9);
    read.collation = facts.text(10);
    read.extra = facts.text(11);
    read.generation = facts.text(12);
    read.comment = facts.text(13);
    return read;
  }

  // MariaDB has no type for JSON: such a column is a text that is checked.
  bool readJson() {
    if (!hasChecks(connection_)) return true;
    return run(db::SqlText("SELECT TABLE_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS "
                           "WHERE CONSTRAINT_SCHEMA = ?"),
               [this](const Facts& facts) {
                 Table* const owner = table(facts);
                 if (owner == nullptr) return;
                 for (const std::string& name : jsonColumnsOf(facts.text(1))) {
                   const std::optional<uint16_t> at = position(*owner, name);
                   if (at.has_value()) owner->columns[*at].is_json = true;
                 }
               });
  }

  bool readKeys() {
    db::SqlText text(
        "SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART, INDEX_TYPE "
        "FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? "
        "ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX");
    return run(std::move(text), [this](const Facts& facts) {
      Table* const owner = table(facts);
      if (owner == nullptr) return;
      addKeyPart(*owner, facts);
    });
  }

  void addKeyPart(Table& owner, const Facts& facts) {
    if (owner.keys.empty() || !facts.is(1, owner.keys.back().name)) {
      Key& made = owner.keys.emplace_back();
      made.name = facts.text(1);
      made.unique = facts.number(2) == uint64_t{0};
      made.primary = made.name == "PRIMARY";
      made.fulltext = facts.is(5, "FULLTEXT");
    }
    Key& key = owner.keys.back();
    const std::string column = facts.text(3);
    if (row_ends_.count({owner.name, column}) != 0) return;  // of the present rows each has the same
    const std::optional<uint16_t> at = position(owner, column);
    if (!at.has_value() || (!facts.isNull(4) && !key.fulltext)) {
      key.partial = true;
    } else {
      key.columns.push_back(*at);
    }
  }

  bool readForeignKeys() {
    db::SqlText text(
        "SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME, "
        "REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE "
        "WHERE TABLE_SCHEMA = ? AND REFERENCED_TABLE_SCHEMA = TABLE_SCHEMA "
        "ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION");
    return run(std::move(text), [this](const Facts& facts) {
      Table* const owner = table(facts);
      if (owner == nullptr) return;
      auto& all = owner->foreign_keys;
      if (all.empty() || !facts.is(1, all.back().name)) {
        ForeignKey& made = all.emplace_back();
        made.name = facts.text(1);
        made.table = facts.text(3);
      }
      all.back().targets.push_back(facts.text(4));
      const std::optional<uint16_t> at = position(*owner, facts.text(2));
      if (at.has_value()) all.back().columns.push_back(*at);
    });
  }

  // What is not known at both ends, or not with all its columns, as this user may not see them, is no foreign
  // key; a view whose tables are gone is no table.
  void finish() {
    for (auto each = catalog_->tables.begin(); each != catalog_->tables.end();) {
      each = each->second.columns.empty() ? catalog_->tables.erase(each) : std::next(each);
    }
    for (auto& [name, owner] : catalog_->tables) {
      std::stable_sort(owner.keys.begin(), owner.keys.end(), [](const Key& a, const Key& b) {
        return std::pair(!a.primary, !a.unique) < std::pair(!b.primary, !b.unique);
      });
      auto& all = owner.foreign_keys;
      all.erase(std::remove_if(all.begin(), all.end(), [this](const ForeignKey& key) { return !leads(key); }),
                all.end());
    }
  }

  bool leads(const ForeignKey& key) const noexcept {
    const Table* const target = catalog_->find(key.table);
    return target != nullptr && key.columns.size() == key.targets.size() &&
           std::all_of(key.targets.begin(), key.targets.end(),
                       [target](const std::string& column) { return target->find(column) != nullptr; });
  }

  db::Connection& connection_;
  const std::string& database_;
  db::Error& error_;
  Catalog* catalog_ = nullptr;
  std::set<std::pair<std::string, std::string>> row_ends_;  // table, column
};

// "count.sum of hashes" of the rows of one table of information_schema. QUOTE tells NULL from "NULL", and no
// text runs into the next.
db::SqlText digest(const db::SqlText& columns, const db::SqlText& source) {
  db::SqlText made("(SELECT CONCAT(COUNT(*), '.', COALESCE(SUM(CAST(CONV(LEFT(SHA2(CONCAT_WS(',', ");
  made << columns << "), 256), 15), 16, 10) AS UNSIGNED)), 0)) FROM information_schema." << source << " = ?)";
  return made;
}

db::SqlText fingerprintText(bool has_checks) {
  db::SqlText made("SELECT CONCAT_WS('/', ");
  made << digest(db::SqlText("QUOTE(TABLE_NAME), QUOTE(TABLE_TYPE), QUOTE(TABLE_COMMENT)"),
                 db::SqlText("TABLES WHERE TABLE_SCHEMA"))
       << ", "
       << digest(db::SqlText("QUOTE(TABLE_NAME), QUOTE(IS_UPDATABLE), QUOTE(VIEW_DEFINITION)"),
                 db::SqlText("VIEWS WHERE TABLE_SCHEMA"))
       << ", "
       << digest(
              db::SqlText("QUOTE(TABLE_NAME), QUOTE(COLUMN_NAME), ORDINAL_POSITION, QUOTE(COLUMN_TYPE), "
                          "QUOTE(COLUMN_DEFAULT), QUOTE(IS_NULLABLE), QUOTE(COLLATION_NAME), QUOTE(EXTRA), "
                          "QUOTE(GENERATION_EXPRESSION), QUOTE(COLUMN_COMMENT)"),
              db::SqlText("COLUMNS WHERE TABLE_SCHEMA"))
       << ", "
       << digest(db::SqlText("QUOTE(TABLE_NAME), QUOTE(INDEX_NAME), NON_UNIQUE, SEQ_IN_INDEX, "
                             "QUOTE(COLUMN_NAME), QUOTE(SUB_PART), QUOTE(INDEX_TYPE)"),
                 db::SqlText("STATISTICS WHERE TABLE_SCHEMA"))
       << ", "
       << digest(
              db::SqlText("QUOTE(TABLE_NAME), QUOTE(CONSTRAINT_NAME), QUOTE(COLUMN_NAME), ORDINAL_POSITION, "
                          "QUOTE(REFERENCED_TABLE_SCHEMA), QUOTE(REFERENCED_TABLE_NAME), "
                          "QUOTE(REFERENCED_COLUMN_NAME)"),
              db::SqlText("KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_NAME IS NOT NULL AND TABLE_SCHEMA"));
  if (has_checks) {
    made << ", "
         << digest(db::SqlText("QUOTE(TABLE_NAME), QUOTE(CONSTRAINT_NAME), QUOTE(CHECK_CLAUSE)"),
                   db::SqlText("CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA"));
  }
  made << ")";
  return made;
}

constexpr size_t kFingerprintParts = 5;  // and one for checks

db::Error unsettled() {
  db::Error made;
  made.message = "the schema changed while it was read";
  return made;
}

}  // namespace

bool readFingerprint(db::Connection& connection, const std::string& database, std::string& fingerprint,
                     db::Error& error) {
  const bool has_checks = hasChecks(connection);
  const size_t marks = kFingerprintParts + (has_checks ? 1 : 0);
  const db::Statement statement{fingerprintText(has_checks),
                                std::vector<db::Value>(marks, db::Value::ofText(database))};
  fingerprint.clear();
  return connection.run(
      statement,
      [&fingerprint](const db::ResultColumns&, const db::Row& row) {
        if (row.size() != 0) fingerprint.assign(row[0].view());
      },
      error);
}

std::shared_ptr<const Catalog> loadCatalog(db::Connection& connection, const std::string& database,
                                           const std::string& time_zone, db::Error& error) {
  std::string before;
  if (!readFingerprint(connection, database, before, error)) return nullptr;
  for (int attempt = 0; attempt < kLoadAttempts; ++attempt) {
    auto catalog = std::make_shared<Catalog>();
    catalog->database = database;
    catalog->time_zone = time_zone;
    catalog->server_version = connection.serverVersion();
    catalog->is_mariadb = connection.isMariaDb();
    if (!Loader(connection, database, error).load(*catalog)) return nullptr;
    if (!readFingerprint(connection, database, catalog->fingerprint, error)) return nullptr;
    if (catalog->fingerprint == before) return catalog;
    before = catalog->fingerprint;
  }
  error = unsettled();
  return nullptr;
}

}  // namespace roost::tables
