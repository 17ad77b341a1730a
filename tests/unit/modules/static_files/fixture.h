// What the tests of this folder share: a folder of files, the loop's files on a simulated kernel, and a whole
// server with one route.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event/task_pool.h"
#include "http/h1/protocol.h"
#include "http/mime.h"
#include "modules/static_files/loop_files.h"
#include "modules/static_files/static_handler.h"
#include "support/h1_server.h"
#include "support/sim_loop.h"
#include "support/temp_file.h"

namespace roost::modules::static_files {

// A folder of its own, gone with the object. Paths begin with '/'.
class TempFolder {
 public:
  TempFolder() {
    char path[] = "/tmp/roost-files-XXXXXX";
    path_ = ::mkdtemp(path);
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string at(std::string_view name) const { return path_ + std::string(name); }
  // Written in place: the inode stays.
  void write(std::string_view name, std::string_view content) const {
    std::ofstream(at(name), std::ios::binary | std::ios::trunc) << content;
  }
  // A new file under the old name, as editors and deployments do it.
  void replace(std::string_view name, std::string_view content) const {
    write(std::string(name) + "~", content);
    rename(std::string(name) + "~", name);
  }
  void makeFolder(std::string_view name) const { std::filesystem::create_directories(at(name)); }
  void rename(std::string_view from, std::string_view to) const { std::filesystem::rename(at(from), at(to)); }
  void remove(std::string_view name) const { std::filesystem::remove_all(at(name)); }
  void link(std::string_view target, std::string_view name) const {
    std::filesystem::create_symlink(target, at(name));
  }
  void hardLink(std::string_view target, std::string_view name) const {
    std::filesystem::create_hard_link(at(target), at(name));
  }
  void resize(std::string_view name, uint64_t size) const { std::filesystem::resize_file(at(name), size); }
  void setTime(std::string_view name, int64_t mtime_s) const {
    const timespec times[2] = {{mtime_s, 0}, {mtime_s, 0}};
    ::utimensat(AT_FDCWD, at(name).c_str(), times, 0);
  }
  int64_t changedNs(std::string_view name) const {
    struct stat info {};
    ::stat(at(name).c_str(), &info);
    return int64_t{info.st_ctim.tv_sec} * 1'000'000'000 + info.st_ctim.tv_nsec;
  }

 private:
  std::string path_;
};

// One loop's files on the simulated kernel. Its realtime clock stands well after every file was written, so
// that tags are strong.
struct Fixture {
  static int64_t laterNs() { return realSys().realtimeNs() + 3'600'000'000'000; }

  explicit Fixture(CacheOptions cache = {}, size_t threads = 0) : tasks(threads, 16), cache_options(cache) {
    net.sys.setRealtimeNs(laterNs());
    root.id = 1;
    root.folder = folder.path();
    root.index = {"index.html"};
    root.mime = &mime;
    open();
  }
  ~Fixture() { files.reset(); }

  // Starts with an empty cache and watcher.
  void open() {
    files.reset();
    files = std::make_unique<LoopFiles>(context, cache_options);
  }
  LoopFiles::Found look(std::string_view path, bool may_block = false) {
    net.settle();  // notices of changes come first
    return files->find(root, path, may_block);
  }
  // The file's bytes, or "404" and the like, "folder", "cold".
  std::string get(std::string_view path, bool may_block = false) {
    const LoopFiles::Found found = look(path, may_block);
    if (found.cold) return "cold";
    switch (found.entry->kind) {
      case FileEntry::Kind::kBody:
        return std::string(found.entry->whole.body());
      case FileEntry::Kind::kFolder:
        return "folder";
      case FileEntry::Kind::kListing:
        return "listing";
      case FileEntry::Kind::kRefused:
        return std::to_string(found.entry->status);
      case FileEntry::Kind::kFile:
        break;
    }
    std::string bytes(found.entry->size, '\0');
    const ssize_t n = realSys().readAt(found.entry->file.fd(), bytes.data(), bytes.size(), 0);
    bytes.resize(n < 0 ? 0 : static_cast<size_t>(n));
    return bytes;
  }
  std::string etag(std::string_view path) { return std::string(look(path).entry->etag.view()); }
  bool cached(std::string_view path) { return look(path).owned == nullptr; }
  // Calls to the file system since resetCounts().
  uint64_t fileCalls() const {
    using test::Call;
    return net.sys.calls(Call::kOpen) + net.sys.calls(Call::kStat) + net.sys.calls(Call::kRead) +
           net.sys.calls(Call::kInotifyAdd);
  }

