#include "tables/csv_reader.h"

#include <algorithm>

namespace roost::tables {

void CsvReader::skipEmptyLines() noexcept {
  while (!rest_.empty() && (rest_.front() == '\n' || rest_.substr(0, 2) == "\r\n"))
    rest_.remove_prefix(rest_.front() == '\n' ? 1 : 2);
}

// Behind the opening quote, to behind the closing one.
bool CsvReader::quoted(CsvField& field) {
  field.quoted = true;
  while (true) {
    const size_t quote = rest_.find('"');
    if (quote == std::string_view::npos) {
      fault_ = "a quote is not closed";
      return false;
    }
    field.text += rest_.substr(0, quote);
    rest_.remove_prefix(quote + 1);
    if (rest_.empty() || rest_.front() != '"') return true;
    field.text += '"';
    rest_.remove_prefix(1);
  }
}

bool CsvReader::next(std::vector<CsvField>& fields) {
  fields.clear();
  skipEmptyLines();
  if (rest_.empty() || !fault_.empty()) return false;
  while (true) {
    CsvField& field = fields.emplace_back();
    if (!rest_.empty() && rest_.front() == '"') {
      rest_.remove_prefix(1);
      if (!quoted(field)) return false;
    } else {
      const size_t end = std::min(rest_.find_first_of(",\n\""), rest_.size());
      field.text = rest_.substr(0, end);
      rest_.remove_prefix(end);
      const bool ends_line = rest_.empty() || rest_.front() == '\n';
      if (ends_line && !field.text.empty() && field.text.back() == '\r') field.text.pop_back();
    }
    if (rest_.substr(0, 2) == "\r\n") rest_.remove_prefix(1);
    if (rest_.empty()) return true;
    const char behind = rest_.front();
    rest_.remove_prefix(1);
    if (behind == '\n') return true;
    if (behind == ',') continue;
    fault_ = "a quote stands within a value";
    return false;
  }
}

}  // namespace roost::tables
