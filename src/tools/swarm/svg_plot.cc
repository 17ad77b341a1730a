#include "tools/swarm/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/grouped.h"
#include "tools/swarm/text.h"

namespace roost::swarm {
namespace {

constexpr double kWidth = 900;
constexpr double kPanelHeight = 300;
constexpr double kLeft = 84, kRight = 76, kTop = 92, kGap = 96, kBottom = 60;

constexpr const char* kBlue = "#1f6feb";
constexpr const char* kOrange = "#d9730d";
constexpr const char* kGrey = "#8b949e";
constexpr const char* kRed = "#cf222e";

struct Point {
  double x, y;
};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out;
}

// The drawing area of one diagram, in the document's units; y grows downwards.
class Panel {
 public:
  Panel(std::string& out, double top) : out_(out), top_(top) {}

  double left() const { return kLeft; }
  double right() const { return kWidth - kRight; }
  double top() const { return top_; }
  double bottom() const { return top_ + kPanelHeight; }
  double x(double part) const { return left() + part * (right() - left()); }
  double y(double part) const { return bottom() - part * kPanelHeight; }

  void text(double px, double py, std::string_view anchor, std::string_view text,
            std::string_view more = "") {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", px, py, anchor,
                        more, escaped(text));
  }
  void title(std::string_view name) {
    text(left(), top_ - 14, "start", name, " font-size=\"15\" font-weight=\"600\" fill=\"#1f2328\"");
  }
  void frame() {
    out_ += fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\" stroke=\"#57606a\" fill=\"none\"/>\n",
                        left(), top(), bottom(), right());
  }
  void gridX(double part, std::string_view label) {
    out_ += fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\" class=\"grid\"/>\n", x(part), top(), bottom());
    text(x(part), bottom() + 18, "middle", label);
  }
  void gridY(double part, std::string_view label) {
    out_ += fmt::format("<path d=\"M{0:.1f} {1:.1f}H{2:.1f}\" class=\"grid\"/>\n", left(), y(part), right());
    text(left() - 8, y(part) + 4, "end", label);
  }
  void labelRight(double part, std::string_view label, const char* colour) {
    text(right() + 8, y(part) + 4, "start", label, fmt::format(" fill=\"{}\"", colour));
  }
  void axisNames(std::string_view below, std::string_view beside) {
    text((left() + right()) / 2, bottom() + 40, "middle", below);
    const double px = 20, py = (top() + bottom()) / 2;
    text(px, py, "middle", beside, fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", px, py));
  }
  void axisNameRight(std::string_view beside, const char* colour) {
    const double px = kWidth - 14, py = (top() + bottom()) / 2;
    text(px, py, "middle", beside,
         fmt::format(" fill=\"{}\" transform=\"rotate(90 {:.1f} {:.1f})\"", colour, px, py));
  }
  void line(const std::vector<Point>& points, const char* colour, std::string_view more = "") {
    if (points.size() < 2) return;
    std::string path;
    for (const Point& p : points) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(p.x), y(std::clamp(p.y, 0.0, 1.0)));
    }
    out_ += fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\"{}/>\n", path,
        colour, more);
  }
  void shade(double from, double to, std::string_view label) {
    out_ +=
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#ddf4ff\"/>\n",
                    x(from), top(), std::max(x(to) - x(from), 0.0), kPanelHeight);
    if (x(to) - x(from) > 80) text(x(from) + 6, bottom() - 8, "start", label, " fill=\"#57606a\"");
  }
  // Right-aligned above the panel, the first one leftmost.
  void legend(const std::vector<std::pair<std::string, const char*>>& entries) {
    double px = right();
    for (size_t i = entries.size(); i-- > 0;) {
      const auto& [name, colour] = entries[i];
      text(px, top_ - 14, "end", name);
      px -= 6.7 * static_cast<double>(name.size()) + 8;
      out_ += fmt::format("<path d=\"M{:.1f} {:.1f}h-22\" stroke=\"{}\" stroke-width=\"3\"/>\n", px,
                          top_ - 18, colour);
      px -= 40;
    }
  }

 private:
  std::string& out_;
  double top_;
};

// 1, 2 or 5 times a power of ten: at most `most` steps to `top`.
double niceStep(double top, int most) {
  const double rough = std::max(top, 1e-9) / most;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor >= rough) return power * factor;
  }
  return power * 10;
}

