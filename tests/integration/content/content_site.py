"""The files and routes of the server that the tests of this folder share: a route for each of the modules that shape answers."""

FILES = {
    "index.html": b"<title>home</title>\n",
    "a.txt": b"a text\n",
    "a.css": b"a{}\n",
    "a.js": b"1\n",
    "app.0123abcd.js": b"2\n",
    "jquery-3.6.0.min.js": b"3\n",
    "logo.svg": b"<svg/>\n",
    "big.bin": b"0123456789abcdef" * 8192,
    "404.html": b"<title>not here</title>\n",
    "docs/index.html": b"<title>docs</title>\n",
    "docs/intro.html": b"<title>intro</title>\n",
    "bare/x.txt": b"x\n",
    ".secret": b"no\n",
}

HEADERS = {
    "set": {"X-All": "yes", "X-Two": ["1", "2"], "X-Host": "{host}", "Cache-Control": "private", "X-Empty": ""},
    "append": {"Vary": "X-Thing"}, "remove": ["Accept-Ranges"],
    "rules": [{"status": [404], "set": {"X-Missing": "yes"}}, {"status": ["4xx", 304], "set": {"X-Class": "4"}},
              {"paths": ["*.css", "/h/docs/**"], "set": {"X-Path": "yes", "X-All": "rule"}},
              {"paths": ["*.js"], "set": {"Content-Type": "text/plain", "X-Host": "fixed"}}],
}
CACHE = [
    {"fingerprinted": True},
    {"types": ["text/html"], "value": "no-cache"},
    {"extensions": ["css", ".JS"], "max_age_s": 3600, "expires": True},
    {"types": ["image/*"], "max_age_s": 60, "immutable": True},
    {"paths": ["/c/big*"], "max_age_s": 5, "status": [200, 206, 404]},
    {"paths": ["**/missing"], "status": ["4xx"], "value": "max-age=1"},
]


def static(**more):
    return {"alias": "html/", **more}


ROUTES = [
    {"path": "/", "static": {}},
    {"path": "/h/", "static": static(), "headers": HEADERS},
    {"path": "/named/{one}/a.txt", "respond": {"status": 200, "body": "named"}, "headers": {"set": {"X-One": "<{one}> {{}}"}}},
    {"path": "/fixed/", "static": static(), "headers": {"set": {"X-Fixed": "1", "Content-Type": "text/x-odd"}}},
    {"path": "/c/", "static": static(), "cache_control": CACHE},
    {"path": "/own/", "static": static(cache_control="max-age=7"), "cache_control": "no-store"},
    {"path": "/over/", "static": static(cache_control="max-age=7"),
     "cache_control": [{"value": "no-store", "override": True}]},
    {"path": "/basic/", "static": static(), "security_headers": "basic"},
    {"path": "/strict/", "static": static(listing=True), "security_headers":
        {"preset": "strict", "frame_options": None, "referrer_policy": "same-origin", "hsts": {"max_age_s": 9}}},
    {"path": "/open/", "static": static(), "cors": {"origins": ["*"], "headers": ["*"], "expose": ["X-A", "X-B"]}},
    {"path": "/some/", "static": static(), "cors": {
        "origins": ["https://a.example", "https://*.b.example", "http://localhost:*", "null"], "credentials": "on",
        "methods": ["GET", "PUT"], "headers": ["Content-Type", "X-One"], "expose": ["X-A"], "max_age_s": 60,
        "private_network": "on"}},
    {"path": "/echo/", "static": static(), "cors": {
        "origins": ["https://a.example"], "credentials": "on", "methods": ["*"], "headers": ["*"]}},
    {"path": "/hints/", "static": static(), "early_hints": {
        "link": ["</a.css>; rel=preload; as=style", "<https://cdn.example>; rel=preconnect"], "paths": ["/hints/", "*.html", "*.bin"]}},
    {"path": "/always/", "static": static(), "early_hints": {"link": ["</a.css>; rel=preload"], "when": "always"}},
    {"path": "/spa/", "static": static(fallback="/index.html"), "cache_control": [
        {"fingerprinted": True}, {"paths": ["/spa/index.html", "/spa/"], "value": "no-cache"}]},
    {"path": "/try/", "static": static(try_files=["{path}", "{path}.html", "{path}/", "/docs{path}.html", 410])},
    {"path": "/last/", "static": static(try_files=["{path}", "/none.html"])},
    {"path": "/list/", "static": static(listing=True)},
]
