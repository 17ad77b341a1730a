// The grammar of field lines, up to the empty line that ends a head: RFC 9112 section 5 on top of RFC 9110 section 5.
// The machines of requests and of responses include it; they go to `fields` when their first line has been read.
//
// The grammar alone is complete, one byte at a time. Actions make it fast: they stand where a token begins or ends and
// move p over what the skips of field_scan.h vouch for, so a scan that was cut anywhere goes on by entering the same
// action again. In scope for them are data, end, max_fields, progress, head, offset() and done.

%%{
  machine field_lines;
  alphtype unsigned char;
  getkey (static_cast<unsigned char>(*p));

  tchar = alnum | [!#$%&'*+\-.^_`|~];                  # RFC 9110 section 5.6.2
  field_char = [\t ] | 0x21..0x7e | 0x80..0xff;        # RFC 9110 section 5.5: VCHAR, obs-text, SP, HTAB

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

  field_line = tchar @line_begin (tchar @skip_name)* ':' @name_end
               (field_char @skip_value)* '\r' @value_end '\n' @line_end;

  fields := field_line* '\r' '\n' @head_end;
}%%
