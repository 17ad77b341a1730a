"""Routes, redirects, rewrites, fixed answers and error pages: a configuration and what each request to it must give.

    ("host", "METHOD target" or bytes, status, body or None, {"Field": value or None where it must be absent})

A body of bytes is compared whole, a str is looked for. All cases of a host go over one connection.
"""

EVIL = "//evil.example/"

SITES = [
    {"host": ["routes"], "routes": [
        {"path": "/", "respond": {"body": "root"}},
        {"path": "/about", "respond": {"body": "about"}},
        {"path": "/docs/", "respond": {"body": "docs"}},
        {"path": "/docs/{page}", "respond": {"body": "page {page}"}},
        {"path": "/docs/index", "respond": {"body": "index"}},
        {"path": "/docs/v{n}.html", "respond": {"body": "version {n}"}},
        {"path": "/user/{id}/posts", "respond": {"body": "posts of {id}"}},
        {"path": "/user/{id}/posts/{post}", "respond": {"body": "post {post} of {id}"}},
        {"path": "/user/me/posts", "respond": {"body": "mine"}},
        {"path": "/u/{id}/", "respond": {"body": "below {id}"}},
        {"path": "/files/{rest...}", "respond": {"body": "[{rest}]"}},
        {"path": "/{{x}}", "respond": {"body": "braces"}},
        {"path": "/a/{x}/c", "respond": {"body": "a-c {x}"}},
        {"path": "/{y}/b/d", "respond": {"body": "b-d {y}"}},
        {"regex": "^/old/(?P<year>[0-9]{4})/([^/]+)$", "respond": {"body": "{year} {2}"}},
        {"regex": "\\.php$", "respond": {"status": 410}},
        {"regex": "^/docs/.*\\.pdf$", "respond": {"body": "pdf"}},
        {"path": "/index.php", "respond": {"body": "exact"}},
    ]},
    {"host": ["moved"], "routes": [
        {"path": "/", "redirect": {"to": "https://{host}{target}", "status": 301}},
        {"path": "/found", "redirect": {"to": "/here"}},
        {"path": "/other", "redirect": {"to": "http://example.org/x", "status": 303}},
        {"path": "/temporary", "redirect": {"to": "/x", "status": 307}},
        {"path": "/for-good", "redirect": {"to": "/x", "status": 308}},
        {"path": "/old/{rest...}", "redirect": {"to": "/new/{rest}", "keep_query": "on"}},
        {"path": "/add", "redirect": {"to": "/x?a=1#top", "keep_query": "on"}},
        {"path": "/open/{rest...}", "redirect": {"to": "{rest}"}},
        {"path": "/path/", "redirect": {"to": "{path}"}},
        {"path": "/target/", "redirect": {"to": "{target}"}},
        {"path": "/query", "redirect": {"to": "{query.to}"}},
        {"path": "/slash/{rest...}", "redirect": {"to": "/{rest}"}},
        {"path": "/sub/{name}", "redirect": {"to": "https://{name}.example.org/"}},
        {"path": "/find/{what}", "redirect": {"to": "/search?q={what}"}},
        {"path": "/to-host/", "redirect": {"to": "https://{host}/"}},
        {"regex": "^/r/(.*)$", "redirect": {"to": "/{1}"}},
    ]},
    {"host": ["answers"], "routes": [
        {"path": "/plain", "respond": {"body": "plain\n"}},
        {"path": "/empty", "respond": {}},
        {"path": "/nothing", "respond": {"status": 204}},
        {"path": "/reset", "respond": {"status": 205}},
        {"path": "/created", "respond": {"status": 201, "body": ""}},
        {"path": "/js", "respond": {"content_type": "text/javascript", "body": "let p = '{query.p}';"}},
        {"path": "/json", "respond": {"content_type": "application/json", "body": "{{\"p\": \"{query.p}\"}}"}},
        {"path": "/html", "respond": {"content_type": "text/html", "body": "<p title='{query.p}'>"}},
        {"path": "/text/{x}", "respond": {"body": "{method} {host} {path} {x} {query} {header.X-A} {cookie.c} {scheme}"}},
        {"path": "/gone", "respond": {"status": 410}},
        {"path": "/gone-text", "respond": {"status": 410, "body": "all gone"}},
        {"path": "/teapot", "respond": {"status": 418}},
        {"path": "/many/", "respond": {"body": "x" * 100000}},
    ]},
    {"host": ["rewritten"], "rewrite": [{"match": "^/site/(.*)$", "to": "/show/{1}"},
                                        {"match": "^/(again/.*)$", "to": "/again/{1}"}],
     "routes": [
        {"path": "/show/{rest...}", "respond": {"body": "show {rest} ?{query}"}},
        {"path": "/again/{rest...}", "respond": {"body": "again {rest}"}},
        {"path": "/blog/", "rewrite": [
            {"match": "^/blog/(?P<year>[0-9]+)/(?P<slug>[^/]+)$", "to": "/show/{year}-{slug}.html"},
            {"match": "^/blog/up/(.*)$", "to": "/show/{1}"},
            {"match": "^/blog/q/([^/]*)$", "to": "/show/q", "query": "id={1}&{query}"},
            {"match": "^/blog/none$", "to": "/show/none", "query": ""},
            {"match": "^/blog/arg$", "to": "/show/{query.p}"},
            {"match": "^/blog/cookie$", "to": "{header.X-Path}"}], "respond": {"body": "blog {path}"}},
        {"path": "/steps/", "rewrite": [
            {"match": "^/steps/(.*)$", "to": "/s/{1}", "last": "off"},
            {"match": "/x$", "to": "/show/three", "last": "off"},
            {"match": "^/s/(.*)$", "to": "/show/two-{1}"}], "respond": {"body": "steps"}},
        {"path": "/loop/", "rewrite": [{"match": "^/loop/(.*)$", "to": "/loop/x{1}"}], "respond": {"body": "never"}},
        {"path": "/ping", "rewrite": [{"match": "ping", "to": "/pong"}], "respond": {"body": "never"}},
        {"path": "/pong", "rewrite": [{"match": "pong", "to": "/ping"}], "respond": {"body": "never"}},
        {"path": "/same/", "rewrite": [{"match": "^(.*)$", "to": "{1}"}], "respond": {"body": "same"}},
        {"path": "/plain/", "rewrite": None, "respond": {"body": "plain {path}"}},
        {"path": "/file/", "rewrite": [{"match": "^/file/(.*)$", "to": "/static/{1}"}], "respond": {"body": "never"}},
        {"path": "/static/", "static": {"alias": "html/static"}},
    ]},
    {"host": ["errors"], "error_pages": {"404": "/e/404.html", "5xx": "/e/5xx", "405": "/e/405.html", "416": "/e/416.html",
                                         "410": "/e/missing.html", "403": {"path": "/e/login", "status": 200},
                                         "429": "/e/large.bin"},
     "routes": [
        {"path": "/e/", "static": {"alias": "html/e", "cache_control": "max-age=60"}},
        {"path": "/e/5xx", "respond": {"body": "sorry for {path}"}},
        {"path": "/e/login", "respond": {"body": "please log in"}},
        {"path": "/static/", "static": {"alias": "html/static"}},
        {"path": "/500", "respond": {"status": 500}},
        {"path": "/502", "respond": {"status": 502}},
        {"path": "/403", "respond": {"status": 403}},
        {"path": "/410", "respond": {"status": 410}},
        {"path": "/429", "respond": {"status": 429}},
        {"path": "/418", "respond": {"status": 418}},
        {"path": "/404-text", "respond": {"status": 404, "body": "own text"}},
        {"path": "/own/", "error_pages": {"404": "/e/own.html"}, "static": {"alias": "html/static"}},
        {"path": "/built-in/", "error_pages": None, "static": {"alias": "html/static"}},
    ]},
    {"host": ["spa"], "error_pages": {"404": {"path": "/index.html", "status": 200}},
     "routes": [{"path": "/", "static": {"root": "html/spa"}}]},
    {"host": ["circle"], "error_pages": {"404": "/nowhere", "4xx": "/400", "500": "/500"},
     "routes": [{"path": "/400", "respond": {"status": 400}}, {"path": "/500", "respond": {"status": 500}}]},
]
LARGE = bytes(range(256)) * 2000
FILES = {
    "static/a.txt": b"a file\n", "static/b c/%41.txt": b"odd name\n",
    "e/404.html": b"<h1>lost</h1>", "e/405.html": b"<h1>not so</h1>", "e/416.html": b"<h1>too far</h1>",
    "e/own.html": b"<h1>own</h1>", "e/large.bin": LARGE, "spa/index.html": b"<app>", "spa/app.js": b"run()",
}

