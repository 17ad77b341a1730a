#include "modules/compress/encoder.h"

#include <brotli/encode.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace roost::modules::compress {
namespace {

constexpr size_t kStep = 16 << 10;
// Looking back further hardly helps what is served, and costs memory that every decoder pays too (RFC 9659).
constexpr int kMostWindowLog = 19;
// Below this brotli takes a match finder that costs more to set up than short content costs to code.
constexpr int kLeastBrotliWindowLog = 17;

// A few contexts that the next answer of this thread can use. A context takes 270 KB and more, and clearing
// it is much cheaper than making it.
template <class T, void (*free_one)(T*)>
class SparePool {
 public:
  ~SparePool() {
    for (size_t i = 0; i < count_; ++i) free_one(spare_[i]);
  }
  T* take() noexcept { return count_ > 0 ? spare_[--count_] : nullptr; }
  void give(T* context) noexcept {
    if (count_ < spare_.size()) {
      spare_[count_++] = context;
    } else {
      free_one(context);
    }
  }

 private:
  std::array<T*, 4> spare_{};
  size_t count_ = 0;
};

struct GzipContext {
  z_stream stream{};
  int level = 0;
  bool small = false;  // for content up to kSmallBytes: tables that stay in the processor's nearest cache
};
constexpr int64_t kSmallBytes = (1 << 14) - 262;  // zlib's MIN_LOOKAHEAD

void freeGzip(GzipContext* context) {
  ::deflateEnd(&context->stream);
  delete context;
}
void freeZstd(ZSTD_CCtx* context) {
  ::ZSTD_freeCCtx(context);
}

thread_local std::array<SparePool<GzipContext, freeGzip>, 2> spare_gzip;  // by `small`
thread_local SparePool<ZSTD_CCtx, freeZstd> spare_zstd;

// Gives `out` room for another step, which `write(to, size)` uses: how much of it, or a negative number.
template <class Write>
bool appendStep(std::string& out, size_t room, Write&& write) {
  const size_t had = out.size();
  out.resize(had + room);
  const int64_t used = write(out.data() + had, room);
  out.resize(had + static_cast<size_t>(std::max<int64_t>(used, 0)));
  return used >= 0;
}

// Memory that brotli has let go of, for its next answer on this thread: it has no context to reset, and what
// it takes is large enough for the allocator to give it back to the system each time.
class SpareBlocks {
 public:
  ~SpareBlocks() {
    for (size_t i = 0; i < count_; ++i) std::free(spare_[i]);
  }
  void* take(size_t size) noexcept {
    for (size_t i = 0; i < count_; ++i) {
      if (spare_[i]->size < size || spare_[i]->size / 2 > size) continue;
      Block* block = spare_[i];
      bytes_ -= block->size;
      spare_[i] = spare_[--count_];
      return block + 1;
    }
    auto* block = static_cast<Block*>(std::malloc(sizeof(Block) + size));
    if (block == nullptr) return nullptr;
    block->size = size;
    return block + 1;
  }
  void give(void* memory) noexcept {
    if (memory == nullptr) return;
    Block* block = static_cast<Block*>(memory) - 1;
    if (count_ == spare_.size() || bytes_ + block->size > kMostBytes) return std::free(block);
    bytes_ += block->size;
    spare_[count_++] = block;
  }

 private:
  static constexpr size_t kMostBytes = 8 << 20;
  struct alignas(16) Block {
    size_t size;
  };
  std::array<Block*, 32> spare_{};
  size_t count_ = 0;
  size_t bytes_ = 0;
};

thread_local SpareBlocks spare_blocks;

void* takeBlock(void*, size_t size) {
  return spare_blocks.take(size);
}
void giveBlock(void*, void* memory) {
  spare_blocks.give(memory);
}

class GzipEncoder final : public Encoder {
 public:
  explicit GzipEncoder(GzipContext& context) : context_(&context) {}
  ~GzipEncoder() override { spare_gzip[context_->small ? 1 : 0].give(context_); }

  static std::unique_ptr<Encoder> make(int level, int64_t size) {
    const bool small = size >= 0 && size <= kSmallBytes;
    GzipContext* context = spare_gzip[small ? 1 : 0].take();
    if (context != nullptr) {
      ::deflateReset(&context->stream);
    } else {
      context = new GzipContext{{}, level, small};
      const int window = 16 + (small ? 14 : 15);  // 16: with gzip's head
      const int memory = small ? 7 : 8;
      if (::deflateInit2(&context->stream, level, Z_DEFLATED, window, memory, Z_DEFAULT_STRATEGY) != Z_OK) {
        delete context;
        return nullptr;
      }
    }
    if (context->level != level) {
      ::deflateParams(&context->stream, level, Z_DEFAULT_STRATEGY);
      context->level = level;
    }
    return std::make_unique<GzipEncoder>(*context);
  }

