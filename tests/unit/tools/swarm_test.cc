#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "base/grouped.h"
#include "tools/swarm/broadcasts.h"
#include "tools/swarm/options.h"
#include "tools/swarm/payload.h"
#include "tools/swarm/preflight.h"
#include "tools/swarm/report.h"
#include "tools/swarm/scenario.h"
#include "tools/swarm/schedule.h"
#include "tools/swarm/sequence.h"
#include "tools/swarm/sse_scanner.h"
#include "tools/swarm/svg_plot.h"
#include "tools/swarm/targets.h"
#include "tools/swarm/text.h"

namespace roost::swarm {
namespace {

// ---- schedule ----

TEST_CASE("swarm: a schedule spreads requests evenly over all clients of all threads", "[swarm]") {
  // 7 clients on 3 threads at 1,000 a second: one is due every millisecond, whoever's it is.
  constexpr uint32_t kClients = 7, kThreads = 3;
  std::vector<int> due(100, 0);
  uint32_t own = 0;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    const Schedule schedule(1000, kClients, kThreads, thread);
    own += schedule.ownClients();
    int64_t last = -1;
    for (uint64_t j = 0; schedule.dueNs(j) < 100'000'000; ++j) {
      const int64_t ns = schedule.dueNs(j);
      CHECK(ns > last);
      last = ns;
      ++due[static_cast<size_t>(ns / 1'000'000)];
    }
    CHECK(schedule.dueBefore(0) == 0);
    uint64_t before = 0;
    while (schedule.dueNs(before) < 50'000'000) ++before;
    CHECK(schedule.dueBefore(50'000'000) == before);
  }
  CHECK(own == kClients);
  CHECK(std::all_of(due.begin(), due.end(), [](int n) { return n == 1; }));
  const Schedule second(1000, kClients, kThreads, 1);
  CHECK(second.dueNs(0, 0) == 1'000'000);
  CHECK(second.dueNs(1, 2) == (2 * 7 + 4) * 1'000'000);
}

// ---- sequence ----

TEST_CASE("swarm: numbered messages are told lost, late and repeated", "[swarm]") {
  using Verdict = SequenceCheck::Verdict;
  SequenceCheck check;
  CHECK(check.add(100) == Verdict::kInOrder);
  CHECK(check.add(101) == Verdict::kInOrder);
  CHECK(check.add(101) == Verdict::kDuplicate);
  CHECK(check.add(99) == Verdict::kDuplicate);  // before the first: never missed
  CHECK(check.add(105) == Verdict::kGap);
  CHECK(check.missing() == 3);
  CHECK(check.add(103) == Verdict::kLate);
  CHECK(check.missing() == 2);
  CHECK(check.add(103) == Verdict::kDuplicate);
  CHECK(check.add(106) == Verdict::kInOrder);
  CHECK(check.received() == 5);
  CHECK(check.add(300) == Verdict::kGap);
  CHECK(check.missing() == 2 + 193);
  CHECK(check.add(104) == Verdict::kDuplicate);  // too long ago to tell
  CHECK(check.add(UINT64_MAX) == Verdict::kGap);
  CHECK(check.missing() == UINT32_MAX);
}

TEST_CASE("swarm: a message says its number and perhaps its time", "[swarm]") {
  struct Case {
    const char* text;
    bool ok;
    uint64_t sequence;
    int64_t sent_ns;
  };
  for (const Case& c : {Case{"17", true, 17, 0}, Case{"17 123 hello", true, 17, 123},
                        Case{"17 hello", true, 17, 0}, Case{"17 12x", true, 17, 0}, Case{"17\n", true, 17, 0},
                        Case{"", false, 0, 0}, Case{"x17", false, 0, 0}, Case{"17x", false, 17, 0},
                        Case{"-1", false, 0, 0}, Case{"99999999999999999999", false, 0, 0}}) {
    CAPTURE(c.text);
    const Numbered numbered = readNumbered(c.text);
    CHECK(numbered.ok == c.ok);
    if (c.ok) CHECK(numbered.sequence == c.sequence);
    if (c.ok) CHECK(numbered.sent_ns == c.sent_ns);
  }
}

// Their data, behind their types where they have any.
std::vector<std::string> eventsOf(std::string_view text, size_t piece) {
  SseScanner scanner;
  std::vector<std::string> events;
  while (!text.empty()) {
    std::string_view now = text.substr(0, piece);
    text.remove_prefix(now.size());
    while (!now.empty()) {
      size_t consumed = 0;
      if (scanner.next(now, consumed)) {
        const std::string type(scanner.type());
        events.push_back((type.empty() ? "" : type + "|") + std::string(scanner.data()));
      }
      now.remove_prefix(consumed);
    }
  }
  return events;
}

TEST_CASE("swarm: events are found in whatever pieces they come", "[swarm]") {
  struct Case {
    std::string text;
    std::vector<std::string> events;
  };
  for (const Case& c : std::vector<Case>{
           {"data: 1\n\n", {"1"}},
           {"data:1\r\n\r\ndata: 2\r\rdata:  3\n\n", {"1", "2", " 3"}},
           {": comment\nid: 7\nevent: x\ndata: a\ndata:b\nretry: 5\n\n\n\n", {"x|a\nb"}},
           {"data: {}\nevent: old\nevent:gap\n\ndata: 1\n\nevent: gone\n\ndata: 2\n\n", {"gap|{}", "1", "2"}},
           {"eventx: gap\nevent: 0123456789abcdef\ndata: 1\n\n", {"1"}},
           {"data\ndata\n\n", {"\n"}},
           {"id: 1\n\ndata: half", {}},
           {"dat: 1\ndatas: 1\ndata : 1\nxdata: 1\n\n", {}},
           {"data: " + std::string(1000, 'x') + "\n\ndata: y\n\n",
            {std::string(SseScanner::kKeptBytes, 'x'), "y"}}}) {
    CAPTURE(c.text);
    for (const size_t piece : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, c.text.size()}) {
      CHECK(eventsOf(c.text, piece) == c.events);
    }
  }
}

