#include "modules/mysql/write_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "http/accept.h"
#include "http/ascii.h"
#include "http/etag.h"
#include "http/message.h"
#include "modules/mysql/entity_tag.h"
#include "push/hub.h"
#include "tables/output.h"

namespace roost::modules::mysql {
namespace {

// Nobody waits for what becomes of a message: the write is done.
class NobodyWaits final : public ::roost::push::PublishCall {
 public:
  void onPublished(const ::roost::push::PublishResult&) noexcept override {}
};

std::string_view mediaType(std::string_view content_type) noexcept {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return type;
}

bool isType(std::string_view type, std::string_view wanted) noexcept {
  return type.size() == wanted.size() &&
         std::equal(type.begin(), type.end(), wanted.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
         });
}

}  // namespace

uint8_t actionOf(http::Method method) noexcept {
  switch (method) {
    case http::Method::kGet:
    case http::Method::kHead:
      return tables::kRead;
    case http::Method::kPost:
      return tables::kInsert;
    case http::Method::kPatch:
      return tables::kUpdate;
    case http::Method::kPut:
      return tables::kUpsert;
    case http::Method::kDelete:
      return tables::kDelete;
    default:
      return 0;
  }
}

bool RowTags::contains(std::string_view opaque) const {
  return std::find(stems_.begin(), stems_.end(), opaque) != stems_.end();
}

bool RowTags::matches(std::string_view text, const db::ResultColumn* type, const db::Cell* version) const {
  const auto stemOf = [](uint64_t hash, bool of_version) {
    const std::string tag = entityTag(hash, of_version, {});
    return tag.substr(1, tag.size() - 2);
  };
  if (version != nullptr) {
    const uint64_t hash = contentHash(version->view(), static_cast<uint64_t>(type->type));
    if (contains(stemOf(hash, true))) return true;
  }
  return contains(stemOf(contentHash(text), false));
}

bool readConditions(const http::RequestHead& head, RowTags& tags, tables::WriteOptions& options,
                    tables::Problem& problem) {
  if (head.has(http::FieldId::kIfMatch)) {
    http::EntityTagList list(head, http::FieldId::kIfMatch);
    options.must_exist = list.isAny();
    while (list.next()) {
      // Ours are made before any coding: a weak one is that of an answer that was compressed on its way.
      tags.add(tagStem(list.tag().opaque));
    }
    if (!options.must_exist) options.tag = &tags;  // which none matches where there is none
  }
  if (head.has(http::FieldId::kIfNoneMatch)) {
    options.create_only = http::EntityTagList(head, http::FieldId::kIfNoneMatch).isAny();
    if (!options.create_only) {
      problem = {400, "unsupported_condition", "If-None-Match of a write is \"*\"", {}, {}};
      return false;
    }
  }
  return true;
}

bool bodyFormat(std::string_view content_type, tables::BodyFormat& out, tables::Problem& problem) {
  const std::string_view type = mediaType(content_type);
  out = tables::BodyFormat::kJson;
  for (const std::string_view json :
       {"application/json", "application/vnd.pgrst.object+json", "application/vnd.pgrst.array+json"})
    if (isType(type, json)) return true;
  if (isType(type, "application/x-ndjson") || isType(type, "application/ndjson")) {
    out = tables::BodyFormat::kNdjson;
    return true;
  }
  if (isType(type, "text/csv")) {
    out = tables::BodyFormat::kCsv;
    return true;
  }
  problem = {415,
             "unsupported_media_type",
             type.empty() ? "the body has no Content-Type" : "a body is JSON, lines of JSON or CSV",
             "Content-Type: application/json, application/x-ndjson or text/csv",
             {}};
  return false;
}

tables::Problem bodyTooLarge(uint32_t max_bytes) {
  return {413, "too_large", fmt::format("the body is larger than {} bytes", max_bytes), {}, {}};
}

void publishWrite(::roost::push::Shard* shard, const tables::ExposedTable& table, std::string_view method,
                  const tables::OperationResult& result) {
  if (shard == nullptr || table.config->publish.empty() || result.rows == 0) return;
  std::string text = "{\"table\":";
  tables::appendJsonString(table.name, text);
  text += fmt::format(",\"method\":\"{}\",\"count\":{}", method, result.rows);
  if (!result.announcement.empty()) text += ",\"rows\":" + result.announcement;
  text += '}';
  ::roost::push::Publication message;
  message.payload = BufferRef::copyOf(text);
  message.content_type = "application/json";
  shard->publish(table.config->publish, std::move(message), std::make_unique<NobodyWaits>());
}

}  // namespace roost::modules::mysql
