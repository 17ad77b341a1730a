// Values of keys: from rows, into statements, and as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "db/row.h"
#include "db/value.h"
#include "tables/exposure.h"
#include "tables/query.h"

namespace roost::tables {

// The values of one key, in the order of its columns.
using KeyValues = std::vector<db::Value>;

// A cell as a parameter that finds it again.
db::Value valueOf(const db::ResultColumn& column, const db::Cell& cell);
// Whether they are the same value: kinds of whole numbers are one.
bool sameValue(const db::Value& a, const db::Value& b) noexcept;

// How many keys one statement names at most; powers of two.
constexpr size_t kMostKeys = 64;
// " (`a`=? AND `b`=?) OR ..." or " `a` IN (?,?)" for keys[first, first + count), in brackets; the last is
// repeated up to a power of two. REQUIRES: 0 < count <= kMostKeys.
void appendKeys(const Table& table, const Key& key, const std::vector<KeyValues>& keys, size_t first,
                size_t count, db::Statement& out);

// Where the conditions compare all of the key's columns with eq: its values. `alone`: there is no other
// condition. False: they do not.
bool keyOf(const ExposedTable& table, const Key& key, const Query& query, std::string_view time_zone,
           KeyValues& out, bool& alone);

// Percent-encoded, for a URL's path or query.
void appendEscaped(std::string_view text, std::string& out);
// "?id=eq.17" as it stands in a URL; empty where a value has no such form.
std::string keyQuery(const Table& table, const Key& key, const KeyValues& values);
// {"id":17}
std::string keyJson(const ExposedTable& table, const Key& key, const KeyValues& values);

}  // namespace roost::tables
