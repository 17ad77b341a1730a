#include "tables/json_text.h"

#include <catch2/catch.hpp>
#include <string>

#include "tables/preferences.h"

using namespace roost::tables;

TEST_CASE("JSON is told from what is none", "[tables][json]") {
  for (const char* text :
       {"null", "true", " false ", "0", "-0", "1.5e+10", "1E5", "\"\"", "\"\\u00e9\\n\\/\"", "[]", "{}",
        "[1,2]", "[[],[{}]]", "{\"a\":1,\"b\":[true,{\"c\":null}]}", "\n{ \"a\" : 1 }\t", "\"\xc3\xa9\""}) {
    INFO(text);
    CHECK(isJson(text));
  }
  for (const char* text : {"",         " ",           "nul",
                           "truex",    "01",          "1.",
                           ".5",       "-",           "1e",
                           "+1",       "\"",          "\"\n\"",
                           "\"\\x\"",  "\"\\u00g0\"", "[",
                           "[1",       "[1,]",        "[,1]",
                           "[1 2]",    "{",           "{\"a\"}",
                           "{\"a\":}", "{\"a\":1,}",  "{a:1}",
                           "{1:1}",    "[}",          "{]",
                           "1 1",      "[] []",       "[1]]",
                           "\"\xff\"", "'a'",         "{\"a\":1 \"b\":2}"}) {
    INFO(text);
    CHECK_FALSE(isJson(text));
  }
  const std::string deep(kJsonDepth, '[');
  CHECK(isJson(deep + std::string(kJsonDepth, ']')));
  CHECK_FALSE(isJson("[" + deep + std::string(kJsonDepth + 1, ']')));
}

TEST_CASE("Prefer is read as PostgREST's clients send it", "[tables][preferences]") {
  Preferences p;
  readPreferences("return=representation, count=exact;x=1 , handling=strict", p);
  readPreferences("resolution=merge-duplicates,missing=default,tx=rollback,max-affected=12", p);
  CHECK(p.returns == Preferences::Return::kRepresentation);
  CHECK(p.count == Preferences::Count::kExact);
  CHECK(p.resolution == Preferences::Resolution::kMerge);
  CHECK(p.missing == Preferences::Missing::kDefault);
  CHECK(p.strict);
  CHECK(p.rollback);
  CHECK(p.max_affected == 12u);
  CHECK(p.unknown.empty());
  CHECK(appliedPreferences(p, true) ==
        "resolution=merge-duplicates, missing=default, return=representation, count=exact, tx=rollback, "
        "handling=strict, max-affected=12");
  CHECK(appliedPreferences(p, false) == "count=exact, handling=strict");
}

TEST_CASE("of contradicting preferences the first counts, and unknown ones are kept",
          "[tables][preferences]") {
  Preferences p;
  readPreferences("Return=\"minimal\",return=representation,count=planned,count=none", p);
  readPreferences(" wait=5 , ,params=single-object,max-affected=-1,handling=lenient,tx=commit", p);
  CHECK(p.returns == Preferences::Return::kMinimal);
  CHECK(p.count == Preferences::Count::kPlanned);
  CHECK_FALSE(p.strict);
  CHECK_FALSE(p.rollback);
  CHECK(p.unknown == "count=none, wait=5, params=single-object, max-affected=-1");
  CHECK(appliedPreferences(Preferences(), true).empty());
}
