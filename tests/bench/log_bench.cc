// links: roost_log spdlog::spdlog
//
// What a log line costs its caller, and how many lines a second reach the file, beside spdlog's asynchronous
// logger in the same program: the same line of 80 bytes of message, files in one directory, lines counted in
// the files.
//
//   log_bench [directory] [rounds]
//
// Caller's side: bursts of 2,000 lines with pauses, each call timed by the TSC (the timer's own cost is
// measured and taken off). Throughput: blocking when full, from the first call to the last line in the file.
#include <fmt/format.h>
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "log/log.h"

namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr size_t kRingBytes = 1024 * 1024;
constexpr size_t kSpdlogQueue = 16 * 1024;  // entries; spdlog allocates them at once, some 6 MB
constexpr int kBursts = 60, kBurstLines = 2000;
constexpr int kThroughputLines = 2'000'000;  // over all threads

struct RoostLog {
  static constexpr const char* kName = "roost";
  explicit RoostLog(const std::string& directory, bool block) : file(directory + "/roost.log") {
    roost::log::Options options;
    options.directory = directory;
    options.base_name = "roost";
    options.thread_buffer_bytes = kRingBytes;
    options.on_full = block ? roost::log::OnFull::kBlock : roost::log::OnFull::kDrop;
    before = roost::log::stats();
    if (const roost::Status status = roost::log::start(options); !status.ok()) {
      fmt::print(stderr, "{}\n", status.message());
      std::exit(1);
    }
  }
  void line(int thread, int i) const {
    LOG_INFO("thread {} served request {} with status {} and 1024 bytes of body to a client", thread,
             i + 100'000'000, 200);
  }
  void finish() { roost::log::stop(); }
  uint64_t dropped() const { return roost::log::stats().dropped - before.dropped; }

  std::string file;
  roost::log::Stats before;
};

struct SpdLog {
  static constexpr const char* kName = "spdlog";
  explicit SpdLog(const std::string& directory, bool block) : file(directory + "/spdlog.log") {
    spdlog::init_thread_pool(kSpdlogQueue, 1);
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file, true);
    logger = std::make_shared<spdlog::async_logger>(
        "bench", sink, spdlog::thread_pool(),
        block ? spdlog::async_overflow_policy::block : spdlog::async_overflow_policy::overrun_oldest);
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%fZ %l [%t] %v (%s:%#)");
  }
  void line(int thread, int i) const {
    SPDLOG_LOGGER_INFO(logger,
                       "thread {} served request {} with status {} and 1024 bytes of body to a client",
                       thread, i + 100'000'000, 200);
  }
  void finish() {
    pool_overrun = spdlog::thread_pool()->overrun_counter();
    logger.reset();
    spdlog::shutdown();  // joins the pool: what is queued is written, and the file closed
  }
  uint64_t dropped() const { return pool_overrun; }

  std::string file;
  std::shared_ptr<spdlog::async_logger> logger;
  uint64_t pool_overrun = 0;
};

double ticksPerNs() {
  static const double rate = [] {
    const auto start = Clock::now();
    const uint64_t ticks = __rdtsc();
    while (Clock::now() - start < std::chrono::milliseconds(50)) {
    }
    const std::chrono::duration<double, std::nano> passed = Clock::now() - start;
    return static_cast<double>(__rdtsc() - ticks) / passed.count();
  }();
  return rate;
}

// lfence: neither the timer nor the call slides into the other.
uint64_t timer() {
  _mm_lfence();
  const uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
}

uint64_t timerCost() {
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t start = timer();
    best = std::min(best, timer() - start);
  }
  return best;
}

double cpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

uint64_t countLines(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> block(1 << 20);
  uint64_t lines = 0;
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    lines += static_cast<uint64_t>(std::count(block.begin(), block.begin() + in.gcount(), '\n'));
  }
  return lines;
}

struct Latency {
  double p50, p99, p999;
};

