#include "modules/static_files/directory_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "http/ascii.h"
#include "http/escape.h"
#include "http/target.h"

namespace roost::modules::static_files {
namespace {

constexpr std::string_view kHead =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width\"><link rel=\"icon\" href=\"data:,\"><title>";
constexpr std::string_view kStyle =
    "</title><style>:root{color-scheme:light dark}"
    "body{font:1em/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;"
    "background:#fbfaf8;color:#1c2530}"
    "h1{font-size:1.25em;font-weight:600;overflow-wrap:anywhere;border-bottom:3px solid #d0703c;"
    "padding-bottom:.3em}"
    "table{border-collapse:collapse;width:100%}"
    "th{text-align:left;font-size:.85em}td,th{padding:.35em .6em .35em 0;vertical-align:top}"
    "tbody tr{border-top:1px solid #8883}tbody tr:hover{background:#8881}"
    "td:first-child{overflow-wrap:anywhere;width:100%}td a{display:block}"
    ".n{text-align:right;white-space:nowrap}.t{white-space:nowrap;padding-right:0}"
    "a{color:#9a4a1c;text-decoration:none}a:hover,a:focus{text-decoration:underline}"
    "p{color:#777;font-size:.9em}"
    "@media(max-width:34em){.t{display:none}body{margin:1em auto}td a{padding:.3em 0}}"
    "@media(prefers-color-scheme:dark){body{background:#11161d;color:#e4e8ec}a{color:#e9a071}}"
    "</style></head>\n<body>\n";

bool isDigit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// The digits at the beginning, without leading zeros, taken off `text`.
std::string_view takeNumber(std::string_view& text) noexcept {
  size_t end = 0;
  while (end < text.size() && isDigit(text[end])) ++end;
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  while (number.size() > 1 && number.front() == '0') number.remove_prefix(1);
  return number;
}

// Less than, equal to or greater than zero; numbers in names count by their value.
int compareNames(std::string_view a, std::string_view b) noexcept {
  std::string_view x = a;
  std::string_view y = b;
  while (!x.empty() && !y.empty()) {
    if (isDigit(x.front()) && isDigit(y.front())) {
      const std::string_view p = takeNumber(x);
      const std::string_view q = takeNumber(y);
      if (p.size() != q.size()) return p.size() < q.size() ? -1 : 1;
      if (const int order = p.compare(q)) return order;
      continue;
    }
    const auto p = static_cast<unsigned char>(http::lowerAscii(x.front()));
    const auto q = static_cast<unsigned char>(http::lowerAscii(y.front()));
    if (p != q) return p < q ? -1 : 1;
    x.remove_prefix(1);
    y.remove_prefix(1);
  }
  if (x.empty() != y.empty()) return x.empty() ? -1 : 1;
  return a.compare(b);
}

int compare(const FolderItem& a, const FolderItem& b, ListingSort by) noexcept {
  if (by == ListingSort::kSize && a.size != b.size) return a.size < b.size ? -1 : 1;
  if (by == ListingSort::kModified && a.modified_s != b.modified_s) {
    return a.modified_s < b.modified_s ? -1 : 1;
  }
  return compareNames(a.name, b.name);
}

// A link relative to the page. "./" in front, or a name such as "a:b" would read as a scheme.
void appendHref(std::string& out, const FolderItem& item) {
  out += "./";
  http::appendEncodedPath(out, item.name);
  if (item.is_folder) out += '/';
}

struct Column {
  ListingSort sort;
  std::string_view name;
  std::string_view title;
  std::string_view style;  // class of its cells
};
constexpr std::array<Column, 3> kColumns{{{ListingSort::kName, "name", "Name", ""},
                                          {ListingSort::kSize, "size", "Size", "n"},
                                          {ListingSort::kModified, "modified", "Modified", "t"}}};

// The column the page is sorted by links to the opposite order.
void appendHeadings(std::string& out, const ListingView& view) {
  out += "<table><thead><tr>";
  for (const Column& column : kColumns) {
    const bool current = column.sort == view.sort;
    const bool turns_down = current && !view.descending;
    out += column.style.empty() ? "<th scope=\"col\""
                                : fmt::format("<th scope=\"col\" class=\"{}\"", column.style);
    if (current) out += fmt::format(" aria-sort=\"{}\"", view.descending ? "descending" : "ascending");
    out += fmt::format("><a href=\"?sort={}&amp;order={}\">{}{}</a></th>", column.name,
                       turns_down ? "desc" : "asc", column.title,
                       !current          ? ""
                       : view.descending ? " \xe2\x86\x93"
                                         : " \xe2\x86\x91");
  }
  out += "</tr></thead>\n<tbody>\n";
}

// The parts of the path as links to themselves, relative, so that the page may lie behind another server's
// prefix.
void appendCrumbs(std::string& out, const ListingPlace& place) {
  const std::string_view path = place.path;
  size_t depth = static_cast<size_t>(std::count(path.begin(), path.end(), '/'));
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = path.find('/', begin) + 1;
    const std::string_view part = path.substr(begin, end - begin);
    begin = end;
    --depth;
    const bool linked = depth > 0 && end >= place.first_crumb;
    if (linked) {
      out += "<a href=\"";
      for (size_t i = 0; i < depth; ++i) out += "../";
      out += "\">";
    }
    out += "<bdi>";
    http::appendHtml(out, part);
    out += linked ? "</bdi></a>" : "</bdi>";
  }
}

void appendRow(std::string& out, const FolderItem& item) {
  out += "<tr><td><a href=\"";
  std::string href;
  appendHref(href, item);
  http::appendHtml(out, href);
  out += "\"><bdi>";
  http::appendHtml(out, item.name);
  out += item.is_folder ? "/</bdi></a></td><td class=\"n\">" : "</bdi></a></td><td class=\"n\">";
  if (!item.is_folder) out += fmt::format("<data value=\"{}\">{}</data>", item.size, sizeText(item.size));
  out += fmt::format("</td><td class=\"t\"><time datetime=\"{}\">{}</time></td></tr>\n",
                     timeText(item.modified_s, false), timeText(item.modified_s, true));
}

std::string counted(size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

ListingView viewOf(std::string_view query, ListingView usual) noexcept {
  ListingView view = usual;
  while (!query.empty()) {
    const std::string_view argument = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), argument.size() + 1));
    for (const Column& column : kColumns) {
      if (argument.size() > 5 && argument.substr(0, 5) == "sort=" && argument.substr(5) == column.name) {
        view.sort = column.sort;
      }
    }
    if (argument == "order=asc") view.descending = false;
    if (argument == "order=desc") view.descending = true;
    if (argument == "format=json") view.json = true;
    if (argument == "format=html") view.json = false;
  }
  return view;
}

