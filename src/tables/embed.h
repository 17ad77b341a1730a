// The statement that finds embedded rows. Within tables/ only.
#pragma once

#include "tables/read.h"
#include "tables/relations.h"

namespace roost::tables {

// `from` is left to the caller. False: the problem is told.
bool planEmbed(const SqlContext& context, const SelectItem& item, const Relation& relation, EmbedPlan& plan);

}  // namespace roost::tables
