// links: roost_http benchmark::benchmark
// The loops and the decoder under a WebSocket: bytes per second of masking and of checking text, by
// instruction set, and nanoseconds per frame.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "http/ws/frame_decoder.h"
#include "http/ws/kernels.h"
#include "http/ws/mask.h"
#include "http/ws/utf8.h"

namespace {

using namespace roost::http::ws;

// The plain loop that the kernels stand in for.
void byteMask(char* to, const char* from, size_t size, uint32_t key) {
  char bytes[4];
  std::memcpy(bytes, &key, sizeof bytes);
  for (size_t i = 0; i < size; ++i) to[i] = static_cast<char>(from[i] ^ bytes[i & 3]);
}

void maskBytewise(benchmark::State& state) {
  std::string bytes(static_cast<size_t>(state.range(0)), 'x');
  for (auto _ : state) {
    byteMask(bytes.data(), bytes.data(), bytes.size(), 0x12345678);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void maskKernel(benchmark::State& state) {
  Kernels sets[kMaxKernels];
  const auto wanted = static_cast<size_t>(state.range(1));
  if (wanted >= kernelSets(sets)) return state.SkipWithError("not on this processor");
  state.SetLabel(sets[wanted].name);
  std::string bytes(static_cast<size_t>(state.range(0)), 'x');
  for (auto _ : state) {
    benchmark::DoNotOptimize(sets[wanted].mask(bytes.data(), bytes.data(), bytes.size(), 0x12345678));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void checkText(benchmark::State& state, const char* word) {
  std::string text;
  while (text.size() < 16384) text += word;
  for (auto _ : state) {
    Utf8Check check;
    benchmark::DoNotOptimize(check.add(text.data(), text.size()));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}

// A read full of frames, as a server takes it apart.
void decodeFrames(benchmark::State& state) {
  const auto payload = static_cast<size_t>(state.range(0));
  std::string frames;
  size_t count = 0;
  for (; frames.size() + payload + kMaxFrameHeader < 65536; ++count) {
    char header[kMaxFrameHeader];
    frames.append(header, writeMaskedHeader(header, Opcode::kBinary, true, false, payload, 0));
    frames.append(payload, 'x');
  }
  FrameRules rules;
  for (auto _ : state) {
    FrameDecoder decoder;
    char* at = frames.data();
    size_t left = frames.size();
    FramePiece piece;
    while (decoder.next(at, left, rules, piece) == FrameDecoder::Step::kPiece) {
      at += piece.consumed;
      left -= piece.consumed;
      benchmark::DoNotOptimize(piece);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(count));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(frames.size()));
}

BENCHMARK(maskBytewise)->Arg(20)->Arg(1024)->Arg(65536);
BENCHMARK(maskKernel)->ArgsProduct({{20, 1024, 65536}, {0, 1, 2}});
BENCHMARK_CAPTURE(checkText, ascii, "plain words ");
BENCHMARK_CAPTURE(checkText, french, "\xc3\xa9t\xc3\xa9 \xc3\xa0 la mer ");
BENCHMARK_CAPTURE(checkText, chinese, "\xe4\xb8\xad\xe6\x96\x87");
BENCHMARK(decodeFrames)->Arg(0)->Arg(20)->Arg(125)->Arg(1024)->Arg(16384);

}  // namespace

BENCHMARK_MAIN();
