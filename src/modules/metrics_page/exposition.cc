#include "modules/metrics_page/exposition.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>
#include <variant>

namespace roost::modules::metrics_page {
namespace {

constexpr std::string_view kTotal = "_total";
constexpr std::string_view kNanoseconds = "nanoseconds";
constexpr double kNsPerS = 1e9;

bool endsWith(std::string_view text, std::string_view end) noexcept {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Backslashes and line breaks, and quotes where a value stands between them.
void appendEscaped(std::string& out, std::string_view text, bool quoted) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\' || (quoted && c == '"')) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
}

}  // namespace

std::string_view contentType(Format format) noexcept {
  return format == Format::kText ? "text/plain; version=0.0.4; charset=utf-8"
                                 : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

void Exposition::begin(const metrics::Description& description, std::string_view type) {
  if (description.name == family_) return;
  family_ = name_ = description.name;
  std::string unit = description.unit;
  in_seconds_ = unit == kNanoseconds && endsWith(name_, kNanoseconds);
  if (in_seconds_) {
    unit = "seconds";
    name_.replace(name_.size() - kNanoseconds.size(), kNanoseconds.size(), unit);
  }
  // OpenMetrics names a counter without what its samples end in.
  const bool cuts = format_ == Format::kOpenMetrics && type == "counter" && endsWith(name_, kTotal);
  if (cuts) name_.resize(name_.size() - kTotal.size());
  text_ += "# HELP " + name_ + ' ';
  appendEscaped(text_, description.help, format_ == Format::kOpenMetrics);
  text_ += "\n# TYPE " + name_ + ' ';
  text_ += type;
  text_ += '\n';
  if (format_ != Format::kOpenMetrics) return;
  if (!unit.empty() && endsWith(name_, '_' + unit)) text_ += "# UNIT " + name_ + ' ' + unit + '\n';
}

void Exposition::addSample(std::string_view suffix, const metrics::Labels& labels, std::string_view le,
                           std::string_view value) {
  text_ += name_;
  text_ += suffix;
  char before = '{';
  const auto label = [this, &before](std::string_view name, std::string_view text) {
    text_ += std::exchange(before, ',');
    text_ += name;
    text_ += "=\"";
    appendEscaped(text_, text, true);
    text_ += '"';
  };
  for (const auto& [name, text] : labels) label(name, text);
  if (!le.empty()) label("le", le);
  if (before == ',') text_ += '}';
  text_ += ' ';
  text_ += value;
  text_ += '\n';
}

void Exposition::addHistogram(const metrics::Labels& labels, const metrics::Histogram& histogram) {
  const uint64_t least = in_seconds_ ? 10'000 : 1;  // 10 us
  for (uint64_t power = least; power <= histogram.maxValue(); power *= 10) {
    for (const uint64_t times : {1, 2, 5}) {
      const uint64_t bound = power * times;
      if (bound > histogram.maxValue()) break;
      const std::string le =
          in_seconds_ ? fmt::format("{}", static_cast<double>(bound) / kNsPerS) : fmt::format("{}", bound);
      addSample("_bucket", labels, le, fmt::format("{}", histogram.countUpTo(bound)));
    }
    if (power > histogram.maxValue() / 10) break;
  }
  const std::string count = fmt::format("{}", histogram.count());
  addSample("_bucket", labels, "+Inf", count);
  addSample("_sum", labels, {},
            in_seconds_ ? fmt::format("{}", static_cast<double>(histogram.sum()) / kNsPerS)
                        : fmt::format("{}", histogram.sum()));
  addSample("_count", labels, {}, count);
}

void Exposition::add(const metrics::Registry::Reading& reading) {
  if (const auto* counter = std::get_if<uint64_t>(&reading.value)) {
    begin(reading.description, "counter");
    addSample(endsWith(name_, kTotal) ? "" : kTotal, reading.labels, {}, fmt::format("{}", *counter));
  } else if (const auto* gauge = std::get_if<int64_t>(&reading.value)) {
    begin(reading.description, "gauge");
    addSample({}, reading.labels, {}, fmt::format("{}", *gauge));
  } else {
    begin(reading.description, "histogram");
    addHistogram(reading.labels, *std::get<const metrics::Histogram*>(reading.value));
  }
}

void Exposition::add(const push::HubNumbers& numbers) {
  const auto counter = [this](const char* name, const char* help, uint64_t value) {
    add(metrics::Registry::Reading{{name, help, ""}, {}, value});
  };
  const auto gauge = [this](const char* name, const char* help, const char* unit, int64_t value) {
    add(metrics::Registry::Reading{{name, help, unit}, {}, value});
  };
  gauge("roost_push_channels", "Channels there are.", "", static_cast<int64_t>(numbers.channels));
  gauge("roost_push_queued_bytes", "Publications that wait until they can be delivered.", "bytes",
        static_cast<int64_t>(numbers.queued_bytes));
  gauge("roost_push_history_bytes", "Memory of the messages that are kept.", "bytes", numbers.history_bytes);
  counter("roost_push_messages_total", "Messages published.", numbers.published);
  counter("roost_push_evictions_total", "Times that the limit of memory took from a channel's history.",
          numbers.evictions);
  counter("roost_push_slow_consumers_total", "Times that a subscriber began to lag.", numbers.slow);
}

void Exposition::add(const log::Stats& stats) {
  const auto counter = [this](const char* name, const char* help, uint64_t value) {
    add(metrics::Registry::Reading{{name, help, ""}, {}, value});
  };
  counter("roost_log_lines_total", "Lines written to the log and to access logs.", stats.lines);
  counter("roost_log_dropped_total", "Lines dropped because a thread's buffer was full.", stats.dropped);
  counter("roost_log_lost_total", "Lines lost because their file could not be written.", stats.lost);
  counter("roost_log_write_errors_total", "Failed writes to a log file.", stats.write_errors);
  counter("roost_log_reopen_failures_total", "Log files that could not be opened anew on SIGUSR1.",
          stats.failed_reopens);
}

std::string Exposition::finish() {
  if (format_ == Format::kOpenMetrics) text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace roost::modules::metrics_page
