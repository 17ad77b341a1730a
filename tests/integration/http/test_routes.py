"""Sites and routes from outside: which folder answers for which host and path."""

import pytest

from raw_http import request

SITES = {"http": {"sites": [
    {"host": ["one.example", "*.one.example"], "routes": [
        {"path": "/", "static": {"root": "html/one"}},
        {"path": "/docs/", "static": {"alias": "html/manual"}},
        {"path": "/favicon.ico", "static": {"alias": "html/icons/small.ico"}},
        {"path": "/part/", "static": {"root": "html/two"}}]},
    {"host": ["two.example"], "routes": [{"path": "/only/", "static": {"root": "html/two"}}]},
    {"host": ["*"], "routes": [{"path": "/", "static": {"root": "html/any"}}]}]}}
FILES = {
    "one/index.html": b"one", "one/docs/hidden.html": b"never", "manual/index.html": b"manual",
    "manual/deep/page.html": b"deep", "icons/small.ico": b"icon", "two/part/x.html": b"part", "two/only/x.html": b"only",
    "any/index.html": b"any"}

CASES = [
    ("one.example", "/", 200, b"one"), ("ONE.example", "/", 200, b"one"), ("one.example:80", "/", 200, b"one"),
    ("one.example.", "/", 200, b"one"), ("a.one.example", "/", 200, b"one"), ("a.b.one.example", "/", 200, b"one"),
    ("xone.example", "/", 200, b"any"), ("other.example", "/", 200, b"any"), ("127.0.0.1", "/", 200, b"any"),
    ("two.example", "/only/x.html", 200, b"only"), ("two.example", "/", 404, None), ("two.example", "/only", 404, None),
    ("one.example", "/docs/", 200, b"manual"), ("one.example", "/docs/deep/page.html", 200, b"deep"),
    ("one.example", "/docs/hidden.html", 404, None), ("one.example", "/docs/../index.html", 200, b"one"),
    ("one.example", "/%64ocs/", 200, b"manual"), ("one.example", "//docs//deep/./page.html", 200, b"deep"),
    ("one.example", "/docs/%2e%2e/%2e%2e/", 400, None), ("one.example", "/x/../docs/deep/page.html", 200, b"deep"),
    ("one.example", "/favicon.ico", 200, b"icon"), ("one.example", "/favicon.ico?v=1", 200, b"icon"),
    ("one.example", "/favicon.ico/", 404, None), ("one.example", "/favicon.icon", 404, None),
    ("one.example", "/part/x.html", 200, b"part"), ("one.example", "http://two.example/only/x.html", 200, b"only"),
]


@pytest.fixture
def sites(start_server):
    return start_server(SITES, files=FILES)


def test_sites_and_routes(sites):
    with sites.connect() as wire:
        for host, target, status, body in CASES:
            if status == 400:
                continue
            response = wire.ask(target, host=host)
            assert (response.status, body or response.body) == (status, response.body), (host, target, response)
    for host, target, status, _ in CASES:
        assert sites.ask(target, host=host).status == status, (host, target)


@pytest.mark.rfc("9110 15.4.2")
@pytest.mark.parametrize("target, location", [
    ("/docs/deep", "/docs/deep/"), ("/docs/deep?q", "/docs/deep/?q"), ("/part/../docs/deep", "/docs/deep/")])
def test_redirects_below_an_alias(sites, target, location):
    response = sites.ask(target, host="one.example")
    assert (response.status, response["Location"]) == (301, location)


@pytest.mark.rfc("9112 3.3")
def test_http_1_0_without_host_goes_to_the_default(sites):
    with sites.connect() as wire:
        wire.send(request("/", version="1.0", host=None))
        assert wire.read_response().body == b"any"


@pytest.mark.rfc("9110 9.3.7")
def test_options_of_a_path_without_a_route(sites):
    assert sites.ask("/nothing", "OPTIONS", host="two.example").status in (204, 404)
    assert sites.ask("*", "OPTIONS", host="two.example").status == 204
