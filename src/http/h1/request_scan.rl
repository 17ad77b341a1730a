// The grammar of a request head: RFC 9112 sections 2.1, 3 and 5 on top of RFC 9110 section 5 and RFC 3986. Field lines
// stand in field_lines.rl, which also says how the machines go about it.
//
// Included by scan_<instruction set>.cc, which has defined what field_scan.h asks for and, as a macro,
// ROOST_REQUEST_SCAN, the name of the function to define.

namespace roost::http::h1 {
namespace {

// REQUIRES: 8 readable bytes at `token`.
inline Method methodOf(const char* token, uint32_t len) noexcept {
  switch (len) {
    case 3:
      if (std::memcmp(token, "GET", 3) == 0) return Method::kGet;
      if (std::memcmp(token, "PUT", 3) == 0) return Method::kPut;
      break;
    case 4:
      if (startsWith(token, "HEAD")) return Method::kHead;
      if (startsWith(token, "POST")) return Method::kPost;
      break;
    case 5:
      if (std::memcmp(token, "PATCH", 5) == 0) return Method::kPatch;
      if (std::memcmp(token, "TRACE", 5) == 0) return Method::kTrace;
      break;
    case 6:
      if (std::memcmp(token, "DELETE", 6) == 0) return Method::kDelete;
      break;
    case 7:
      if (std::memcmp(token, "OPTIONS", 7) == 0) return Method::kOptions;
      if (std::memcmp(token, "CONNECT", 7) == 0) return Method::kConnect;
      break;
    default:
      break;
  }
  return Method::kUnknown;
}

[[gnu::noinline]] const char* skipTarget(const char* p, const char* end) noexcept {
  const char* const stop = targetStop(p + 1, end);
  return (stop < end ? stop : end) - 1;
}

// As RequestHead::clear().
inline void clearRequest(RequestHead& head) noexcept {
  clearFields(head);
  head.method = Method::kUnknown;
  head.form = TargetForm::kOrigin;
  head.method_text = head.target = head.path = head.query = head.authority = Span{0, 0};
  head.has_query = false;
}

// Whether so little of a head has come, and nothing wrong, that it is better left until there is more: leaving the
// machine and entering it again costs more than reading a few bytes twice. Bytes that no text has, a bare CR or LF, and
// a first line that does not end in HTTP/1.1 are for the machine to judge at once; other mistakes are found with the
// rest of the head, or as soon as it is longer. Goes by the bytes alone, so that splits do not matter.
// REQUIRES: size <= kWaitingBytes, no end of a head at the end of the data.
inline bool mayWait(const char* data, size_t size) noexcept {
  static_assert(kWaitingBytes == 64, "one bit for each byte");
  if (size == 0) return true;
  const size_t beyond = 64 - size;
  const TextMaps maps = textMaps(data, size);
  const uint64_t no_text = maps.odd ^ (maps.cr | maps.lf);
  const uint64_t no_pair = maps.cr << 1 ^ maps.lf;  // of CR and LF; nothing yet for a CR at the end
  const uint64_t empty_line = maps.lf & maps.lf << 2;
  if ((no_text | no_pair | empty_line) << beyond != 0) return false;
  if (maps.lf << beyond == 0) return true;
  const auto line_end = static_cast<size_t>(__builtin_ctzll(maps.lf));
  return line_end >= 13 && startsWith(data + line_end - 9, "HTTP/1.1");  // after "G / " at least
}

%%{
  machine request_head;
  include field_lines "field_lines.rl";

  target_char = (0x21..0x7e) - '#';
  crlf = '\r\n';

  action method_begin {
    head.method_text.off = offset(p);
    if (pe - p >= 4 && startsWith(p, "GET ")) {
      head.method = Method::kGet;
      head.method_text.len = 3;
      head.target.off = offset(p + 4);
      progress.section = HeadSection::kTarget;
      p += 3;
      fgoto request_target;
    }
  }
  action method_end {
    head.method_text.len = offset(p) - head.method_text.off;
    head.method = methodOf(data + head.method_text.off, head.method_text.len);
    head.target.off = offset(p + 1);
    progress.section = HeadSection::kTarget;
    if (head.method == Method::kConnect) fgoto connect_target;
    fgoto request_target;
  }

  action origin_begin { head.path.off = offset(p); }
  action absolute_begin { head.form = TargetForm::kAbsolute; head.authority.off = offset(p + 1); }
  action authority_end { head.authority.len = offset(p) - head.authority.off; }
  action path_begin { head.path.off = offset(p); }
  # An absolute form without a path means "/" (RFC 9110 section 4.2.3); the text has one just before the authority.
  action path_missing { head.path.off = head.authority.off - 1; head.path.len = 1; }
  action path_end { head.path.len = offset(p) - head.path.off; }
  action query_begin { head.has_query = true; head.query.off = offset(p + 1); }
  action query_end { head.query.len = offset(p) - head.query.off; }
  action skip_target { p = skipTarget(p, pe); }
  action asterisk {
    if (head.method != Method::kOptions) {
      progress.error = HeadError::kAsteriskForm;
      fbreak;
    }
    head.form = TargetForm::kAsterisk;
    head.path.off = offset(p);
    head.path.len = 1;
  }
  action connect_begin { head.form = TargetForm::kAuthority; head.authority.off = offset(p); }
  action target_end {
    head.target.len = offset(p) - head.target.off;
    if (head.target.len > limits.max_target_bytes) {
      progress.error = HeadError::kTargetLong;
      fbreak;
    }
    if (pe - p > 10 && startsWith(p + 1, "HTTP/1.1") && startsWith(p + 9, "\r\n")) {
      progress.section = HeadSection::kFields;
      p += 10;
      fgoto fields;
    }
    progress.section = HeadSection::kVersion;
    fgoto version;
  }

  action major { if (*p != '1') progress.mark = 1; }
  action minor { head.version_minor = *p == '0' ? 0 : 1; }
  action version_end {
    if (progress.mark != 0) {
      progress.error = HeadError::kVersion;
      fbreak;
    }
    progress.section = HeadSection::kFields;
    fgoto fields;
  }

  # RFC 3986 section 3.2 without userinfo, which RFC 9110 section 4.2.4 tells a server to distrust.
  pct_encoded = '%' xdigit xdigit;
  ip_literal = '[' (xdigit | [:.])+ ']';
  reg_name = (alnum | [\-._~!$&'()*+,;=] | pct_encoded)+;
  authority = (ip_literal | reg_name) (':' digit*)?;

  path_rest = ((target_char - '?') $skip_target)*;
  query = '?' @query_begin (target_char $skip_target)*;
  origin_form = '/' @origin_begin path_rest (' ' @path_end | query >path_end ' ' @query_end);
  after_authority = '/' @path_begin path_rest (' ' @path_end | query >path_end ' ' @query_end)
                  | query >path_missing ' ' @query_end
                  | ' ' @path_missing;
  absolute_form = 'http'i 's'i? '://' @absolute_begin authority after_authority >authority_end;
  asterisk_form = '*' @asterisk ' ';
  authority_form = (ip_literal | reg_name) >connect_begin ':' digit+ ' ' @authority_end;

  main := crlf{0,4} tchar @method_begin tchar* ' ' @method_end;
  request_target := (origin_form | absolute_form | asterisk_form) @target_end;
  connect_target := authority_form @target_end;
  version := 'HTTP/' digit @major '.' digit @minor '\r' '\n' @version_end;
}%%

%% write data nofinal;

[[gnu::noinline]] ParseState runMachine(ScanProgress& progress, const char* data, size_t size, const HeadLimits& limits,
                                        RequestHead& head) {
  const size_t end = scanEnd(size, limits);
  const uint32_t max_fields = maxFields(limits);
  const char* p = data + progress.pos;
  const char* const pe = data + end;
  const auto offset = [data](const char* at) { return static_cast<uint32_t>(at - data); };
  bool done = false;
  int cs = progress.state;
  if (cs == ScanProgress::kFresh) {
    clearRequest(head);
    cs = request_head_start;
  }
  head.text = data;

  %% write exec;

  if (done) return ParseState::kDone;
  progress.state = cs;
  progress.pos = offset(p);
  return finishRequestScan(progress, data, size, limits, head, cs == request_head_error);
}

}  // namespace

ParseState ROOST_REQUEST_SCAN(ScanProgress& progress, const char* data, size_t size, const HeadLimits& limits,
                              RequestHead& head) {
  const bool may_be_short = size <= kWaitingBytes && (size < 4 || !startsWith(data + size - 4, "\r\n\r\n"));
  if (may_be_short && progress.state == ScanProgress::kFresh && size < limits.max_head_bytes && mayWait(data, size)) {
    head.method = Method::kUnknown;
    return ParseState::kNeedMore;
  }
  return runMachine(progress, data, size, limits, head);
}

}  // namespace roost::http::h1
