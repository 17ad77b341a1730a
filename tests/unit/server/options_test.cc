#include "server/options.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace roost;
using namespace roost::server;

namespace {

Result<CommandLine> parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "server");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  return parseCommandLine(static_cast<int>(arguments.size()), argv.data());
}

std::string errorOf(const std::vector<std::string>& arguments) {
  return parse(arguments).status().message();
}

}  // namespace

TEST_CASE("without arguments it serves the usual file", "[server]") {
  const auto line = parse({});
  REQUIRE(line.ok());
  REQUIRE(line->action == Action::kServe);
  REQUIRE(line->config_path == "conf/server.json");
}

TEST_CASE("a file is named in four ways", "[server]") {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"-f", "a.json"}, {"-fa.json"}, {"--file", "a.json"}, {"--file=a.json"}}) {
    const auto line = parse(arguments);
    REQUIRE(line.ok());
    REQUIRE(line->config_path == "a.json");
  }
}

TEST_CASE("actions, short and long", "[server]") {
  REQUIRE(parse({"-t"})->action == Action::kTest);
  REQUIRE(parse({"--test"})->action == Action::kTest);
  REQUIRE(parse({"--dump"})->action == Action::kDump);
  REQUIRE(parse({"--print-schema"})->action == Action::kPrintSchema);
  REQUIRE(parse({"-V"})->action == Action::kVersion);
  REQUIRE(parse({"--version"})->action == Action::kVersion);
  REQUIRE(parse({"-h"})->action == Action::kHelp);
  REQUIRE(parse({"--help"})->action == Action::kHelp);
}

TEST_CASE("help wins over everything, a test over serving", "[server]") {
  REQUIRE(parse({"-h", "-V", "-t"})->action == Action::kHelp);
  REQUIRE(parse({"-t", "-V", "-h"})->action == Action::kHelp);
  REQUIRE(parse({"-t", "--dump"})->action == Action::kDump);
  REQUIRE(parse({"-t", "-f", "x"})->action == Action::kTest);
}

TEST_CASE("what it does not know is named in one line", "[server]") {
  CHECK(errorOf({"-x"}) == "unknown option -x; -h lists the options");
  CHECK(errorOf({"-tx"}) == "unknown option -x; -h lists the options");
  CHECK(errorOf({"--bogus"}) == "unknown option --bogus; -h lists the options");
  CHECK(errorOf({"-t", "--bogus=1"}) == "unknown option --bogus=1; -h lists the options");
  CHECK(errorOf({"-f"}) == "option -f needs a value; -h lists the options");
  CHECK(errorOf({"--file"}) == "option --file needs a value; -h lists the options");
  CHECK(errorOf({"-f", ""}) == "option -f needs the name of a file; -h lists the options");
  CHECK(errorOf({"a.json"}) ==
        "\"a.json\" is no option; a configuration file is named with -f; -h lists the options");
  CHECK_FALSE(parse({"--dump=1"}).ok());
}

TEST_CASE("the version has three parts", "[server]") {
  const std::string line(versionLine());
  REQUIRE(line.substr(0, 6) == "roost ");
  REQUIRE(line.find_first_not_of("0123456789.", 6) == std::string::npos);
}

TEST_CASE("a request to explain, with its fields and its client", "[server]") {
  const auto line = parse({"--explain", "GET http://a/", "-H", "A: b", "--header=C: d", "--from", "::1"});
  REQUIRE(line.ok());
  CHECK(line->action == Action::kExplain);
  CHECK(line->explain == "GET http://a/");
  CHECK(line->fields == std::vector<std::string>{"A: b", "C: d"});
  CHECK(line->client == "::1");
  CHECK(parse({"--explain", "/", "-t"})->action == Action::kExplain);
  CHECK(errorOf({"-H", "A: b"}).find("--explain") != std::string::npos);
  CHECK(errorOf({"--from", "::1"}).find("--explain") != std::string::npos);
  CHECK(errorOf({"--explain", ""}).find("--explain") != std::string::npos);
}

TEST_CASE("the number of clients may be named in three ways", "[server]") {
  REQUIRE(parse({"--check-system"})->clients == 0);
  REQUIRE(parse({"--check-system=250000"})->clients == 250'000);
  REQUIRE(parse({"--check-system=60k"})->clients == 60'000);
  REQUIRE(parse({"--check-system=2M"})->clients == 2'000'000);
  REQUIRE(parse({"--check-system=2M"})->action == Action::kCheckSystem);
  for (const char* wrong : {"", "0", "-1", "x", "1G", "1Mx", "101M", "99999999999999999999", " 1"}) {
    CAPTURE(wrong);
    REQUIRE(errorOf({std::string("--check-system=") + wrong}).find("not a number of clients") !=
            std::string::npos);
  }
}