TEST_CASE("swarm: the last id of an event stream is kept, whatever pieces it comes in", "[swarm]") {
  const std::string text = "id: 1\ndata: a\n\nid:17:2\r\ndata: b\n\nidx: 3\nxid: 4\n: id: 5\n";
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{5}, text.size()}) {
    SseScanner scanner;
    const auto feed = [&](std::string_view rest) {
      for (size_t consumed = 0; !rest.empty(); rest.remove_prefix(consumed)) {
        scanner.next(rest.substr(0, piece), consumed);
      }
    };
    feed(text);
    CHECK(scanner.id() == "17:2");
    scanner.reset();
    CHECK(scanner.id() == "17:2");
    feed("id: " + std::string(SseScanner::kIdBytes, 'x') + "\n");
    CHECK(scanner.id().size() == SseScanner::kIdBytes);
    feed("id: " + std::string(SseScanner::kIdBytes + 1, 'x') + "\n");
    CHECK(scanner.id().empty());
    feed("id: 9\n");
    CHECK(scanner.id() == "9");
  }
}

TEST_CASE("swarm: what became of each broadcast is known, of a bounded number", "[swarm]") {
  Broadcasts one, other, all;
  for (uint64_t i = 1; i <= 3; ++i) one.add(1, 100, i * 1'000'000);
  one.add(2, 200, 5'000'000);
  other.add(2, 200, 9'000'000);
  other.add(1, 100, 10'000'000);
  other.add(1, 50, 7);  // another channel's first
  all.merge(one);
  all.merge(other);
  REQUIRE(all.list().size() == 3);
  CHECK(all.list()[0]->sent_ns == 50);
  const Broadcast& first = *all.list()[1];
  CHECK(first.number == 1);
  CHECK(first.latencies.count() == 4);
  CHECK(first.least_ns == 1'000'000);
  CHECK(first.latencies.max() == 10'000'000);
  CHECK(first.meanNs() == Approx(4e6));
  CHECK(first.deviationNs() == Approx(3.5355e6).epsilon(1e-3));
  CHECK(all.list()[2]->latencies.max() == 9'000'000);
  for (uint64_t i = 0; i < 2 * Broadcasts::kMost; ++i) all.add(10 + i, 1000, 1);
  CHECK(all.list().size() == Broadcasts::kMost);
  CHECK(all.leftOut() == Broadcasts::kMost + 3);
}

TEST_CASE("swarm: messages differ from client to client and from one to the next", "[swarm]") {
  const Payload payload(20);
  CHECK(payload.message(3, 4) == payload.message(3, 4));
  CHECK(payload.message(3, 4) != payload.message(3, 5));
  CHECK(payload.message(3, 4) != payload.message(4, 4));
  CHECK(payload.message(9999999, UINT32_MAX).size() == 20);
}

// ---- scenario ----

