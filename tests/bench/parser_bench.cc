// links: roost_http_parser
// What parsing a request head costs: the Ragel machine for each instruction set beside a hand-written one of
// the same strictness, requests whole, split in two, and byte by byte. FieldId look-up and the filling of
// RequestHead included.
//
//   parser_bench                          a table of nanoseconds, the least of many batches
//   parser_bench <parser> <case> <count>  parses count times and prints nothing, for counting instructions
//                                         (scripts/bench_parser.sh)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/handwritten_parser.h"
#include "bench/parser_inputs.h"
#include "http/client/response_parser.h"
#include "http/h1/framing.h"
#include "http/h1/request_parser.h"

namespace roost::bench {
namespace {

using http::RequestHead;
using http::h1::HeadLimits;
using http::h1::ParseState;

struct Case {
  const char* name;
  std::string_view request;
  size_t pieces;  // 0: byte by byte
};

constexpr Case kCases[] = {
    {"short", kShortRequest, 1},           {"short-split", kShortRequest, 2},
    {"browser", kBrowserRequest, 1},       {"browser-split", kBrowserRequest, 2},
    {"browser-bytes", kBrowserRequest, 0},
};

// Where the pieces of one request end.
std::vector<size_t> endsOf(const Case& what) {
  const size_t size = what.request.size();
  const size_t step = what.pieces == 0 ? 1 : (size + what.pieces - 1) / what.pieces;
  std::vector<size_t> ends;
  for (size_t end = step; end < size; end += step) ends.push_back(end);
  ends.push_back(size);
  return ends;
}

struct Buffer {
  explicit Buffer(std::string_view request)
      : bytes(new char[request.size() + http::h1::RequestParser::kSlack]()), size(request.size()) {
    std::memcpy(bytes.get(), request.data(), request.size());
  }
  std::unique_ptr<char[]> bytes;
  size_t size;
};

// The pieces a request comes in, by their ends.
struct Pieces {
  explicit Pieces(const Case& what) : all(endsOf(what)), begin(all.data()), last(begin + all.size() - 1) {}
  std::vector<size_t> all;
  const size_t* begin;
  const size_t* last;
};

template <class Parser>
[[gnu::always_inline]] inline void parseOnce(Parser& parser, const char* data, const Pieces& pieces,
                                             const HeadLimits& limits, RequestHead& head) {
  parser.reset();
  for (const size_t* end = pieces.begin; end != pieces.last; ++end) parser.parse(data, *end, limits, head);
  if (parser.parse(data, *pieces.last, limits, head) != ParseState::kDone) std::abort();
}

template <class Parser>
[[gnu::noinline]] void parseMany(Parser& parser, const char* data, const Pieces& pieces, size_t count) {
  const HeadLimits limits;
  RequestHead head;
  for (size_t i = 0; i < count; ++i) parseOnce(parser, data, pieces, limits, head);
  if (head.size != *pieces.last) std::abort();
}

// The least time of one parse over many batches, in nanoseconds.
template <class Parser>
double leastNs(Parser& parser, const Case& what) {
  constexpr int kBatches = 4000;
  constexpr int kPerBatch = 200;
  const Buffer buffer(what.request);
  const Pieces pieces(what);
  double least = 1e9;
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    parseMany(parser, buffer.bytes.get(), pieces, kPerBatch);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count() / kPerBatch);
  }
  return least;
}

struct Candidate {
  std::string name;
  http::h1::ScanFn scan;  // nullptr: the hand-written parser
};

std::vector<Candidate> candidates() {
  std::vector<Candidate> all = {{"handwritten", nullptr}};
  http::h1::HeadMachine machines[http::h1::kMaxHeadMachines];
  const size_t count = http::h1::headMachines(machines);
  for (size_t i = 0; i < count; ++i)
    all.push_back({std::string("ragel-") + machines[i].name, machines[i].scan});
  return all;
}

template <class Visit>
void withParser(const Candidate& candidate, Visit visit) {
  if (candidate.scan == nullptr) {
    http::h1::HandwrittenParser parser;
    visit(parser);
  } else {
    http::h1::RequestParser parser(candidate.scan);
    visit(parser);
  }
}

double framingNs(std::string_view request) {
  const Buffer buffer(request);
  http::h1::RequestParser parser;
  RequestHead head;
  if (parser.parse(buffer.bytes.get(), buffer.size, HeadLimits{}, head) != ParseState::kDone) std::abort();
  double least = 1e9;
  for (int batch = 0; batch < 4000; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 200; ++i) {
      asm volatile("" : : "r"(&head) : "memory");
      const auto framing = http::h1::requestFraming(head);
      asm volatile("" : : "r"(&framing) : "memory");
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count() / 200);
  }
  return least;
}

// A response's head, and what it says of the body.
double responseNs(http::h1::ResponseScanFn scan) {
  const Buffer buffer(kResponse);
  http::client::ResponseParser parser(scan);
  http::client::ReceivedHead head;
  const HeadLimits limits;
  double least = 1e9;
  for (int batch = 0; batch < 4000; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 200; ++i) {
      parser.reset();
      if (parser.parse(buffer.bytes.get(), buffer.size, limits, head) != ParseState::kDone) std::abort();
      const auto framing = http::h1::responseFraming(head, head.status, http::Method::kGet);
      asm volatile("" : : "r"(&framing) : "memory");
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count() / 200);
  }
  return least;
}

void printResponses() {
  http::h1::HeadMachine machines[http::h1::kMaxHeadMachines];
  const size_t count = http::h1::headMachines(machines);
  std::printf("\nns per response head of %zu bytes, its framing included\n", kResponse.size());
  for (size_t i = 0; i < count; ++i) {
    std::printf("ragel-%-10s%15.1f\n", machines[i].name, responseNs(machines[i].scan_response));
  }
}

void printTable() {
  std::printf("%-16s", "ns per request");
  for (const Case& what : kCases) std::printf("%15s", what.name);
  std::printf("\n");
  for (const Candidate& candidate : candidates()) {
    std::printf("%-16s", candidate.name.c_str());
    withParser(candidate, [](auto& parser) {
      for (const Case& what : kCases) std::printf("%15.1f", leastNs(parser, what));
    });
    std::printf("\n");
  }
  std::printf("%-16s%15.1f%15s%15.1f\n", "framing", framingNs(kShortRequest), "", framingNs(kBrowserRequest));
  printResponses();
}

int countRun(const char* parser_name, const char* case_name, size_t count) {
  for (const Candidate& candidate : candidates()) {
    if (candidate.name != parser_name) continue;
    for (const Case& what : kCases) {
      if (std::strcmp(what.name, case_name) != 0) continue;
      const Buffer buffer(what.request);
      const Pieces pieces(what);
      withParser(candidate, [&](auto& parser) { parseMany(parser, buffer.bytes.get(), pieces, count); });
      return 0;
    }
  }
  std::fprintf(stderr, "no such parser or case: %s %s\n", parser_name, case_name);
  return 1;
}

}  // namespace
}  // namespace roost::bench

int main(int argc, char** argv) {
  if (argc == 4) return roost::bench::countRun(argv[1], argv[2], std::strtoul(argv[3], nullptr, 10));
  roost::bench::printTable();
  return 0;
}
