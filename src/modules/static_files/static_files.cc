#include "modules/static_files/static_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "http/mime.h"
#include "modules/static_files/loop_files.h"
#include "modules/static_files/static_handler.h"

namespace roost::embedded {
extern const std::string_view static_files_schema;
}

namespace roost::modules::static_files {
namespace {

SymlinkPolicy policyOf(const std::string& name) noexcept {
  if (name == "none") return SymlinkPolicy::kNone;
  return name == "follow" ? SymlinkPolicy::kFollow : SymlinkPolicy::kWithin;
}

std::string withoutEndSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

http::CodingOrder precompressedOf(config::Node node) {
  http::CodingOrder order;
  for (size_t i = 0; i < node.size(); ++i) order.add(http::codingByName(node.at(i).asString()));
  if (!node.isBool() || !node.asBool()) return order;
  for (const http::Coding coding : http::kCodings) order.add(coding);
  return order;
}

CacheOptions cacheOptions(config::Node node) {
  CacheOptions options;
  options.max_bytes = static_cast<uint64_t>(node["max_bytes"].asInt());
  options.max_file_bytes = static_cast<uint64_t>(node["max_file_bytes"].asInt());
  options.max_entries = static_cast<size_t>(node["max_entries"].asInt());
  options.revalidate_ns = node["revalidate_ms"].asInt() * 1'000'000;
  options.inotify = node["inotify"].asBool();
  return options;
}

ListingOptions listingOptions(config::Node node) {
  ListingOptions options;
  options.enabled = node.isObject() || node.asBool();
  if (!node.isObject()) return options;
  const std::string& sort = node["sort"].asString();
  options.sort = sort == "size"       ? ListingSort::kSize
                 : sort == "modified" ? ListingSort::kModified
                                      : ListingSort::kName;
  options.descending = node["order"].asString() == "desc";
  options.folders_first = node["folders_first"].asBool();
  options.json = node["json"].asBool();
  options.limit = static_cast<size_t>(node["limit"].asInt());
  return options;
}

// "fallback" is the short form of a common list.
Result<TryFiles> tryFiles(config::Node node, bool one_file) {
  const config::Node list = node["try_files"];
  const config::Node fallback = node["fallback"];
  const bool has_fallback = !fallback.isNull();
  if (list.size() == 0 && !has_fallback) return TryFiles();
  if (one_file) return Status::error("the alias is a single file: there is nothing else to try");
  if (has_fallback && list.size() > 0) {
    return Status::error("\"try_files\" and \"fallback\" exclude each other");
  }
  std::vector<std::string> names;
  if (has_fallback) names = {"{path}", "{path}/", fallback.asString()};
  int status = 404;
  for (size_t i = 0; i < list.size(); ++i) {
    const config::Node item = list.at(i);
    if (!item.isInt()) {
      names.push_back(item.asString());
    } else if (i + 1 < list.size()) {
      return Status::error("\"try_files\": a status ends the list, nothing behind it is tried");
    } else {
      status = static_cast<int>(item.asInt());
    }
  }
  if (names.empty()) return Status::error("\"try_files\": there is no path in the list");
  return TryFiles::compile(names, status);
}

class StaticFiles final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"static", embedded::static_files_schema, true};
  }
  Status start(const module::StartContext& context) override;
  Result<module::RouteParts> build(config::Node options, const module::RouteContext& context) override;
  void onLoopStart(http::LoopContext& context) noexcept override {
    files_[context.index()] = std::make_unique<LoopFiles>(context, cache_options_, shared_);
  }
  void onLoopStop(http::LoopContext& context) noexcept override { files_[context.index()].reset(); }

 private:
  Result<std::shared_ptr<const http::MimeTable>> mimeTable(config::Node http);

  FilesByLoop files_;
  CacheOptions cache_options_;
  const SharedFiles shared_;
  uint32_t next_root_id_ = 1;
};

Status StaticFiles::start(const module::StartContext& context) {
  files_.resize(context.loop_count);
  cache_options_ = cacheOptions(context.config["http"]["file_cache"]);
  return {};
}

Result<std::shared_ptr<const http::MimeTable>> StaticFiles::mimeTable(config::Node http) {
  auto table = std::make_shared<http::MimeTable>();
  if (http["system_mime_types"].asBool()) table->loadSystemTypes();
  for (const config::Member member : http["mime_types"].members()) {
    Status status = table->add(member.key, member.value.asString());
    if (!status.ok()) return status;
  }
  return std::shared_ptr<const http::MimeTable>(std::move(table));
}

Result<module::RouteParts> StaticFiles::build(config::Node node, const module::RouteContext& context) {
  auto mime = mimeTable(context.root["http"]);
  if (!mime.ok()) return mime.status();
  RootOptions root;
  root.id = next_root_id_++;
  const config::Node site_root = context.site["root_path"];
  const bool sites_own = node["root"].isDefault() && site_root.exists() && !site_root.isDefault();
  root.folder = withoutEndSlash((sites_own ? site_root : node["root"]).asString());
  const bool alias = !node["alias"].isNull();
  if (alias && !node["root"].isDefault()) return Status::error("\"root\" and \"alias\" exclude each other");
  if (alias && !context.isLiteral()) {
    return Status::error(
        "\"alias\" needs a route whose path has no names in it; use \"root\" and \"rewrite\"");
  }
  const bool prefix = context.path.back() == '/';
  if (alias) {
    root.folder = withoutEndSlash(node["alias"].asString());
    if (prefix) {
      root.strip = context.path.size() - 1;
    } else {
      const size_t slash = root.folder.rfind('/');
      root.only_file = root.folder.substr(slash);
      root.folder.erase(slash == 0 ? 1 : slash);
    }
  }
  const char* key = alias                       ? "alias"
                    : !node["root"].isDefault() ? "root"
                    : sites_own                 ? "root_path"
                                                : "http.root_path";
  struct stat info {};
  int error = ::stat(root.folder.c_str(), &info) == 0 ? 0 : errno;
  if (error == 0 && !S_ISDIR(info.st_mode)) error = ENOTDIR;
  if (error == 0 && ::access(root.folder.c_str(), R_OK | X_OK) != 0) error = errno;
  if (error != 0) return Status::fromErrno(error, "cannot serve \"" + root.folder + "\" (" + key + ")");
  root.symlinks = policyOf(node["symlinks"].asString());
  root.dot_files = node["dot_files"].asBool();
  for (size_t i = 0; i < node["index"].size(); ++i) root.index.push_back(node["index"].at(i).asString());
  root.charset = node["charset"].asString();
  root.cache_control = node["cache_control"].asString();
  root.server_header = std::string(context.server_header);
  root.max_ranges = static_cast<size_t>(node["max_ranges"].asInt());
  root.precompressed = precompressedOf(node["precompressed"]);
  root.mime = mime->get();
  root.listing = listingOptions(node["listing"]);
  if (root.listing.enabled && !root.only_file.empty()) {
    return Status::error("\"listing\": the alias is a single file, there is no folder to list");
  }
  Result<TryFiles> try_files = tryFiles(node, !root.only_file.empty());
  if (!try_files.ok()) return try_files.status();
  root.try_files = std::move(*try_files);
  module::RouteParts parts;
  parts.handler = std::make_unique<StaticHandler>(std::move(root), std::move(*mime), files_);
  return parts;
}

}  // namespace

std::unique_ptr<module::Module> makeStaticFiles() {
  return std::make_unique<StaticFiles>();
}

}  // namespace roost::modules::static_files