// A file of a test; gone with it.
class ScenarioFile {
 public:
  explicit ScenarioFile(std::string_view text) {
    const int fd = ::mkstemps(path_, 5);
    REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(fd);
  }
  ~ScenarioFile() { ::unlink(path_); }
  ScenarioFile(const ScenarioFile&) = delete;
  ScenarioFile& operator=(const ScenarioFile&) = delete;
  std::string path() const { return path_; }

 private:
  char path_[32] = "/tmp/roost-test-XXXXXX.json";
};

Result<Scenario> scenarioOf(const std::vector<std::string>& arguments) {
  const auto options = parseOptions(arguments);
  if (!options.ok()) return options.status();
  return loadScenario(options->scenario_file, options->overlay, options->overlay_names,
                      options->allow_remote);
}

std::string errorOf(const std::vector<std::string>& arguments) {
  return scenarioOf(arguments).status().message();
}

TEST_CASE("swarm: options win over the scenario's file", "[swarm]") {
  const ScenarioFile written(
      "{ // a comment\n \"url\": \"ws://[::1]:9/a/{client}\", \"clients\": 5, \"rate\": 2.5,\n}");
  const std::string file = written.path();
  const auto plain = scenarioOf({file});
  REQUIRE(plain.ok());
  CHECK(plain->kind == Kind::kWs);
  CHECK(plain->clients == 5);
  CHECK(plain->rate == 2.5);
  CHECK(plain->loopback);
  CHECK(plain->host == "[::1]:9");
  CHECK(plain->path == "/a/{client}");
  const auto changed = scenarioOf(
      {"-c7", file, "--rate=0", "-H", "A: \"1\"", "-H", "B: 2", "--reconnect", "off", "http://localhost:81"});
  REQUIRE(changed.ok());
  CHECK(changed->kind == Kind::kHttp);
  CHECK(changed->clients == 7);
  CHECK(changed->rate == 0);
  CHECK(changed->headers == std::vector<std::string>{"A: \"1\"", "B: 2"});
  CHECK_FALSE(changed->reconnect);
  CHECK(changed->target.toString() == "127.0.0.1:81");
}

TEST_CASE("swarm: what is wrong with a scenario is said with its place", "[swarm]") {
  const ScenarioFile wrong_keys("{\n  \"cleints\": 5,\n  \"rate\": -1\n}");
  const ScenarioFile wrong_kind("{\n  \"url\": \"tcp://127.0.0.1:7\",\n  \"kind\": \"ws\"\n}");
  const std::string bad = errorOf({wrong_keys.path()});
  CHECK_THAT(bad, Catch::Contains(".json:2:3: error") && Catch::Contains("\"clients\"") &&
                      Catch::Contains(".json:3:11: error"));
  CHECK_THAT(errorOf({wrong_kind.path()}), Catch::Contains(".json:2:10: error: kind ws asks ws://"));
  CHECK_THAT(errorOf({"/nowhere/none.json"}), Catch::Contains("none.json: ") && Catch::Contains("No such"));
  struct Case {
    std::vector<std::string> arguments;
    const char* text;
  };
  for (const Case& c : std::vector<Case>{
           {{"-c", "0"}, "--clients: "},
           {{"-c", "many"}, "--clients: "},
           {{"-c", "1}, {"}, "--clients: "},
           {{"-c", "010"}, "--clients: \"010\" is no number"},
           {{"-c", "1."}, "--clients: \"1.\" is no number"},
           {{"-r", "1e"}, "--rate: \"1e\" is no number"},
           {{"--pid", "-"}, "--pid: \"-\" is no number"},
           {{"-d", "0"}, "--duration-s: duration_s must be between 0.01 and 86400 s, not 0"},
           {{"-d", "1e9"}, "--duration-s: "},
           {{"http://127.0.0.1:0/"}, "--url: needs a port"},
           {{"http://exam ple.org/"}, "--url: \"exam ple.org\" is neither an IP address nor a host name"},
           {{"http:///"}, "--url: \"\" is neither an IP address nor a host name"},
           {{"http://127.0.0.1/", "--publish-url", "/pub"}, "--publish-url: goes with sse, poll"},
           {{"--kind", "sse", "--publish-url", "ws://127.0.0.1/"}, "--publish-url: "},
           {{"--kind", "sse", "--publish-url", "/p", "--publish-messages", "3", "--publish-interval-s", "5"},
            "--publish-messages: 3 messages, one every 5 s, do not fit into a duration_s of 10"},
           {{"--kind", "sse", "--publish-url", "/p", "--publish-interval-s", "0"},
            "--publish-interval-s: 0 needs publish_messages"},
           {{"--kind", "sse", "--publish-url", "/p", "--expect-messages", "3"}, "--expect-messages: publish"},
           {{"--kind", "sse", "--publish-bytes", "39"}, "--publish-bytes: "},
           {{"ftp://127.0.0.1/"}, "--url: begins with none"},
           {{"http://192.0.2.1/"}, "--url: 192.0.2.1:80 is not this machine"},
           {{"tcp://127.0.0.1:7", "-r5", "--think-ms", "1"}, "exclude each other"},
           {{"--expect-sequence", "on"}, "--expect-sequence: goes with"},
           {{"--kind", "sse", "-r", "5"}, "only receive"},
           {{"--expect-min-ms", "20000"}, "--expect-min-ms: "},
           {{"--expect-body", "maybe"}, "--expect-body: "},
           {{"-H", "no field"}, "--headers: "},
           {{"--clients"}, "--clients needs a value"},
           {{"--nonsense"}, "unknown option --nonsense"},
           {{"-Z"}, "unknown option -Z"},
           {{"--quiet=1"}, "--quiet takes no value"},
           {{"a.json", "b.json"}, "one scenario too many"}}) {
    CAPTURE(c.arguments);
    CHECK_THAT(errorOf(c.arguments), Catch::Contains(c.text));
  }
  CHECK(scenarioOf({"http://192.0.2.1/", "--allow-remote"}).ok());
  for (const char* number : {"0", "0.5", "10", "1e3", "2.5E+1", "10e-1"}) {
    CAPTURE(number);
    CHECK(scenarioOf({"-r", number}).ok());
  }
}

