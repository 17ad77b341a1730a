// What of the schema one route shows, and to what extent: the configuration's word bound to a Catalog.
// Immutable; made anew with every Catalog.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tables/catalog.h"
#include "tables/problem.h"
#include "tables/query.h"

namespace roost::tables {

enum Methods : uint8_t { kRead = 1, kInsert = 2, kUpdate = 4, kUpsert = 8, kDelete = 16, kAllMethods = 31 };

// How numbers that JavaScript cannot hold are written.
enum class BigNumber : uint8_t { kNumber, kString };

// A table as the configuration names it.
struct TableConfig {
  std::string name;                    // in the database
  std::string alias;                   // in the path; empty: the name
  std::vector<std::string> columns;    // shown; empty: all
  std::vector<std::string> read_only;  // shown, and not written
  bool client_ids = false;             // AUTO_INCREMENT columns are written, too
  uint8_t methods = kRead;
  uint32_t max_rows = 1000;   // of one answer; 0: as many as there are (streamed)
  uint32_t default_rows = 0;  // without limit; 0: max_rows
  std::string where;          // rows that there are at all, as a query: "public=is.true&tenant=eq.7"
  std::string version;        // the column that changes with every write, for ETags; empty: none
  std::string publish;        // the push channel that is told of writes; empty: none
};

// What the log calls it: its name, and its alias where it has one, since a table may be there several times.
std::string labelOf(const TableConfig& table);

// One limit per thing that a client may make large.
struct RestLimits {
  uint32_t max_filters = 64;            // conditions of one request, nested ones too
  uint32_t max_depth = 8;               // of and(or(...))
  uint32_t max_list = 512;              // values of one in.(...)
  uint32_t max_select = 256;            // columns named
  uint32_t max_body_rows = 1000;        // written by one request
  uint32_t max_embed_rows = 1000;       // rows that an embedding is added to
  uint32_t max_batch = 100;             // operations of one batch
  uint32_t max_batch_bytes = 4u << 20;  // of their answers together
};

struct RestConfig {
  std::vector<TableConfig> tables;
  BigNumber bigint = BigNumber::kNumber;
  BigNumber decimal = BigNumber::kNumber;
  bool regex = false;  // the operators match and imatch
  RestLimits limits;
};

// A table as requests see it. Columns are in the table's order.
struct ExposedTable {
  const Table* table = nullptr;  // in the Catalog that the Exposure holds
  std::string name;              // in the path
  uint8_t methods = 0;           // that the configuration allows and the table is capable of
  const TableConfig* config = nullptr;
  const RestConfig* rest = nullptr;
  std::vector<uint16_t> shown;  // positions in table->columns
  std::vector<bool> writable;   // by position in table->columns
  Query fixed;                  // config->where, parsed: its conditions count for every statement
  int version = -1;             // position of the version column; -1: none

  // nullptr: there is none, or it is not shown.
  const Column* find(std::string_view column) const noexcept;
  bool mayWrite(const Column& column) const noexcept;
  // Whether it is an AUTO_INCREMENT column that may not be written, and can stand all the same where a row
  // says by its primary key which row it is: in PUT, and in a merge.
  bool mayName(const Column& column) const noexcept;
  bool allows(Methods method) const noexcept { return (methods & method) != 0; }
  // The primary key where all of it is shown, otherwise nullptr.
  const Key* key() const noexcept;
};

struct Exposure {
  std::shared_ptr<const Catalog> catalog;
  std::shared_ptr<const RestConfig> config;
  std::map<std::string, ExposedTable, std::less<>> tables;  // by the name in the path

  const ExposedTable* find(std::string_view name) const noexcept;
};

// Binds the configuration to a schema. What does not fit (a table or column that is not there) is left out
// and told in `complaints`, a line each, for the log: the rest is served.
std::shared_ptr<const Exposure> expose(std::shared_ptr<const Catalog> catalog,
                                       std::shared_ptr<const RestConfig> config,
                                       std::vector<std::string>& complaints);

}  // namespace roost::tables
