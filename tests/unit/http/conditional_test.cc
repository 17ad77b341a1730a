#include "http/conditional.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unit/http/head_builder.h"

namespace roost::http {
namespace {

constexpr std::string_view kSame = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr std::string_view kBefore = "Sun, 06 Nov 1994 08:49:36 GMT";
constexpr std::string_view kAfter = "Sun, 06 Nov 1994 08:49:38 GMT";
constexpr auto kProceed = Precondition::kProceed;
constexpr auto kNotModified = Precondition::kNotModified;
constexpr auto kFailed = Precondition::kPreconditionFailed;

constexpr FieldId kIM = FieldId::kIfMatch;
constexpr FieldId kINM = FieldId::kIfNoneMatch;
constexpr FieldId kIMS = FieldId::kIfModifiedSince;
constexpr FieldId kIUS = FieldId::kIfUnmodifiedSince;
constexpr FieldId kIR = FieldId::kIfRange;

Validators file(std::string_view etag = "\"a\"") {
  Validators validators;
  validators.has_last_modified = true;
  validators.etag = etag;
  validators.last_modified_s = 784111777;
  validators.now_s = 1763634306;
  return validators;
}

using Fields = std::initializer_list<std::pair<FieldId, std::string_view>>;

Precondition get(Fields fields, const Validators& validators = file()) {
  test::HeadBuilder head(Method::kHead, fields);
  const Precondition by_head = evaluate(head.head(), validators);
  test::HeadBuilder get_head(Method::kGet, fields);
  CHECK(evaluate(get_head.head(), validators) == by_head);  // HEAD answers as GET would
  return by_head;
}

Precondition put(Fields fields, const Validators& validators = file()) {
  test::HeadBuilder builder(Method::kPut, fields);
  return evaluate(builder.head(), validators);
}

bool range(Fields fields, const Validators& validators = file()) {
  test::HeadBuilder builder(Method::kGet, fields);
  return ifRangeMatches(builder.head(), validators);
}

TEST_CASE("Preconditions: none (RFC 9110 13.1)") {
  CHECK(get({}) == kProceed);
  CHECK(put({}) == kProceed);
  CHECK(get({{FieldId::kHost, "x"}, {FieldId::kRange, "bytes=0-1"}, {kIR, "\"z\""}}) == kProceed);
}

TEST_CASE("If-Match: strong comparison (RFC 9110 13.1.1)") {
  CHECK(get({{kIM, "\"a\""}}) == kProceed);
  CHECK(put({{kIM, "\"a\""}}) == kProceed);
  CHECK(get({{kIM, "\"b\""}}) == kFailed);
  CHECK(put({{kIM, "\"b\""}}) == kFailed);
  CHECK(put({{kIM, "W/\"a\""}}) == kFailed);
  CHECK(put({{kIM, "\"a\""}}, file("W/\"a\"")) == kFailed);
  CHECK(put({{kIM, "W/\"a\""}}, file("W/\"a\"")) == kFailed);
  CHECK(put({{kIM, "\"b\", \"a\""}}) == kProceed);
  CHECK(put({{kIM, "\"b\""}, {kIM, "\"c\", \"a\""}}) == kProceed);
  CHECK(put({{kIM, "a"}}) == kFailed);
  CHECK(put({{kIM, ""}}) == kFailed);
}

TEST_CASE("If-Match: * asks for any current representation (RFC 9110 13.1.1)") {
  Validators missing = file("");
  missing.exists = false;
  missing.has_last_modified = false;
  CHECK(put({{kIM, "*"}}) == kProceed);
  CHECK(put({{kIM, "*"}}, file("")) == kProceed);  // without a tag it exists all the same
  CHECK(put({{kIM, "*"}}, missing) == kFailed);
  CHECK(put({{kIM, "\"a\""}}, missing) == kFailed);
  CHECK(put({{kIM, "*, \"b\""}}) == kFailed);
}

TEST_CASE("If-Unmodified-Since (RFC 9110 13.1.4)") {
  CHECK(put({{kIUS, kSame}}) == kProceed);
  CHECK(put({{kIUS, kAfter}}) == kProceed);
  CHECK(put({{kIUS, kBefore}}) == kFailed);
  CHECK(get({{kIUS, kBefore}}) == kFailed);
  CHECK(put({{kIUS, "Sunday, 06-Nov-94 08:49:36 GMT"}}) == kFailed);
  CHECK(put({{kIUS, "Sun Nov  6 08:49:36 1994"}}) == kFailed);
  CHECK(put({{kIUS, "yesterday"}}) == kProceed);
  CHECK(put({{kIUS, ""}}) == kProceed);
  CHECK(put({{kIUS, kBefore}, {kIUS, kBefore}}) == kProceed);
  Validators undated = file();
  undated.has_last_modified = false;
  CHECK(put({{kIUS, kBefore}}, undated) == kProceed);
}

TEST_CASE("If-None-Match: weak comparison (RFC 9110 13.1.2)") {
  CHECK(get({{kINM, "\"a\""}}) == kNotModified);
  CHECK(put({{kINM, "\"a\""}}) == kFailed);
  CHECK(get({{kINM, "W/\"a\""}}) == kNotModified);
  CHECK(get({{kINM, "\"a\""}}, file("W/\"a\"")) == kNotModified);
  CHECK(get({{kINM, "W/\"a\""}}, file("W/\"a\"")) == kNotModified);
  CHECK(get({{kINM, "\"b\""}}) == kProceed);
  CHECK(put({{kINM, "\"b\""}}) == kProceed);
  CHECK(get({{kINM, "\"b\", W/\"a\""}}) == kNotModified);
  CHECK(get({{kINM, "\"b\""}, {kINM, "\"a\""}}) == kNotModified);
  CHECK(get({{kINM, "\"b\""}, {kINM, "\"c\""}}) == kProceed);
  CHECK(get({{kINM, "\"b,\", \"a\""}}) == kNotModified);
  CHECK(get({{kINM, "a"}}) == kProceed);
  CHECK(get({{kINM, "\"A\""}}) == kProceed);
  CHECK(get({{kINM, "\"a\""}}, file("")) == kProceed);
}

TEST_CASE("If-None-Match: * (RFC 9110 13.1.2)") {
  Validators missing = file("");
  missing.exists = false;
  missing.has_last_modified = false;
  CHECK(get({{kINM, "*"}}) == kNotModified);
  CHECK(put({{kINM, "*"}}) == kFailed);
  CHECK(put({{kINM, "*"}}, missing) == kProceed);
  CHECK(get({{kINM, "\"*\""}}) == kProceed);
}

TEST_CASE("If-Modified-Since (RFC 9110 13.1.3)") {
  CHECK(get({{kIMS, kSame}}) == kNotModified);
  CHECK(get({{kIMS, kAfter}}) == kNotModified);
  CHECK(get({{kIMS, kBefore}}) == kProceed);
  CHECK(get({{kIMS, "Sunday, 06-Nov-94 08:49:37 GMT"}}) == kNotModified);
  CHECK(get({{kIMS, "Sun Nov  6 08:49:37 1994"}}) == kNotModified);
  CHECK(get({{kIMS, "Fri, 31 Dec 9999 23:59:59 GMT"}}) == kNotModified);
  CHECK(get({{kIMS, "Sun, 06 Nov 1994 08:49:37"}}) == kProceed);
  CHECK(get({{kIMS, "Sun, 06 Nov 1994 08:49:37 GMT; length=3"}}) == kProceed);
  CHECK(get({{kIMS, kSame}, {kIMS, kSame}}) == kProceed);
  CHECK(put({{kIMS, kSame}}) == kProceed);  // only GET and HEAD know it
  Validators undated = file();
  undated.has_last_modified = false;
  CHECK(get({{kIMS, kSame}}, undated) == kProceed);
}

TEST_CASE("Preconditions: precedence (RFC 9110 13.2.2)") {
  // If-None-Match makes If-Modified-Since as if absent, whichever way it goes.
  CHECK(get({{kINM, "\"b\""}, {kIMS, kSame}}) == kProceed);
  CHECK(get({{kIMS, kBefore}, {kINM, "\"a\""}}) == kNotModified);
  CHECK(get({{kINM, "malformed"}, {kIMS, kSame}}) == kProceed);
  // If-Match makes If-Unmodified-Since as if absent.
  CHECK(put({{kIM, "\"a\""}, {kIUS, kBefore}}) == kProceed);
  CHECK(put({{kIM, "\"b\""}, {kIUS, kAfter}}) == kFailed);
  // The first two decide before the second two.
  CHECK(get({{kINM, "\"a\""}, {kIM, "\"b\""}}) == kFailed);
  CHECK(get({{kINM, "\"a\""}, {kIM, "\"a\""}}) == kNotModified);
  CHECK(put({{kINM, "\"a\""}, {kIM, "\"a\""}}) == kFailed);
  CHECK(get({{kINM, "\"a\""}, {kIUS, kBefore}}) == kFailed);
  CHECK(get({{kIMS, kSame}, {kIUS, kSame}}) == kNotModified);
  CHECK(get({{kIMS, kSame}, {kIUS, kBefore}}) == kFailed);
  CHECK(get({{kIMS, kSame}, {kIM, "\"b\""}}) == kFailed);
}

TEST_CASE("Preconditions: methods that select nothing ignore them (RFC 9110 13.2.1)") {
  for (const Method method : {Method::kOptions, Method::kTrace, Method::kConnect}) {
    test::HeadBuilder builder(method, {{kIM, "\"b\""}, {kINM, "*"}, {kIUS, kBefore}});
    CHECK(evaluate(builder.head(), file()) == kProceed);
  }
  for (const Method method : {Method::kPost, Method::kDelete, Method::kPatch}) {
    test::HeadBuilder builder(method, {{kINM, "*"}});
    CHECK(evaluate(builder.head(), file()) == kFailed);
  }
}

TEST_CASE("If-Range: entity tags by strong comparison (RFC 9110 13.1.5)") {
  CHECK(range({}));
  CHECK(range({{kIR, "\"a\""}}));
  CHECK_FALSE(range({{kIR, "\"b\""}}));
  CHECK_FALSE(range({{kIR, "W/\"a\""}}));
  CHECK_FALSE(range({{kIR, "W/\"a\""}}, file("W/\"a\"")));
  CHECK_FALSE(range({{kIR, "\"a\""}}, file("W/\"a\"")));
  CHECK_FALSE(range({{kIR, "\"a\""}}, file("")));
  CHECK_FALSE(range({{kIR, "\"a\", \"b\""}}));
  CHECK_FALSE(range({{kIR, "\"a\""}, {kIR, "\"a\""}}));
  CHECK_FALSE(range({{kIR, "*"}}));
  CHECK_FALSE(range({{kIR, ""}}));
  CHECK_FALSE(range({{kIR, "a"}}));
}

TEST_CASE("If-Range: the exact date, if it is a strong one (RFC 9110 13.1.5, 8.8.2.2)") {
  CHECK(range({{kIR, kSame}}));
  CHECK_FALSE(range({{kIR, kBefore}}));
  CHECK_FALSE(range({{kIR, kAfter}}));
  Validators young = file();
  young.now_s = young.last_modified_s + 1;
  CHECK_FALSE(range({{kIR, kSame}}, young));
  young.now_s = young.last_modified_s + 2;
  CHECK(range({{kIR, kSame}}, young));
  young.now_s = young.last_modified_s - 100;
  CHECK_FALSE(range({{kIR, kSame}}, young));
  Validators undated = file();
  undated.has_last_modified = false;
  undated.last_modified_s = 784111777;
  CHECK_FALSE(range({{kIR, kSame}}, undated));
}

}  // namespace
}  // namespace roost::http
