#pragma once

#include <cstdint>
#include <string>

#include "tools/swarm/run.h"

namespace roost::swarm {

// Shows how a run gets on, on standard error: one line that is drawn anew five times a second on a terminal,
// a plain line every few seconds elsewhere. Main thread.
class Progress {
 public:
  enum class Style : uint8_t { kNone, kPlain, kTerminal };
  // What suits standard error; NO_COLOR (no-color.org) is honoured.
  static Progress forStandardError(const Scenario& scenario, bool quiet);
  Progress(const Scenario& scenario, Style style, bool colour) noexcept
      : scenario_(scenario), style_(style), colour_(colour) {}

  void show(const Sample& sample);
  void end();  // leaves the line clean for the report

  // The line for a terminal of `columns`; for plain output `columns` is 0.
  std::string line(const Sample& sample, size_t columns) const;

 private:
  const Scenario& scenario_;
  Style style_;
  bool colour_;
  double next_s_ = 0;
  Phase phase_ = Phase::kOver;
};

}  // namespace roost::swarm
