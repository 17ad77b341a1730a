#include "server/system_check.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>

using namespace roost::server;

namespace {

namespace fs = std::filesystem;

// A machine made of files: what proc and sys would say.
class Machine {
 public:
  Machine() {
    std::string name = (fs::temp_directory_path() / "roost-machine-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    root_ = name + "/";
  }
  ~Machine() { fs::remove_all(root_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Machine& with(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
    return *this;
  }
  SystemFacts facts() const { return readSystemFacts(root_); }

 private:
  std::string root_;
};

const SystemNeed& needOf(const SystemReport& report, const std::string& setting) {
  for (const SystemNeed& need : report.needs) {
    if (need.setting == setting) return need;
  }
  FAIL("no such setting: " << setting);
  return report.needs.front();
}

// Nothing short for anybody.
SystemFacts ampleFacts() {
  SystemFacts facts;
  facts.memory_bytes = uint64_t{64} << 30;
  facts.nofile_hard = 4'000'000;
  facts.nr_open = facts.file_max = facts.epoll_watches = 10'000'000;
  facts.somaxconn = facts.syn_backlog = facts.netdev_backlog = 65535;
  facts.tcp_mem = {3'000'000, 4'000'000, 6'000'000};
  facts.tcp_rmem = {4096, 131072, 6291456};
  facts.tcp_wmem = {4096, 16384, 4194304};
  facts.port_range = {32768, 60999};
  facts.oom_score_adj = -500;
  facts.syncookies = facts.timestamps = facts.sack = facts.window_scaling = 1;
  return facts;
}

}  // namespace

TEST_CASE("what the files say is read", "[server][system]") {
  Machine machine;
  machine.with("proc/sys/fs/nr_open", "1048576\n")
      .with("proc/sys/fs/file-nr", "943\t0\t2466177\n")
      .with("proc/sys/net/ipv4/tcp_mem", "287901\t383868\t575802\n")
      .with("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n")
      .with("proc/meminfo", "MemTotal:       24591872 kB\nMemFree:  1 kB\nMemAvailable:   20000 kB\n")
      .with("proc/self/oom_score_adj", "-200\n");
  const SystemFacts facts = machine.facts();
  REQUIRE(facts.nr_open == 1048576U);
  REQUIRE(facts.files_open == 943U);
  REQUIRE(facts.tcp_mem == std::vector<uint64_t>{287901, 383868, 575802});
  REQUIRE(facts.port_range == std::vector<uint64_t>{32768, 60999});
  REQUIRE(facts.memory_bytes == uint64_t{24591872} * 1024);
  REQUIRE(facts.memory_available_bytes == uint64_t{20000} * 1024);
  REQUIRE(facts.oom_score_adj == -200);
  REQUIRE_FALSE(facts.somaxconn.has_value());
  REQUIRE_FALSE(facts.memory_limit_bytes.has_value());
}

TEST_CASE("the least memory limit of the group and those above counts", "[server][system]") {
  SECTION("version 2") {
    Machine machine;
    machine.with("proc/self/cgroup", "0::/a/b\n")
        .with("sys/fs/cgroup/a/b/memory.max", "max\n")
        .with("sys/fs/cgroup/a/memory.max", "1000000\n")
        .with("sys/fs/cgroup/memory.max", "2000000\n");
    REQUIRE(machine.facts().memory_limit_bytes == 1000000U);
  }
  SECTION("version 1, which has a huge number for none") {
    Machine machine;
    machine.with("proc/self/cgroup", "5:cpu:/x\n4:memory:/a\n")
        .with("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n")
        .with("sys/fs/cgroup/memory/memory.limit_in_bytes", "777\n");
    REQUIRE(machine.facts().memory_limit_bytes == 777U);
  }
  SECTION("version 1, where the group's own folder is not mounted") {
    Machine machine;
    machine.with("proc/self/cgroup", "4:memory:/docker/abc\n")
        .with("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n")
        .with("sys/fs/cgroup/memory/memory.stat", "cache 1\nhierarchical_memory_limit 4000\n");
    REQUIRE(machine.facts().memory_limit_bytes == 4000U);
  }
  SECTION("version 1, mounted together with another controller") {
    Machine machine;
    machine.with("proc/self/cgroup", "4:cpu,memory:/a\n")
        .with("sys/fs/cgroup/cpu,memory/a/memory.limit_in_bytes", "888\n");
    REQUIRE(machine.facts().memory_limit_bytes == 888U);
  }
  SECTION("lines that make no sense") {
    Machine machine;
    machine.with("proc/self/cgroup", "nonsense\n:\n0:\n\n0::\n");
    REQUIRE_FALSE(machine.facts().memory_limit_bytes.has_value());
  }
}

TEST_CASE("ample settings are short for nobody", "[server][system]") {
  const SystemReport report =
      checkSystem(ampleFacts(), std::vector<uint64_t>(kClientCounts.begin(), kClientCounts.end()));
  for (size_t i = 0; i < report.counts.size(); ++i) REQUIRE_FALSE(report.isShort(i));
  REQUIRE(report.advice.empty());
  // 28,232 ports an address, of which connect() finds the 14,116 of one parity quickly.
  REQUIRE(report.connections_per_source == 14'116);
  REQUIRE(report.source_addresses == std::vector<uint64_t>{1, 8, 71, 142});
}

TEST_CASE("what is short is short from some number on", "[server][system]") {
  SystemFacts facts = ampleFacts();
  facts.nofile_hard = 20'000;
  facts.conntrack_max = 262'144;
  facts.tcp_mem = {1, 500'000, 2};
  const SystemReport report = checkSystem(facts, {10'000, 100'000, 1'000'000});
  REQUIRE_FALSE(report.isShort(0));
  REQUIRE(needOf(report, "LimitNOFILE").isShort(1));
  REQUIRE_FALSE(needOf(report, "net.netfilter.nf_conntrack_max").isShort(1));
  REQUIRE(needOf(report, "net.netfilter.nf_conntrack_max").isShort(2));
  REQUIRE(needOf(report, "net.netfilter.nf_conntrack_max").needed[2] == 1'200'000);
  facts.conntrack_count = 0;  // nothing is tracked
  for (const SystemNeed& need : checkSystem(facts, {1'000'000}).needs) {
    REQUIRE(need.setting != "net.netfilter.nf_conntrack_max");
  }
  REQUIRE(needOf(report, "net.ipv4.tcp_mem (second)").isShort(2));
  // 4,520 bytes each and 256 MiB.
  REQUIRE(needOf(report, "memory").needed[2] == 4'520'000'000 + (uint64_t{256} << 20));

  const std::string text = formatReport(facts, report, 2, false);
  REQUIRE(text.find("net.ipv4.tcp_mem = 750000 1000000 1500000") != std::string::npos);
  REQUIRE(text.find("LimitNOFILE=1001000") != std::string::npos);
  REQUIRE(text.find("somaxconn = ") == std::string::npos);  // it is not short
  REQUIRE(text.find('\x1b') == std::string::npos);
}

TEST_CASE("descriptors are counted per table", "[server][system]") {
  SystemFacts facts = ampleFacts();
  facts.nofile_hard = 20'000;
  facts.nr_open = 20'000;
  REQUIRE(checkSystem(facts, {60'000}).isShort(0));
  const auto with = [&](uint64_t tables) {
    CheckedConfig config;
    config.fd_tables = tables;
    return checkSystem(facts, {60'000}, config);
  };
  REQUIRE_FALSE(with(4).isShort(0));
  REQUIRE(with(3).isShort(0));  // 22,000 each and what is no client
  REQUIRE(needOf(with(4), "LimitNOFILE").needed[0] == 17'500);
}

TEST_CASE("a file's backlog caps what somaxconn allows, and the other way round", "[server][system]") {
  SystemFacts facts = ampleFacts();
  CheckedConfig config;
  config.backlog = 4096;
  const auto advice = [&] {
    const SystemReport report = checkSystem(facts, {1'000'000}, config);
    return report.advice.empty() ? "" : report.advice[0].text;
  };
  const SystemReport report = checkSystem(facts, {1'000'000}, config);
  REQUIRE(needOf(report, "backlog").isShort(0));
  REQUIRE_FALSE(needOf(report, "net.core.somaxconn").isShort(0));
  REQUIRE(
      formatReport(facts, report, 0, false).find("    \"backlog\": 15625 in the configuration's `listen`") !=
      std::string::npos);
  REQUIRE(advice().find("Raise \"backlog\"") != std::string::npos);
  facts.somaxconn = 4096;
  REQUIRE(advice().empty());
  config.backlog = 65535;
  REQUIRE(advice().find("Raise net.core.somaxconn") != std::string::npos);
  config.accept_queues = 8;  // each IO thread has a socket of its own
  REQUIRE_FALSE(checkSystem(facts, {1'000'000}, config).isShort(0));
}

TEST_CASE("the remedy for tcp_mem stays within memory", "[server][system]") {
  SystemFacts facts = ampleFacts();
  facts.memory_bytes = uint64_t{5} << 30;  // 1,310,720 pages
  facts.tcp_mem = {1, 2, 3};
  const std::string text = formatReport(facts, checkSystem(facts, {1'000'000}), 0, false);
  REQUIRE(text.find("net.ipv4.tcp_mem = 750000 1000000 1310720") != std::string::npos);
}

TEST_CASE("what cannot be read is not called short", "[server][system]") {
  SystemFacts facts = ampleFacts();
  facts.somaxconn.reset();
  facts.tcp_mem.clear();
  facts.memory_bytes.reset();
  facts.port_range = {61000, 32768};
  const SystemReport report = checkSystem(facts, {2'000'000});
  REQUIRE_FALSE(report.isShort(0));
  REQUIRE(report.source_addresses.empty());
  REQUIRE(formatReport(facts, report, 0, false).find("unknown") != std::string::npos);
}

TEST_CASE("the smaller of memory and the group's limit counts", "[server][system]") {
  SystemFacts facts = ampleFacts();
  facts.memory_limit_bytes = uint64_t{1} << 30;
  REQUIRE(needOf(checkSystem(facts, {1'000'000}), "memory").isShort(0));
}

TEST_CASE("settings that guides like and should not are named", "[server][system]") {
  const auto warned = [](SystemFacts facts, const std::string& word) {
    const SystemReport report = checkSystem(facts, {10'000});
    return report.advice.size() == 1 && report.advice[0].is_warning &&
           report.advice[0].text.find(word) != std::string::npos;
  };
  SystemFacts facts = ampleFacts();
  SECTION("tcp_tw_recycle") {
    facts.tw_recycle = 1;
    REQUIRE(warned(facts, "tcp_tw_recycle"));
  }
  SECTION("tcp_abort_on_overflow") {
    facts.abort_on_overflow = 1;
    REQUIRE(warned(facts, "tcp_abort_on_overflow"));
  }
  SECTION("tcp_syncookies") {
    facts.syncookies = 0;
    REQUIRE(warned(facts, "tcp_syncookies"));
  }
  SECTION("tcp_timestamps") {
    facts.timestamps = 0;
    REQUIRE(warned(facts, "tcp_timestamps"));
  }
  SECTION("tcp_sack") {
    facts.sack = 0;
    REQUIRE(warned(facts, "tcp_sack"));
  }
  SECTION("tcp_window_scaling") {
    facts.window_scaling = 0;
    REQUIRE(warned(facts, "tcp_window_scaling"));
  }
  SECTION("tcp_mem in bytes") {
    facts.tcp_mem = {786432000, 2097152000, 3145728000};
    REQUIRE(warned(facts, "pages"));
  }
  SECTION("large first send buffers") {
    facts.tcp_wmem = {4096, 4194304, 16777216};
    REQUIRE(warned(facts, "tcp_wmem"));
  }
  SECTION("large first receive buffers") {
    facts.tcp_rmem = {4096, 16777216, 16777216};
    REQUIRE(warned(facts, "tcp_rmem"));
  }
}