ROUTES = [("routes", f"GET {target}", 200, body, {}) for target, body in (
    ("/", b"root"), ("/about", b"about"), ("/about/", b"root"), ("/docs/", b"docs"), ("/docs", b"root"),
    ("/docs/x", b"page x"), ("/docs/index", b"index"), ("/docs/x/y", b"docs"), ("/docs/v2.html", b"version 2"),
    ("/docs/v.html", b"page v.html"), ("/docs/v2.htm", b"page v2.htm"), ("/docs/%7Bx%7D", b"page {x}"),
    ("/user/5/posts", b"posts of 5"), ("/user/me/posts", b"mine"), ("/user/me/posts/3", b"post 3 of me"),
    ("/user/5/posts/", b"root"), ("/user//posts", b"root"), ("/user/%35/posts", b"posts of 5"),
    ("/user/a%20b/posts", b"posts of a b"), ("/user/x/../5/posts", b"posts of 5"), ("/u/5/", b"below 5"),
    ("/u/5/a/b", b"below 5"), ("/u/5", b"root"), ("/u/", b"root"), ("/files/", b"[]"), ("/files/a/b", b"[a/b]"),
    ("/files", b"root"), ("/%7bx%7d", b"braces"), ("/{x}", b"braces"), ("/a/1/c", b"a-c 1"), ("/a/b/d", b"b-d a"), ("/a/b/c", b"a-c b"),
    ("/old/2026/x", b"2026 x"), ("/old/26/x", b"root"), ("/old/2026/x/y", b"root"), ("/docs/a.pdf", b"pdf"),
    ("/docs/a/b.pdf", b"pdf"), ("/index.php", b"exact"), ("/files/x.phps", b"[x.phps]"))] + [
    ("routes", "GET /x.php", 410, "410", {}), ("routes", "GET /docs/x.php", 410, "410", {}),
    ("routes", "GET /about?x=/docs/", 200, b"about", {}), ("routes", "POST /about", 200, b"about", {}),
    ("routes", "GET /files/%ff%fe", 200, b"[\xff\xfe]", {}), ("routes", "GET /x%2f.php", 400, None, {}),
]


