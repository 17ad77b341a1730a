// From a parsed request that changes rows to the statements that carry it out.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tables/body.h"
#include "tables/exposure.h"
#include "tables/operation.h"
#include "tables/output.h"
#include "tables/preferences.h"
#include "tables/query.h"

namespace roost::tables {

// If-Match: whether a row is the one that the client has seen. `text` is what a GET writes for it; `version`
// the cell of the table's version column, and of what type it is (nullptr: the table has none).
class TagCheck {
 public:
  virtual ~TagCheck() = default;
  virtual bool matches(std::string_view text, const db::ResultColumn* type,
                       const db::Cell* version) const = 0;
};

struct WriteOptions {
  Methods method = kInsert;  // one that writes
  Preferences preferences;
  Format format = Format::kJson;
  bool single = false;            // one row is expected, else nothing is done
  std::string base;               // of Location: "/data/"
  bool create_only = false;       // If-None-Match: *
  bool must_exist = false;        // If-Match: *
  const TagCheck* tag = nullptr;  // If-Match with tags; outlives the operation
  bool collect_keys = false;      // the result says which rows they were
};

// How the body of such a request is read, at the cost of `lease`. What is referred to outlives the options.
BodyOptions bodyOptions(const Exposure& exposure, const Query& query, const WriteOptions& options,
                        BodyLease& lease);

// nullptr: `problem`. What is referred to outlives the operation. `body` is empty for DELETE.
//
// POST: rows are inserted, those of the same columns together, up to 64 with one statement. With
// resolution=merge-duplicates a row that is there already is changed instead; with ignore-duplicates it is
// left as it is. What decides is one unique key (on_conflict, else the primary one): refused where a row
// could meet another by a second one, since the server would then change that row. PATCH, DELETE: the rows
// that the query's conditions choose; with `limit` the first ones by `order`, which has a unique key. PUT:
// the one row by its primary key is made, or replaced: writable columns that are not given take their
// defaults.
//
// The configuration's fixed conditions hold for rows as they are and as they become: inserted rows take
// values from "column=eq.value", everything else is looked at before the transaction ends.
std::unique_ptr<Operation> planWrite(const ExposedTable& table, const Exposure& exposure, Query query,
                                     WriteOptions options, Body body, Problem& problem);

}  // namespace roost::tables
