#pragma once

#include <memory>
#include <vector>

#include "http/exchange.h"
#include "http/handler.h"
#include "http/range.h"
#include "modules/static_files/loop_files.h"
#include "modules/static_files/root_folder.h"

namespace roost::modules::static_files {

// Each loop's files, by the loop's index. Filled by the loops as they start, each its own place.
using FilesByLoop = std::vector<std::unique_ptr<LoopFiles>>;

// Answers GET and HEAD with files (RFC 9110 sections 8, 13 and 14). Immutable; one per route.
class StaticHandler final : public http::Handler {
 public:
  // `mime` is what options.mime points to; `files` outlives the handler.
  StaticHandler(RootOptions options, std::shared_ptr<const http::MimeTable> mime, const FilesByLoop& files);

  void handle(http::Exchange& exchange) const noexcept override { serve(exchange, {}); }

 private:
  // What has been tried already.
  struct Attempt {
    bool may_block = false;  // what was cold has been read; the loop may read it now
    bool waited = false;     // for a form to be made; what there is now is sent
  };
  void serve(http::Exchange& exchange, Attempt attempt) const noexcept;
  bool trySidecar(http::Exchange& exchange, LoopFiles& files, FileEntry& original, http::Coding coding,
                  bool may_block) const noexcept;
  bool tryMade(http::Exchange& exchange, LoopFiles& files, FileEntry& original, http::Coding coding,
               bool waited) const noexcept;
  void stream(http::Exchange& exchange, LoopFiles& files, const FileEntry& original,
              std::unique_ptr<FileEntry> form) const noexcept;
  // Whether a form of a file lies beside it, or could be made.
  enum class Forms : uint8_t { kNone, kSome, kLookedUp };
  Forms formsOf(http::Exchange& exchange, LoopFiles& files, FileEntry& original,
                bool may_block) const noexcept;
  std::string_view pathOf(http::Exchange& exchange) const noexcept;
  std::vector<std::string> candidatesOf(http::Exchange& exchange) const;
  static void serveMade(http::Exchange& exchange);
  static void serveWarmed(http::Exchange& exchange);
  static void refuseForNow(http::Exchange& exchange);
  LoopFiles::Found find(http::Exchange& exchange, LoopFiles& files, bool may_block) const noexcept;
  LoopFiles::Found findFirst(http::Exchange& exchange, LoopFiles& files, std::string_view path,
                             bool may_block) const;
  void answer(http::Exchange& exchange, LoopFiles& files, FileEntry& entry) const noexcept;
  void answerBest(http::Exchange& exchange, LoopFiles& files, FileEntry& original,
                  Attempt attempt) const noexcept;
  bool preconditionsHold(http::Exchange& exchange, const FileEntry& entry,
                         bool& range_applies) const noexcept;
  void answerWhole(http::Exchange& exchange, LoopFiles& files, FileEntry& entry) const noexcept;
  void answerRanges(http::Exchange& exchange, LoopFiles& files, FileEntry& entry,
                    const http::RangeRequest& ranges) const noexcept;
  void answerMultipart(http::Exchange& exchange, FileEntry& entry,
                       const http::RangeRequest& ranges) const noexcept;
  void sendParts(http::Exchange& exchange, FileEntry& entry, const http::RangeRequest& ranges,
                 const http::MultipartRanges& multipart) const noexcept;
  void sendStretch(http::Exchange& exchange, LoopFiles& files, FileEntry& entry, uint64_t offset,
                   uint64_t size) const noexcept;
  void redirectToFolder(http::Exchange& exchange) const noexcept;
  std::string fullPath(const FileEntry& entry) const { return root_.folder + entry.file_path; }

  const RootOptions root_;
  const std::shared_ptr<const http::MimeTable> mime_;
  const FilesByLoop& files_;
};

}  // namespace roost::modules::static_files