def to(target, location, status=302, host="moved"):
    return (host, f"GET {target}", status, str(status), {"Location": location, "Content-Type": "text/html; charset=utf-8"})


REDIRECTS = [
    to("/a?b=c", "https://moved/a?b=c", 301), to("/%2e/a%20b//c", "https://moved/%2e/a%20b//c", 301),
    to("/\"<>\\^`{|}", "https://moved/%22%3C%3E%5C%5E%60%7B%7C%7D", 301),
    to("http://moved/a?b", "https://moved/a?b", 301),
    to("/found", "/here"), to("/found?x", "/here"), to("/other", "http://example.org/x", 303),
    to("/temporary", "/x", 307), to("/for-good", "/x", 308),
    to("/old/a/b?c=d", "/new/a/b?c=d"), to("/old/", "/new/"), to("/old/a%3Fb%23c%25", "/new/a%3Fb%23c%25"),
    to("/old/%C3%BC", "/new/%C3%BC"), to("/old/%ff", "/new/%FF"), to("/add?b=2", "/x?a=1&b=2#top"),
    to("/add", "/x?a=1#top"),
    to("/open/evil.example/x", "/evil.example/x"), to("/open/https:/evil.example", "/https:/evil.example"),
    to("/open/%5C%5Cevil.example", "/%5C%5Cevil.example"), to("//path//evil.example", "/path/evil.example"),
    to("//target//evil.example", "/target//evil.example"), to("/query?to=" + EVIL, "/evil.example/"),
    to("/query?to=https://evil.example/", "/https://evil.example/"), to("/query", "/"),
    to("/query?to=%09//evil.example", "/%09//evil.example"), to("/query?to=%0d%0aSet-Cookie:%20a=b", "/%0D%0ASet-Cookie:%20a=b"),
    to("/query?to=\\\\evil.example", "/%5C%5Cevil.example"),
    to("/slash/evil.example", "/evil.example"), to("/slash//evil.example", "/evil.example"),
    to("/r/evil.example", "/evil.example"),
    to("/sub/www", "https://www.example.org/"), to("/sub/evil.example%3F", "https://evil.example%3F.example.org/"),
    to("/sub/a@b:80%23", "https://a%40b%3A80%23.example.org/"), to("/find/a&b=c+d%25", "/search?q=a%26b%3Dc%2Bd%25"),
    ("moved", "HEAD /found", 302, b"", {"Location": "/here"}), ("moved", "POST /found", 302, None, {"Location": "/here"}),
    ("moved", "DELETE /temporary", 307, None, {"Location": "/x"}),
    ("moved", b"GET /to-host/ HTTP/1.0\r\nHost: moved\r\nConnection: keep-alive\r\n\r\n", 302, None,
     {"Location": "https://moved/"}),
    ("moved", b"GET /to-host/ HTTP/1.1\r\nHost: MOVED:8080\r\n\r\n", 302, None, {"Location": "https://MOVED/"}),
]

