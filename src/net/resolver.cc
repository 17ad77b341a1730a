#include "net/resolver.h"

#include <ares.h>
#include <sys/epoll.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/localhost.h"

namespace roost::net {
namespace {

constexpr size_t kMaxNameBytes = 253;
constexpr int64_t kNsPerSecond = 1'000'000'000;

// The name as it is looked up: lower case, without the dot that may end it. Empty where it is no host's name.
std::string canonicalName(std::string_view name) {
  if (!name.empty() && name.back() == '.') name.remove_suffix(1);
  if (name.empty() || name.size() > kMaxNameBytes) return {};
  std::string out;
  size_t label = 0;
  for (const char c : name) {
    const char low = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    const bool letter = (low >= 'a' && low <= 'z') || (low >= '0' && low <= '9') || low == '-' || low == '_';
    if (c == '.' ? label == 0 : !letter || label == 63) return {};
    label = c == '.' ? 0 : label + 1;
    out += low;
  }
  return out;
}

PeerAddr literalAddress(std::string_view text) noexcept {
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  return PeerAddr::parse(text);
}

ResolveError errorOf(int status) noexcept {
  switch (status) {
    case ARES_SUCCESS:
      return ResolveError::kNone;
    case ARES_ENOTFOUND:
    case ARES_ENODATA:
      return ResolveError::kNoName;
    case ARES_ETIMEOUT:
      return ResolveError::kTimeout;
    case ARES_EBADNAME:
      return ResolveError::kBadName;
    case ARES_EDESTRUCTION:
    case ARES_ECANCELLED:
      return ResolveError::kStopped;
    default:
      return ResolveError::kServer;
  }
}

// IPv6 and IPv4 in turns, each in the order they came: when one of the two does not work here, the second try
// does (RFC 8305 section 4).
std::vector<PeerAddr> inTurns(const std::vector<PeerAddr>& v6, const std::vector<PeerAddr>& v4) {
  std::vector<PeerAddr> out;
  for (size_t i = 0; i < std::max(v6.size(), v4.size()); ++i) {
    if (i < v6.size()) out.push_back(v6[i]);
    if (i < v4.size()) out.push_back(v4[i]);
  }
  return out;
}

}  // namespace

const char* resolveErrorText(ResolveError error) noexcept {
  switch (error) {
    case ResolveError::kNone:
      return "resolved";
    case ResolveError::kNoName:
      return "no such host";
    case ResolveError::kTimeout:
      return "no answer from the name servers";
    case ResolveError::kServer:
      return "the name servers failed";
    case ResolveError::kBadName:
      return "not a host name";
    case ResolveError::kOverload:
      return "too many names are being asked for";
    case ResolveError::kStopped:
      return "stopped";
  }
  return "";
}

// One of c-ares' sockets, as the loop knows it. Outlives the batch in which c-ares closes it.
class Resolver::Socket final : public event::IoHandler, public event::Task {
 public:
  Socket(Resolver& owner, int fd) noexcept : owner_(&owner), fd_(fd) {}
  void onIo(uint32_t events) noexcept override {
    if (owner_ == nullptr) return;
    const bool reads = (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0;
    owner_->process(reads ? fd_ : ARES_SOCKET_BAD, (events & EPOLLOUT) != 0 ? fd_ : ARES_SOCKET_BAD);
  }
  void run() noexcept override {}
  void disown() noexcept { owner_ = nullptr; }
  bool in_poller = false;

 private:
  Resolver* owner_;
  int fd_;
};

Result<std::unique_ptr<Resolver>> Resolver::create(event::Loop& loop, const Options& options) {
  std::unique_ptr<Resolver> resolver(new Resolver(loop, options));
  Status status = resolver->open();
  if (!status.ok()) return status;
  return resolver;
}

Resolver::Resolver(event::Loop& loop, const Options& options) : loop_(loop), options_(options) {}

Status Resolver::open() {
  static const int library = ares_library_init(ARES_LIB_INIT_ALL);
  if (library != ARES_SUCCESS) return Status::error(std::string("c-ares: ") + ares_strerror(library));
  ares_options how{};
  how.flags = ARES_FLAG_NOALIASES;  // which would read a file at every query
  how.timeout = static_cast<int>(options_.timeout_ms);
  how.tries = static_cast<int>(options_.tries);
  how.sock_state_cb = &Resolver::onSocketState;
  how.sock_state_cb_data = this;
  char by_dns_alone[] = "b";  // the hosts file is ours, read once
  how.lookups = by_dns_alone;
  const int status = ares_init_options(
      &channel_, &how,
      ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB | ARES_OPT_LOOKUPS);
  if (status != ARES_SUCCESS) return Status::error(std::string("c-ares: ") + ares_strerror(status));
  if (!options_.servers.empty()) {
    const int set = ares_set_servers_ports_csv(channel_, options_.servers.c_str());
    if (set != ARES_SUCCESS) {
      return Status::error("name servers \"" + options_.servers + "\": " + ares_strerror(set));
    }
  }
  readHosts();
  return {};
}

// "address name name ...  # comment", as far as it can be read.
void Resolver::readHosts() {
  std::ifstream file;
  if (!options_.hosts_path.empty()) file.open(options_.hosts_path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    words >> word;
    const PeerAddr address = PeerAddr::parse(word);
    if (address.family == 0) continue;
    while (words >> word) {
      const std::string name = canonicalName(word);
      if (!name.empty()) hosts_[name].addresses.push_back(address);
    }
  }
  // RFC 6761 section 6.3: whatever the file says or leaves out, this is never asked for.
  Resolution& local = hosts_["localhost"];
  if (local.addresses.empty()) local.addresses = {PeerAddr::parse("127.0.0.1"), PeerAddr::parse("::1")};
}

Resolver::~Resolver() {
  stopping_ = true;
  loop_.cancel(*this);
  if (channel_ != nullptr) ares_destroy(channel_);
  for (auto& [name, entry] : entries_) {
    entry.resolution = {ResolveError::kStopped, {}};
    tell(entry);
  }
}

const Resolution* Resolver::find(std::string_view name) noexcept {
  const PeerAddr literal = literalAddress(name);
  if (literal.family != 0) {
    literal_ = {ResolveError::kNone, {literal}};
    return &literal_;
  }
  const std::string key = canonicalName(name);
  if (key.empty()) {
    literal_ = {ResolveError::kBadName, {}};
    return &literal_;
  }
  const auto host = hosts_.find(key);
  if (host != hosts_.end()) return &host->second;
  if (isLocalhost(key)) return &hosts_.find("localhost")->second;
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.asked || found->second.answered ||
      found->second.expires_ns <= loop_.nowNs()) {
    return nullptr;
  }
  ++stats_.hits;
  return &found->second.resolution;
}

// Lets what has expired go, or else what will expire first; names that are being asked for stay.
void Resolver::makeRoom() noexcept {
  if (entries_.size() < options_.max_names) return;
  auto first = entries_.end();
  for (auto it = entries_.begin(); it != entries_.end();) {
    Entry& entry = it->second;
    const bool busy = entry.asked || entry.answered || entry.waiters.linked();
    if (!busy && entry.expires_ns <= loop_.nowNs()) {
      it = entries_.erase(it);
      continue;
    }
    if (!busy && (first == entries_.end() || entry.expires_ns < first->second.expires_ns)) first = it;
    ++it;
  }
  if (entries_.size() >= options_.max_names && first != entries_.end()) entries_.erase(first);
}

void Resolver::resolve(std::string_view name, ResolveListener& listener) {
  const std::string key = canonicalName(name);
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    makeRoom();
    found = entries_.try_emplace(key).first;
    found->second.owner = this;
  }
  Entry& entry = found->second;
  entry.waiters.insertBefore(listener);
  if (entry.asked || entry.answered) {
    ++stats_.joined;
    return;
  }
  if (stopping_ || asked_ >= options_.max_queries) {
    entry.resolution = {stopping_ ? ResolveError::kStopped : ResolveError::kOverload, {}};
    entry.expires_ns = 0;
    entry.answered = true;
    answered_.push_back(&entry);
    if (!stopping_) loop_.armAt(*this, loop_.nowNs());
    return;
  }
  ++stats_.queries;
  ++asked_;
  entry.asked = true;
  ares_addrinfo_hints hints{};
  hints.ai_flags = ARES_AI_NOSORT;  // sorting would try the addresses out with sockets
  hints.ai_family = AF_UNSPEC;
  ares_getaddrinfo(channel_, key.c_str(), nullptr, &hints, &Resolver::onAnswer, &entry);
  armTimer();
}

