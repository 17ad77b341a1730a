// From a record to a line: combined, JSON, or a format string of the configuration's.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "log/stream.h"
#include "modules/access_log/record.h"

namespace roost::modules::access_log {

enum class Escape : uint8_t { kHex, kJson };  // see log/escape.h

// What a line is made of, and which texts that takes of a request. Immutable once compiled.
//
// A format string is text with variables in braces ("{{" and "}}" stand for braces), as in http::Template; a
// value that is not there is "-". Escape::kJson is for format strings that are JSON themselves: values are
// escaped for the inside of a string, and one that is not there is empty. README.md has the list of
// variables.
class LineFormat {
 public:
  static LineFormat combined();
  static LineFormat json();
  // Errors: an unknown variable (named), a brace without its other, more than kMostTexts different texts.
  static Result<LineFormat> compile(std::string_view format, Escape escape);

  const TextList& texts() const noexcept { return texts_; }

 private:
  friend class LineWriter;
  enum class Value : uint8_t {
    kText,
    kTime,
    kTimeLocal,
    kTimeUnix,
    kClient,
    kClientPort,
    kRequest,
    kScheme,
    kProtocol,
    kStatus,
    kBytes,
    kDurationMs,
    kDurationSeconds,
    kUpstreamMs,
    kAborted
  };
  // Literal text, kept longer than it is so that the usual short one is copied in one step.
  struct Literal {
    static constexpr size_t kStep = 32;
    Literal() : Literal(std::string_view()) {}
    explicit Literal(std::string_view text) : padded(text), size(text.size()) {
      if (size < kStep) padded.resize(kStep);
    }
    std::string padded;
    size_t size;
  };
  struct Part {
    Literal before;
    Value value;
    uint8_t text = 0;     // of kText: its place in a record
    bool quoted = false;  // in JSON: in quotes, or null
  };
  void add(std::string_view before, Value value, bool quoted = false);
  void addText(std::string_view before, TextWanted wanted, bool quoted = false);
  uint8_t textPlace(const TextWanted& wanted);
  bool addNamed(std::string before, std::string_view name);

  Escape escape_ = Escape::kHex;
  std::vector<Part> parts_;
  Literal after_;
  TextList texts_;
  uint8_t method_text_ = 0, target_text_ = 0;  // of kRequest
};

// Writes lines of one format. Remembers the texts of the latest second and of addresses it has seen. One
// thread at a time.
class LineWriter final : public log::RecordFormat {
 public:
  explicit LineWriter(LineFormat format);
  void appendLine(const char* record, int64_t realtime_ns, log::LineBuffer& out) override;

 private:
  using Value = LineFormat::Value;
  struct Texts;
  struct AddressText {
    net::PeerAddr address{};
    size_t size = 0;
    char text[net::PeerAddr::kMaxText];
  };
  static constexpr size_t kAddresses = 256;

  char* putPart(char* to, const LineFormat::Part& part, const RecordHead& head, const Texts& texts) noexcept;
  char* putText(char* to, const Texts& texts, uint8_t place, bool quoted) const noexcept;
  char* putRequest(char* to, const RecordHead& head, const Texts& texts) const noexcept;
  char* putProtocol(char* to, const RecordHead& head, bool quoted) const noexcept;
  char* putUpstream(char* to, const RecordHead& head, bool quoted) const noexcept;
  char* putAddress(char* to, const net::PeerAddr& address) noexcept;
  char* putAbsent(char* to, bool quoted) const noexcept;
  static constexpr size_t kPlainStep = 16;
  static char* putPlain(char* to, const char* text, size_t size) noexcept;
  char* putEscaped(char* to, const char* text, size_t size) const noexcept;
  void setSecond(int64_t second) noexcept;

  const LineFormat format_;
  size_t fixed_bytes_ = 0;  // the most that a line takes beside its texts
  size_t most_uses_ = 1;    // how often one text stands in a line
  int64_t now_ns_ = 0;
  int64_t second_ = INT64_MIN;
  std::array<char, 20> utc_text_{};    // "2026-11-20T10:12:25."
  std::array<char, 26> local_text_{};  // "20/Nov/2026:10:12:25 +0000"
  std::array<AddressText, kAddresses> addresses_{};
};

}  // namespace roost::modules::access_log
