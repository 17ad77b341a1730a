// What a request that changes rows says beside its query and its body.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"
#include "tables/body.h"
#include "tables/exposure.h"
#include "tables/operation.h"
#include "tables/problem.h"
#include "tables/write.h"

namespace roost::http {
struct RequestHead;
}
namespace roost::push {
class Shard;
}

namespace roost::modules::mysql {

// What a method does to a table (tables::Methods); 0: nothing that can be done to one.
uint8_t actionOf(http::Method method) noexcept;

// The tags of If-Match. They are those of GET: of a row's text or of its version, whatever form they were
// sent in.
class RowTags final : public tables::TagCheck {
 public:
  void add(std::string_view opaque) { stems_.emplace_back(opaque); }
  bool empty() const noexcept { return stems_.empty(); }
  bool matches(std::string_view text, const db::ResultColumn* type, const db::Cell* version) const override;

 private:
  bool contains(std::string_view opaque) const;
  std::vector<std::string> stems_;
};

// If-Match and If-None-Match. `tags` outlives what `options` are used for. False: `problem`.
bool readConditions(const http::RequestHead& head, RowTags& tags, tables::WriteOptions& options,
                    tables::Problem& problem);

// By Content-Type. False: 415, also without one: any page may send a body without a type to any server, but
// asks by a preflight before it sends one of these.
bool bodyFormat(std::string_view content_type, tables::BodyFormat& out, tables::Problem& problem);

tables::Problem bodyTooLarge(uint32_t max_bytes);

// Tells the table's channel, where it has one, what was written: {"table":"orders","method":"POST","count":1,
// "rows":[{"id":17,...}]}, without the rows where they are many. `shard` may be nullptr.
void publishWrite(::roost::push::Shard* shard, const tables::ExposedTable& table, std::string_view method,
                  const tables::OperationResult& result);

}  // namespace roost::modules::mysql
