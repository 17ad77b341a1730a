#include "modules/static_files/static_handler.h"

#include <array>
#include <utility>

#include "http/conditional.h"
#include "http/target.h"
#include "modules/static_files/file_sender.h"
#include "modules/static_files/listing_answer.h"

namespace roost::modules::static_files {
namespace {

using http::FieldId;
using http::Method;

constexpr std::string_view kAllow = "GET, HEAD, OPTIONS";
// For this long a large file that was found in memory is taken to be there still.
constexpr int64_t kTrustWarmNs = 1'000'000'000;

// The fields that make an answer anything but the whole file. If-Range means nothing without Range.
constexpr uint64_t kConditional =
    http::fieldBit(FieldId::kIfNoneMatch) | http::fieldBit(FieldId::kIfModifiedSince) |
    http::fieldBit(FieldId::kIfMatch) | http::fieldBit(FieldId::kIfUnmodifiedSince) |
    http::fieldBit(FieldId::kRange);

http::Validators validatorsOf(http::Exchange& exchange, const FileEntry& entry) noexcept {
  http::Validators validators;
  validators.has_last_modified = true;
  validators.etag = entry.etag.view();
  validators.last_modified_s = entry.last_modified_s;
  validators.now_s = exchange.context().date().seconds();
  return validators;
}

// What was found for a path, in words.
void explainEntry(http::Trace& trace, const FileEntry& entry, const RootOptions& root) {
  const std::string name = root.folder + (entry.file_path.empty() ? entry.path : entry.file_path);
  switch (entry.kind) {
    case FileEntry::Kind::kRefused:
      if (entry.root_id == 0) {
        trace.note("404: a name that begins with a dot (dot_files is off)");
      } else if (entry.status == 404) {
        trace.note("404: there is no " + name + ", or a link forbids it (symlinks)");
      } else if (!entry.path.empty() && entry.path.back() == '/') {
        trace.note(std::to_string(entry.status) + ": " + root.folder + entry.path +
                   " is there, but holds no index file");
      } else {
        trace.note(std::to_string(entry.status) + ": " + name + " cannot be read");
      }
      return;
    case FileEntry::Kind::kFolder:
      trace.note(root.folder + entry.path + " is a folder: to be asked for with its slash");
      return;
    case FileEntry::Kind::kListing:
      return;  // the listing itself says so
    case FileEntry::Kind::kBody:
    case FileEntry::Kind::kFile:
      trace.note("file " + name + ", " + std::to_string(entry.size) + " bytes, " + entry.content_type);
      if (!entry.path.empty() && entry.path.back() == '/' && entry.coding == http::Coding::kIdentity)
        trace.note("an index file of " + root.folder + entry.path);
      trace.note(entry.kind == FileEntry::Kind::kBody ? "small enough to be kept in memory"
                                                      : "sent from the file system");
  }
}

}  // namespace

StaticHandler::StaticHandler(RootOptions options, std::shared_ptr<const http::MimeTable> mime,
                             const FilesByLoop& files)
    : root_(std::move(options)), mime_(std::move(mime)), files_(files) {}

void StaticHandler::serve(http::Exchange& exchange, Attempt attempt) const noexcept {
  const Method method = exchange.method();
  if (method != Method::kGet && method != Method::kHead) {
    http::ResponseHead head(204);
    head.add("Allow", kAllow);
    if (method == Method::kOptions) return exchange.begin(head, true);
    return exchange.replyError(405, &head);
  }
  LoopFiles& files = *files_[exchange.context().index()];
  LoopFiles::Found found = find(exchange, files, attempt.may_block);
  if (found.entry != nullptr && found.cold) {
    if (http::Trace* trace = exchange.trace()) trace->note("not in memory: a task thread reads it first");
    if (files.lookUp(exchange, root_, candidatesOf(exchange), &serveWarmed)) return;
    // No loop waits for a disk while there are threads to do it, even if all of them are busy.
    if (exchange.context().tasks().hasThreads()) return refuseForNow(exchange);
    found = find(exchange, files, true);
  }
  if (found.entry == nullptr) return exchange.replyError(root_.try_files.status());
  if (found.entry->varies) return answerBest(exchange, files, *found.entry, attempt);
  answer(exchange, files, *found.entry);
}

std::string_view StaticHandler::pathOf(http::Exchange& exchange) const noexcept {
  return root_.only_file.empty() ? exchange.path().substr(root_.strip) : std::string_view(root_.only_file);
}

// All that find() may look at.
std::vector<std::string> StaticHandler::candidatesOf(http::Exchange& exchange) const {
  const std::string_view path = pathOf(exchange);
  std::vector<std::string> candidates;
  std::string space;
  const size_t count = exchange.isAnsweredAs() ? 0 : root_.try_files.size();
  for (size_t i = 0; i < count; ++i) {
    const std::string_view candidate = root_.try_files.expand(i, path, space);
    if (!candidate.empty()) candidates.emplace_back(candidate);
  }
  if (count == 0) candidates.emplace_back(path);
  return candidates;
}

// Without an entry: nothing of what was to be tried is there.
LoopFiles::Found StaticHandler::find(http::Exchange& exchange, LoopFiles& files,
                                     bool may_block) const noexcept {
  const std::string_view path = pathOf(exchange);
  // Asked again after a wait, the exchange may have the path of what was found already.
  if (!root_.try_files.empty() && !exchange.isAnsweredAs())
    return findFirst(exchange, files, path, may_block);
  return files.find(root_, path, may_block, {&exchange.route(), exchange.path()});
}

LoopFiles::Found StaticHandler::findFirst(http::Exchange& exchange, LoopFiles& files, std::string_view path,
                                          bool may_block) const {
  using Kind = FileEntry::Kind;
  const std::string above(exchange.path().substr(0, root_.strip));
  std::string space;
  for (size_t i = 0; i < root_.try_files.size(); ++i) {
    const std::string_view candidate = root_.try_files.expand(i, path, space);
    if (candidate.empty()) continue;
    // One file has one path of a request, whatever was asked for, since what is kept ready is made for that.
    const std::string as = above + std::string(candidate);
    const http::Route* route = &exchange.route();
    LoopFiles::Found found = files.find(root_, candidate, may_block, {route, as});
    const FileEntry& entry = *found.entry;
    const bool refused = entry.kind == Kind::kRefused && entry.status < 500;
    const bool answers = found.cold || (!refused && entry.kind != Kind::kFolder);
    if (auto* trace = exchange.trace()) {
      trace->note("try_files: " + root_.folder + std::string(candidate) +
                  (answers ? " answers" : " does not answer"));
    }
    if (!answers) continue;
    if (found.cold || candidate == path) return found;
    const bool is_folder_of_path =
        candidate.size() == path.size() + 1 && candidate.substr(0, path.size()) == path;
    if (is_folder_of_path && candidate.back() == '/') {
      return files.find(root_, path, may_block, {route, exchange.path()});
    }
    exchange.answerAs(as);
    return found;
  }
  return {};
}

void StaticHandler::refuseForNow(http::Exchange& exchange) {
  http::ResponseHead head(503);
  head.add("Retry-After", "1");
  exchange.replyError(503, &head);
}

// Comes back from a task thread: the route is the same, its handler a StaticHandler.
void StaticHandler::serveWarmed(http::Exchange& exchange) {
  static_cast<const StaticHandler&>(*exchange.route().handler).serve(exchange, {true, false});
}

void StaticHandler::answer(http::Exchange& exchange, LoopFiles& files, FileEntry& entry) const noexcept {
  if (http::Trace* trace = exchange.trace()) explainEntry(*trace, entry, root_);
  switch (entry.kind) {
    case FileEntry::Kind::kRefused:
      return exchange.replyError(entry.status);
    case FileEntry::Kind::kFolder:
      return redirectToFolder(exchange);
    case FileEntry::Kind::kListing:
      return answerListing(exchange, root_, entry.path);
    case FileEntry::Kind::kBody:
    case FileEntry::Kind::kFile:
      break;
  }
  const bool conditional = (exchange.request().present & kConditional) != 0;
  if (!conditional || exchange.errorStatus() != 0) return answerWhole(exchange, files, entry);
  bool range_applies = true;
  if (!preconditionsHold(exchange, entry, range_applies)) return;
  if (!range_applies && exchange.trace() != nullptr && exchange.request().has(FieldId::kRange))
    exchange.trace()->note("If-Range names another version: the whole file is sent");
  // What is made of a file's bytes has no ranges: the file itself has them.
  if (!range_applies || entry.origin != FileEntry::Origin::kFile) return answerWhole(exchange, files, entry);
  const http::RangeRequest ranges = http::parseRange(exchange.request(), entry.size, root_.max_ranges);
  // The parts of a multipart body have no Content-Encoding.
  const bool coded_parts = ranges.count > 1 && entry.coding != http::Coding::kIdentity;
  if (ranges.outcome == http::RangeOutcome::kWhole || coded_parts) return answerWhole(exchange, files, entry);
  answerRanges(exchange, files, entry, ranges);
}

// Answers 304 or 412 itself and returns false where a precondition fails.
bool StaticHandler::preconditionsHold(http::Exchange& exchange, const FileEntry& entry,
                                      bool& range_applies) const noexcept {
  const http::RequestHead& request = exchange.request();
  const http::Validators validators = validatorsOf(exchange, entry);
  switch (http::evaluate(request, validators)) {
    case http::Precondition::kProceed:
      break;
    case http::Precondition::kNotModified: {
      if (http::Trace* trace = exchange.trace())
        trace->note("304: If-None-Match or If-Modified-Since says that the client has it");
      http::ResponseHead head(304);
      head.unsent_type = entry.content_type;
      addFileFields(head, entry, root_);
      head.negotiated = true;
      exchange.begin(head, true);
      return false;
    }
    case http::Precondition::kPreconditionFailed:
      if (http::Trace* trace = exchange.trace())
        trace->note("412: If-Match or If-Unmodified-Since asks for another version than " +
                    std::string(entry.etag.view()));
      exchange.replyError(412);
      return false;
  }
  range_applies = request.has(FieldId::kRange) && http::ifRangeMatches(request, validators);
  return true;
}

void StaticHandler::answerWhole(http::Exchange& exchange, LoopFiles& files, FileEntry& entry) const noexcept {
  const bool streamed = entry.origin == FileEntry::Origin::kStreamed;
  if (entry.kind == FileEntry::Kind::kBody && !streamed && exchange.mayReplyNegotiated())
    return exchange.reply(entry.whole);
  http::ResponseHead head(200);
  addContentFields(head, entry);
  addFileFields(head, entry, root_);
  head.negotiated = !streamed;
  if (root_.max_ranges > 0 && entry.origin == FileEntry::Origin::kFile) head.add("Accept-Ranges", "bytes");
  head.content_length = static_cast<int64_t>(entry.size);
  const bool head_only = exchange.isHead() || entry.size == 0;
  exchange.begin(head, head_only);
  if (!head_only) sendStretch(exchange, files, entry, 0, entry.size);
}

void StaticHandler::answerRanges(http::Exchange& exchange, LoopFiles& files, FileEntry& entry,
                                 const http::RangeRequest& ranges) const noexcept {
  char text[http::kMaxContentRange];
  if (ranges.outcome == http::RangeOutcome::kUnsatisfiable) {
    http::ResponseHead head(416);
    head.add("Content-Range", {text, http::formatUnsatisfiedRange(entry.size, text)});
    return exchange.replyError(416, &head);
  }
  if (ranges.count > 1) return answerMultipart(exchange, entry, ranges);
  const http::ByteRange range = *ranges.begin();
  http::ResponseHead head(206);
  addContentFields(head, entry);
  addFileFields(head, entry, root_);
  head.add("Content-Range", {text, http::formatContentRange(range, entry.size, text)});
  head.content_length = static_cast<int64_t>(range.size());
  exchange.begin(head, false);
  sendStretch(exchange, files, entry, range.first, range.size());
}

// RFC 9110 section 14.6.
void StaticHandler::answerMultipart(http::Exchange& exchange, FileEntry& entry,
                                    const http::RangeRequest& ranges) const noexcept {
  const http::MultipartRanges multipart(entry.content_type, entry.size);
  http::ResponseHead head(206);
  std::string type("multipart/byteranges; boundary=");
  type += multipart.boundary();
  head.add("Content-Type", type);
  addFileFields(head, entry, root_);
  head.content_length = static_cast<int64_t>(multipart.totalLength(ranges));
  exchange.begin(head, false);
  sendParts(exchange, entry, ranges, multipart);
}

// What lies in memory is queued at once, as references to at most max_ranges parts of one block.
void StaticHandler::sendParts(http::Exchange& exchange, FileEntry& entry, const http::RangeRequest& ranges,
                              const http::MultipartRanges& multipart) const noexcept {
  const bool in_memory = entry.kind == FileEntry::Kind::kBody;
  FileContent content{entry.file, fullPath(entry), {}, {}};
  std::string text(multipart.maxPartHead(), '\0');
  size_t index = 0;
  for (const http::ByteRange& range : ranges) {
    const std::string_view head(text.data(), multipart.formatPartHead(index++, range, text.data()));
    if (!in_memory) {
      content.parts.push_back({std::string(head), range.first, range.size()});
      continue;
    }
    exchange.send(head, false);
    const size_t offset = entry.whole.headSize() + static_cast<size_t>(range.first);
    exchange.send(entry.whole.block(), offset, static_cast<size_t>(range.size()), false);
  }
  char end[http::MultipartRanges::kEndSize];
  content.end.assign(end, multipart.formatEnd(end));
  if (in_memory) {
    exchange.send(content.end, true);
  } else {
    FileSender::send(exchange, std::move(content));
  }
}

void StaticHandler::sendStretch(http::Exchange& exchange, LoopFiles& files, FileEntry& entry, uint64_t offset,
                                uint64_t size) const noexcept {
  if (entry.kind == FileEntry::Kind::kBody) {
    exchange.send(entry.whole.block(), entry.whole.headSize() + static_cast<size_t>(offset),
                  static_cast<size_t>(size), true);
    return;
  }
  if (size <= FileSender::kWindowBytes) {
    const bool trusted = files.nowNs() < entry.warm_until_ns;
    if (trusted || isWarm(files.sys(), entry.file.fd(), offset, size)) {
      if (!trusted && size == entry.size) entry.warm_until_ns = files.nowNs() + kTrustWarmNs;
      exchange.sendFile(entry.file, offset, size, true);
      return;
    }
  }
  FileSender::send(exchange, {entry.file, fullPath(entry), {{{}, offset, size}}, {}});
}

// A folder is asked for with its slash, or the links in its index would lead astray. The query goes along.
void StaticHandler::redirectToFolder(http::Exchange& exchange) const noexcept {
  const http::RequestHead& request = exchange.request();
  std::string location;
  http::appendEncodedPath(location, exchange.path());
  location += '/';
  if (request.has_query) {
    location += '?';
    location += request.view(request.query);
  }
  http::ResponseHead head(301);
  head.add("Location", location);
  exchange.replyError(301, &head);
}

}  // namespace roost::modules::static_files