  bool encode(std::string_view piece, Flush flush, std::string& out) override {
    constexpr std::array<int, 3> kModes = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
    z_stream& stream = context_->stream;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    int result = Z_OK;
    do {
      const size_t room =
          std::max<size_t>(kStep, flush == Flush::kEnd ? ::deflateBound(&stream, stream.avail_in) : 0);
      appendStep(out, room, [&](char* to, size_t size) {
        stream.next_out = reinterpret_cast<Bytef*>(to);
        stream.avail_out = static_cast<uInt>(size);
        result = ::deflate(&stream, kModes[static_cast<size_t>(flush)]);
        return static_cast<int64_t>(size - stream.avail_out);
      });
      if (result == Z_STREAM_ERROR) return false;
    } while (stream.avail_out == 0 || (flush == Flush::kEnd && result != Z_STREAM_END));
    return true;
  }

 private:
  GzipContext* context_;
};

class ZstdEncoder final : public Encoder {
 public:
  explicit ZstdEncoder(ZSTD_CCtx& context) : context_(&context) {}
  ~ZstdEncoder() override { spare_zstd.give(context_); }

  static std::unique_ptr<Encoder> make(int level, int64_t size) {
    ZSTD_CCtx* context = spare_zstd.take();
    if (context == nullptr) context = ::ZSTD_createCCtx();
    if (context == nullptr) return nullptr;
    ::ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    ::ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    if (size < 0 || size > (1 << kMostWindowLog))
      ::ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, kMostWindowLog);
    if (size >= 0) ::ZSTD_CCtx_setPledgedSrcSize(context, static_cast<unsigned long long>(size));
    return std::make_unique<ZstdEncoder>(*context);
  }

  bool encode(std::string_view piece, Flush flush, std::string& out) override {
    constexpr std::array<ZSTD_EndDirective, 3> kModes = {ZSTD_e_continue, ZSTD_e_flush, ZSTD_e_end};
    ZSTD_inBuffer in{piece.data(), piece.size(), 0};
    size_t left = 0;
    do {
      const size_t room =
          std::max<size_t>(kStep, flush == Flush::kEnd ? ::ZSTD_compressBound(in.size - in.pos) : 0);
      appendStep(out, room, [&](char* to, size_t size) {
        ZSTD_outBuffer buffer{to, size, 0};
        left = ::ZSTD_compressStream2(context_, &buffer, &in, kModes[static_cast<size_t>(flush)]);
        return static_cast<int64_t>(buffer.pos);
      });
      if (::ZSTD_isError(left) != 0) return false;
    } while (in.pos < in.size || (flush != Flush::kNone && left > 0));
    return true;
  }

 private:
  ZSTD_CCtx* context_;
};

class BrotliEncoder final : public Encoder {
 public:
  explicit BrotliEncoder(BrotliEncoderState& state) : state_(&state) {}
  ~BrotliEncoder() override { ::BrotliEncoderDestroyInstance(state_); }

  static std::unique_ptr<Encoder> make(int level, int64_t size) {
    BrotliEncoderState* state = ::BrotliEncoderCreateInstance(&takeBlock, &giveBlock, nullptr);
    if (state == nullptr) return nullptr;
    int window = kMostWindowLog;
    while (size >= 0 && window > kLeastBrotliWindowLog && (int64_t{1} << (window - 1)) >= size) --window;
    ::BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, static_cast<uint32_t>(level));
    ::BrotliEncoderSetParameter(state, BROTLI_PARAM_LGWIN, static_cast<uint32_t>(window));
    if (size > 0) {
      ::BrotliEncoderSetParameter(state, BROTLI_PARAM_SIZE_HINT,
                                  static_cast<uint32_t>(std::min<int64_t>(size, 1 << 30)));
    }
    return std::make_unique<BrotliEncoder>(*state);
  }

  bool encode(std::string_view piece, Flush flush, std::string& out) override {
    constexpr std::array<BrotliEncoderOperation, 3> kModes = {
        BROTLI_OPERATION_PROCESS, BROTLI_OPERATION_FLUSH, BROTLI_OPERATION_FINISH};
    size_t left = piece.size();
    const auto* next = reinterpret_cast<const uint8_t*>(piece.data());
    do {
      size_t no_room = 0;
      const BROTLI_BOOL fine = ::BrotliEncoderCompressStream(state_, kModes[static_cast<size_t>(flush)],
                                                             &left, &next, &no_room, nullptr, nullptr);
      if (fine == BROTLI_FALSE) return false;
      while (::BrotliEncoderHasMoreOutput(state_) == BROTLI_TRUE) {
        size_t size = 0;
        const uint8_t* made = ::BrotliEncoderTakeOutput(state_, &size);
        out.append(reinterpret_cast<const char*>(made), size);
      }
    } while (left > 0 || (flush == Flush::kEnd && ::BrotliEncoderIsFinished(state_) == BROTLI_FALSE));
    return true;
  }

 private:
  BrotliEncoderState* state_;
};

}  // namespace

std::unique_ptr<Encoder> makeEncoder(http::Coding coding, int level, int64_t size) {
  switch (coding) {
    case http::Coding::kBrotli:
      return BrotliEncoder::make(level, size);
    case http::Coding::kZstd:
      return ZstdEncoder::make(level, size);
    case http::Coding::kGzip:
      return GzipEncoder::make(level, size);
    case http::Coding::kIdentity:
      break;
  }
  return nullptr;
}

bool isCheap(http::Coding coding, int level) noexcept {
  return level <= (coding == http::Coding::kBrotli ? 5 : 6);
}

}  // namespace roost::modules::compress