std::string shortNumber(double value) {
  if (value >= 1e6) return fmt::format("{:g} M", value / 1e6);
  if (value >= 1e3) return fmt::format("{:g} k", value / 1e3);
  return fmt::format("{:g}", value);
}

// ---- latency by percentile ----

class PercentileDiagram {
 public:
  PercentileDiagram(Panel& panel, const std::vector<const Latencies*>& all) : panel_(panel) {
    uint64_t low = UINT64_MAX, high = 0, count = 0;
    for (const Latencies* latencies : all) {
      count = std::max(count, latencies->count());
      low = std::min(low, std::max<uint64_t>(latencies->percentile(0), 1));
      high = std::max(high, latencies->max());
    }
    nines_ = std::clamp(std::ceil(std::log10(static_cast<double>(std::max<uint64_t>(count, 10)))), 2.0, 6.0);
    low_ = std::floor(std::log10(static_cast<double>(low)));
    high_ = std::max(std::ceil(std::log10(static_cast<double>(std::max<uint64_t>(high, 10)))), low_ + 1);
  }

  void axes(std::string_view below) {
    panel_.title("Latency by percentile");
    constexpr const char* kLabels[] = {"0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %"};
    for (int i = 0; i <= static_cast<int>(nines_); ++i) panel_.gridX(i / nines_, kLabels[i]);
    panel_.gridX(std::log10(2) / nines_, "50 %");
    for (int decade = static_cast<int>(low_); decade <= static_cast<int>(high_); ++decade) {
      panel_.gridY(y(std::pow(10, decade)),
                   withUnit(static_cast<uint64_t>(std::llround(std::pow(10, decade)))));
    }
    panel_.axisNames(below, "latency");
    panel_.frame();
  }

  void curve(const Latencies& latencies, const char* colour) {
    const auto total = static_cast<double>(latencies.count());
    if (total == 0) return;
    std::vector<Point> points;
    double below = 0;
    for (size_t i = 0; i < latencies.bucketCount(); ++i) {
      const auto here = static_cast<double>(latencies.bucketValue(i));
      if (here == 0) continue;
      const double value = static_cast<double>(std::min(latencies.bucketHigh(i), latencies.max()));
      points.push_back({x(below / total), y(value)});
      below += here;
      points.push_back({x(below / total), y(value)});
    }
    panel_.line(points, colour);
  }

 private:
  double x(double part) const {
    const double left = std::max(1 - part, std::pow(10, -nines_));
    return std::min(-std::log10(left) / nines_, 1.0);
  }
  double y(double ns) const { return (std::log10(std::max(ns, 1.0)) - low_) / (high_ - low_); }

  Panel& panel_;
  double nines_, low_, high_;
};

void drawLatencies(std::string& out, double top, const Plan& plan, const Outcome& outcome) {
  Panel panel(out, top);
  const Stats& total = outcome.total;
  std::vector<const Latencies*> all;
  std::vector<std::pair<std::string, const char*>> legend;
  const auto add = [&](const Latencies& latencies, const char* name, const char* colour) {
    if (latencies.count() == 0) return;
    all.push_back(&latencies);
    legend.emplace_back(name, colour);
  };
  if (plan.scenario.rate > 0) {
    add(total.latency, "from when it was due", kBlue);
    add(total.service, "from when it was sent", kOrange);
  } else {
    add(total.latency, "answer", kBlue);
  }
  add(total.delivery, "delivery of a message", kOrange);
  if (all.empty()) add(total.connect, "connecting", kGrey);
  if (all.empty()) {
    panel.title("Latency by percentile");
    panel.frame();
    panel.text((panel.left() + panel.right()) / 2, top + kPanelHeight / 2, "middle", "nothing was answered");
    return;
  }
  PercentileDiagram diagram(panel, all);
  diagram.axes("percentile");
  for (size_t i = 0; i < all.size(); ++i)
    diagram.curve(*all[all.size() - 1 - i], legend[all.size() - 1 - i].second);
  panel.legend(legend);
}

// ---- over time ----

// What the axes of the diagram over time reach to.
struct Reach {
  double last_s, rate_top, clients_top;
  uint64_t most_errors;
};