void Resolver::onAnswer(void* entry, int status, int, ares_addrinfo* info) {
  auto& asked = *static_cast<Entry*>(entry);
  asked.owner->take(asked, status, info);
  if (info != nullptr) ares_freeaddrinfo(info);
}

void Resolver::take(Entry& entry, int status, const ares_addrinfo* info) {
  --asked_;
  entry.asked = false;
  entry.answered = true;
  answered_.push_back(&entry);
  std::vector<PeerAddr> v4;
  std::vector<PeerAddr> v6;
  int64_t ttl_s = options_.max_ttl_s;
  if (status == ARES_SUCCESS && info != nullptr) {
    for (const ares_addrinfo_node* node = info->nodes; node != nullptr; node = node->ai_next) {
      const PeerAddr address = PeerAddr::from(node->ai_addr, node->ai_addrlen);
      if (address.family == AF_INET) v4.push_back(address);
      if (address.family == AF_INET6) v6.push_back(address);
      ttl_s = std::min<int64_t>(ttl_s, node->ai_ttl);
    }
    for (const ares_addrinfo_cname* alias = info->cnames; alias != nullptr; alias = alias->next) {
      ttl_s = std::min<int64_t>(ttl_s, alias->ttl);
    }
  }
  Resolution& resolution = entry.resolution;
  resolution = {errorOf(status), inTurns(v6, v4)};
  if (resolution.error == ResolveError::kNone && resolution.addresses.empty()) {
    resolution.error = ResolveError::kNoName;
  }
  if (resolution.error == ResolveError::kNone) {
    ttl_s = std::max<int64_t>(ttl_s, options_.min_ttl_s);
  } else {
    ++stats_.failures;
    ttl_s = resolution.error == ResolveError::kNoName ? options_.no_name_ttl_s : options_.failure_ttl_s;
  }
  entry.expires_ns = loop_.nowNs() + ttl_s * kNsPerSecond;
}

