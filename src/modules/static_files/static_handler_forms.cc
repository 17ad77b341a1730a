// Which form of a file a request gets (RFC 9110 section 12.5.3).
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "http/etag.h"
#include "modules/static_files/file_sender.h"
#include "modules/static_files/static_handler.h"

namespace roost::modules::static_files {
namespace {

using http::AcceptedCodings;
using http::Coding;

// Forms that a request would take, in the order in which they are tried: what the client wants most, a
// sidecar before what has to be made, the order of the configuration.
class Candidates {
 public:
  struct Candidate {
    Coding coding;
    bool sidecar;
    uint16_t weight;
  };
  // Leaves out what the client wants less than the file itself.
  void add(const AcceptedCodings& accepted, const http::CodingOrder& order, bool sidecars) noexcept {
    const uint16_t least = std::max<uint16_t>(accepted.weight(Coding::kIdentity), 1);
    for (const Coding coding : order) {
      const uint16_t weight = accepted.weight(coding);
      if (weight < least) continue;
      size_t at = count_++;
      for (; at > 0 && list_[at - 1].weight < weight; --at) list_[at] = list_[at - 1];
      list_[at] = {coding, sidecars, weight};
    }
  }
  const Candidate* begin() const noexcept { return list_.data(); }
  const Candidate* end() const noexcept { return list_.data() + count_; }

 private:
  std::array<Candidate, 2 * http::kCodings.size()> list_;
  size_t count_ = 0;
};

// Whether the client asks only for what differs from the version with this tag. Who names a form's tag has
// been given that form.
bool hasVersion(const http::RequestHead& request, std::string_view etag) noexcept {
  if (request.has(http::FieldId::kIfMatch) || request.has(http::FieldId::kIfUnmodifiedSince)) return false;
  const auto own = http::parseEntityTag(etag);
  http::EntityTagList list(request, http::FieldId::kIfNoneMatch);
  if (!own || list.isAny()) return false;
  while (list.next()) {
    if (http::weakMatch(list.tag(), *own)) return true;
  }
  return false;
}

}  // namespace

// Where neither the file itself nor a form there is can be accepted, 406; a file that has no forms at all is
// sent as it is.
void StaticHandler::answerBest(http::Exchange& exchange, LoopFiles& files, FileEntry& original,
                               Attempt attempt) const noexcept {
  const AcceptedCodings accepted(exchange.request());
  Candidates candidates;
  candidates.add(accepted, root_.precompressed, true);
  // Stretches are taken out of the file itself: what is made of it is made whole.
  const bool may_make = original.worth_coding && (!exchange.request().has(http::FieldId::kRange) ||
                                                  !accepted.takes(Coding::kIdentity));
  if (may_make) candidates.add(accepted, exchange.route().compression->order(), false);
  for (const Candidates::Candidate& each : candidates) {
    const bool answered = each.sidecar ? trySidecar(exchange, files, original, each.coding, attempt.may_block)
                                       : tryMade(exchange, files, original, each.coding, attempt.waited);
    if (answered) return;
  }
  if (accepted.takes(Coding::kIdentity)) return answer(exchange, files, original);
  const Forms forms = formsOf(exchange, files, original, attempt.may_block);
  if (forms == Forms::kLookedUp) return;
  if (forms == Forms::kNone) return answer(exchange, files, original);
  if (auto* trace = exchange.trace())
    trace->note("Accept-Encoding takes none of the forms of this file: 406");
  http::ResponseHead head(406);
  head.add("Vary", "Accept-Encoding");
  exchange.replyError(406, &head);
}

// Answers with the sidecar, or waits for it; false where there is none.
bool StaticHandler::trySidecar(http::Exchange& exchange, LoopFiles& files, FileEntry& original, Coding coding,
                               bool may_block) const noexcept {
  const LoopFiles::Asked asked{&exchange.route(), exchange.path()};
  LoopFiles::Found found = files.findSidecar(root_, original, coding, may_block, asked);
  if (found.cold) {
    if (files.lookUp(exchange, root_, {original.file_path}, &serveWarmed)) return true;
    if (exchange.context().tasks().hasThreads()) {
      refuseForNow(exchange);
      return true;
    }
    found = files.findSidecar(root_, original, coding, true, asked);
  }
  if (found.entry == nullptr) return false;
  if (auto* trace = exchange.trace()) trace->note("Accept-Encoding: sent as " + found.entry->file_path);
  answer(exchange, files, *found.entry);
  return true;
}

// Answers with what the route's Compression makes of the file, or waits for it; false where that is of no
// use.
bool StaticHandler::tryMade(http::Exchange& exchange, LoopFiles& files, FileEntry& original, Coding coding,
                            bool waited) const noexcept {
  auto* trace = exchange.trace();
  if (files.hasMade(original, coding)) {
    if (trace != nullptr) trace->note("compress: the form kept for " + std::string(http::codingName(coding)));
    answer(exchange, files, *original.forms[static_cast<size_t>(coding)]);
    return true;
  }
  if (waited || (original.no_made & (1U << static_cast<size_t>(coding))) != 0) return false;
  auto form =
      LoopFiles::outlineOf(original, coding, FileEntry::Origin::kStreamed, *exchange.route().compression);
  // A form that the client has need not be made to say so. All other preconditions wait until it is known
  // whether there will be one: they are about what would be sent.
  bool range_applies = true;
  const bool conditional = exchange.errorStatus() == 0;
  if (conditional && hasVersion(exchange.request(), form->etag.view()) &&
      !preconditionsHold(exchange, *form, range_applies))
    return true;
  const LoopFiles::Asked asked{&exchange.route(), exchange.path()};
  switch (files.findMade(root_, original, coding, asked, exchange, &serveMade)) {
    case LoopFiles::Made::kHere:
      answer(exchange, files, *original.forms[static_cast<size_t>(coding)]);
      return true;
    case LoopFiles::Made::kComing:
      if (trace != nullptr) trace->note("compress: made with " + std::string(http::codingName(coding)));
      return true;
    case LoopFiles::Made::kNotKept:
      if (conditional && !preconditionsHold(exchange, *form, range_applies)) return true;
      stream(exchange, files, original, std::move(form));
      return true;
    case LoopFiles::Made::kNone:
    case LoopFiles::Made::kNobody:
      break;
  }
  return false;
}

// The file's bytes, to be coded by the route's Compression while they are sent.
void StaticHandler::stream(http::Exchange& exchange, LoopFiles& files, const FileEntry& original,
                           std::unique_ptr<FileEntry> form) const noexcept {
  form->kind = original.kind;
  form->size = original.size;
  form->whole = original.whole;
  form->file = original.file;
  answerWhole(exchange, files, *form);
}

// The form that was waited for has been made, or cannot be.
void StaticHandler::serveMade(http::Exchange& exchange) {
  static_cast<const StaticHandler&>(*exchange.route().handler).serve(exchange, {false, true});
}

StaticHandler::Forms StaticHandler::formsOf(http::Exchange& exchange, LoopFiles& files, FileEntry& original,
                                            bool may_block) const noexcept {
  if (original.worth_coding) return Forms::kSome;
  const LoopFiles::Asked asked{&exchange.route(), exchange.path()};
  for (const Coding coding : root_.precompressed) {
    const LoopFiles::Found found = files.findSidecar(root_, original, coding, may_block, asked);
    if (found.cold && files.lookUp(exchange, root_, {original.file_path}, &serveWarmed))
      return Forms::kLookedUp;
    if (found.entry != nullptr && !found.cold) return Forms::kSome;
  }
  return Forms::kNone;
}

}  // namespace roost::modules::static_files
