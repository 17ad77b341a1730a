#include "modules/static_files/try_files.h"

#include <utility>

#include "http/target.h"

namespace roost::modules::static_files {
namespace {

constexpr std::string_view kPath = "{path}";

// Whether some request's canonical path looks like this.
bool isCanonical(std::string_view path) {
  std::string escaped;
  http::appendEncodedPath(escaped, path);
  std::string decoded(escaped.size() + 1, '\0');
  const http::DecodedPath result = http::decodePath(escaped, decoded.data(), decoded.size());
  return result.ok() && std::string_view(decoded).substr(0, result.size) == path;
}

}  // namespace

Result<TryFiles> TryFiles::compile(const std::vector<std::string>& names, int status) {
  TryFiles made;
  made.status_ = status;
  for (const std::string& name : names) {
    if (name.find("$uri") != std::string::npos) {
      return Status::error("\"" + name + "\": \"$uri\" would stand for itself: write \"{path}\"");
    }
    Candidate candidate;
    const size_t at = name.find(kPath);
    candidate.has_path = at != std::string::npos;
    candidate.before = name.substr(0, at);
    if (candidate.has_path) candidate.after = name.substr(at + kPath.size());
    if ((candidate.before + candidate.after).find_first_of("{}") != std::string::npos) {
      return Status::error("\"" + name + "\": {path} is the only variable here, and it may stand once");
    }
    if (name[0] == '@') {
      return Status::error("\"" + name +
                           "\": there are no named routes; name a path below the folder served");
    }
    if (!isCanonical(candidate.before + (candidate.has_path ? "/x" : "") + candidate.after)) {
      return Status::error("\"" + name +
                           "\" is not a path: it begins with \"/\" or \"{path}\" and has no "
                           "\"//\", \".\" or \"..\" in it");
    }
    made.candidates_.push_back(std::move(candidate));
  }
  return made;
}

std::string_view TryFiles::expand(size_t index, std::string_view path, std::string& space) const {
  const Candidate& candidate = candidates_[index];
  if (!candidate.has_path) return candidate.before;
  if (candidate.before.empty() && candidate.after.empty()) return path;
  std::string_view after = candidate.after;
  if (path.back() == '/' && !after.empty()) {
    if (after[0] != '/') return {};
    after.remove_prefix(1);
  }
  space.assign(candidate.before).append(path).append(after);
  return space;
}

}  // namespace roost::modules::static_files
