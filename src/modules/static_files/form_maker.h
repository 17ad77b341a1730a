#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "event/loop.h"
#include "event/task_pool.h"
#include "http/compression.h"
#include "modules/static_files/file_cache.h"

namespace roost::modules::static_files {

// Which coded form of which content: what is the same is made once, whoever asks.
struct FormKey {
  FileVersion version;
  std::string tag_suffix;  // coding and level, by the policy's word

  bool operator==(const FormKey& other) const noexcept {
    return version == other.version && tag_suffix == other.tag_suffix;
  }
};

// Where a file's bytes are to be had.
struct FormSource {
  BufferRef block;  // with `offset` where the content begins; or none:
  size_t offset = 0;
  std::string path;  // read again, and only used if it still is that version
};

// What a form has become; empty where it cannot be had or is not shorter than the file.
using FormBytes = BufferRef;

// Whoever waits for what task threads do: one object per loop, its thread only. Told of what it asked for
// while it lives.
class FormUser {
 public:
  virtual void onForm(const FormKey& key, const FormBytes& bytes) noexcept = 0;
  // Where a root's name leads has been looked up.
  virtual void onRootKnown(uint32_t root_id) noexcept = 0;

 protected:
  ~FormUser() = default;
};

// The way back to a FormUser for other threads: they hold it, only the user's loop looks inside.
struct FormLink {
  event::Loop* loop = nullptr;  // lives until no task runs any more
  FormUser* user = nullptr;     // nullptr: gone
};

// Makes coded forms of files on task threads, each once however many loops ask at the same time. Shared by
// all loops, any thread; the lock is taken once per form asked for and once per form made.
class FormMaker : public std::enable_shared_from_this<FormMaker> {
 public:
  // Has `policy` make the form and tells `link` of it later, from a turn of its loop. False: no task thread
  // takes it, and nothing happens.
  bool ask(event::TaskPool& tasks, Sys& sys, std::shared_ptr<const http::Compression> policy,
           http::Coding coding, const FormKey& key, FormSource source, std::shared_ptr<FormLink> link);

  // Makes it here and now.
  static FormBytes make(Sys& sys, const http::Compression& policy, http::Coding coding, const FormKey& key,
                        const FormSource& source) noexcept;

 private:
  struct Job {
    FormKey key;
    std::vector<std::shared_ptr<FormLink>> links;
  };
  void tell(const FormKey& key, const FormBytes& bytes);

  std::mutex mutex_;
  std::vector<Job> jobs_;  // under way: no more than the pool takes
};

}  // namespace roost::modules::static_files