TEST_CASE("swarm: a path to publish to is one of the same server", "[swarm]") {
  const auto path = scenarioOf({"ws://localhost:81/sub/x", "--ws-mode", "listen", "--publish-url",
                                "/pub/x?wait", "-d", "3", "--publish-interval-s", "1.5"});
  REQUIRE(path.ok());
  CHECK(path->publish_url == "http://localhost:81/pub/x?wait");
  CHECK(path->publish.origin.port == 81);
  CHECK(path->publish.target == "/pub/x?wait");
  CHECK(path->publish_messages == 2);
  CHECK(path->expect_messages == 2);
  CHECK(path->expect_sequence);
  const auto url =
      scenarioOf({"--kind", "poll", "--publish-url", "http://[::1]:82/p", "--publish-messages", "2"});
  REQUIRE(url.ok());
  CHECK(url->publish.origin.host == "[::1]");
  CHECK(url->publish_messages == 2);
}

TEST_CASE("swarm: host names are looked up, and those of other machines need permission", "[swarm]") {
  auto named = scenarioOf({"http://localhost./x", "--kind", "sse", "--publish-url", "/p"});
  REQUIRE(named.ok());
  CHECK(named->target.family() == AF_UNSPEC);
  CHECK(resolveTargets(*named, false).ok());
  CHECK(named->target.toString() == "127.0.0.1:80");
  CHECK(named->loopback);
  auto elsewhere = scenarioOf({"--kind", "sse", "--publish-url", "http://192.0.2.1/p"});
  REQUIRE(elsewhere.ok());
  CHECK_THAT(resolveTargets(*elsewhere, false).message(),
             Catch::Contains("publish_url: 192.0.2.1 (192.0.2.1) is not this machine"));
  CHECK(resolveTargets(*elsewhere, true).ok());
  auto unknown = scenarioOf({"http://-/"});
  REQUIRE(unknown.ok());
  CHECK_THAT(resolveTargets(*unknown, false).message(), Catch::Contains("url: -: "));
}

