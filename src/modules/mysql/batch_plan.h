#pragma once

#include <memory>
#include <string>
#include <vector>

#include "modules/mysql/batch_request.h"
#include "modules/mysql/write_request.h"
#include "tables/exposure.h"
#include "tables/operation.h"
#include "tables/problem.h"

namespace roost::modules::mysql {

// A batch as it has come. Refers to nothing but the exposure that it keeps: any thread may make a plan of it.
struct BatchRequest {
  std::shared_ptr<const tables::Exposure> exposure;
  std::string base;  // the route's path
  std::string text;
  tables::BodyLease lease;  // of the text, and then of what is made of it
};

// What it means. The operations refer to the request's exposure and to `tags`.
struct BatchPlan {
  bool is_good = false;     // otherwise `problem`, which names the operation
  tables::BodyLease lease;  // the request's
  tables::Problem problem;
  std::vector<BatchEntry> entries;
  std::vector<std::unique_ptr<RowTags>> tags;
  std::vector<std::unique_ptr<tables::Operation>> operations;  // of each entry
};

BatchPlan planBatch(BatchRequest& request);

}  // namespace roost::modules::mysql
