// The grammar of a response head: RFC 9112 section 4. Field lines stand in h1/field_lines.rl, which also says how the
// machines go about it.
//
// Included by h1/scan_<instruction set>.cc, which has defined what h1/field_scan.h asks for and, as a macro,
// ROOST_RESPONSE_SCAN, the name of the function to define.

#include "http/client/received_head.h"

namespace roost::http::h1 {
namespace {

inline bool isDigit(char c) noexcept { return c >= '0' && c <= '9'; }

%%{
  machine response_head;
  include field_lines "field_lines.rl";

  # A line as nearly every server sends it, taken at one look.
  action line_first {
    if (pe - p > 13 && startsWith(p, "HTTP/1.1") && p[8] == ' ' && p[9] > '0' && p[9] <= '9' && isDigit(p[10]) &&
        isDigit(p[11]) && p[12] == ' ') {
      head.status = static_cast<uint16_t>((p[9] - '0') * 100 + (p[10] - '0') * 10 + (p[11] - '0'));
      head.reason.off = offset(p + 13);
      p = skipValue(p + 12, pe);
      fgoto reason;
    }
  }
  action major { if (*p != '1') progress.mark = 1; }
  action minor { head.version_minor = *p == '0' ? 0 : 1; }
  action version_end {
    if (progress.mark != 0) {
      progress.error = HeadError::kVersion;
      fbreak;
    }
  }
  action status_digit { head.status = static_cast<uint16_t>(head.status * 10 + (*p - '0')); }
  action reason_begin { head.reason.off = offset(p + 1); }
  action reason_end { head.reason.len = offset(p) - head.reason.off; }
  action status_line_end {
    progress.section = HeadSection::kFields;
    fgoto fields;
  }

  # The space before a reason that is not there is often left out, which nobody can misread.
  main := 'H' @line_first 'TTP/' digit @major '.' digit @minor ' ' @version_end
          ([1-9] digit digit) $status_digit (' ' @reason_begin @{ fgoto reason; } | '\r' '\n' @status_line_end);
  reason := (field_char $skip_value)* '\r' @reason_end '\n' @status_line_end;
}%%

%% write data nofinal;

}  // namespace

ParseState ROOST_RESPONSE_SCAN(ScanProgress& progress, const char* data, size_t size, const HeadLimits& limits,
                               client::ReceivedHead& head) {
  const size_t end = scanEnd(size, limits);
  const uint32_t max_fields = maxFields(limits);
  const char* p = data + progress.pos;
  const char* const pe = data + end;
  const auto offset = [data](const char* at) { return static_cast<uint32_t>(at - data); };
  bool done = false;
  int cs = progress.state;
  if (cs == ScanProgress::kFresh) {
    clearFields(head);
    head.status = 0;
    head.reason = Span{0, 0};
    progress.section = HeadSection::kStatusLine;
    cs = response_head_start;
  }
  head.text = data;

  %% write exec;

  if (done) return ParseState::kDone;
  progress.state = cs;
  progress.pos = offset(p);
  return finishResponseScan(progress, data, size, limits, cs == response_head_error);
}

}  // namespace roost::http::h1
