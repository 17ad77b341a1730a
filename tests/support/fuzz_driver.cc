// main() of a fuzz target where libFuzzer is not at hand: replays the corpus, then runs a bounded number of
// mutations of it, the same ones for the same seed. The inputs run in a child process that shares the current
// input with this one, so whatever ends the child (abort, signal, sanitizer, a hang) leaves the input behind,
// in a file to replay.
//
//   fuzz_x [--runs=N] [--seconds=N] [--seed=N] [--max-len=BYTES] [--hang-seconds=N] FOLDER-OR-FILE...
//
// A folder is replayed and mutated; with files alone each is run once, in this process, ready for a debugger.
#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;
using Clock = std::chrono::steady_clock;

constexpr size_t kMaxInputBytes = 1 << 20;
constexpr size_t kMaxTokens = 4096;

struct Options {
  uint64_t runs = 20000;
  uint64_t seconds = 0;  // 0: no bound
  uint64_t seed = 1;
  size_t max_len = 4096;  // of a mutated input; seeds may be longer
  uint64_t hang_seconds = 60;
  std::vector<std::string> paths;
};

// What the child shows the parent. Lives in shared memory; the child alone writes.
struct Shared {
  std::atomic<uint64_t> runs{0};
  std::atomic<size_t> size{0};
  uint8_t data[kMaxInputBytes];
};

// splitmix64: the same sequence for the same seed with every compiler and library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  size_t below(size_t bound) { return bound == 0 ? 0 : static_cast<size_t>(next() % bound); }  // [0, bound)
  uint8_t byte() { return static_cast<uint8_t>(next()); }

 private:
  uint64_t state_;
};

class Mutator {
 public:
  Mutator(const std::vector<Bytes>& corpus, const Options& options)
      : corpus_(corpus), max_len_(options.max_len), random_(options.seed) {
    collectTokens();
  }

  // A fresh input: a seed, changed one to eight times.
  void next(Bytes& out) {
    out = corpus_.empty() ? Bytes{} : corpus_[random_.below(corpus_.size())];
    const size_t changes = 1 + random_.below(random_.below(8) + 1);
    for (size_t i = 0; i < changes; ++i) change(out);
    if (out.size() > std::max(max_len_, kMaxInputBytes / 2)) out.resize(max_len_);
  }
  size_t tokenCount() const { return tokens_.size(); }

 private:
  // Words, numbers and runs of punctuation of the seeds: what the format's grammar is made of.
  void collectTokens() {
    std::set<Bytes> found;
    for (const Bytes& seed : corpus_) {
      for (size_t begin = 0; begin < seed.size() && found.size() < kMaxTokens;) {
        size_t end = begin + 1;
        const bool word = std::isalnum(seed[begin]) != 0;
        while (end < seed.size() && end - begin < 32 && (std::isalnum(seed[end]) != 0) == word) ++end;
        found.emplace(seed.begin() + static_cast<long>(begin), seed.begin() + static_cast<long>(end));
        begin = end;
      }
    }
    for (std::string_view extra :
         {"0", "-1", "4294967296", "18446744073709551616", "ffffffffffffffff", "\r\n", "\n", "\r\n\r\n",
          "%00", "%2e", "%", "..", "\t", "\x80", "\xff", ",", "\"", "\\"}) {
      found.emplace(extra.begin(), extra.end());
    }
    found.emplace(1, uint8_t{0});
    tokens_.assign(found.begin(), found.end());
  }

