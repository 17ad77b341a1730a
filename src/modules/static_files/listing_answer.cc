#include "modules/static_files/listing_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/buffer.h"
#include "http/accept.h"
#include "http/conditional.h"
#include "modules/static_files/directory_listing.h"
#include "modules/static_files/loop_files.h"

namespace roost::modules::static_files {
namespace {

// What a task thread needs: copies, for the route may be gone by then.
struct Job {
  FolderRequest request;
  ListingOptions options;
  ListingView view;
  ListingPlace place;
};

struct Page {
  int error = 0;
  bool json = false;
  BufferRef body;
  std::string etag;
};

// FNV-1a. Whoever can choose names to make two pages meet can change the folder anyway.
uint64_t hashOf(std::string_view text) noexcept {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

Page makePage(Sys& sys, const Job& job) {
  FolderContent content = readFolder(sys, job.request);
  Page page;
  page.error = content.error;
  page.json = job.view.json;
  if (page.error != 0) return page;
  sortItems(content, job.options, job.view);
  const std::string text =
      page.json ? listingJson(content, job.place) : listingPage(content, job.place, job.view);
  page.etag = fmt::format("W/\"{:016x}\"", hashOf(text));
  page.body = BufferRef::copyOf(text);
  return page;
}

void addFields(http::ResponseHead& head, const Page& page) {
  head.add("ETag", page.etag);
  head.add("Cache-Control", "no-cache");
  head.add("Vary", "Accept");
}

void sendPage(http::Exchange& exchange, const Page& page) {
  if (page.error != 0) return exchange.replyError(statusOfErrno(page.error));
  http::Validators validators;
  validators.etag = page.etag;
  validators.now_s = exchange.context().date().seconds();
  const bool conditional = exchange.errorStatus() == 0;
  const http::Precondition held =
      conditional ? http::evaluate(exchange.request(), validators) : http::Precondition::kProceed;
  if (held == http::Precondition::kPreconditionFailed) return exchange.replyError(412);
  http::ResponseHead head(held == http::Precondition::kNotModified ? 304 : 200);
  const std::string_view type = page.json ? "application/json" : "text/html; charset=utf-8";
  if (head.status == 304) {
    head.unsent_type = type;
    addFields(head, page);
    return exchange.begin(head, true);
  }
  head.add("Content-Type", type);
  addFields(head, page);
  // The page runs no script and loads nothing, whatever the names in it are.
  if (!page.json) {
    head.add(
        "Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'");
  }
  head.content_length = static_cast<int64_t>(page.body.size());
  const bool head_only = exchange.isHead();
  exchange.begin(head, head_only);
  if (!head_only) exchange.send(page.body, true);
}

Job jobFor(http::Exchange& exchange, const RootOptions& root, const std::string& path) {
  Job job;
  job.request = {root.folder, path, root.symlinks, root.dot_files, root.listing.limit};
  job.options = root.listing;
  const http::RequestHead& request = exchange.request();
  ListingView usual{false, root.listing.sort, root.listing.descending};
  usual.json = http::qualityOf(request, "application/json") > http::qualityOf(request, "text/html");
  job.view = viewOf(exchange.query(), usual);
  if (!root.listing.json) job.view.json = false;
  const std::string_view asked = exchange.path();
  const http::Route& route = exchange.route();
  const bool below = route.isPrefix() && asked.substr(0, route.path.size()) == route.path;
  job.place = {std::string(asked), below ? route.path.size() : asked.size()};
  return job;
}

}  // namespace

void answerListing(http::Exchange& exchange, const RootOptions& root, const std::string& path) {
  Job job = jobFor(exchange, root, path);
  if (auto* trace = exchange.trace()) {
    trace->note("no index file in " + root.folder + path + ": lists what is there as " +
                (job.view.json ? "JSON" : "HTML"));
  }
  Sys& sys = exchange.context().loop().sys();
  event::TaskPool& tasks = exchange.context().tasks();
  if (!tasks.hasThreads()) return sendPage(exchange, makePage(sys, job));
  std::unique_ptr<event::Task> task =
      event::makeTask([&sys, job = std::move(job), handle = exchange.handle()] {
        handle.post([page = makePage(sys, job)](http::Exchange& later) { sendPage(later, page); });
      });
  if (tasks.submit(task)) return;
  http::ResponseHead head(503);
  head.add("Retry-After", "1");
  exchange.replyError(503, &head);
}

}  // namespace roost::modules::static_files
