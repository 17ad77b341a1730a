// Streams: opening, letting go, and the Logger's part that deals with their files.
#include "log/stream.h"

#include <algorithm>
#include <utility>

#include "log/logger.h"

namespace roost::log {

Stream::Stream(detail::Output& output, std::unique_ptr<RecordFormat> format, bool blocks) noexcept
    : site_{Level::kInfo, {}, nullptr, this}, blocks_(blocks), output_(&output), format_(std::move(format)) {}

Result<std::shared_ptr<Stream>> Stream::open(const StreamOptions& options,
                                             std::unique_ptr<RecordFormat> format) {
  return detail::Logger::instance().openStream(options, std::move(format));
}

void Stream::writeDirectly(const char* record) noexcept {
  detail::Logger& logger = detail::Logger::instance();
  if (logger.running()) {
    logger.countDrop();  // no memory for a ring
  } else {
    logger.writeDirectly(*this, record);
  }
}

namespace detail {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

FileOptions fileOptions(const StreamOptions& options) {
  const size_t slash = options.path.rfind('/');
  const std::string name = slash == std::string::npos ? options.path : options.path.substr(slash + 1);
  const size_t dot = name.rfind('.');
  const size_t stem = dot == std::string::npos || dot == 0 ? name.size() : dot;
  FileOptions file;
  file.directory = slash == std::string::npos ? "." : options.path.substr(0, std::max<size_t>(slash, 1));
  file.base_name = name.substr(0, stem);
  file.suffix = name.substr(stem);
  file.roll_size_bytes = options.roll_size_bytes;
  file.roll_daily = options.roll_daily;
  file.keep_files = options.keep_files;
  return file;
}

}  // namespace

Result<std::shared_ptr<Stream>> Logger::openStream(const StreamOptions& options,
                                                   std::unique_ptr<RecordFormat> format) {
  const std::lock_guard<std::mutex> guard(lock_);
  const FileOptions file = fileOptions(options);
  Output& output = outputFor(file);
  if (started_ && !output.sink.isOpen()) {
    if (Status status = output.sink.open(file, wallNowNs()); !status.ok()) {
      if (output.streams == 0) closeOutput(output);
      return status;
    }
  }
  output.file = file;
  output.sink.setRolling(file);
  output.flush_interval_ns = options.flush_second * kNsPerSecond;
  ++output.streams;
  std::unique_ptr<Stream, Stream::Freed> stream(
      new Stream(output, std::move(format), options.on_full == OnFull::kBlock));
  Stream* const held = stream.get();
  streams_.push_back(std::move(stream));
  return std::shared_ptr<Stream>(held, [](Stream* gone) { Logger::instance().retire(*gone); });
}

Output& Logger::outputFor(const FileOptions& file) {
  for (const auto& output : outputs_) {
    const FileOptions& other = output->file;
    if (other.directory == file.directory && other.base_name == file.base_name && other.suffix == file.suffix)
      return *output;
  }
  outputs_.push_back(std::make_unique<Output>());
  outputs_.back()->file = file;
  return *outputs_.back();
}

// The log's own file and those of the streams that are there already.
Status Logger::openOutputs() {
  freeStreams(retired_streams_.exchange(nullptr, std::memory_order_seq_cst));
  Status status;
  forEachOutput([&](Output& output) {
    if (status.ok()) status = output.sink.open(output.file, wallNowNs());
  });
  if (status.ok()) return status;
  forEachOutput([](Output& output) { output.sink.close(); });
  return status;
}

void Logger::retire(Stream& stream) noexcept {
  pushRetired(stream);
  wakeLogThread();
}

void Logger::pushRetired(Stream& stream) noexcept {
  Stream* first = retired_streams_.load(std::memory_order_relaxed);
  do {
    stream.next_retired_ = first;
  } while (!retired_streams_.compare_exchange_weak(first, &stream, std::memory_order_seq_cst));
}

// REQUIRES: no ring of the running log holds a record of theirs.
void Logger::freeStreams(Stream* retired) noexcept {
  while (retired != nullptr) {
    Stream* const stream = std::exchange(retired, retired->next_retired_);
    Output& output = *std::exchange(stream->output_, nullptr);
    if (--output.streams == 0) closeOutput(output);
    if (stream->kept_) continue;
    const auto it = std::find_if(streams_.begin(), streams_.end(),
                                 [stream](const auto& other) { return other.get() == stream; });
    streams_.erase(it);
  }
}

void Logger::closeOutput(Output& output) noexcept {
  output.sink.close();
  closed_lost_ += output.sink.lostLines();
  closed_write_errors_ += output.sink.writeErrors();
  closed_rolls_ += output.sink.rolls();
  const auto it = std::find_if(outputs_.begin(), outputs_.end(),
                               [&output](const auto& other) { return other.get() == &output; });
  outputs_.erase(it);
}

// A ring that its thread has not let go of by the end of the log thread may hold records which the thread
// writes, or counts, when it does. Their streams stay.
void Logger::keepStreams() noexcept {
  const std::lock_guard<std::mutex> guard(lock_);
  for (const auto& stream : streams_) stream->kept_ = true;
}

void Logger::formatStreamLine(Stream& stream, const char* record, int64_t realtime_ns) {
  if (stream.output_ == nullptr || !stream.output_->sink.isOpen()) return countDrop();
  FileSink& sink = stream.output_->sink;
  LineBuffer& out = sink.buffer();
  const size_t start = out.size();
  try {
    stream.format_->appendLine(record, realtime_ns, out);
  } catch (const std::exception&) {
    out.resize(start);
    return countDrop();
  }
  ++formatted_;
  sink.lineDone(start, realtime_ns);
}

void Logger::writeDirectly(Stream& stream, const char* record) noexcept {
  try {
    const std::lock_guard<std::mutex> guard(lock_);
    formatStreamLine(stream, record, wallNowNs());
    if (stream.output_ != nullptr) {
      stream.output_->sink.flush();
      tellNews(*stream.output_);
    }
    publishCounts();
  } catch (const std::exception&) {
    countDrop();
  }
}

}  // namespace detail
}  // namespace roost::log
