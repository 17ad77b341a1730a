#include "server/builtin_modules.h"

#ifdef ROOST_HAS_ACCESS
#include "modules/access/access.h"
#endif
#ifdef ROOST_HAS_ACCESS_LOG
#include "modules/access_log/access_log.h"
#endif
#ifdef ROOST_HAS_BASIC_AUTH
#include "modules/basic_auth/basic_auth.h"
#endif
#ifdef ROOST_HAS_CACHE_CONTROL
#include "modules/cache_control/cache_control.h"
#endif
#ifdef ROOST_HAS_COMPRESS
#include "modules/compress/compress.h"
#endif
#ifdef ROOST_HAS_CONNECTION_LIMIT
#include "modules/connection_limit/connection_limit.h"
#endif
#ifdef ROOST_HAS_CORS
#include "modules/cors/cors.h"
#endif
#ifdef ROOST_HAS_EARLY_HINTS
#include "modules/early_hints/early_hints.h"
#endif
#ifdef ROOST_HAS_ERROR_PAGES
#include "modules/error_pages/error_pages.h"
#endif
#ifdef ROOST_HAS_HEADERS
#include "modules/headers/headers.h"
#endif
#ifdef ROOST_HAS_HOLD
#include "modules/hold/hold.h"
#endif
#ifdef ROOST_HAS_METRICS_PAGE
#include "modules/metrics_page/metrics_page.h"
#endif
#ifdef ROOST_HAS_MYSQL
#include "modules/mysql/mysql.h"
#endif
#ifdef ROOST_HAS_PUSH
#include "modules/push/push.h"
#endif
#ifdef ROOST_HAS_RATE_LIMIT
#include "modules/rate_limit/rate_limit.h"
#endif
#ifdef ROOST_HAS_REDIRECT
#include "modules/redirect/redirect.h"
#endif
#ifdef ROOST_HAS_RESPOND
#include "modules/respond/respond.h"
#endif
#ifdef ROOST_HAS_REWRITE
#include "modules/rewrite/rewrite.h"
#endif
#ifdef ROOST_HAS_SECURITY_HEADERS
#include "modules/security_headers/security_headers.h"
#endif
#ifdef ROOST_HAS_STATIC_FILES
#include "modules/static_files/static_files.h"
#endif
#ifdef ROOST_HAS_TCP_ECHO
#include "modules/tcp_echo/tcp_echo.h"
#endif
#ifdef ROOST_HAS_WS_ECHO
#include "modules/ws_echo/ws_echo.h"
#endif

namespace roost::server {

// The one list. Its order is the one in which filters see requests and answers' heads. A module that can be
// left out of a build has a ROOST_HAS_ definition from src/modules/CMakeLists.txt.
std::vector<std::unique_ptr<module::Module>> makeBuiltinModules() {
  std::vector<std::unique_ptr<module::Module>> modules;
#ifdef ROOST_HAS_ACCESS_LOG
  modules.push_back(modules::access_log::makeAccessLog());
#endif
#ifdef ROOST_HAS_ERROR_PAGES
  modules.push_back(modules::error_pages::makeErrorPages());
#endif
#ifdef ROOST_HAS_REWRITE
  modules.push_back(modules::rewrite::makeRewrite());
#endif
#ifdef ROOST_HAS_RATE_LIMIT
  modules.push_back(modules::rate_limit::makeRateLimit());
#endif
#ifdef ROOST_HAS_CONNECTION_LIMIT
  modules.push_back(modules::connection_limit::makeConnectionLimit());
#endif
#ifdef ROOST_HAS_ACCESS
  modules.push_back(modules::access::makeAccess());
#endif
#ifdef ROOST_HAS_CORS
  modules.push_back(modules::cors::makeCors());
#endif
#ifdef ROOST_HAS_BASIC_AUTH
  modules.push_back(modules::basic_auth::makeBasicAuth());
#endif
#ifdef ROOST_HAS_EARLY_HINTS
  modules.push_back(modules::early_hints::makeEarlyHints());
#endif
#ifdef ROOST_HAS_STATIC_FILES
  modules.push_back(modules::static_files::makeStaticFiles());
#endif
#ifdef ROOST_HAS_REDIRECT
  modules.push_back(modules::redirect::makeRedirect());
#endif
#ifdef ROOST_HAS_RESPOND
  modules.push_back(modules::respond::makeRespond());
#endif
#ifdef ROOST_HAS_HOLD
  modules.push_back(modules::hold::makeHold());
#endif
#ifdef ROOST_HAS_WS_ECHO
  modules.push_back(modules::ws_echo::makeWsEcho());
#endif
#ifdef ROOST_HAS_METRICS_PAGE
  modules.push_back(modules::metrics_page::makeMetricsPage());
#endif
#ifdef ROOST_HAS_MYSQL
  for (auto& module : modules::mysql::makeMysql()) modules.push_back(std::move(module));
#endif
#ifdef ROOST_HAS_PUSH
  for (auto& module : modules::push::makePush()) modules.push_back(std::move(module));
#endif
#ifdef ROOST_HAS_COMPRESS
  modules.push_back(modules::compress::makeCompress());
#endif
#ifdef ROOST_HAS_CACHE_CONTROL
  modules.push_back(modules::cache_control::makeCacheControl());
#endif
#ifdef ROOST_HAS_SECURITY_HEADERS
  modules.push_back(modules::security_headers::makeSecurityHeaders());
#endif
#ifdef ROOST_HAS_HEADERS
  modules.push_back(modules::headers::makeHeaders());
#endif
  // Those that speak on listeners of their own.
#ifdef ROOST_HAS_TCP_ECHO
  modules.push_back(modules::tcp_echo::makeTcpEcho());
#endif
  return modules;
}

}  // namespace roost::server
