#include "http/origins.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace roost::http {
namespace {

struct Row {
  const char* pattern;
  const char* origin;
  bool allowed;
};

TEST_CASE("origins: which pattern takes which origin", "[origins]") {
  for (const Row& row : std::vector<Row>{{"https://a.org", "https://a.org", true},
                                         {"https://a.org", "http://a.org", false},
                                         {"https://a.org", "https://a.org:444", false},
                                         {"https://a.org", "https://a.orgx", false},
                                         {"https://a.org", "https://xa.org", false},
                                         {"https://a.org", "https://A.org", false},
                                         {"https://a.org", "", false},
                                         {"https://a.org", "null", false},
                                         {"https://a.org:444", "https://a.org:444", true},
                                         {"https://a.org:444", "https://a.org", false},
                                         {"https://*.a.org", "https://x.a.org", true},
                                         {"https://*.a.org", "https://x.y.a.org", true},
                                         {"https://*.a.org", "https://a.org", false},
                                         {"https://*.a.org", "https://.a.org", false},
                                         {"https://*.a.org", "https://xa.org", false},
                                         {"https://*.a.org", "https://x.a.org:444", false},
                                         {"https://*.a.org", "https://x/.a.org", false},
                                         {"https://*.a.org", "https://x..a.org", false},
                                         {"https://*.a.org:*", "https://x.a.org:444", true},
                                         {"http://localhost:*", "http://localhost", true},
                                         {"http://localhost:*", "http://localhost:1", true},
                                         {"http://localhost:*", "http://localhost:", false},
                                         {"http://localhost:*", "http://localhost:01", false},
                                         {"http://localhost:*", "http://localhost:123456", false},
                                         {"http://[::1]:*", "http://[::1]:8080", true},
                                         {"http://[::1]:8080", "http://[::1]:8080", true},
                                         {"http://[::1]", "http://[::1]:8080", false},
                                         {"app://x", "app://x", true},
                                         {"null", "null", true},
                                         {"null", "https://null", false},
                                         {"*", "https://any", true},
                                         {"*", "null", true},
                                         {"*", "", false}}) {
    INFO(row.pattern << " " << row.origin);
    Result<OriginSet> origins = OriginSet::compile({row.pattern});
    REQUIRE(origins.ok());
    CHECK(origins->has(row.origin) == row.allowed);
    CHECK(origins->names(row.origin) == (row.allowed && std::string(row.pattern) != "*"));
    CHECK(origins->any() == (std::string(row.pattern) == "*"));
  }
}

TEST_CASE("origins: what no browser sends is an error", "[origins]") {
  for (const char* text : {"",
                           "example.org",
                           "https://",
                           "https://a.org/",
                           "https://a.org/x",
                           "https://A.org",
                           "HTTPS://a.org",
                           "https://a.org:443",
                           "http://a.org:80",
                           "https://a.org:",
                           "https://a.org:x",
                           "https://a.org:070",
                           "https://*",
                           "https://a.*",
                           "https://*a.org",
                           "https://*.*.org",
                           "https://user@a.org",
                           "https://a..org",
                           "https://.a.org",
                           "https://a.org.",
                           "://a.org",
                           "https://[::1",
                           "https://a org",
                           "**"}) {
    INFO(text);
    CHECK_FALSE(OriginSet::compile({text}).ok());
  }
}

}  // namespace
}  // namespace roost::http
