#include "config/foreign_words.h"

#include <fmt/format.h>

namespace roost::config {
namespace {

struct Word {
  std::string_view theirs;
  std::string_view ours;
};

constexpr std::string_view kNoProxy =
    "this server forwards no requests to others; let a proxy do that in front of it";
constexpr std::string_view kNoTls = "this server does not speak TLS yet; let a proxy in front of it do that";
constexpr std::string_view kNothing = "there is nothing to write: it is always so";

constexpr Word kWords[] = {
    // nginx
    {"server", "write an entry of http.sites, and one of listen"},
    {"servers", "write entries of http.sites, and of listen"},
    {"events", "worker_processes and worker_connections stand in the outermost object"},
    {"server_name", "write \"host\" in an entry of http.sites"},
    {"location", "write an entry of \"routes\" with \"path\" in it"},
    {"locations", "write entries of \"routes\" with \"path\" in them"},
    {"autoindex", "write \"listing\" in \"static\""},
    {"proxy_pass", kNoProxy},
    {"proxy_set_header", kNoProxy},
    {"upstream", kNoProxy},
    {"fastcgi_pass", kNoProxy},
    {"uwsgi_pass", kNoProxy},
    {"grpc_pass", kNoProxy},
    {"gzip_static", "write \"precompressed\" in \"static\""},
    {"brotli_static", "write \"precompressed\" in \"static\""},
    {"gzip_types", "write \"types\" in \"compress\""},
    {"gzip_min_length", "write \"min_bytes\" in \"compress\""},
    {"gzip_comp_level", "write \"levels\" in \"compress\""},
    {"brotli", "write \"compress\""},
    {"error_log", "write \"log\" in the outermost object"},
    {"log_format", "write \"format\" in \"access_log\""},
    {"client_max_body_size", "write http.max_body_size"},
    {"client_header_timeout", "write http.head_timeout_ms"},
    {"client_body_timeout", "write http.body_timeout_ms"},
    {"keepalive_timeout", "write http.keep_alive_timeout_ms"},
    {"keepalive_requests", "write http.max_requests_per_connection"},
    {"send_timeout", "write http.send_timeout_ms"},
    {"lingering_timeout", "write http.linger_timeout_ms"},
    {"large_client_header_buffers", "write http.max_head_size_bytes"},
    {"client_header_buffer_size", "write http.max_head_size_bytes"},
    {"add_header", "write \"headers\": {\"set\": {...}}"},
    {"more_set_headers", "write \"headers\": {\"set\": {...}}"},
    {"limit_req", "write \"rate_limit\""},
    {"limit_req_zone", "write \"rate_limit\""},
    {"limit_conn", "write \"connection_limit\""},
    {"limit_conn_zone", "write \"connection_limit\""},
    {"auth_basic", "write \"basic_auth\""},
    {"auth_basic_user_file", "write \"users_file\" in \"basic_auth\""},
    {"return", "write \"redirect\" for another address, \"respond\" for anything else"},
    {"error_page", "write \"error_pages\""},
    {"server_tokens", "write http.server_header; \"\" sends none"},
    {"set_real_ip_from", "write \"trusted_proxies\" in http.client_address"},
    {"real_ip_header", "write \"header\" in http.client_address"},
    {"default_type", "write http.mime_types"},
    {"open_file_cache", "write http.file_cache"},
    {"pid", "write \"pid_file\""},
    {"stub_status", "write \"metrics\""},
    {"worker_cpu_affinity", "write \"cpu_affinity\""},
    {"worker_rlimit_nofile", "the server raises its limit as far as the system lets it (ulimit -Hn)"},
    {"sendfile", kNothing},
    {"tcp_nopush", kNothing},
    {"daemon", "the server stays in the foreground; let systemd or the like start it"},
    {"ssl", kNoTls},
    {"ssl_certificate", kNoTls},
    {"ssl_certificate_key", kNoTls},
    // Caddy
    {"apps", "this is Caddy's JSON, which this server does not read; write http.sites"},
    {"file_server", "write \"static\""},
    {"browse", "write \"listing\" in \"static\""},
    {"reverse_proxy", kNoProxy},
    {"php_fastcgi", kNoProxy},
    {"encode", "write \"compress\""},
    {"handle", "write an entry of \"routes\" with \"path\" in it"},
    {"handle_path", "write an entry of \"routes\" with \"path\" in it, and \"alias\" in its \"static\""},
    {"handle_errors", "write \"error_pages\""},
    {"header", "write \"headers\": {\"set\": {...}}"},
    {"redir", "write \"redirect\""},
    {"uri", "write \"rewrite\""},
    {"basicauth", "write \"basic_auth\""},
    {"basic_authentication", "write \"basic_auth\""},
    {"tls", kNoTls},
    {"bind", "write \"address\" in an entry of listen"},
    {"import", "write \"include\""},
    {"request_body", "write http.max_body_size"},
};

}  // namespace

std::string foreignHint(std::string_view key) {
  for (const Word& word : kWords) {
    if (word.theirs == key) return fmt::format(": {}", word.ours);
  }
  return {};
}

}  // namespace roost::config