// c-ares has opened a socket, waits for something else on it, or is about to close it.
void Resolver::onSocketState(void* self, int fd, int readable, int writable) {
  static_cast<Resolver*>(self)->watch(fd, readable != 0, writable != 0);
}

void Resolver::watch(int fd, bool readable, bool writable) noexcept {
  auto found = sockets_.find(fd);
  if (!readable && !writable) {
    if (found == sockets_.end()) return;
    if (found->second->in_poller) loop_.remove(fd);
    found->second->disown();
    loop_.destroyLater(std::unique_ptr<event::Task>(found->second.release()));
    sockets_.erase(found);
    return;
  }
  if (found == sockets_.end()) found = sockets_.emplace(fd, std::make_unique<Socket>(*this, fd)).first;
  const uint32_t events = (readable ? uint32_t{EPOLLIN} : 0U) | (writable ? uint32_t{EPOLLOUT} : 0U);
  Socket& socket = *found->second;
  const Status status = socket.in_poller ? loop_.modify(fd, events, socket) : loop_.add(fd, events, socket);
  socket.in_poller = socket.in_poller || status.ok();  // without it the query ends by its timeout
}

void Resolver::process(int readable_fd, int writable_fd) noexcept {
  ares_process_fd(channel_, readable_fd, writable_fd);
  tell();
  armTimer();
}

// Tells those who wait. What they do may have further names asked for, and even answered.
void Resolver::tell() noexcept {
  while (!answered_.empty()) {
    Entry& entry = *answered_.back();
    answered_.pop_back();
    entry.answered = false;
    tell(entry);
  }
}

// The entry may be gone when the first of them has been told.
void Resolver::tell(Entry& entry) noexcept {
  ListHook waiters;
  while (entry.waiters.linked()) {
    ListHook& waiter = *entry.waiters.next;
    waiter.unlink();
    waiters.insertBefore(waiter);
  }
  const Resolution resolution = entry.resolution;
  while (waiters.linked()) {
    auto& listener = static_cast<ResolveListener&>(*waiters.next);
    listener.unlink();
    listener.onResolved(resolution);
  }
}

void Resolver::armTimer() noexcept {
  if (!answered_.empty()) {
    loop_.armAt(*this, loop_.nowNs());
    return;
  }
  timeval left{};
  if (ares_timeout(channel_, nullptr, &left) == nullptr) {
    loop_.cancel(*this);
    return;
  }
  // A little late, so that it has passed by the clock of c-ares as well.
  loop_.armIn(*this, std::chrono::seconds(left.tv_sec) + std::chrono::microseconds(left.tv_usec + 1000));
}

void Resolver::onTimer() noexcept {
  process(ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

}  // namespace roost::net
