// The grammar of a request head: RFC 9112 sections 2.1, 3 and 5 on top of RFC 9110 section 5 and RFC 3986.
//
// Included by request_scan_<instruction set>.cc, which has defined with internal linkage
//   classify()      which of 64 bytes may end a field name, and which a field value,
//   targetStop()    the first byte that is not a plain character of a path,
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

inline const char* atMost(const char* p, const char* limit) noexcept { return p < limit ? p : limit; }

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
// next stop is then a matter of bits, without waiting for the address the last one gave. Reads up to 63 bytes past end.
class Stops {
 public:
  explicit Stops(const char* end) noexcept : end_(end) {}

  // The first byte from p on where a name (a value) may end, or one not before the end of the data.
  // REQUIRES: p is not before the last answer, unless rewind() came between.
  const char* name(const char* p) noexcept {
    for (;;) {
      const size_t at = reinterpret_cast<uintptr_t>(p) - base_;
      if (at < 64) {
        const uint64_t left = name_ >> at;
        if (left != 0) return p + __builtin_ctzll(left);
        p += 64 - at;
      }
      if (p >= end_) return end_;
      load(p);
    }
  }
  const char* value(const char* p) noexcept {
    for (;;) {
      const size_t at = reinterpret_cast<uintptr_t>(p) - base_;
      if (at < 64) {
        const uint64_t left = value_ >> at;
        if (left != 0) return p + __builtin_ctzll(left);
        p += 64 - at;
      }
      if (p >= end_) return end_;
      load(p);
    }
  }
  void rewind() noexcept { base_ = 0; }

 private:
  void load(const char* p) noexcept {
    base_ = reinterpret_cast<uintptr_t>(p);
    classify(p, name_, value_);
  }

  const char* end_;
  uintptr_t base_ = 0;
  uint64_t name_ = 0;
  uint64_t value_ = 0;
};

// Enters a line in the head; false at a limit.
inline bool addLine(ScanProgress& progress, const char* data, const ScanTarget& target, uint32_t name_off,
                    uint32_t name_len, uint32_t value_off, uint32_t value_len) noexcept {
  RequestHead& head = *target.head;
  const uint8_t index = head.field_count;
  if (index >= target.max_fields || name_len > UINT16_MAX) {
    progress.error = name_len > UINT16_MAX ? HeadError::kFieldLong : HeadError::kFieldCount;
    return false;
  }
  const FieldId id = fieldIdAt(data + name_off, name_len);
  target.fields[index] = Field{name_off, value_off, value_len, static_cast<uint16_t>(name_len), id, 0};
  head.field_count = static_cast<uint8_t>(index + 1);
  const uint64_t bit = uint64_t{1} << static_cast<unsigned>(id);
  const uint64_t present = head.present;
  head.present = present | bit;
  if (id == FieldId::kOther) return true;
  const auto slot = static_cast<size_t>(id);
  if ((present & bit) == 0) {
    target.first[slot] = index;
  } else {
    target.fields[target.last[slot]].next = index;
    head.repeated |= bit;
  }
  target.last[slot] = index;
  return true;
}

// Takes a line that is all there and plain: "name: value" CRLF without whitespace around the value but the one space.
// Answers its last byte; nullptr where the machine has to look closer, or at a limit.
inline const char* plainLine(ScanProgress& progress, const char* data, const char* name, const char* end, Stops& stops,
                             const ScanTarget& target) noexcept {
  const char* const colon = stops.name(name + 1);
  if (startsWith(colon, ": ")) {
    const char* const value = colon + 2;
    const char* const stop = stops.value(value);
    if (stop + 1 < end && startsWith(stop, "\r\n") && *value != ' ' && stop[-1] != ' ') {
      const bool added = addLine(progress, data, target, static_cast<uint32_t>(name - data),
                                 static_cast<uint32_t>(colon - name), static_cast<uint32_t>(value - data),
                                 static_cast<uint32_t>(stop - value));
      return added ? stop + 1 : nullptr;
    }
  }
  stops.rewind();
  return nullptr;
}

// Takes the line whose edges the machine has found.
inline bool fieldLine(ScanProgress& progress, const char* data, const ScanTarget& target) noexcept {
  uint32_t begin = progress.colon + 1;
  uint32_t end = progress.value_end;
  while (begin < end && (data[begin] == ' ' || data[begin] == '\t')) ++begin;
  while (end > begin && (data[end - 1] == ' ' || data[end - 1] == '\t')) --end;
  return addLine(progress, data, target, progress.mark, progress.colon - progress.mark, begin, end - begin);
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
  action skip_target { p = atMost(targetStop(p + 1, pe), pe) - 1; }
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
    if (head.target.len > target.max_target_bytes) {
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

  # A whole plain line at once; else the machine takes it apart.
  action line_begin {
    progress.mark = offset(p);
    const char* const end = plainLine(progress, data, p, pe, stops, target);
    if (end != nullptr) {
      p = end;
      fgoto fields;
    }
    if (progress.error != HeadError::kNone) fbreak;
    p = atMost(stops.name(p + 1), pe) - 1;
  }
  action skip_name { p = atMost(stops.name(p + 1), pe) - 1; }
  action name_end { progress.colon = offset(p); }
  action skip_value { p = atMost(stops.value(p + 1), pe) - 1; }
  action value_end { progress.value_end = offset(p); }
  action line_end {
    if (!fieldLine(progress, data, target)) fbreak;
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

}  // namespace

ParseState ROOST_REQUEST_SCAN(ScanProgress& progress, const char* data, uint32_t size, const ScanTarget& target) {
  RequestHead& head = *target.head;
  const char* p = data + progress.pos;
  const char* const pe = data + size;
  Stops stops(pe);
  bool done = false;
  int cs = progress.state == ScanProgress::kFresh ? request_head_start : progress.state;
  const auto offset = [data](const char* at) { return static_cast<uint32_t>(at - data); };

  %% write exec;

  progress.state = cs;
  progress.pos = offset(p);
  if (done) return ParseState::kDone;
  return cs == request_head_error || progress.error != HeadError::kNone ? ParseState::kError : ParseState::kNeedMore;
}

}  // namespace roost::http::h1