TEXT = {"Content-Type": "text/plain; charset=utf-8"}
ANSWERS = [
    ("answers", "GET /plain", 200, b"plain\n", {**TEXT, "Content-Length": "6", "ETag": None}),
    ("answers", "HEAD /plain", 200, b"", {**TEXT, "Content-Length": "6"}),
    ("answers", "POST /plain", 200, b"plain\n", TEXT), ("answers", "OPTIONS /plain", 200, b"plain\n", TEXT),
    ("answers", "GET /empty", 200, b"", {"Content-Length": "0", "Content-Type": None}),
    ("answers", "GET /nothing", 204, b"", {"Content-Type": None}), ("answers", "HEAD /nothing", 204, b"", {}),
    ("answers", "GET /reset", 205, b"", {"Content-Type": None}),
    ("answers", "GET /created", 201, b"", {**TEXT, "Content-Length": "0"}),
    ("answers", "GET /js?p=%27;alert(1);%27%60</script>", 200, b"let p = '\\u0027;alert(1);\\u0027\\u0060\\u003c/script>';",
     {"Content-Type": "text/javascript"}),
    ("answers", "GET /json?p=%22%5C%0a</script>", 200, b"{\"p\": \"\\\"\\\\\\u000a\\u003c/script>\"}",
     {"Content-Type": "application/json"}),
    ("answers", "GET /html?p='%3Cscript%3E%26%22", 200, b"<p title='&#39;&lt;script&gt;&amp;&quot;'>",
     {"Content-Type": "text/html"}),
    ("answers", b"GET /text/5%20x?a=1 HTTP/1.1\r\nHost: answers:80\r\nX-A: v\r\nCookie: b=2; c=3\r\n\r\n", 200,
     b"GET answers /text/5 x 5 x a=1 v 3 http", {}),
    ("answers", "HEAD /text/x", 200, b"", {"Content-Length": str(len("HEAD answers /text/x x    http"))}),
    ("answers", "GET /gone", 410, "410", {"Content-Type": "text/html; charset=utf-8"}),
    ("answers", "GET /gone-text", 410, b"all gone", TEXT), ("answers", "GET /teapot", 418, "418", {}),
    ("answers", "GET /many/", 200, b"x" * 100000, {}), ("answers", "GET /many/a", 200, b"x" * 100000, {}),
    ("answers", "HEAD /many/a", 200, b"", {"Content-Length": "100000"}), ("answers", "GET /other", 404, "404", {}),
]

REWRITES = [("rewritten", f"GET {target}", status, body, {}) for target, status, body in (
    ("/blog/2026/hello", 200, b"show 2026-hello.html ?"), ("/blog/2026/hello?a=b", 200, b"show 2026-hello.html ?a=b"),
    ("/blog/x", 200, b"blog /blog/x"), ("/blog/up/a//b/./c", 200, b"show a/b/c ?"),
    ("/blog/q/a%20b&c?x=1", 200, b"show q ?id=a%20b%26c&x=1"), ("/blog/none?x=1", 200, b"show none ?"),
    ("/blog/arg?p=x", 200, b"show x ?p=x"), ("/blog/arg?p=a/../b", 200, b"show b ?p=a/../b"),
    ("/blog/arg?p=../blog/z", 200, b"blog /blog/z"), ("/blog/arg?p=../../x", 400, "400"),
    ("/blog/arg?p=a%00b", 400, "400"), ("/blog/arg?p=%0a", 400, "400"), ("/blog/arg?p=%252e%252e/x", 200, b"show %2e%2e/x ?p=%252e%252e/x"),
    ("/blog/arg?p=%2e%2e/%2e%2e/%2e%2e/etc/passwd", 400, "400"),
    ("/site/a/b", 200, b"show a/b ?"), ("/again/x", 200, b"again again/x"), ("/steps/a", 200, b"show two-a ?"),
    ("/steps/x", 200, b"show three ?"), ("/loop/", 500, "500"), ("/ping", 500, "500"), ("/pong", 500, "500"),
    ("/same/x", 200, b"same"), ("/plain/site/x", 200, b"plain /plain/site/x"), ("/nowhere", 404, "404"),
    ("/file/a.txt", 200, b"a file\n"), ("/file/b%20c/%2541.txt", 200, b"odd name\n"), ("/file/none", 404, "404"))] + [
    ("rewritten", b"GET /blog/cookie HTTP/1.1\r\nHost: rewritten\r\nX-Path: /show/h\r\n\r\n", 200, b"show h ?", {}),
    ("rewritten", b"GET /blog/cookie HTTP/1.1\r\nHost: rewritten\r\nX-Path: show\r\n\r\n", 400, None, {}),
    ("rewritten", b"GET /blog/cookie HTTP/1.1\r\nHost: rewritten\r\n\r\n", 400, None, {}),
    ("rewritten", "HEAD /blog/2026/hello", 200, b"", {}), ("rewritten", "POST /site/a", 200, b"show a ?", {}),
]

