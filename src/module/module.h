#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "config/node.h"
#include "config/schema.h"
#include "http/compression.h"
#include "http/handler.h"
#include "http/loop_context.h"
#include "http/router.h"
#include "net/session.h"

namespace roost::db {
class Database;
}
namespace roost::metrics {
class Registry;
}
namespace roost::push {
class Hub;
}

namespace roost::module {

// What a module may know of the server when it starts: once per process, before any loop runs.
struct StartContext {
  Sys& sys;
  size_t loop_count;
  config::Node config;  // the root of the effective configuration
  // All outlive every loop. The hub is there where a module uses it (Module::usesPush), else nullptr; so is
  // the database (Module::usesDatabase).
  metrics::Registry* metrics = nullptr;
  push::Hub* hub = nullptr;
  db::Database* database = nullptr;
  bool gave_up_root = false;  // the process was started by root and is another user now
};

// What surrounds the route that a module is asked to build.
struct RouteContext {
  std::string_view path;  // the route's own or its expression; empty where the key stands above routes
  config::Node root;      // of the effective configuration
  config::Node site;      // the site's object; none where the key stands in `http`
  std::string_view server_header;  // the Server field's value, empty for none
  bool is_regex = false;
  // What parts of the path a Template may use ("/user/{id}", groups of an expression).
  std::vector<std::string> param_names = {};

  // Whether `path` is the path of a request, or what it begins with, as it stands.
  bool isLiteral() const noexcept { return !is_regex && param_names.empty(); }
};

// What a module makes of its key. Where the key stands above routes, in a site or in `http`, it is built once
// and what it made is shared by all routes below that do not have the key themselves.
struct RouteParts {
  std::unique_ptr<const http::Handler> handler;  // nullptr for a module that only filters
  std::vector<std::shared_ptr<const http::RequestFilter>> request_filters;
  std::vector<std::shared_ptr<const http::HeadFilter>> head_filters;
  std::vector<std::shared_ptr<const http::ResponseFilter>> response_filters;
  std::vector<std::shared_ptr<const http::ExchangeObserver>> observers;
  std::shared_ptr<const http::Compression> compression;
  std::shared_ptr<const http::OriginSet> cors;  // Route::cors
  std::map<int, http::ErrorPage> error_pages;   // Route::error_pages
};

// One loop's share of a ListenerService. Made on the loop's thread before it takes its first connection, and
// destroyed there when the last is gone.
class LoopListener {
 public:
  virtual ~LoopListener() = default;
  // Gives the listener's connections on this loop their sessions; lives as long as this.
  virtual net::SessionFactory& sessions() noexcept = 0;
};

// Who speaks on a listener in HTTP's place: an echo, a relay. Immutable; owned by the server, outlives its
// loops.
class ListenerService {
 public:
  virtual ~ListenerService() = default;
  // On each loop's own thread, after the modules' onLoopStart; what it returns is destroyed before their
  // onLoopStop. Loops start one after the other.
  virtual std::unique_ptr<LoopListener> open(http::LoopContext& context) const = 0;
};

// What surrounds the listener that a module is asked to build.
struct ListenerContext {
  config::Node root;      // of the effective configuration
  config::Node listener;  // the entry of `listen`
};

// Something that can be plugged into routes (static files, push, a proxy) or into listeners (a relay). One
// object per process, owned by the Registry; it outlives every loop and every Service built with it. Modules
// never know each other.
class Module {
 public:
  virtual ~Module() = default;

  // The key that asks for this module, where it stands, its JSON Schema, and whether it answers requests.
  virtual config::SchemaFragment schema() const noexcept = 0;

  // Whether anything it has built publishes or subscribes: without any such module there is no hub.
  virtual bool usesPush() const noexcept { return false; }
  // Whether anything it has built asks the database: without any such module there is none, and where
  // `mysql.mysql_started` is off such a configuration is refused.
  virtual bool usesDatabase() const noexcept { return false; }

  // Main thread, once, before the loops run.
  virtual Status start(const StartContext& context) = 0;
  // Main thread, for each time the key stands in a configuration, at every load of one. `options` is the
  // value of the module's key, never null. An error's position is `options` (config::errorAt). A module
  // overrides the one of the two that its key is for (SchemaFragment::is_listener).
  virtual Result<RouteParts> build(config::Node options, const RouteContext& context);
  virtual Result<std::unique_ptr<ListenerService>> buildListener(config::Node options,
                                                                 const ListenerContext& context);
  // On each loop's own thread, before it takes its first connection and after its last is gone.
  virtual void onLoopStart(http::LoopContext&) noexcept {}
  virtual void onLoopStop(http::LoopContext&) noexcept {}
  // Main thread, while the loops run: SIGHUP asks to look again at what lies outside of the configuration.
  virtual void onReload() noexcept {}
  // Main thread, after the loops have ended.
  virtual void stop() noexcept {}
};

}  // namespace roost::module