void sortItems(FolderContent& content, const ListingOptions& options, const ListingView& view) {
  std::sort(content.items.begin(), content.items.end(), [&](const FolderItem& a, const FolderItem& b) {
    if (options.folders_first && a.is_folder != b.is_folder) return a.is_folder;
    const int order = compare(a, b, view.sort);
    return view.descending ? order > 0 : order < 0;
  });
}

std::string listingPage(const FolderContent& content, const ListingPlace& place, const ListingView& view) {
  std::string out;
  out.reserve(2048 + content.items.size() * 256);
  out += kHead;
  http::appendHtml(out, place.path);
  out += kStyle;
  out += "<h1>";
  appendCrumbs(out, place);
  out += "</h1>\n";
  appendHeadings(out, view);
  if (place.path.size() > std::max<size_t>(place.first_crumb, 1)) {
    out += "<tr><td><a href=\"../\">../</a></td><td></td><td class=\"t\"></td></tr>\n";
  }
  for (const FolderItem& item : content.items) appendRow(out, item);
  const auto folders = static_cast<size_t>(std::count_if(
      content.items.begin(), content.items.end(), [](const FolderItem& item) { return item.is_folder; }));
  out += fmt::format("</tbody></table>\n<p>{}, {}.{}</p>\n</body></html>\n",
                     counted(folders, "folder", "folders"),
                     counted(content.items.size() - folders, "file", "files"),
                     content.truncated ? " There is more here than this page shows." : "");
  return out;
}

std::string listingJson(const FolderContent& content, const ListingPlace& place) {
  std::string out;
  out.reserve(256 + content.items.size() * 160);
  out += "{\"path\":";
  http::appendJson(out, place.path);
  out += fmt::format(",\"truncated\":{},\"entries\":[", content.truncated);
  bool first = true;
  for (const FolderItem& item : content.items) {
    out += first ? "\n{\"name\":" : ",\n{\"name\":";
    first = false;
    http::appendJson(out, item.name);
    std::string href;
    appendHref(href, item);
    out += ",\"href\":";
    http::appendJson(out, href);
    if (item.is_folder) {
      out += ",\"type\":\"folder\"";
    } else {
      out += fmt::format(",\"type\":\"file\",\"size\":{}", item.size);
    }
    out += fmt::format(",\"modified\":\"{}\"}}", timeText(item.modified_s, false));
  }
  out += "\n]}\n";
  return out;
}

std::string sizeText(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr std::array<std::string_view, 6> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // What would be written as 1024 is 1 of the next.
  while (value >= 1023.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return value < 9.95 ? fmt::format("{:.1f} {}", value, kUnits[unit])
                      : fmt::format("{:.0f} {}", value, kUnits[unit]);
}

std::string timeText(int64_t unix_s, bool for_people) {
  constexpr int64_t kFirst = -62167219200;  // 0000-01-01
  constexpr int64_t kLast = 253402300799;   // 9999-12-31
  const time_t at = std::clamp(unix_s, kFirst, kLast);
  std::tm parts{};
  ::gmtime_r(&at, &parts);
  const std::string day =
      fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
  if (for_people) return fmt::format("{} {:02}:{:02}", day, parts.tm_hour, parts.tm_min);
  return fmt::format("{}T{:02}:{:02}:{:02}Z", day, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace roost::modules::static_files