  void change(Bytes& out) {
    switch (random_.below(10)) {
      case 0:
        return flipBit(out);
      case 1:
        return setByte(out);
      case 2:
        return insert(out, Bytes(1 + random_.below(8), random_.byte()));
      case 3:
        return erase(out);
      case 4:
        return truncate(out);
      case 5:
        return splice(out);
      case 6:
        return duplicate(out);
      case 7:
        return overwrite(out, tokens_[random_.below(tokens_.size())]);
      default:
        return insert(out, tokens_[random_.below(tokens_.size())]);
    }
  }
  void flipBit(Bytes& out) {
    if (!out.empty()) out[random_.below(out.size())] ^= static_cast<uint8_t>(1u << random_.below(8));
  }
  void setByte(Bytes& out) {
    if (!out.empty()) out[random_.below(out.size())] = random_.byte();
  }
  void insert(Bytes& out, const Bytes& part) {
    if (out.size() + part.size() > max_len_) return;
    const auto at = out.begin() + static_cast<long>(random_.below(out.size() + 1));
    out.insert(at, part.begin(), part.end());
  }
  void overwrite(Bytes& out, const Bytes& part) {
    if (part.size() > out.size()) return;
    const size_t at = random_.below(out.size() - part.size() + 1);
    std::copy(part.begin(), part.end(), out.begin() + static_cast<long>(at));
  }
  void erase(Bytes& out) {
    if (out.empty()) return;
    const size_t at = random_.below(out.size());
    const size_t len = 1 + random_.below(std::min<size_t>(out.size() - at, 1 + random_.below(64)));
    out.erase(out.begin() + static_cast<long>(at),
              out.begin() + static_cast<long>(std::min(at + len, out.size())));
  }
  void truncate(Bytes& out) { out.resize(random_.below(out.size() + 1)); }
  void duplicate(Bytes& out) {
    if (out.empty()) return;
    const size_t at = random_.below(out.size());
    const size_t len = 1 + random_.below(std::min<size_t>(out.size() - at, 256));
    insert(out, Bytes(out.begin() + static_cast<long>(at),
                      out.begin() + static_cast<long>(std::min(at + len, out.size()))));
  }
  // The beginning of this input and the end of another.
  void splice(Bytes& out) {
    if (corpus_.empty()) return;
    const Bytes& other = corpus_[random_.below(corpus_.size())];
    out.resize(random_.below(out.size() + 1));
    const size_t from = random_.below(other.size() + 1);
    const size_t room = max_len_ > out.size() ? max_len_ - out.size() : 0;
    const size_t len = std::min(room, other.size() - from);
    out.insert(out.end(), other.begin() + static_cast<long>(from),
               other.begin() + static_cast<long>(from + len));
  }

  const std::vector<Bytes>& corpus_;
  std::vector<Bytes> tokens_;
  size_t max_len_;
  Random random_;
};

bool isFolder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool readFile(const std::string& path, Bytes& out) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  out.assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

// In name order, so that a run is the same on every file system.
std::vector<Bytes> readFolder(const std::string& folder) {
  std::vector<std::string> names;
  if (DIR* dir = ::opendir(folder.c_str())) {
    while (const dirent* entry = ::readdir(dir)) {
      if (entry->d_name[0] != '.') names.push_back(folder + "/" + entry->d_name);
    }
    ::closedir(dir);
  }
  std::sort(names.begin(), names.end());
  std::vector<Bytes> seeds;
  for (const std::string& name : names) {
    Bytes seed;
    if (!isFolder(name) && readFile(name, seed) && seed.size() <= kMaxInputBytes)
      seeds.push_back(std::move(seed));
  }
  return seeds;
}

// In an allocation of exactly its size: one byte read beyond is seen by AddressSanitizer.
void runOnce(const Bytes& input) {
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[input.size()]);
  std::copy(input.begin(), input.end(), exact.get());
  LLVMFuzzerTestOneInput(exact.get(), input.size());
}

void runShared(const Bytes& input, Shared& shared) {
  std::copy(input.begin(), input.end(), shared.data);
  shared.size.store(input.size(), std::memory_order_relaxed);
  runOnce(input);
  shared.runs.fetch_add(1, std::memory_order_relaxed);
}

