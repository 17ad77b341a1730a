#include "redis/reply_reader.h"

#include <hiredis/read.h>

#include <cstdlib>
#include <utility>

namespace roost::redis {

// hiredis builds the tree through these: each object is made in its place in its parent, the root on the
// heap.
struct ReplyReader::Functions {
  static Reply* place(const redisReadTask* task) {
    if (task->parent == nullptr) return new Reply;
    auto* array = static_cast<Reply*>(task->parent->obj);
    return &array->elements[static_cast<size_t>(task->idx)];
  }
  static void* string(const redisReadTask* task, char* text, size_t size) {
    Reply* reply = place(task);
    reply->type = task->type == REDIS_REPLY_ERROR    ? Reply::Type::kError
                  : task->type == REDIS_REPLY_STATUS ? Reply::Type::kStatus
                                                     : Reply::Type::kString;
    reply->text.assign(text, size);
    return reply;
  }
  static void* array(const redisReadTask* task, int count) {
    auto& self = *static_cast<ReplyReader*>(task->privdata);
    const auto size = static_cast<size_t>(count);
    if (size > self.limits_.max_elements - self.elements_) {
      self.over_limit_ = true;
      return nullptr;
    }
    self.elements_ += size;
    Reply* reply = place(task);
    reply->type = Reply::Type::kArray;
    reply->elements.resize(size);
    return reply;
  }
  static void* integer(const redisReadTask* task, long long value) {
    Reply* reply = place(task);
    reply->type = Reply::Type::kInteger;
    reply->integer = value;
    return reply;
  }
  static void* nil(const redisReadTask* task) { return place(task); }
  static void free(void* root) { delete static_cast<Reply*>(root); }
};

void ReplyReader::Deleter::operator()(redisReader* reader) const noexcept {
  redisReaderFree(reader);
}

ReplyReader::ReplyReader(const ReplyLimits& limits) : limits_(limits) {
  reset();
}

ReplyReader::~ReplyReader() = default;

void ReplyReader::reset() {
  static redisReplyObjectFunctions functions = {Functions::string, Functions::array, Functions::integer,
                                                Functions::nil, Functions::free};
  reader_.reset(redisReaderCreateWithFunctions(&functions));
  if (reader_ == nullptr) std::abort();  // memory is out
  reader_->privdata = this;
  elements_ = fed_bytes_ = 0;
  over_limit_ = false;
  error_ = nullptr;
}

void ReplyReader::feed(std::string_view bytes) {
  if (failed()) return;
  fed_bytes_ += bytes.size();
  if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != 0)
    error_ = redisReaderGetError(reader_.get());
}

std::unique_ptr<Reply> ReplyReader::next() {
  if (failed()) return nullptr;
  void* root = nullptr;
  if (redisReaderGetReply(reader_.get(), &root) != 0) {
    error_ = over_limit_ ? "a reply with too many elements" : redisReaderGetError(reader_.get());
    return nullptr;
  }
  std::unique_ptr<Reply> reply(static_cast<Reply*>(root));
  if (reply != nullptr) {
    elements_ = 0;
    fed_bytes_ = reader_->len - reader_->pos;
  } else if (fed_bytes_ > limits_.max_bytes) {
    error_ = "a reply of too many bytes";
  }
  return reply;
}

}  // namespace roost::redis
