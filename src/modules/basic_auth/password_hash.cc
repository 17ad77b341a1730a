#include "modules/basic_auth/password_hash.h"

#include <crypt.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace roost::modules::basic_auth {
namespace {

// Beyond these one login would keep a thread busy for many seconds.
constexpr unsigned kMaxBcryptCost = 16;
constexpr unsigned kMaxShaRounds = 10'000'000;

constexpr const char* kAdvice =
    "make a new one with \"htpasswd -B FILE USER\" (bcrypt) or \"openssl passwd -6\" (SHA-512)";

bool startsWith(std::string_view text, std::string_view start) noexcept {
  return text.substr(0, start.size()) == start;
}

bool isCryptText(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '/';
  });
}

// What a text that is no usable hash seems to be.
const char* describe(std::string_view hash) noexcept {
  if (hash.empty()) return "there is no hash";
  if (startsWith(hash, "$apr1$")) return "Apache's MD5 ($apr1$) is too weak and not supported";
  if (startsWith(hash, "$1$")) return "MD5 ($1$) is too weak and not supported";
  if (startsWith(hash, "{SHA}") || startsWith(hash, "{SSHA}")) return "SHA-1 is too weak and not supported";
  if (startsWith(hash, "$2x$")) return "$2x$ marks hashes of a faulty bcrypt, which are not supported";
  if (hash.size() == 13 && isCryptText(hash)) return "a DES hash, or a plain password: neither is supported";
  if (hash[0] == '$' || hash[0] == '{') return "not a kind of hash that is supported";
  return "a plain password is not supported";
}

bool parseNumber(std::string_view digits, unsigned& number) noexcept {
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return ec == std::errc{} && end == digits.data() + digits.size();
}

const char* checkBcrypt(std::string_view hash) noexcept {
  if (hash.size() != 60 || hash[6] != '$' || !isCryptText(hash.substr(7)))
    return "the bcrypt hash is cut off";
  unsigned cost = 0;
  if (!parseNumber(hash.substr(4, 2), cost) || cost > kMaxBcryptCost) return "a bcrypt cost above 16";
  return nullptr;
}

const char* checkSha(std::string_view hash, size_t size) noexcept {
  std::string_view rest = hash.substr(3);
  constexpr std::string_view kRounds = "rounds=";
  if (startsWith(rest, kRounds)) {
    const size_t end = rest.find('$');
    unsigned rounds = 0;
    if (end == std::string_view::npos ||
        !parseNumber(rest.substr(kRounds.size(), end - kRounds.size()), rounds) || rounds > kMaxShaRounds) {
      return "more rounds than 10000000";
    }
  }
  const std::string_view last = hash.substr(hash.rfind('$') + 1);
  return last.size() == size && isCryptText(last) ? nullptr : "the SHA-crypt hash is cut off";
}

const char* whatIsWrong(const std::string& hash) noexcept {
  const std::string_view text = hash;
  const char* wrong = nullptr;
  if (startsWith(text, "$2a$") || startsWith(text, "$2b$") || startsWith(text, "$2y$")) {
    wrong = checkBcrypt(text);
  } else if (startsWith(text, "$5$")) {
    wrong = checkSha(text, 43);
  } else if (startsWith(text, "$6$")) {
    wrong = checkSha(text, 86);
  } else if (startsWith(text, "$y$") || startsWith(text, "$gy$") || startsWith(text, "$7$")) {
    wrong = text.size() - text.rfind('$') - 1 == 43 ? nullptr : "the hash is cut off";
  } else {
    return describe(text);
  }
  if (wrong != nullptr) return wrong;
  const int verdict = ::crypt_checksalt(hash.c_str());  // to some builds of libcrypt SHA-256 is history
  return verdict == CRYPT_SALT_OK || verdict == CRYPT_SALT_METHOD_LEGACY ? nullptr : "the hash is malformed";
}

// Says nothing by its time of where two texts of the same size differ.
bool equalInConstantTime(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  volatile unsigned char differs = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    differs = static_cast<unsigned char>(
        differs | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  }
  return differs == 0;
}

struct WipeCryptData {
  void operator()(crypt_data* data) const noexcept {
    ::explicit_bzero(data, sizeof *data);
    delete data;
  }
};

}  // namespace

Status checkPasswordHash(const std::string& hash) {
  const char* wrong = whatIsWrong(hash);
  return wrong == nullptr ? Status{} : Status::error(fmt::format("{}: {}", wrong, kAdvice));
}

bool passwordFits(const std::string& password, const std::string& hash) {
  const std::unique_ptr<crypt_data, WipeCryptData> data(new crypt_data{});
  const char* made = ::crypt_r(password.c_str(), hash.c_str(), data.get());
  return made != nullptr && made[0] != '*' && equalInConstantTime(made, hash);
}

}  // namespace roost::modules::basic_auth
