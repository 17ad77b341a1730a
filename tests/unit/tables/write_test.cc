// Whole writes: the statements that carry them out, one after the other, and what they come to.
#include <catch2/catch.hpp>

#include "unit/tables/write_case.h"

namespace {

using namespace roost;        // NOLINT
using namespace roost::test;  // NOLINT

constexpr const char* kRepresent = "return=representation";
const std::string kMysql = "8.0.36";

void check(const WriteCase& one, const std::vector<std::string>& sent, const std::string& end,
           bool transaction = false) {
  INFO(one.request << " " << one.prefer << " " << one.body);
  const WriteRun run(one);
  CHECK(run.sent == sent);
  CHECK(run.end == end);
  CHECK(run.transaction == transaction);
}

TEST_CASE("one row is one statement") {
  check({"POST items", "", R"({"sku":"a"})", {affects(1, 5)}},
        {"INSERT INTO `items` (`sku`) VALUES (?) | 'a'"}, "201 1 /data/items?id=eq.5");
  check({"POST items", "", R"({"id":7,"sku":"a"})", {affects(1)}},
        {"INSERT INTO `items` (`id`,`sku`) VALUES (?,?) | 7, 'a'"}, "201 1 /data/items?id=eq.7");
  check({"POST items", "", "{}", {affects(1, 6)}}, {"INSERT INTO `items` () VALUES ()"},
        "201 1 /data/items?id=eq.6");
  check({"POST pairs", "", R"({"a":1,"b":-2})", {affects(1)}},
        {"INSERT INTO `pairs` (`a`,`b`) VALUES (?,?) | 1, -2"}, "201 1 /data/pairs?a=eq.1&b=eq.-2");
  check({"POST keyless", "", R"({"a":1})", {affects(1)}}, {"INSERT INTO `keyless` (`a`) VALUES (?) | 1"},
        "201 1");
  check({"POST items?select=id,amount", kRepresent, R"({"sku":"a"})", {brings({{5, 3, 5}})}},
        {"INSERT INTO `items` (`sku`) VALUES (?) RETURNING `id`,`amount`,`id` | 'a'"},
        "201 1 /data/items?id=eq.5");
  check({"PATCH items?id=eq.5", "", R"({"name":null})", {affects(1)}},
        {"UPDATE `items` SET `name`=? WHERE `id` = ? | NULL, 5"}, "204 1");
  check({"PATCH items?amount=gt.5", "", R"({"name":"n"})", {affects(3)}},
        {"UPDATE `items` SET `name`=? WHERE `amount` > ? | 'n', 5"}, "204 3");
  check({"DELETE items?id=eq.5", "", "", {affects(1)}}, {"DELETE FROM `items` WHERE `id` = ? | 5"}, "204 1");
  check({"DELETE items?id=eq.5&select=id", kRepresent, "", {brings({{5}})}},
        {"DELETE FROM `items` WHERE `id` = ? RETURNING `id` | 5"}, "200 1");
  check({"DELETE items?id=gt.5&order=id.desc&limit=2", "", "", {affects(2)}},
        {"DELETE FROM `items` WHERE `id` > ? ORDER BY `id` DESC LIMIT ? | 5, 2u"}, "204 2");
  check({"PATCH items?id=eq.5", "", "{}", {}}, {}, "204 0");
  CHECK(WriteRun({"POST items?select=id", kRepresent, "[{},{}]", {brings({{1, 1}, {2, 2}})}}).body ==
        R"([{"id":1},{"id":2}])");
  CHECK(WriteRun({"POST items?select=id", "return=representation,single", "{}", {brings({{1, 1}})}}).body ==
        R"({"id":1})");
}

TEST_CASE("many rows share statements") {
  std::string rows;
  for (int i = 0; i < 100; ++i) rows += fmt::format("{}{{\"a\":{}}}", i == 0 ? "[" : ",", i);
  const WriteRun run({"POST keyless", "", rows + "]", {affects(64), affects(32), affects(4)}});
  REQUIRE(run.sent.size() == 3);
  CHECK(std::count(run.sent[0].begin(), run.sent[0].end(), '?') == 64);
  CHECK(std::count(run.sent[1].begin(), run.sent[1].end(), '?') == 32);
  CHECK(run.sent[2] == "INSERT INTO `keyless` (`a`) VALUES (?),(?),(?),(?) | 96, 97, 98, 99");
  CHECK(run.transaction);
  CHECK(run.end == "201 100");
  check({"POST keyless", "", R"([{"a":1},{"a":2},{"b":"x"},{"a":3}])", {affects(2), affects(1), affects(1)}},
        {"INSERT INTO `keyless` (`a`) VALUES (?),(?) | 1, 2", "INSERT INTO `keyless` (`b`) VALUES (?) | 'x'",
         "INSERT INTO `keyless` (`a`) VALUES (?) | 3"},
        "201 4", true);
  check({"POST keyless", "", "[]", {}}, {}, "201 0");
}

TEST_CASE("upserts") {
  check({"POST pairs",
         "resolution=merge-duplicates",
         R"([{"a":1,"b":2,"note":"x"},{"a":1,"b":3}])",
         {affects(1), affects(2)}},
        {"INSERT INTO `pairs` (`a`,`b`,`note`) VALUES (?,?,?) ON DUPLICATE KEY UPDATE `note`=VALUES(`note`) "
         "| 1, 2, 'x'",
         "INSERT INTO `pairs` (`a`,`b`,`note`) VALUES (?,?,DEFAULT) ON DUPLICATE KEY UPDATE "
         "`note`=VALUES(`note`) | 1, 3"},
        "201 2", true);
  check({"POST pairs", "resolution=merge-duplicates", R"({"a":1,"b":2})", {affects(1)}},
        {"INSERT INTO `pairs` (`a`,`b`) VALUES (?,?) ON DUPLICATE KEY UPDATE `a`=`a` | 1, 2"},
        "201 1 /data/pairs?a=eq.1&b=eq.2");
  check({"POST items?on_conflict=sku",
         "resolution=merge-duplicates",
         R"({"sku":"a","name":"n"})",
         {brings({{9}})}},
        {"INSERT INTO `items` (`sku`,`name`) VALUES (?,?) ON DUPLICATE KEY UPDATE `name`=VALUES(`name`) "
         "RETURNING `id` | 'a', 'n'"},
        "201 1 /data/items?id=eq.9");
  for (const char* const body : {R"({"id":1,"sku":"a"})", R"({"id":1})"}) {
    check({"POST items", "resolution=merge-duplicates", body, {}}, {}, "409 ambiguous_upsert");
    check({"POST items", "resolution=ignore-duplicates", body, {}}, {}, "409 ambiguous_upsert");
  }
  check({"POST items?on_conflict=sku", "resolution=merge-duplicates", R"({"id":1,"sku":"a"})", {}}, {},
        "409 ambiguous_upsert");
  check({"POST items?on_conflict=name", "resolution=merge-duplicates", "{}", {}}, {}, "400 no_unique_key");
  check({"POST keyless", "resolution=merge-duplicates", "{}", {}}, {}, "400 no_unique_key");
  check({"POST items?on_conflict=sku", "", "{}", {}}, {}, "400 resolution_missing");
  // Halves of what meets a row that is there, down to that row.
  check({"POST pairs",
         "resolution=ignore-duplicates",
         R"([{"a":1,"b":1},{"a":2,"b":2}])",
         {fails(1062), affects(1), fails(1062)}},
        {"INSERT INTO `pairs` (`a`,`b`) VALUES (?,?),(?,?) | 1, 1, 2, 2",
         "INSERT INTO `pairs` (`a`,`b`) VALUES (?,?) | 1, 1",
         "INSERT INTO `pairs` (`a`,`b`) VALUES (?,?) | 2, 2"},
        "201 1 /data/pairs?a=eq.1&b=eq.1", true);
  const WriteRun ignored({"POST pairs?select=a",
                          "resolution=ignore-duplicates,return=representation",
                          R"([{"a":1,"b":1},{"a":2,"b":2}])",
                          {{{{1, 1, 1}}, 0, 0, 1062}, brings({{1, 1, 1}}), fails(1062)}});
  CHECK(ignored.body == R"([{"a":1}])");
  CHECK(ignored.end == "201 1 /data/pairs?a=eq.1&b=eq.1");
  check({"POST pairs", "resolution=ignore-duplicates", R"({"a":1,"b":1})", {fails(1062)}},
        {"INSERT INTO `pairs` (`a`,`b`) VALUES (?,?) | 1, 1"}, "200 0");
  check({"POST pairs", "resolution=ignore-duplicates", R"({"a":1,"b":1})", {fails(1452)}},
        {"INSERT INTO `pairs` (`a`,`b`) VALUES (?,?) | 1, 1"}, "409 foreign_key_violation");
  check({"POST pairs", "", R"({"a":1,"b":1})", {fails(1062)}},
        {"INSERT INTO `pairs` (`a`,`b`) VALUES (?,?) | 1, 1"}, "409 unique_violation");
}

TEST_CASE("rows that are returned are read by their keys") {
  const std::string lock = "SELECT `id` FROM `items` WHERE `amount` > ? LIMIT ? FOR UPDATE | 5, 1001u";
  check({"PATCH items?amount=gt.5&select=id",
         kRepresent,
         R"({"name":"n"})",
         {brings({{1}, {2}, {3}}), affects(3), brings({{1}, {2}, {3}})}},
        {lock, "UPDATE `items` SET `name`=? WHERE `id` IN (?,?,?,?) | 'n', 1, 2, 3, 3",
         "SELECT `id` FROM `items` WHERE `id` IN (?,?,?,?) FOR UPDATE | 1, 2, 3, 3"},
        "200 3", true);
  check({"PATCH items?amount=gt.5&select=id", kRepresent, R"({"name":"n"})", {brings({})}}, {lock}, "200 0",
        true);
  check({"PATCH items?id=eq.5&select=id", kRepresent, R"({"id":6})", {affects(1), brings({{6}})}},
        {"UPDATE `items` SET `id`=? WHERE `id` = ? | 6, 5",
         "SELECT `id` FROM `items` WHERE `id` IN (?) FOR UPDATE | 6"},
        "200 1", true);
  check({"PATCH pairs?a=eq.1&select=a",
         kRepresent,
         R"({"b":5})",
         {brings({{1, 2}}), affects(1), brings({{1}})}},
        {"SELECT `a`,`b` FROM `pairs` WHERE `a` = ? LIMIT ? FOR UPDATE | 1, 1001u",
         "UPDATE `pairs` SET `b`=? WHERE ((`a`=? AND `b`=?)) | 5, 1, 2",
         "SELECT `a` FROM `pairs` WHERE ((`a`=? AND `b`=?)) FOR UPDATE | 1, 5"},
        "200 1", true);
  check({"PATCH few?amount=gt.5&select=id", kRepresent, R"({"name":"n"})", {brings({{1}, {2}, {3}})}},
        {"SELECT `id` FROM `items` WHERE `amount` > ? LIMIT ? FOR UPDATE | 5, 3u"}, "400 too_many_rows",
        true);
  check({"DELETE few?amount=gt.5&select=id", kRepresent, "", {brings({{1}, {2}, {3}})}},
        {"DELETE FROM `items` WHERE `amount` > ? RETURNING `id` | 5"}, "400 too_many_rows", true);
  check({"POST few", kRepresent, "[{},{},{}]", {}}, {}, "400 too_many_rows");
  check({"PATCH keyless?a=eq.1", kRepresent, R"({"b":"x"})", {}}, {}, "400 no_key");
}

TEST_CASE("servers that return no rows of writes") {
  check({"POST items?select=id",
         kRepresent,
         R"([{"sku":"a"},{"sku":"b"}])",
         {affects(1, 5), affects(1, 7), brings({{5}, {7}})},
         kMysql},
        {"INSERT INTO `items` (`sku`) VALUES (?) | 'a'", "INSERT INTO `items` (`sku`) VALUES (?) | 'b'",
         "SELECT `id` FROM `items` WHERE `id` IN (?,?) | 5u, 7u"},
        "201 2", true);
  check({"DELETE items?id=eq.5&select=id",
         kRepresent,
         "",
         {brings({{5}}), brings({{5}}), affects(1)},
         "10.4.2-MariaDB"},
        {"SELECT `id` FROM `items` WHERE `id` = ? LIMIT ? FOR UPDATE | 5, 1001u",
         "SELECT `id` FROM `items` WHERE `id` IN (?) FOR UPDATE | 5",
         "DELETE FROM `items` WHERE `id` IN (?) | 5"},
        "200 1", true);
  check({"POST keyless", kRepresent, "{}", {}, kMysql}, {}, "400 no_key");
  check({"POST items?on_conflict=sku",
         "resolution=merge-duplicates",
         R"({"sku":"a"})",
         {affects(2, 9)},
         kMysql},
        {"INSERT INTO `items` (`sku`) VALUES (?) ON DUPLICATE KEY UPDATE `sku`=`sku` | 'a'"}, "201 1");
  // Rows that a merge may have met are found by the key that it met them by; others say what their id is.
  check({"POST items?on_conflict=sku&select=id",
         "resolution=merge-duplicates, return=representation",
         R"({"sku":"a"})",
         {affects(2), brings({{5}}), brings({{5}})},
         kMysql},
        {"INSERT INTO `items` (`sku`) VALUES (?) ON DUPLICATE KEY UPDATE `sku`=`sku` | 'a'",
         "SELECT `id` FROM `items` WHERE `sku` IN (?) FOR UPDATE | 'a'",
         "SELECT `id` FROM `items` WHERE `id` IN (?) FOR UPDATE | 5"},
        "201 1 /data/items?id=eq.5", true);
  check({"POST pairs?select=a",
         "resolution=merge-duplicates, return=representation",
         R"({"a":1,"b":2})",
         {affects(1), brings({{1}})},
         kMysql},
        {"INSERT INTO `pairs` (`a`,`b`) VALUES (?,?) ON DUPLICATE KEY UPDATE `a`=`a` | 1, 2",
         "SELECT `a` FROM `pairs` WHERE ((`a`=? AND `b`=?)) FOR UPDATE | 1, 2"},
        "201 1 /data/pairs?a=eq.1&b=eq.2", true);
}

TEST_CASE("put") {
  const std::string look = "SELECT 1 FROM `items` WHERE `id` IN (?) | 5";
  const std::string lock = "SELECT 1 FROM `items` WHERE `id` IN (?) FOR UPDATE | 5";
  const std::string insert = "INSERT INTO `items` (`id`,`sku`) VALUES (?,?) | 5, 'a'";
  const std::string replace =
      "UPDATE `items` SET `sku`=?,`name`=DEFAULT,`amount`=DEFAULT,`note`=DEFAULT WHERE `id` IN (?) | 'a', 5";
  const std::string body = R"({"sku":"a"})";
  const std::string one_row = "PUT items?id=eq.5";
  check({one_row, "", body, {brings({}), affects(1)}}, {look, insert}, "201 1 /data/items?id=eq.5", true);
  check({one_row, "", R"({"id":5,"sku":"a"})", {brings({{1}}), affects(1)}}, {look, replace}, "204 1", true);
  check({"PUT items?id=eq.5&select=id", kRepresent, body, {brings({{1}}), affects(1), brings({{5}})}},
        {look, replace, "SELECT `id` FROM `items` WHERE `id` IN (?) FOR UPDATE | 5"}, "200 1", true);
  // Made by somebody else since it was looked at, or taken away, or both, or another one with the same `sku`.
  check({one_row, "", body, {brings({}), fails(1062), brings({{1}}), affects(1)}},
        {look, insert, lock, replace}, "204 1", true);
  check({one_row, "", body, {brings({{1}}), affects(0), brings({}), affects(1)}},
        {look, replace, lock, insert}, "201 1 /data/items?id=eq.5", true);
  check({one_row, "", body, {brings({{1}}), affects(0), brings({{1}}), affects(0)}},
        {look, replace, lock, replace}, "204 1", true);
  check({one_row, "", body, {brings({}), fails(1062), brings({}), affects(1)}}, {look, insert, lock, insert},
        "201 1 /data/items?id=eq.5", true);
  check({one_row, "", body, {brings({}), fails(1062), brings({}), fails(1062)}}, {look, insert, lock, insert},
        "409 unique_violation", true);
  check({one_row, "", body, {brings({}), fails(1452)}}, {look, insert}, "409 foreign_key_violation", true);
  check({"PUT pairs?a=eq.1&b=eq.2", "", R"({"note":null})", {brings({{1}}), affects(1)}},
        {"SELECT 1 FROM `pairs` WHERE ((`a`=? AND `b`=?)) | 1, 2",
         "UPDATE `pairs` SET `note`=? WHERE ((`a`=? AND `b`=?)) | NULL, 1, 2"},
        "204 1", true);
  for (const char* const request : {"PUT items?id=gt.5", "PUT items?sku=eq.a", "PUT items",
                                    "PUT items?id=eq.5&sku=eq.a", "PUT items?id=not.eq.5"})
    check({request, "", "{}", {}}, {}, "400 put_needs_key");
  check({"PUT items?id=eq.5", "", R"({"id":6})", {}}, {}, "400 key_mismatch");
  check({"PUT items?id=eq.5", "", R"([{},{}])", {}}, {}, "400 bad_body");
  check({"PUT keyless?a=eq.5", "", "{}", {}}, {}, "400 no_key");
  WriteCase only_new{one_row, "", body, {brings({{1}}), brings({{1}})}, "10.11.6-MariaDB", nullptr, true};
  check(only_new, {look, lock}, "412 precondition_failed", true);
  only_new.script = {brings({}), fails(1062), brings({{1}})};
  check(only_new, {look, insert, lock}, "412 precondition_failed", true);
  only_new.script = {brings({}), affects(1)};
  check(only_new, {look, insert}, "201 1 /data/items?id=eq.5", true);
}

TEST_CASE("fixed conditions") {
  check({"POST open", "", R"([{"sku":"a"},{"sku":"b","amount":1}])", {affects(2)}},
        {"INSERT INTO `items` (`sku`,`amount`) VALUES (?,?),(?,?) | 'a', 1, 'b', 1"}, "201 2");
  check({"POST open", "", R"({"amount":2})", {}}, {}, "403 row_not_allowed");
  check({"PATCH open?id=eq.5", "", R"({"amount":2})", {}}, {}, "403 row_not_allowed");
  check({"PATCH open?id=eq.5", "", R"({"amount":1})", {affects(1)}},
        {"UPDATE `items` SET `amount`=? WHERE `id` = ? AND `amount` = ? | 1, 5, 1"}, "204 1");
  const std::string inside = "SELECT COUNT(*) FROM `items` WHERE `amount` < ? AND `id` IN (?) | 9, 5";
  const std::string locked =
      "SELECT COUNT(*) FROM `items` WHERE `amount` < ? AND `id` IN (?) FOR UPDATE | 9, 5";
  check({"POST some", "", R"({"amount":3})", {brings({{5}}), brings({{1}})}},
        {"INSERT INTO `items` (`amount`) VALUES (?) RETURNING `id` | 3", inside}, "201 1 /data/some?id=eq.5",
        true);
  check({"POST some", "", R"({"amount":10})", {brings({{5}}), brings({{0}})}},
        {"INSERT INTO `items` (`amount`) VALUES (?) RETURNING `id` | 10", inside}, "403 row_not_allowed",
        true);
  check({"PATCH some?id=eq.5", "", R"({"amount":10})", {affects(1), brings({{0}})}},
        {"UPDATE `items` SET `amount`=? WHERE `id` = ? AND `amount` < ? | 10, 5, 9", locked},
        "403 row_not_allowed", true);
  check({"PATCH some?id=eq.5", "", R"({"name":"n"})", {affects(1)}},
        {"UPDATE `items` SET `name`=? WHERE `id` = ? AND `amount` < ? | 'n', 5, 9"}, "204 1");
  check({"PUT some?id=eq.5", "", "{}", {brings({{1}}), brings({{1}}), brings({{0}})}},
        {"SELECT 1 FROM `items` WHERE `id` IN (?) | 5",
         "SELECT 1 FROM `items` WHERE `id` IN (?) FOR UPDATE | 5", locked},
        "403 row_not_allowed", true);
  const std::string any = "SELECT COUNT(*) FROM `items` WHERE `sku` IN (?) | 'a'";
  const std::string all = "SELECT COUNT(*) FROM `items` WHERE `sku` IN (?) FOR UPDATE | 'a'";
  const std::string some =
      "SELECT COUNT(*) FROM `items` WHERE `amount` = ? AND `sku` IN (?) FOR UPDATE | 1, 'a'";
  const std::string insert = "INSERT INTO `items` (`sku`,`amount`) VALUES (?,?)";
  const std::string merge =
      insert + " ON DUPLICATE KEY UPDATE `amount`=VALUES(`amount`) RETURNING `id` | 'a', 1";
  WriteCase one{"POST open?on_conflict=sku", "resolution=merge-duplicates", R"({"sku":"a"})", {}};
  one.script = {brings({{1}}), brings({{1}}), brings({{0}})};
  check(one, {any, all, some}, "403 row_not_allowed", true);
  one.script = {brings({{1}}), brings({{1}}), brings({{1}}), brings({{5}})};
  check(one, {any, all, some, merge}, "201 1 /data/open?id=eq.5", true);
  // None is there, or is not yet.
  one.script = {brings({{0}}), brings({{5}})};
  check(one, {any, insert + " RETURNING `id` | 'a', 1"}, "201 1 /data/open?id=eq.5", true);
  one.script = {brings({{0}}), fails(1062), brings({{1}}), brings({{0}})};
  check(one, {any, insert + " RETURNING `id` | 'a', 1", all, some}, "403 row_not_allowed", true);
  one.script = {brings({{0}}), fails(1062), brings({{1}}), brings({{1}}), brings({{5}})};
  check(one, {any, insert + " RETURNING `id` | 'a', 1", all, some, merge}, "201 1 /data/open?id=eq.5", true);
  one.body = R"({"name":"n"})";  // whose key could be the column's default
  check(one, {}, "400 no_key");
}

TEST_CASE("AUTO_INCREMENT values are the database's to make, and name rows that are there") {
  check({"POST made", "", R"({"id":4294967295,"sku":"a"})", {}}, {}, "400 read_only_column");
  check({"POST made", "resolution=ignore-duplicates", R"({"id":5})", {}}, {}, "400 read_only_column");
  check({"PATCH made?id=eq.5", "", R"({"id":6})", {}}, {}, "400 read_only_column");
  check({"PUT made?id=eq.5", "", R"({"id":5,"sku":"a","name":"n"})", {brings({}), brings({})}},
        {"SELECT 1 FROM `items` WHERE `id` IN (?) FOR UPDATE | 5"}, "404 no_row", true);
  check({"PUT made?id=eq.5", "", R"({"id":6,"sku":"a"})", {}}, {}, "400 key_mismatch");
  // A merge by the id changes rows that are there, and makes none.
  const std::string look = "SELECT COUNT(*) FROM `logs` WHERE `id` IN (?,?) FOR UPDATE | 5, 6";
  const std::string merge =
      "INSERT INTO `logs` (`id`,`name`) VALUES (?,?),(?,?) ON DUPLICATE KEY UPDATE `name`=VALUES(`name`)";
  WriteCase one{"POST logs",
                "resolution=merge-duplicates",
                R"([{"id":5,"name":"a"},{"id":6,"name":"b"}])",
                {brings({{2}}), affects(2)}};
  check(one, {look, merge + " | 5, 'a', 6, 'b'"}, "201 2", true);
  one.script = {brings({{1}})};
  check(one, {look}, "404 no_row", true);
  // The same row twice is one row.
  one.body = R"([{"id":5,"name":"a"},{"id":5,"name":"b"}])";
  one.script = {brings({{1}}), affects(2)};
  check(one, {"SELECT COUNT(*) FROM `logs` WHERE `id` IN (?) FOR UPDATE | 5", merge + " | 5, 'a', 5, 'b'"},
        "201 2", true);
}

TEST_CASE("a hint says how an upsert becomes clear") {
  const auto hint = [](const char* request, const char* body) {
    const WriteRun run({request, "resolution=merge-duplicates", body, {}});
    CHECK(run.end == "409 ambiguous_upsert");
    return run.hint;
  };
  CHECK(hint("POST items", R"({"id":5,"name":"n"})") ==
        "\"sku\" is not given, and its default may be another row's. Use PUT, which goes by the primary key "
        "alone.");
  CHECK(hint("POST items?on_conflict=sku", R"({"id":5,"sku":"a"})") ==
        "Leave \"id\" out, or use PUT, which goes by the primary key alone.");
  CHECK(hint("POST items", R"({"id":5,"sku":"a"})") == "PUT goes by the primary key alone.");
}

class Tag final : public tables::TagCheck {
 public:
  explicit Tag(std::string text) : text_(std::move(text)) {}
  bool matches(std::string_view text, const db::ResultColumn*, const db::Cell*) const override {
    return text == text_;
  }