TEST_CASE("swarm: who asks a few times only is not warmed up, unless told to be", "[swarm]") {
  CHECK(scenarioOf({"-c", "1"})->warmup_ns == 1'000'000'000);
  CHECK(scenarioOf({"--requests-per-client", "1"})->warmup_ns == 0);
  CHECK(scenarioOf({"--requests-per-client", "1", "--warmup-s", "1"})->warmup_ns == 1'000'000'000);
}

TEST_CASE("swarm: the help names every key of a scenario, and none beside", "[swarm]") {
  const std::string schema = scenarioSchema().value();
  const std::string help = helpText();
  size_t keys = 0;
  for (size_t at = 0; (at = schema.find("\n    \"", at)) != std::string::npos;
       ++at) {  // two levels deep: a key
    const size_t begin = at + 6;
    std::string key = schema.substr(begin, schema.find('"', begin) - begin);
    if (schema[at + 5] != '"' || key == "$schema" || key == "description" || key == "include") continue;
    for (char& c : key) c = c == '_' ? '-' : c;
    CAPTURE(key);
    CHECK(help.find("--" + key + " ") != std::string::npos);
    ++keys;
  }
  CHECK(keys == 38);
}

// ---- preflight ----

TEST_CASE("swarm: a run is laid out over threads and addresses, or what is short is said", "[swarm]") {
  Machine machine;
  machine.descriptors = 20000;
  machine.processors = 2;
  machine.system_descriptors = 1'000'000;
  const auto layout = [&](const std::vector<std::string>& arguments) {
    return planLayout(scenarioOf(arguments).value(), machine);
  };
  const auto large = layout({"-c", "60000"});
  REQUIRE(large.ok());
  CHECK(large->threads == 4);
  CHECK(large->source_addresses == 6);
  CHECK(layout({"-c", "1"})->threads == 1);
  CHECK(layout({"-c", "100"})->threads == 2);
  CHECK_THAT(layout({"-c", "60000", "-t", "2"}).status().message(), Catch::Contains("10032 short") &&
                                                                        Catch::Contains("--threads 4") &&
                                                                        Catch::Contains("ulimit -n 30032"));
  CHECK_THAT(layout({"-c", "60000", "--source-addresses", "2"}).status().message(),
             Catch::Contains("31768 short") && Catch::Contains("--source-addresses 6 is enough"));
  CHECK(layout({"-c", "28000", "--source-addresses", "2"})->warnings.empty());
  CHECK_THAT(layout({"http://[::1]:80/", "-c", "60000"}).status().message(),
             Catch::Contains("45884 short") && Catch::Contains("load 127.0.0.1 instead") &&
                 !Catch::Contains("--source-addresses"));
  CHECK(layout({"http://[::1]:80/", "-c", "14000"})->warnings.empty());
  const auto tight = layout({"http://[::1]:80/", "-c", "28000"});
  REQUIRE(tight->warnings.size() == 1);
  CHECK_THAT(tight->warnings[0], !Catch::Contains("--source-addresses"));
  machine.system_descriptors = 50'000;
  CHECK_THAT(layout({"-c", "60000"}).status().message(), Catch::Contains("fs.file-max by at least 10000"));
  machine.descriptors = 20;
  CHECK_FALSE(layout({"-c", "1"}).ok());
}

TEST_CASE("swarm: source addresses are planned by the ports of one parity", "[swarm]") {
  Machine machine;
  machine.descriptors = 20000;
  machine.system_descriptors = 5'000'000;
  const auto layout = [&](const std::vector<std::string>& arguments) {
    return planLayout(scenarioOf(arguments).value(), machine);
  };
  // Of 28,232 ports 14,116: with 60 addresses the attempt number 846,961 was the first that found none
  // quickly.
  CHECK(layout({"-c", "846960", "--source-addresses", "60"}).ok());
  CHECK_THAT(
      layout({"-c", "1000000", "--source-addresses", "60"}).status().message(),
      Catch::Contains("room for 846960, 153040 short") && Catch::Contains("--source-addresses 95 is enough"));
  CHECK(layout({"-c", "1000000"})->source_addresses == 95);
  CHECK(layout({"-c", "2000000"})->source_addresses == 189);
  machine.first_port = machine.last_port = 40000;  // one port an address
  CHECK(layout({"-c", "100"})->source_addresses == 100);
}

// ---- output ----

TEST_CASE("swarm: numbers read well", "[swarm]") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(withUnit(999) == "999 ns");
  CHECK(withUnit(412'000) == "412 µs");
  CHECK(withUnit(999'900) == "1.00 ms");
  CHECK(withUnit(89'000'000'000) == "89.0 s");
  CHECK(bytesText(158) == "158 B");
  CHECK(bytesText(-4100) == "-4.10 KB");
  CHECK(clockText(61.2) == "1:02");
  CHECK(clockText(3723) == "1:02:03");
  CHECK(jsonText("a\"\\\n") == "\"a\\\"\\\\\\u000a\"");
}

TEST_CASE("swarm: what was wrong with a run beside its errors is said", "[swarm]") {
  const Plan plan(scenarioOf({"http://127.0.0.1:1/", "-r", "0.5", "--pid", "1"}).value());
  Outcome outcome;
  CHECK(shortcomings(plan, outcome) == std::vector<std::string>{"nobody could connect"});
  outcome.total.connected.add(2);
  CHECK_THAT(shortcomings(plan, outcome).at(0), Catch::Contains("no connection lasted"));
  outcome.held = 2;
  CHECK(shortcomings(plan, outcome).empty());
  outcome.total.requests.add(9);
  CHECK_THAT(shortcomings(plan, outcome).at(0), Catch::Contains("not one request"));
  outcome.total.replies.add(4);
  outcome.replies = 3;
  outcome.total.unanswered = 2;
  outcome.total.unsent = 3;
  outcome.total.unsent_own = 5;
  outcome.server_ended = true;
  outcome.server_waited_s = -4;
  for (uint64_t i = 0; i < 15; ++i) {
    outcome.total.broadcasts.add(i, static_cast<int64_t>(i), 1000);
    outcome.total.broadcasts.add(i, static_cast<int64_t>(i), 3000);
  }
  outcome.measured_s = 1;
  CHECK(shortcomings(plan, outcome).size() == 3);
  const std::string text = textReport(plan, outcome);
  CHECK_THAT(text,
             Catch::Contains("fixed rate of 0.5/s") && Catch::Contains("backlog of the warm-up") &&
                 Catch::Contains("it ended during the run") && Catch::Contains("swarm itself was late") &&
                 Catch::Contains("failed     2 requests were not answered") && !Catch::Contains("nan %") &&
                 Catch::Contains("11 to 2: first 1.00 µs") && Catch::Contains("and 3 more"));
  const std::string json = jsonReport(plan, outcome);
  CHECK_THAT(json, Catch::Contains("\"server_waiting\": null") && Catch::Contains("\"server_ended\": true") &&
                       Catch::Contains("\"unsent_own\": 5") &&
                       Catch::Contains("\"number\": 14, \"receivers\": 2, \"first_us\": 1, \"mean_us\": 2, "
                                       "\"stddev_us\": 1, "));
  Scenario publishing = plan.scenario;
  publishing.publish_url = "http://127.0.0.1:1/p";
  publishing.publish_messages = 3;
  const Plan publishes(publishing);
  outcome.total.published.add(2);
  CHECK_THAT(textReport(publishes, outcome),
             Catch::Contains("published  2 of 3\n") &&
                 Catch::Contains("failed     only 2 of 3 messages were published"));
  outcome.interrupted = true;
  outcome.server_ended = false;
  CHECK(shortcomings(plan, outcome).empty());
}

// Well-formed enough: every element that is opened is closed, and nothing stands for itself that may not.
bool wellFormed(const std::string& xml) {
  std::vector<std::string> open;
  for (size_t at = 0; (at = xml.find('<', at)) != std::string::npos;) {
    const size_t end = xml.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos || std::count(tag.begin(), tag.end(), '"') % 2 != 0) return false;
    const std::string name = tag.substr(0, tag.find_first_of(" />", 1));
    if (tag[0] == '/') {
      if (open.empty() || "/" + open.back() != tag) return false;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    at = end;
  }
  return open.empty() && xml.find("nan") == std::string::npos && xml.find("inf") == std::string::npos;
}

TEST_CASE("swarm: the plot is well formed, whatever happened", "[swarm]") {
  const Plan plan(scenarioOf({"http://127.0.0.1:1/?a=<b>&c", "-r", "100"}).value());
  Outcome outcome;
  CHECK(wellFormed(svgPlot(plan, outcome)));  // nothing at all
  outcome.total.latency.record(0);
  CHECK(wellFormed(svgPlot(plan, outcome)));
  for (uint64_t ns = 1000; ns < 100'000'000'000; ns *= 3) outcome.total.latency.record(ns, 100);
  outcome.total.service.record(5000);
  for (int i = 0; i < 50; ++i) {
    Sample sample;
    sample.phase = i < 10 ? Phase::kWarming : Phase::kMeasuring;
    sample.at_s = i * 0.1;
    sample.open = 100;
    sample.rate = 1000.0 * i;
    sample.errors = static_cast<uint64_t>(i / 20);
    outcome.samples.push_back(sample);
  }
  const std::string svg = svgPlot(plan, outcome);
  CHECK(wellFormed(svg));
  CHECK(svg.find("a=&lt;b>&amp;c") != std::string::npos);
  CHECK(svg.find("from when it was due") != std::string::npos);
  CHECK(textReport(plan, outcome).find("from send") != std::string::npos);
  CHECK(jsonReport(plan, outcome).find(": nan") == std::string::npos);
}

}  // namespace
}  // namespace roost::swarm
