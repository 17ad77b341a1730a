#include "http/conditional.h"

#include <optional>

#include "http/date.h"
#include "http/etag.h"

namespace roost::http {

namespace {

constexpr int64_t kStrongDateAge_s = 2;

// The value of a field that may come only once; nothing where it is absent or repeated.
std::optional<std::string_view> singleValue(const RequestHead& head, FieldId id) noexcept {
  const Field* field = head.find(id);
  if (field == nullptr || head.nextOf(*field) != nullptr) return std::nullopt;
  return head.value(*field);
}

std::optional<int64_t> singleDate(const RequestHead& head, FieldId id, int64_t now_s) noexcept {
  const std::optional<std::string_view> value = singleValue(head, id);
  return value ? parseHttpDate(*value, now_s) : std::nullopt;
}

using Comparison = bool (*)(const EntityTag&, const EntityTag&) noexcept;

// Whether the field names the current representation, by "*" or by one of its tags.
bool listMatches(const RequestHead& head, FieldId id, const Validators& validators,
                 Comparison same) noexcept {
  EntityTagList list(head, id);
  if (list.isAny()) return validators.exists;
  const std::optional<EntityTag> current = parseEntityTag(validators.etag);
  if (!current || !validators.exists) return false;
  while (list.next()) {
    if (same(list.tag(), *current)) return true;
  }
  return false;
}

// Steps 1 and 2 of section 13.2.2: is the state still the one the client knows?
bool stateIsKnown(const RequestHead& head, const Validators& validators) noexcept {
  if (head.has(FieldId::kIfMatch)) return listMatches(head, FieldId::kIfMatch, validators, strongMatch);
  if (!validators.has_last_modified || !head.has(FieldId::kIfUnmodifiedSince)) return true;
  const auto date = singleDate(head, FieldId::kIfUnmodifiedSince, validators.now_s);
  return !date || validators.last_modified_s <= *date;
}

// Steps 3 and 4: has the client got this representation already?
bool clientHasIt(const RequestHead& head, const Validators& validators, bool is_read) noexcept {
  if (head.has(FieldId::kIfNoneMatch)) return listMatches(head, FieldId::kIfNoneMatch, validators, weakMatch);
  if (!is_read || !validators.has_last_modified) return false;
  const auto date = singleDate(head, FieldId::kIfModifiedSince, validators.now_s);
  return date && validators.last_modified_s <= *date;
}

}  // namespace

Precondition evaluate(const RequestHead& head, const Validators& validators) noexcept {
  if (!head.has(FieldId::kIfNoneMatch) && !head.has(FieldId::kIfModifiedSince) &&
      !head.has(FieldId::kIfMatch) && !head.has(FieldId::kIfUnmodifiedSince)) {
    return Precondition::kProceed;
  }
  if (head.method == Method::kConnect || head.method == Method::kOptions || head.method == Method::kTrace) {
    return Precondition::kProceed;
  }
  if (!stateIsKnown(head, validators)) return Precondition::kPreconditionFailed;
  const bool is_read = head.method == Method::kGet || head.method == Method::kHead;
  if (!clientHasIt(head, validators, is_read)) return Precondition::kProceed;
  return is_read ? Precondition::kNotModified : Precondition::kPreconditionFailed;
}

bool ifRangeMatches(const RequestHead& head, const Validators& validators) noexcept {
  if (!head.has(FieldId::kIfRange)) return true;
  const std::optional<std::string_view> value = singleValue(head, FieldId::kIfRange);
  if (!value || !validators.exists) return false;
  if (const std::optional<EntityTag> tag = parseEntityTag(*value)) {
    const std::optional<EntityTag> current = parseEntityTag(validators.etag);
    return current && strongMatch(*tag, *current);
  }
  const std::optional<int64_t> date = parseHttpDate(*value, validators.now_s);
  return date && validators.has_last_modified && *date == validators.last_modified_s &&
         validators.now_s - validators.last_modified_s >= kStrongDateAge_s;
}

}  // namespace roost::http
