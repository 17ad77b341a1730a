// What the parsers are measured with: the shortest request a client sends, a browser's, and a server's
// answer.
#pragma once

#include <string_view>

namespace roost::bench {

constexpr std::string_view kShortRequest =
    "GET / HTTP/1.1\r\n"
    "Host: 127.0.0.1:4507\r\n"
    "\r\n";
static_assert(kShortRequest.size() == 40);

constexpr std::string_view kBrowserRequest =
    "GET /assets/app-3f9d2c.js?v=20240611 HTTP/1.1\r\n"
    "Host: www.example.org\r\n"
    "Connection: keep-alive\r\n"
    "Cache-Control: max-age=0\r\n"
    "sec-ch-ua-mobile: ?0\r\n"
    "Upgrade-Insecure-Requests: 1\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 "
    "Safari/537.36\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n"
    "Sec-Fetch-Site: same-origin\r\n"
    "Sec-Fetch-Mode: navigate\r\n"
    "Sec-Fetch-Dest: document\r\n"
    "Referer: https://www.example.org/welcome/index.html\r\n"
    "Accept-Encoding: gzip, deflate, br, zstd\r\n"
    "Accept-Language: en-GB,en;q=0.9,de;q=0.8\r\n"
    "Cookie: session=8f14e45fceea167a5a36dedd4bea2543; theme=dark; seen=1718\r\n"
    "\r\n";
static_assert(kBrowserRequest.size() >= 650 && kBrowserRequest.size() <= 720);

constexpr std::string_view kResponse =
    "HTTP/1.1 200 OK\r\n"
    "Server: roost\r\n"
    "Date: Fri, 20 Nov 2026 17:25:00 GMT\r\n"
    "Content-Type: text/plain; charset=utf-8\r\n"
    "Content-Length: 13\r\n"
    "Connection: keep-alive\r\n"
    "\r\n";
static_assert(kResponse.size() >= 140 && kResponse.size() <= 160);

}  // namespace roost::bench
