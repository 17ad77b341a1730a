"""Who may read what: the Fetch standard's CORS protocol."""

from content_case import Case

ALLOW, WITH, EXPOSE = "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Access-Control-Expose-Headers"
METHODS, HEADERS, AGE = "Access-Control-Allow-Methods", "Access-Control-Allow-Headers", "Access-Control-Max-Age"
NETWORK = "Access-Control-Allow-Private-Network"


def asks(origin, method=None, headers=None, **more):
    fields = {} if origin is None else {"Origin": origin}
    if method is not None:
        fields["Access-Control-Request-Method"] = method
    if headers is not None:
        fields["Access-Control-Request-Headers"] = headers
    return {**fields, **more}


def allowed(origin, target="/some/a.txt", status=200, name=None, **more):
    return Case(name or f"{target} for {origin}", target, status,
                {ALLOW: origin, WITH: "true", EXPOSE: "X-A", "Vary": "Origin"}, send=asks(origin), **more)


def refused(origin, target="/some/a.txt", status=200, **more):
    return Case(f"{target} not for {origin}", target, status, {"Vary": "Origin"}, absent=(ALLOW, WITH, EXPOSE),
                send=asks(origin), **more)


SIMPLE = [
    *(allowed(origin) for origin in (
        "https://a.example", "https://x.b.example", "https://x.y.b.example", "http://localhost", "http://localhost:8080",
        "null")),
    *(refused(origin) for origin in (
        None, "http://a.example", "https://a.example:8443", "https://A.example", "https://a.example/", "https://a.example.",
        "https://b.example", "https://xb.example", "https://.b.example", "https://evil.com#.b.example",
        "https://evil.com/.b.example", "https://x.b.example:1", "http://localhost:", "http://localhost:x",
        "https://localhost", "*", "Null", "https://a.example, https://a.example", "https://a.example.evil.com",
        "https://user@x.b.example")),
    allowed("https://a.example", "/some/none", 404, "errors may be read too"),
    allowed("https://a.example", "/some/docs", 301, "redirects may be followed"),
    Case("304 says the same", "/some/a.txt", 304, {ALLOW: "https://a.example", "Vary": "Origin"},
         send=asks("https://a.example", **{"If-None-Match": "*"})),
    Case("304 for nobody says Vary", "/some/a.txt", 304, {"Vary": "Origin"}, absent=(ALLOW,),
         send={"If-None-Match": "*"}),
    Case("everybody", "/open/a.txt", 200, {ALLOW: "*", EXPOSE: "X-A, X-B"}, absent=("Vary", WITH),
         send=asks("https://any.example")),
    Case("everybody, unasked", "/open/a.txt", 200, {ALLOW: "*"}, absent=("Vary", WITH)),
    Case("everybody, null", "/open/a.txt", 200, {ALLOW: "*"}, send=asks("null")),
    Case("everybody, 404", "/open/none", 404, {ALLOW: "*"}),
]

FULL = {ALLOW: "https://a.example", WITH: "true", METHODS: "GET, PUT", HEADERS: "Content-Type, X-One", AGE: "60"}
PREFLIGHTS = [
    Case("a preflight", "/some/a.txt", 204, {**FULL, "Vary": "Origin"}, absent=("Allow", NETWORK, "Content-Length"),
         send=asks("https://a.example", "PUT", "x-one"), method="OPTIONS"),
    Case("a preflight for what is not there", "/some/none", 204, FULL, send=asks("https://a.example", "PUT"),
         method="OPTIONS"),
    Case("a preflight of a stranger", "/some/a.txt", 204, {"Vary": "Origin"}, absent=(ALLOW, METHODS, HEADERS, AGE),
         send=asks("https://evil.example", "PUT"), method="OPTIONS"),
    Case("a preflight into a private network", "/some/a.txt", 204, {**FULL, NETWORK: "true"}, method="OPTIONS",
         send=asks("https://a.example", "GET", **{"Access-Control-Request-Private-Network": "true"})),
    Case("OPTIONS with Origin is no preflight", "/some/a.txt", 204, {ALLOW: "https://a.example", "Allow": "GET, HEAD, OPTIONS"},
         absent=(METHODS,), send=asks("https://a.example"), method="OPTIONS"),
    Case("OPTIONS without Origin is no preflight", "/some/a.txt", 204, {"Allow": "GET, HEAD, OPTIONS"},
         absent=(METHODS, ALLOW), send=asks(None, "PUT"), method="OPTIONS"),
    Case("a preflight for everybody", "/open/a.txt", 204, {ALLOW: "*", HEADERS: "*", METHODS: "GET, HEAD, POST"},
         absent=("Vary", AGE, WITH), send=asks("https://any.example", "PUT", "x-any"), method="OPTIONS"),
    Case("what is asked is said back", "/echo/a.txt", 204, {
        METHODS: "PATCH", HEADERS: "x-one, x-two",
        "Vary": ["Access-Control-Request-Method", "Access-Control-Request-Headers", "Origin"]},
        send=asks("https://a.example", "PATCH", "x-one, x-two"), method="OPTIONS"),
    Case("nonsense is not said back", "/echo/a.txt", 204, {ALLOW: "https://a.example"}, absent=(METHODS, HEADERS),
         send=asks("https://a.example", "PA TCH", "x one"), method="OPTIONS"),
]

CASES = SIMPLE + PREFLIGHTS
