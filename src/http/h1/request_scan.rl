// The grammar of a request head: RFC 9112 sections 2.1, 3 and 5 on top of RFC 9110 section 5 and RFC 3986.
//
// Included by request_scan_<instruction set>.cc, which has defined with internal linkage
//   Classifier      which of 64 bytes may end a field name, and which a field value,
//   targetStop()    the first byte that is not a plain character of a path,
//   textMaps()      which of up to 64 bytes are CR, LF, or no text,
// and as a macro ROOST_REQUEST_SCAN, the name of the function to define. The skips may stop too often, never too late:
// the machine looks at every byte they stop at.
//
// The grammar alone is complete, one byte at a time. Actions make it fast: they stand where a token begins or ends and
// move p over what the skips vouch for, so a scan that was cut anywhere goes on by entering the same action again.

namespace roost::http::h1 {
namespace {

inline uint16_t load16(const char* at) noexcept {
  uint16_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline uint32_t load32(const char* at) noexcept {
  uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline uint64_t load64(const char* at) noexcept {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline bool startsWith(const char* at, const char (&text)[5]) noexcept { return load32(at) == load32(text); }
inline bool startsWith(const char* at, const char (&text)[9]) noexcept { return load64(at) == load64(text); }
inline bool startsWith(const char* at, const char (&text)[3]) noexcept { return load16(at) == load16(text); }

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

// Bitmaps of the 64 bytes from base_ on, made when first asked for: one load serves several tokens, and finding the
// next stop is then a matter of bits, without waiting for the address the last one gave. Reads up to 63 bytes past the
// end. Places are offsets into the head.
class Stops {
 public:
  Stops(const char* data, size_t end) noexcept : data_(data), end_(end) {}

  // The first byte from `at` on where a name (a value) may end, or a place not before the end of the data.
  // REQUIRES: `at` is not before the last one.
  size_t name(size_t at) noexcept { return next<&Stops::name_>(at); }
  size_t value(size_t at) noexcept { return next<&Stops::value_>(at); }

 private:
  template <uint64_t Stops::*kMap>
  size_t next(size_t at) noexcept {
    for (;;) {
      const size_t bit = at - base_;
      if (bit < 64) {
        const uint64_t left = this->*kMap >> bit;
        if (__builtin_expect(left != 0, 1)) return at + static_cast<size_t>(__builtin_ctzll(left));
        at = base_ + 64;
      }
      if (at >= end_) return end_;
      base_ = at;
      classifier_.classify(data_ + at, name_, value_);
    }
  }

  Classifier classifier_{};
  const char* data_;
  size_t end_;
  size_t base_ = ~size_t{0} / 2;  // no place lies in the 64 bytes from here
  uint64_t name_ = 0;
  uint64_t value_ = 0;
};

// Over what is plain from p + 1 on: the last byte before a stop, where p has to stand so that the machine looks at the
// stop next.
[[gnu::noinline]] const char* skipName(const char* p, const char* end) noexcept {
  Stops stops(p, static_cast<size_t>(end - p));
  const char* const stop = p + stops.name(1);
  return (stop < end ? stop : end) - 1;
}
[[gnu::noinline]] const char* skipValue(const char* p, const char* end) noexcept {
  Stops stops(p, static_cast<size_t>(end - p));
  const char* const stop = p + stops.value(1);
  return (stop < end ? stop : end) - 1;
}
[[gnu::noinline]] const char* skipTarget(const char* p, const char* end) noexcept {
  const char* const stop = targetStop(p + 1, end);
  return (stop < end ? stop : end) - 1;
}

inline Field* fieldsOf(RequestHead& head) noexcept { return reinterpret_cast<Field*>(&head.fields); }
inline uint8_t* firstOf(RequestHead& head) noexcept { return reinterpret_cast<uint8_t*>(&head.first); }
inline uint8_t* lastOf(RequestHead& head) noexcept { return reinterpret_cast<uint8_t*>(&head.last); }

// As RequestHead::clear().
inline void clear(RequestHead& head) noexcept {
  head.size = 0;
  head.method = Method::kUnknown;
  head.version_minor = 1;
  head.form = TargetForm::kOrigin;
  head.field_count = 0;
  head.method_text = head.target = head.path = head.query = head.authority = Span{0, 0};
  head.has_query = false;
  head.present = 0;
  head.repeated = 0;
  std::memset(&head.first, RequestHead::kNoField, sizeof head.first);
}

// The field lines of the head so far, while more are added.
struct Lines {
  uint32_t count;
  uint64_t present;
};

[[gnu::noinline, gnu::cold]] void linkRepeated(RequestHead& head, FieldId id, uint32_t index) noexcept {
  const auto slot = static_cast<size_t>(id);
  const uint64_t bit = uint64_t{1} << slot;
  const uint8_t before = (head.repeated & bit) != 0 ? lastOf(head)[slot] : firstOf(head)[slot];
  fieldsOf(head)[before].next = static_cast<uint8_t>(index);
  lastOf(head)[slot] = static_cast<uint8_t>(index);
  head.repeated |= bit;
}

// Enters a line in the head. REQUIRES: there is room for one.
inline void addLine(const char* data, RequestHead& head, Lines& lines, size_t name, size_t name_len, size_t value,
                    size_t value_len, const NameMatcher& matcher) noexcept {
  const FieldId id = fieldIdAt(data + name, name_len, matcher);
  fieldsOf(head)[lines.count] = Field{static_cast<uint32_t>(name),      static_cast<uint32_t>(value),
                                      static_cast<uint32_t>(value_len), static_cast<uint16_t>(name_len),
                                      id,                               0};
  const uint64_t bit = uint64_t{1} << static_cast<unsigned>(id);
  if (__builtin_expect((lines.present & bit & ~uint64_t{1}) != 0, 0)) {
    linkRepeated(head, id, lines.count);
  } else {
    firstOf(head)[static_cast<size_t>(id)] = static_cast<uint8_t>(lines.count);
  }
  lines.present |= bit;
  ++lines.count;
}

// Where plainLines() stopped, and whether that is a line begun without fault that only lacks its end.
struct LinesEnd {
  size_t at;
  bool is_cut;
};

// A line so short may be looked at again from its beginning when more of it has come.
constexpr size_t kAgainBytes = 256;

// Takes lines from `at` on as long as they are all there and plain: "name: value" CRLF without whitespace around the
// value but the one space. What stands behind them is for the machine, which goes by the same grammar and looks at every
// byte.
[[gnu::noinline]] LinesEnd plainLines(const char* data, size_t at, size_t end, uint32_t max_fields,
                                      RequestHead& head) noexcept {
  const size_t limit = end - at > UINT16_MAX ? at + UINT16_MAX : end;  // so every name_len fits
  Stops stops(data, limit);
  Lines lines{head.field_count, head.present};
  const NameMatcher matcher;
  size_t reached = at;
  while (lines.count < max_fields) {
    const size_t colon = reached = stops.name(at);
    if (colon == at || !startsWith(data + colon, ": ")) break;
    const size_t value = colon + 2;
    const size_t stop = reached = stops.value(value);
    if (stop + 1 >= limit || !startsWith(data + stop, "\r\n")) break;
    if (data[value] == ' ' || data[stop - 1] == ' ') break;
    addLine(data, head, lines, at, colon - at, value, stop - value, matcher);
    at = stop + 2;
  }
  head.field_count = static_cast<uint8_t>(lines.count);
  head.present = lines.present;
  return {at, reached >= end && at < end && end - at <= kAgainBytes};
}

// Takes the line whose edges the machine has found.
[[gnu::noinline]] bool fieldLine(ScanProgress& progress, const char* data, uint32_t max_fields, RequestHead& head) noexcept {
  size_t begin = progress.colon + 1;
  size_t end = progress.value_end;
  while (begin < end && (data[begin] == ' ' || data[begin] == '\t')) ++begin;
  while (end > begin && (data[end - 1] == ' ' || data[end - 1] == '\t')) --end;
  const size_t name_len = progress.colon - progress.mark;
  Lines lines{head.field_count, head.present};
  if (name_len > UINT16_MAX || lines.count >= max_fields) {
    progress.error = name_len > UINT16_MAX ? HeadError::kFieldLong : HeadError::kFieldCount;
    return false;
  }
  addLine(data, head, lines, progress.mark, name_len, begin, end - begin, NameMatcher{});
  head.field_count = static_cast<uint8_t>(lines.count);
  head.present = lines.present;
  return true;
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
  alphtype unsigned char;
  getkey (static_cast<unsigned char>(*p));

  tchar = alnum | [!#$%&'*+\-.^_`|~];                  # RFC 9110 section 5.6.2
  field_char = [\t ] | 0x21..0x7e | 0x80..0xff;        # RFC 9110 section 5.5: VCHAR, obs-text, SP, HTAB
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

  # Whole plain lines at once; the first that is not is taken apart by the machine.
  action line_begin {
    const size_t at = offset(p);
    const LinesEnd lines = plainLines(data, at, end, max_fields, head);
    if (lines.at != at || lines.is_cut) {
      p = data + lines.at - 1;
      fnext fields;
      if (lines.is_cut) fbreak;
      fgoto fields;
    }
    progress.mark = static_cast<uint32_t>(at);
    p = skipName(p, pe);
  }
  action skip_name { p = skipName(p, pe); }
  action name_end { progress.colon = offset(p); }
  action skip_value { p = skipValue(p, pe); }
  action value_end { progress.value_end = offset(p); }
  action line_end {
    if (!fieldLine(progress, data, max_fields, head)) fbreak;
  }
  action head_end {
    head.size = offset(p + 1);
    done = true;
    fbreak;
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

  field_line = tchar @line_begin (tchar @skip_name)* ':' @name_end
               (field_char @skip_value)* '\r' @value_end '\n' @line_end;

  main := crlf{0,4} tchar @method_begin tchar* ' ' @method_end;
  request_target := (origin_form | absolute_form | asterisk_form) @target_end;
  connect_target := authority_form @target_end;
  version := 'HTTP/' digit @major '.' digit @minor '\r' '\n' @version_end;
  fields := field_line* '\r' '\n' @head_end;
}%%

%% write data nofinal;

[[gnu::noinline]] ParseState runMachine(ScanProgress& progress, const char* data, size_t size, const HeadLimits& limits,
                                        RequestHead& head) {
  // The machine sees no byte beyond the limit, so that the outcome does not depend on how the head was split.
  const size_t end = size < limits.max_head_bytes ? size : limits.max_head_bytes;
  const uint32_t max_fields =
      limits.max_fields < RequestHead::kMaxFields ? limits.max_fields : uint32_t{RequestHead::kMaxFields};
  const char* p = data + progress.pos;
  const char* const pe = data + end;
  const auto offset = [data](const char* at) { return static_cast<uint32_t>(at - data); };
  bool done = false;
  int cs = progress.state;
  if (cs == ScanProgress::kFresh) {
    clear(head);
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