  TempFolder folder;
  test::SimLoop net;
  event::TaskPool tasks;
  http::LoopContext context{net.io(), tasks};
  http::MimeTable mime;
  RootOptions root;
  CacheOptions cache_options;
  std::unique_ptr<LoopFiles> files;
};

inline CacheOptions withoutInotify() {
  CacheOptions options;
  options.inotify = false;
  return options;
}

// One thread waits for another to come this far. Held by both.
class Gate {
 public:
  void open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    opened_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

// A server whose only route "/" serves the folder. Change `root` and `options` before start().
class StaticServer {
 public:
  explicit StaticServer(CacheOptions cache = {}, size_t threads = 0)
      : tasks(threads, 16), cache_options(cache) {
    net.sys.setRealtimeNs(Fixture::laterNs());
    root.id = 1;
    root.folder = folder.path();
    root.index = {"index.html"};
    root.charset = "utf-8";
    root.server_header = options.server_header;
  }
  ~StaticServer() {
    if (gate != nullptr) gate->open();
    tasks.stop();
    net.settle();
    net.io().closeAll();
    files.clear();
    net.shutDown();
  }

  void start(std::string path = "/") {
    auto mime = std::make_shared<http::MimeTable>();
    root.mime = mime.get();
    auto route = std::make_unique<http::Route>();
    route->path = std::move(path);
    route->handler = std::make_unique<StaticHandler>(root, mime, files);
    route->compression = compression;
    auto site = std::make_unique<http::Site>();
    site->hosts = {"*"};
    site->routes.push_back(std::move(route));
    std::vector<std::unique_ptr<http::Site>> sites;
    sites.push_back(std::move(site));
    context = std::make_unique<http::LoopContext>(net.io(), tasks);
    context->setService(
        std::make_shared<http::Service>(options, std::move(http::Router::build(std::move(sites))).value()));
    protocol = std::make_unique<http::h1::Protocol>(*context);
    net.io().setFactory(0, *protocol);
    files.push_back(std::make_unique<LoopFiles>(*context, cache_options));
  }
  // The one task thread does nothing until finishTasks().
  void holdTasks() {
    gate = std::make_shared<Gate>();
    std::unique_ptr<event::Task> wait = event::makeTask([opened = gate] { opened->wait(); });
    tasks.submit(wait);
  }
  // Waits until the one task thread has done what it was given, then lets the loop hear of it.
  void finishTasks() {
    if (gate != nullptr) gate->open();
    gate.reset();
    const auto done = std::make_shared<Gate>();
    std::unique_ptr<event::Task> last = event::makeTask([done] { done->open(); });
    if (tasks.submit(last)) done->wait();
    net.settle();
  }
  test::SimPeer send(std::string_view request) {
    test::SimPeer peer = net.connect();
    peer.write(request);
    net.settle();
    return peer;
  }
  // One request on a connection of its own.
  test::ParsedAnswer ask(std::string_view method, std::string_view path, std::string_view fields = "") {
    test::SimPeer peer = net.connect();
    return askOn(peer, method, path, fields);
  }
  test::ParsedAnswer askOn(test::SimPeer& peer, std::string_view method, std::string_view path,
                           std::string_view fields = "") {
    peer.write(request(method, path, fields));
    net.settle();
    const test::ParsedAnswers parsed = test::parseAnswers(peer.read(), {method == "HEAD"});
    return parsed.answers.empty() ? test::ParsedAnswer{} : parsed.answers.front();
  }
  test::ParsedAnswer get(std::string_view path, std::string_view fields = "") {
    return ask("GET", path, fields);
  }
  static std::string request(std::string_view method, std::string_view path, std::string_view fields = "") {
    std::string text(method);
    text += ' ';
    text += path;
    text += " HTTP/1.1\r\nHost: example.org\r\n";
    text += fields;
    text += "\r\n";
    return text;
  }

  TempFolder folder;
  http::ServiceOptions options;
  RootOptions root;
  std::shared_ptr<const http::Compression> compression;
  test::SimLoop net;
  event::TaskPool tasks;
  std::shared_ptr<Gate> gate;
  CacheOptions cache_options;
  FilesByLoop files;
  std::unique_ptr<http::LoopContext> context;
  std::unique_ptr<http::h1::Protocol> protocol;
};

// The value of a field of an answer.
inline std::string fieldOf(const test::ParsedAnswer& answer, std::string_view name) {
  const std::string start = "\r\n" + std::string(name) + ": ";
  const size_t at = answer.head.find(start);
  if (at == std::string::npos) return "";
  const size_t from = at + start.size();
  return answer.head.substr(from, answer.head.find("\r\n", from) - from);
}

}  // namespace roost::modules::static_files
