// What tables there are: the schema as the database told it, at one moment. Immutable once loaded, shared by
// all loops; a request keeps the one it began with.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "db/row.h"
#include "db/sql_text.h"

namespace roost::tables {

struct Column {
  std::string name;
  db::Identifier identifier;
  db::Type type = db::Type::kText;
  std::string declared;  // as information_schema says it: "decimal(10,2)", "enum('a','b')"
  std::string comment;
  uint32_t max_chars = 0;  // of text and bytes; 0: none
  uint8_t precision = 0;   // of decimals
  uint8_t scale = 0;       // of decimals; fractional digits of times
  uint8_t int_bytes = 0;   // 1 to 8, of kInt and kUint
  uint8_t bits = 0;        // of kBit
  bool nullable = false;
  bool has_default = false;      // or is nullable, or made by the server: may be left out of an INSERT
  bool null_by_default = false;  // left out of an INSERT it is NULL
  bool auto_increment = false;
  bool generated = false;  // never written
  bool invisible = false;  // not among those that "all" means
  bool is_bool = false;    // TINYINT(1)
  bool is_year = false;
  bool is_json = false;              // JSON; on MariaDB: LONGTEXT with json_valid()
  bool case_sensitive = false;       // its collation
  std::vector<std::string> members;  // of ENUM and SET
};

struct Key {
  std::string name;
  std::vector<uint16_t> columns;  // positions in Table::columns
  bool unique = false;
  bool primary = false;
  bool fulltext = false;
  // Not each of its parts is a whole column: some are a column's beginning or an expression (`columns` has
  // those that are whole). A row can offend against it where it is unique, but is not found by it.
  bool partial = false;
};

struct ForeignKey {
  std::string name;
  std::vector<uint16_t> columns;
  std::string table;                 // of the same database
  std::vector<std::string> targets;  // its columns
};

struct Table {
  std::string name;
  db::Identifier identifier;
  std::string comment;
  bool is_view = false;
  bool updatable = true;
  std::vector<Column> columns;
  std::vector<Key> keys;  // the primary one first, where there is one
  std::vector<ForeignKey> foreign_keys;

  const Column* find(std::string_view column) const noexcept;
  const Key* primaryKey() const noexcept;
};

// What a server calls itself as a number: 101106 of "10.11.6-MariaDB", 80015 of "8.0.15". 0: no version.
uint32_t versionNumber(std::string_view server_version) noexcept;

struct Catalog {
  std::string database;
  std::map<std::string, Table, std::less<>> tables;
  std::string fingerprint;  // the same while the schema is
  std::string time_zone;    // the session's, "+00:00"
  std::string server_version;
  bool is_mariadb = true;

  const Table* find(std::string_view table) const noexcept;
};

}  // namespace roost::tables
