// links: roost_modules_basic_auth
// Any bytes as a users' file and, where the first byte says so, as an Authorization field.
#include <string>
#include <string_view>

#include "modules/basic_auth/credentials.h"
#include "modules/basic_auth/password_hash.h"
#include "modules/basic_auth/users_file.h"
#include "support/fuzz_require.h"

namespace {

using roost::test::require;

void checkAuthorization(std::string_view value) {
  using namespace roost::modules::basic_auth;  // NOLINT
  SecretRoom room;
  Credentials credentials;
  if (!parseBasic(value, room, credentials)) return;
  require(credentials.user.find(':') == std::string_view::npos);
  require(credentials.user.data() == room.bytes);
  require(credentials.password.data() == room.bytes + credentials.user.size() + 1);
  require(credentials.password.size() <= kMaxPasswordBytes);
  for (const std::string_view text : {credentials.user, credentials.password}) {
    for (const char c : text) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost::modules::basic_auth;  // NOLINT
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.substr(0, 1) == "B") checkAuthorization(text);
  const auto table = UserTable::parse(text, "users");
  if (!table.ok()) {
    require(table.status().message().compare(0, 6, "users:") == 0);
    return 0;
  }
  const std::string* somebody = (*table)->substituteFor("nobody");
  require((somebody == nullptr) == ((*table)->size() == 0));
  if (somebody != nullptr) require(checkPasswordHash(*somebody).ok());
  return 0;
}
