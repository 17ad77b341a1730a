#include "tables/write.h"

#include <utility>

#include "tables/write_change.h"
#include "tables/write_insert.h"
#include "tables/write_put.h"

namespace roost::tables {
namespace {

bool refuse(const char* code, const char* detail, Problem& problem) {
  problem = {};
  problem.status = 400;
  problem.code = code;
  problem.detail = detail;
  return false;
}

// What a query may say of a read alone.
bool isForWrites(const Query& query, const WriteOptions& options, Problem& problem) {
  const bool chooses = options.method != kInsert;
  if (query.offset || query.distinct || !query.after.empty())
    return refuse("unsupported_parameter", "a write has neither offset nor distinct nor after", problem);
  if (!chooses && !query.where.empty())
    return refuse("unsupported_parameter", "POST chooses no rows: it has no conditions", problem);
  if ((!chooses || options.method == kUpsert) && (query.limit || !query.order.empty()))
    return refuse("unsupported_parameter", "limit and order are for PATCH and DELETE", problem);
  if (options.method != kInsert &&
      (!query.on_conflict.empty() || options.preferences.resolution != Preferences::Resolution::kNone))
    return refuse("unsupported_parameter", "on_conflict and a resolution are for POST", problem);
  if (options.method == kDelete && !query.columns.empty())
    return refuse("unsupported_parameter", "columns= says what counts of a body", problem);
  if (options.method == kInsert && (options.create_only || options.must_exist || options.tag != nullptr))
    return refuse("unsupported_condition", "If-Match and If-None-Match are for one row by its key", problem);
  return true;
}

// PATCH and PUT take one row.
bool takeRow(Body& body, BodyRow& row, Problem& problem) {
  if (body.rows.size() != 1) return refuse("bad_body", "the body is one object", problem);
  row = std::move(body.rows[0]);
  return true;
}

std::unique_ptr<WriteBase> make(const ExposedTable& table, const Exposure& exposure, Query query,
                                WriteOptions options, Body body, Problem& problem) {
  if (options.method == kInsert)
    return std::make_unique<InsertOperation>(table, exposure, std::move(query), std::move(options),
                                             std::move(body));
  BodyRow row;
  if (options.method != kDelete && !takeRow(body, row, problem)) return nullptr;
  if (options.method == kUpsert)
    return std::make_unique<PutOperation>(table, exposure, std::move(query), std::move(options),
                                          std::move(row));
  return std::make_unique<ChangeOperation>(table, exposure, std::move(query), std::move(options),
                                           std::move(row));
}

}  // namespace

BodyOptions bodyOptions(const Exposure& exposure, const Query& query, const WriteOptions& options,
                        BodyLease& lease) {
  using Missing = Preferences::Missing;
  BodyOptions reading;
  reading.columns = &query.columns;
  reading.max_rows = exposure.config->limits.max_body_rows;
  reading.time_zone = exposure.catalog->time_zone;
  reading.missing_is_null = options.preferences.missing == Missing::kNull;
  reading.names_rows =
      options.method == kUpsert || options.preferences.resolution == Preferences::Resolution::kMerge;
  reading.lease = &lease;
  return reading;
}

std::unique_ptr<Operation> planWrite(const ExposedTable& table, const Exposure& exposure, Query query,
                                     WriteOptions options, Body body, Problem& problem) {
  if (!isForWrites(query, options, problem)) return nullptr;
  std::unique_ptr<WriteBase> write =
      make(table, exposure, std::move(query), std::move(options), std::move(body), problem);
  if (write == nullptr || !write->plan(problem)) return nullptr;
  return write;
}

}  // namespace roost::tables
