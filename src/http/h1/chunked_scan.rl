// The grammar of a chunked body: RFC 9112 section 7.1 on top of RFC 9110 section 5. Included by chunked_decoder.cc.
//
// Content is not the machine's: it stops behind a size line, and the decoder counts the content off.

%%{
  machine chunked_body;
  alphtype unsigned char;
  getkey (static_cast<unsigned char>(*p));

  tchar = alnum | [!#$%&'*+\-.^_`|~];
  field_char = [\t ] | 0x21..0x7e | 0x80..0xff;
  crlf = '\r\n';
  bws = [ \t]*;

  action size_begin { left_ = 0; }
  action size_digit {
    if (left_ >> 56 != 0) {
      fail(400, "chunk size too large");
      fbreak;
    }
    left_ = left_ << 4 | hexValue(*p);
  }
  action size_end {
    part_ = left_ == 0 ? Part::kTrailers : Part::kContent;
    if (left_ == 0) fnext trailers;
    fbreak;
  }
  action trailer_end {
    if (++trailers_ > limits.max_fields) {
      fail(431, "too many trailer fields");
      fbreak;
    }
  }
  action body_end {
    part_ = Part::kEnd;
    fbreak;
  }

  quoted_pair = '\\' field_char;
  qdtext = field_char - ["\\];
  quoted_string = '"' (qdtext | quoted_pair)* '"';
  chunk_ext = (bws ';' bws tchar+ (bws '=' bws (tchar+ | quoted_string))?)*;
  chunk_size = xdigit+ >size_begin $size_digit;
  size_line = chunk_size chunk_ext '\r' '\n' @size_end;
  trailer = tchar+ ':' field_char* '\r' '\n' @trailer_end;

  main := size_line (crlf size_line)*;
  trailers := trailer* '\r' '\n' @body_end;
}%%

namespace roost::http::h1 {
namespace {

constexpr uint64_t hexValue(char c) noexcept {
  return static_cast<uint64_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

%% write data nofinal;

}  // namespace

const char* ChunkedDecoder::run(const char* p, const char* pe, const HeadLimits& limits) noexcept {
  int cs = state_ == kFresh ? chunked_body_start : state_;

  %% write exec;

  state_ = cs;
  if (cs == chunked_body_error && error_status_ == 0) {
    const bool trailing = part_ == Part::kTrailers;
    fail(400, trailing ? "malformed trailer section" : "malformed chunk");
  }
  return p;
}

}  // namespace roost::http::h1