void drawSeries(Panel& panel, const Plan& plan, const Outcome& outcome, const Reach& reach) {
  std::vector<Point> rates, clients, errors;
  for (const Sample& sample : outcome.samples) {
    const double x = std::clamp(sample.at_s / reach.last_s, 0.0, 1.0);
    rates.push_back({x, sample.rate / reach.rate_top});
    clients.push_back({x, static_cast<double>(sample.open) / reach.clients_top});
    if (reach.most_errors > 0)
      errors.push_back({x, static_cast<double>(sample.errors) / static_cast<double>(reach.most_errors)});
  }
  const std::string events = plan.scenario.listens() ? "messages/s" : "answers/s";
  std::vector<std::pair<std::string, const char*>> legend = {{events, kBlue}, {"clients", kOrange}};
  panel.line(clients, kOrange);
  panel.line(rates, kBlue);
  if (reach.most_errors > 0) {
    panel.line(errors, kRed, " stroke-dasharray=\"4 3\"");
    legend.emplace_back(fmt::format("errors, to {}", grouped(reach.most_errors)), kRed);
  }
  panel.frame();
  panel.axisNames("time since the first connection", events);
  panel.axisNameRight("clients", kOrange);
  panel.legend(legend);
}

void drawTimes(std::string& out, double top, const Plan& plan, const Outcome& outcome) {
  Panel panel(out, top);
  const auto& samples = outcome.samples;
  double last_s = 0.1, most_rate = 1, most_clients = plan.scenario.clients;
  uint64_t most_errors = 0;
  for (const Sample& sample : samples) {
    last_s = std::max(last_s, sample.at_s);
    most_rate = std::max(most_rate, sample.rate);
    most_errors = std::max(most_errors, sample.errors);
  }
  const double rate_step = niceStep(most_rate, 5);
  const double rate_top = rate_step * std::ceil(most_rate * 1.02 / rate_step);
  const double clients_top = most_clients * rate_top / std::max(rate_top - rate_step * 0.25, 1e-9);

  double from_s = -1, to_s = 0;
  for (const Sample& sample : samples) {
    if (sample.phase != Phase::kMeasuring) continue;
    if (from_s < 0) from_s = sample.at_s;
    to_s = sample.at_s;
  }
  if (from_s >= 0) panel.shade(std::max(from_s, 0.0) / last_s, to_s / last_s, "measured");
  panel.title("Over time");
  for (double s = 0, step = niceStep(last_s, 9); s <= last_s; s += step)
    panel.gridX(s / last_s, fmt::format("{:g} s", s));
  for (double r = 0; r <= rate_top * 1.001; r += rate_step) panel.gridY(r / rate_top, shortNumber(r));
  for (const double part : {0.0, 0.5, 1.0}) {
    panel.labelRight(part * most_clients / clients_top, grouped(static_cast<uint64_t>(part * most_clients)),
                     kOrange);
  }
  drawSeries(panel, plan, outcome, {last_s, rate_top, clients_top, most_errors});
}

}  // namespace

std::string svgPlot(const Plan& plan, const Outcome& outcome) {
  const double height = kTop + 2 * kPanelHeight + kGap + kBottom;
  const Scenario& scenario = plan.scenario;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\" "
      "font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\" font-size=\"12\" "
      "fill=\"#57606a\">\n"
      "<style>.grid{{stroke:#d0d7de;stroke-width:1;fill:none}}</style>\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n",
      kWidth, height);
  Panel head(out, kTop);
  const bool listens = scenario.listens();
  head.text(
      kLeft, 32, "start",
      fmt::format("{} · {} clients · {}", kindName(scenario.kind), grouped(scenario.clients), scenario.url),
      " font-size=\"18\" font-weight=\"600\" fill=\"#1f2328\"");
  head.text(
      kLeft, 52, "start",
      fmt::format("{} {}/s · {} errors{}",
                  grouped(static_cast<uint64_t>(listens ? outcome.messages_per_s : outcome.replies_per_s)),
                  listens ? "messages" : "answers", grouped(outcome.total.errorCount()),
                  scenario.rate > 0
                      ? fmt::format(" · fixed rate of {}/s", grouped(static_cast<uint64_t>(scenario.rate)))
                      : ""));
  drawLatencies(out, kTop, plan, outcome);
  drawTimes(out, kTop + kPanelHeight + kGap, plan, outcome);
  return out + "</svg>\n";
}

}  // namespace roost::swarm