 private:
  const std::string text_;
};

TEST_CASE("versions, tags and limits") {
  check({"PATCH counted?id=eq.5", "", R"({"name":"n"})", {affects(1)}},
        {"UPDATE `items` SET `name`=?,`amount`=`amount`+1 WHERE `id` = ? | 'n', 5"}, "204 1");
  check({"PATCH counted?id=eq.5", "", R"({"amount":3})", {affects(1)}},
        {"UPDATE `items` SET `amount`=? WHERE `id` = ? | 3, 5"}, "204 1");
  const Tag same("{\"id\":5}");
  const Tag other("{\"id\":6}");
  const std::string look = "SELECT `id` FROM `items` WHERE `id` = ? FOR UPDATE | 5";
  WriteCase one{"PATCH items?id=eq.5&select=id",
                "",
                R"({"name":"n"})",
                {brings({{5}}), affects(1)},
                "10.11.6-MariaDB",
                &same};
  check(one, {look, "UPDATE `items` SET `name`=? WHERE `id` = ? | 'n', 5"}, "204 1", true);
  one.tag = &other;
  check(one, {look}, "412 precondition_failed", true);
  one.script = {brings({})};
  check(one, {look}, "412 precondition_failed", true);
  one.body = "{}";
  check(one, {look}, "412 precondition_failed", true);
  one.request = "PATCH items?id=gt.5";
  check(one, {}, "400 condition_needs_key");
  const std::string strict = "handling=strict,max-affected=2";
  check({"PATCH items?id=gt.5", strict, R"({"name":"n"})", {affects(3)}},
        {"UPDATE `items` SET `name`=? WHERE `id` > ? | 'n', 5"}, "400 max_affected_exceeded", true);
  check({"PATCH items?id=gt.5", "max-affected=2", R"({"name":"n"})", {affects(3)}},
        {"UPDATE `items` SET `name`=? WHERE `id` > ? | 'n', 5"}, "204 3");
  check({"DELETE items?id=gt.5", strict, "", {affects(2)}}, {"DELETE FROM `items` WHERE `id` > ? | 5"},
        "204 2", true);
  check({"POST items", strict, "[{},{},{}]", {}}, {}, "400 max_affected_exceeded");
  check({"DELETE items?id=gt.5", "single", "", {affects(2)}}, {"DELETE FROM `items` WHERE `id` > ? | 5"},
        "406 PGRST116", true);
  CHECK(WriteRun({"PATCH items?id=gt.5", "count=exact", R"({"name":"n"})", {affects(3)}}).range == "0-2/3");
  CHECK(WriteRun({"PATCH items?id=gt.5", "", R"({"name":"n"})", {affects(0)}}).range == "*/*");
  CHECK(WriteRun({"POST items", "count=exact", "{}", {affects(1)}}).range == "*/1");
}

TEST_CASE("what a channel is told") {
  const std::string locked =
      "SELECT `id`,`sku`,`name`,`amount`,`note` FROM `items` WHERE `id` IN (?) FOR UPDATE | 5";
  const std::vector<std::vector<int64_t>> row = {{5, 0, 0, 1, 0}};
  const std::string text = R"([{"id":5,"sku":0,"name":0,"amount":1,"note":0}])";
  const std::string returning = " RETURNING `id`,`sku`,`name`,`amount`,`note`,`id` | ";
  const WriteRun made({"POST told", "", R"({"sku":"a"})", {brings({{5, 0, 0, 1, 0, 5}})}});
  CHECK(made.sent == std::vector<std::string>{"INSERT INTO `items` (`sku`) VALUES (?)" + returning + "'a'"});
  CHECK(made.announcement == text);
  CHECK_FALSE(made.transaction);
  const WriteRun both(
      {"POST told?select=sku", kRepresent, R"({"sku":"a"})", {brings({{7, 5, 0, 0, 1, 0, 5}})}});
  CHECK(both.body == R"([{"sku":7}])");
  CHECK(both.announcement == text);
  const WriteRun by_key({"POST told", "", R"({"sku":"a"})", {affects(1, 5), brings(row)}, kMysql});
  CHECK(by_key.sent[1] == "SELECT `id`,`sku`,`name`,`amount`,`note` FROM `items` WHERE `id` IN (?) | 5u");
  CHECK(by_key.announcement == text);
  CHECK(by_key.transaction);
  const WriteRun changed({"PATCH told?id=eq.5", "", R"({"name":"n"})", {affects(1), brings(row)}});
  CHECK(changed.sent ==
        std::vector<std::string>{"UPDATE `items` SET `name`=? WHERE `id` = ? | 'n', 5", locked});
  CHECK(changed.announcement == text);
  const std::string lock = "SELECT `id` FROM `items` WHERE `amount` > ? LIMIT ? FOR UPDATE | 5, 101u";
  const WriteRun gone({"DELETE told?amount=gt.5", "", "", {brings({{5}, {6}}), affects(2)}});
  CHECK(gone.sent == std::vector<std::string>{lock, "DELETE FROM `items` WHERE `id` IN (?,?) | 5, 6"});
  CHECK(gone.announcement == R"([{"id":5},{"id":6}])");
  std::vector<std::vector<int64_t>> many;
  for (int64_t i = 0; i < 101; ++i) many.push_back({i});
  const WriteRun lots({"PATCH told?amount=gt.5", "", R"({"name":"n"})", {brings(many), affects(5000)}});
  CHECK(lots.sent ==
        std::vector<std::string>{lock, "UPDATE `items` SET `name`=? WHERE `amount` > ? | 'n', 5"});
  CHECK(lots.end == "204 5000");
  CHECK(lots.announcement.empty());
  CHECK(WriteRun({"PATCH told?id=eq.5", "", R"({"name":"n"})", {affects(0)}}).announcement.empty());
}

TEST_CASE("what a write cannot be asked") {
  for (const char* const request : {"PATCH items", "DELETE items", "DELETE items?limit=1&order=id"})
    check({request, "", R"({"name":"n"})", {}}, {}, "400 filter_required");
  for (const char* const request :
       {"POST items?id=eq.1", "POST items?limit=1", "PATCH items?id=eq.1&offset=1&limit=1&order=id",
        "PATCH items?id=eq.1&distinct", "PUT items?id=eq.1&limit=1", "PATCH items?id=eq.1&on_conflict=id",
        "DELETE items?id=eq.1&columns=id"}) {
    INFO(request);
    const WriteRun run({request, "", R"({"name":"n"})", {}});
    CHECK(run.end.compare(0, 4, "400 ") == 0);
    CHECK(run.sent.empty());
  }
  check({"PATCH items?id=gt.1&limit=1", "", "{}", {}}, {}, "400 limit_needs_order");
  check({"PATCH items?id=gt.1&limit=1&order=name", "", "{}", {}}, {}, "400 limit_needs_order");
  check({"PATCH items?id=gt.1&order=id", "", "{}", {}}, {}, "400 order_without_limit");
  check({"POST plain?on_conflict=sku", "resolution=merge-duplicates", R"({"sku":"a"})", {}}, {},
        "403 upsert_not_allowed");
  check({"PATCH pairs?a=eq.1&limit=1&order=a", "", "{}", {}}, {}, "400 limit_needs_order");
}

}  // namespace