// The child: never returns.
[[noreturn]] void fuzz(const std::vector<Bytes>& corpus, const Options& options, const char* program,
                       Shared& shared) {
  const auto begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  runShared({}, shared);
  for (const Bytes& seed : corpus) runShared(seed, shared);
  Mutator mutator(corpus, options);
  Bytes input;
  uint64_t done = 0;
  for (; done < options.runs; ++done) {
    if (options.seconds != 0 && done % 64 == 0 && elapsed() >= static_cast<double>(options.seconds)) break;
    mutator.next(input);
    runShared(input, shared);
  }
  const double seconds = elapsed();
  std::printf("%s: %zu seeds, %zu tokens, %llu mutations (seed %llu) in %.2f s, %.0f runs/s, no fault\n",
              program, corpus.size(), mutator.tokenCount(), static_cast<unsigned long long>(done),
              static_cast<unsigned long long>(options.seed), seconds,
              static_cast<double>(shared.runs.load()) / (seconds > 0 ? seconds : 1e-9));
  std::exit(EXIT_SUCCESS);  // and not _exit: the leak checker runs at exit
}

void saveInput(const char* program, const char* kind, const Shared& shared) {
  const std::string path =
      std::string(program) + "." + kind + "-" + std::to_string(shared.runs.load()) + ".bin";
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(shared.data), static_cast<std::streamsize>(shared.size.load()));
  file.close();
  std::fprintf(stderr, "%s: %s after %llu runs; %zu bytes saved, replay with:\n  %s %s\n", program, kind,
               static_cast<unsigned long long>(shared.runs.load()), shared.size.load(), program,
               path.c_str());
}

// Waits for the child and kills it when one input keeps it busy for hang_seconds. Returns the exit code of
// the program.
int watch(pid_t child, const Options& options, const char* program, const Shared& shared) {
  uint64_t last_runs = 0;
  auto last_progress = Clock::now();
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return EXIT_SUCCESS;
      saveInput(program, "crash", shared);
      return EXIT_FAILURE;
    }
    const uint64_t runs = shared.runs.load();
    if (runs != last_runs) {
      last_runs = runs;
      last_progress = Clock::now();
    } else if (Clock::now() - last_progress > std::chrono::seconds(options.hang_seconds)) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      saveInput(program, "hang", shared);
      return EXIT_FAILURE;
    }
    ::usleep(10'000);
  }
}

bool takeNumber(std::string_view argument, std::string_view name, uint64_t& out) {
  if (argument.substr(0, name.size()) != name) return false;
  out = std::strtoull(argument.data() + name.size(), nullptr, 10);
  return true;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    uint64_t max_len = 0;
    if (takeNumber(argument, "--runs=", options.runs) ||
        takeNumber(argument, "--seconds=", options.seconds) ||
        takeNumber(argument, "--seed=", options.seed) ||
        takeNumber(argument, "--hang-seconds=", options.hang_seconds)) {
      continue;
    }
    if (takeNumber(argument, "--max-len=", max_len)) {
      options.max_len = std::clamp<size_t>(max_len, 1, kMaxInputBytes / 2);
    } else if (argument.substr(0, 1) == "-") {
      return false;
    } else {
      options.paths.emplace_back(argument);
    }
  }
  return !options.paths.empty();
}

int replayFiles(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    Bytes input;
    if (!readFile(path, input)) {
      std::fprintf(stderr, "cannot read %s\n", path.c_str());
      return EXIT_FAILURE;
    }
    runOnce(input);
    std::printf("%s: %zu bytes, no fault\n", path.c_str(), input.size());
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: %s [--runs=N] [--seconds=N] [--seed=N] [--max-len=BYTES] [--hang-seconds=N] "
                 "FOLDER-OR-FILE...\n",
                 argv[0]);
    return 2;
  }
  if (std::none_of(options.paths.begin(), options.paths.end(), isFolder)) return replayFiles(options.paths);

  std::vector<Bytes> corpus;
  for (const std::string& path : options.paths) {
    for (Bytes& seed : readFolder(path)) corpus.push_back(std::move(seed));
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: no seeds in the corpus\n", argv[0]);
    return EXIT_FAILURE;
  }
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    return EXIT_FAILURE;
  }
  Shared& shared = *new (memory) Shared;
  const pid_t child = ::fork();
  if (child < 0) {
    std::perror("fork");
    return EXIT_FAILURE;
  }
  if (child == 0) fuzz(corpus, options, argv[0], shared);
  return watch(child, options, argv[0], shared);
}