PAGE = {"ETag": None, "Last-Modified": None, "Accept-Ranges": None, "Cache-Control": None}
HTML = {**PAGE, "Content-Type": "text/html; charset=utf-8"}
LOST = FILES["e/404.html"]


def with_fields(target, *lines, host="errors", method=b"GET", body=b""):
    return b"\r\n".join([method + b" " + target + b" HTTP/1.1", b"Host: " + host.encode(), *lines]) + b"\r\n\r\n" + body


ERRORS = [
    ("errors", "GET /none", 404, LOST, HTML), ("errors", "HEAD /none", 404, b"", {**HTML, "Content-Length": "13"}),
    ("errors", "POST /none", 404, LOST, HTML), ("errors", "GET /static/none", 404, LOST, HTML),
    ("errors", "GET /static/", 200, b"please log in", {}), ("errors", "GET /e/404.html", 200, LOST, {"Cache-Control": "max-age=60"}),
    ("errors", with_fields(b"/none", b"Content-Length: 5", method=b"POST", body=b"hello"), 404, LOST, HTML),
    ("errors", with_fields(b"/none", b"If-None-Match: *"), 404, LOST, HTML),
    ("errors", with_fields(b"/none", b"If-Modified-Since: Sun, 06 Nov 2044 08:49:37 GMT"), 404, LOST, HTML),
    ("errors", with_fields(b"/none", b"If-Match: \"x\""), 404, LOST, HTML),
    ("errors", with_fields(b"/none", b"Range: bytes=0-3"), 404, LOST, {**HTML, "Content-Range": None}),
    ("errors", with_fields(b"/static/a.txt", b"Range: bytes=99-"), 416, b"<h1>too far</h1>",
     {**HTML, "Content-Range": "bytes */7"}),
    ("errors", "DELETE /static/a.txt", 405, b"<h1>not so</h1>", {**HTML, "Allow": "GET, HEAD, OPTIONS"}),
    ("errors", "GET /500", 500, b"sorry for /e/5xx", {}), ("errors", "GET /502", 502, b"sorry for /e/5xx", {}),
    ("errors", "GET /403", 200, b"please log in", {}), ("errors", "GET /410", 410, "410", {}),
    ("errors", "GET /418", 418, "418", {}), ("errors", "GET /429", 429, LARGE, PAGE),
    ("errors", "HEAD /429", 429, b"", {"Content-Length": str(len(LARGE))}),
    ("errors", "GET /404-text", 404, b"own text", {}),
    ("errors", "GET /own/none", 404, b"<h1>own</h1>", HTML), ("errors", "GET /built-in/none", 404, "404", {}),
    ("errors", "GET /static/a.txt", 200, b"a file\n", {}),
    ("spa", "GET /deep/link", 200, b"<app>", {"Content-Type": "text/html; charset=utf-8"}),
    ("spa", "GET /app.js", 200, b"run()", {}), ("spa", "HEAD /deep/link", 200, b"", {"Content-Length": "5"}),
    ("spa", with_fields(b"/deep/link", b"Range: bytes=0-1", host="spa"), 200, b"<app>", {}),
    ("circle", "GET /x", 404, "404", {}), ("circle", "GET /400", 400, "400", {}), ("circle", "GET /500", 500, "500", {}),
]

CASES = ROUTES + REDIRECTS + ANSWERS + REWRITES + ERRORS
