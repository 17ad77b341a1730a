// What a log statement accepts; the lines themselves are checked in log_test.cc.
#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include <fmt/chrono.h>

#include "log/log.h"

TEST_CASE("a statement takes any formattable argument") {
  enum Colour { kRed = 1 };
  const std::string text = "text";
  char array[8] = "array";
  const char* nothing = nullptr;
  LOG_INFO("no argument");
  LOG_INFO("{} {} {} {}", 1, text, std::string_view(text), array);
  LOG_WARN("{:>5} {:.2f} {} {}", 7u, 1.5, 'c', true);
  LOG_ERROR("{} {} {}", nothing, static_cast<const void*>(&text), kRed);
  LOG_INFO("{}", std::chrono::milliseconds(5));
  LOG_DEBUG("{}", 1);
  for (int i = 0; i < 3; ++i) LOG_EVERY_SECOND(WARN, "again {}", i);
}
