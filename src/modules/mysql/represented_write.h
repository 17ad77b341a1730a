#pragma once

#include <memory>

#include "tables/body.h"
#include "tables/operation.h"
#include "tables/query.h"
#include "tables/write.h"

namespace roost::modules::mysql {

// As tables::planWrite, and where rows of other tables are to stand within the rows that are returned
// ("select=*,customers(name)"), these are read as a GET reads them, in the same transaction. Not of DELETE,
// behind which there is nothing to read.
std::unique_ptr<tables::Operation> planAnyWrite(const tables::ExposedTable& table,
                                                const tables::Exposure& exposure, tables::Query query,
                                                tables::WriteOptions options, tables::Body body,
                                                tables::Problem& problem);

}  // namespace roost::modules::mysql
