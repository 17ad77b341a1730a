#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roost::tables {

struct CsvField {
  std::string text;
  bool quoted = false;
};

// Reads lines of comma-separated values (RFC 4180; a line may end with LF alone too). Empty lines are passed
// over. `text` outlives it.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) noexcept : rest_(text) {}

  // The next line's fields; false: there is none, or fault() says what is wrong with it.
  bool next(std::vector<CsvField>& fields);
  std::string_view fault() const noexcept { return fault_; }

 private:
  bool quoted(CsvField& field);
  void skipEmptyLines() noexcept;

  std::string_view rest_;
  std::string_view fault_;
};

}  // namespace roost::tables