template <class Log>
Latency burstLatency(const std::string& directory, int threads) {
  Log log(directory, true);
  const uint64_t overhead = timerCost();
  std::vector<std::vector<uint32_t>> samples(static_cast<size_t>(threads));
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      auto& mine = samples[static_cast<size_t>(t)];
      mine.reserve(kBursts * kBurstLines);
      log.line(t, 0);  // the thread's first line makes its ring
      for (int burst = 0; burst < kBursts; ++burst) {
        for (int i = 0; i < kBurstLines; ++i) {
          const uint64_t start = timer();
          log.line(t, i);
          const uint64_t ticks = timer() - start;
          mine.push_back(
              static_cast<uint32_t>(ticks > overhead ? std::min<uint64_t>(ticks - overhead, UINT32_MAX) : 0));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  log.finish();
  std::vector<uint32_t> all;
  for (const auto& mine : samples) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  const auto at = [&all](double share) {
    return static_cast<double>(all[static_cast<size_t>(share * static_cast<double>(all.size() - 1))]) /
           ticksPerNs();
  };
  fs::remove(log.file);
  return {at(0.5), at(0.99), at(0.999)};
}

struct Throughput {
  double million_lines_s, cpu_ns_per_line;
  uint64_t lost, dropped;
};

template <class Log>
Throughput throughput(const std::string& directory, int threads, bool block) {
  const double cpu_before = cpuSeconds();
  Log log(directory, block);
  const int lines_each = kThroughputLines / threads;
  const auto start = Clock::now();
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&log, t, lines_each] {
      for (int i = 0; i < lines_each; ++i) log.line(t, i);
    });
  }
  for (std::thread& worker : workers) worker.join();
  log.finish();
  const std::chrono::duration<double> passed = Clock::now() - start;
  const double cpu = cpuSeconds() - cpu_before;
  const auto lines = static_cast<double>(lines_each) * threads;
  std::ifstream in(log.file);
  uint64_t written = 0;  // without what the log says about itself
  if (block) {
    written = countLines(log.file);
  } else {
    for (std::string line; std::getline(in, line);)
      written += line.find("served request") != std::string::npos ? 1 : 0;
  }
  fs::remove(log.file);
  return {lines / passed.count() / 1e6, cpu / lines * 1e9, static_cast<uint64_t>(lines) - written,
          log.dropped()};
}

template <class T>
T median(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class Log>
void reportLatency(const std::string& directory, int threads, int rounds) {
  std::vector<double> p50, p99, p999;
  for (int i = 0; i < rounds; ++i) {
    const Latency latency = burstLatency<Log>(directory, threads);
    p50.push_back(latency.p50);
    p99.push_back(latency.p99);
    p999.push_back(latency.p999);
  }
  const auto low = [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); };
  fmt::print(
      "{:7} {} thread(s)  call in a burst, ns, median (best) of {}: p50 {:.0f} ({:.0f})  p99 {:.0f} ({:.0f}) "
      " p99.9 {:.0f} ({:.0f})\n",
      Log::kName, threads, rounds, median(p50), low(p50), median(p99), low(p99), median(p999), low(p999));
  std::fflush(stdout);
}

template <class Log>
void reportThroughput(const std::string& directory, int threads, bool block, int rounds) {
  std::vector<double> rate, cpu;
  uint64_t lost = 0, dropped = 0;
  for (int i = 0; i < rounds; ++i) {
    const Throughput result = throughput<Log>(directory, threads, block);
    rate.push_back(result.million_lines_s);
    cpu.push_back(result.cpu_ns_per_line);
    lost += result.lost;
    dropped += result.dropped;
  }
  fmt::print(
      "{:7} {} thread(s)  {}: million lines/s, median (best) of {}: {:.2f} ({:.2f}), CPU ns/line {:.0f} "
      "({:.0f}); lines missing in the files {}, counted as dropped {}\n",
      Log::kName, threads, block ? "blocking" : "dropping", rounds, median(rate),
      *std::max_element(rate.begin(), rate.end()), median(cpu), *std::min_element(cpu.begin(), cpu.end()),
      lost, dropped);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : (fs::temp_directory_path() / "roost-log-bench").string();
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
  fs::create_directories(directory);
  double load[3] = {0, 0, 0};
  ::getloadavg(load, 3);
  fmt::print("directory {}, {} cores, load average {:.1f}, timer {:.1f} ns\n", directory,
             std::thread::hardware_concurrency(), load[0], static_cast<double>(timerCost()) / ticksPerNs());
  for (const int threads : {1, 2, 4}) {
    reportLatency<RoostLog>(directory, threads, rounds);
    reportLatency<SpdLog>(directory, threads, rounds);
  }
  for (const int threads : {1, 2, 4}) {
    reportThroughput<RoostLog>(directory, threads, true, rounds);
    reportThroughput<SpdLog>(directory, threads, true, rounds);
  }
  reportThroughput<RoostLog>(directory, 2, false, rounds);
  reportThroughput<SpdLog>(directory, 2, false, rounds);
  return 0;
}
