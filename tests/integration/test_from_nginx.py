"""docs/from-nginx.md: each pair of snippets does what the checks beside it say, here and in nginx."""

import gzip
import json
import re

import pytest

from nginx_process import PROGRAM, Nginx
from raw_http import Wire, request
from roost_server import REPOSITORY, eventually, run_server

TEXT = (REPOSITORY / "docs/from-nginx.md").read_text()
FILES = {
    "index.html": "home", "about.html": "about", "hello.txt": "hello", "css/style.css": "body{}", "img/logo.png": "png",
    "img/large/photo.png": "png", "app/index.html": "app", "app/main.js": "run()", "files/one.txt": "one", "files/two.txt": "two",
    "errors/404.html": "lost", "other/index.html": "other", "long.txt": "x" * 5000, "assets/app.0123abcd.js": "run()",
}
ALICE = "alice:$5$somesalt$BY2M0Tw/b.yijagFoMZoeHEQSuk9iqvGNX/dBDdRp8A\n"  # her password is "secret"
# Everything of a route that a module brings; a build may leave modules out.
OPTIONAL = {"redirect", "respond", "rewrite", "error_pages", "regex", "compress", "headers", "cache_control", "cors", "access",
            "basic_auth", "client_address", "proxy_protocol", "rate_limit", "connection_limit", "access_log", "security_headers"}


class Pair:
    """One section of the page: its snippets and checks."""

    def __init__(self, title, nginx, roost, checks):
        self.title, self.nginx, self.roost = title, nginx, roost
        self.checks = [line for line in checks.splitlines() if line.strip()]

    def of(self, server):
        """The checks that are meant for one of the two."""
        for line in self.checks:
            who, colon, rest = line.partition(": ")
            if not colon or who not in ("here", "nginx"):
                yield line
            elif who == server:
                yield rest


def pairs():
    fence = r"```{0}\n(.*?)```\s*"
    for section in re.split(r"^### ", TEXT, flags=re.MULTILINE)[1:]:
        found = re.search(fence.format("nginx") + fence.format("jsonc") + fence.format("check"), section, re.DOTALL)
        title = section.partition("\n")[0]
        assert found, f"{title}: a pair of snippets and a check are wanted"
        yield Pair(title, *found.groups())


PAIRS = list(pairs())
SCHEMA = json.loads((REPOSITORY / "conf/server.schema.json").read_text())


@pytest.fixture
def srv(tmp_path):
    """A function that puts the test's own folder in place of /srv."""
    for name, content in FILES.items():
        path = tmp_path / "www" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (tmp_path / "www/css/style.css.gz").write_bytes(gzip.compress(b"body{}"))
    (tmp_path / "conf").mkdir()
    (tmp_path / "logs").mkdir()
    (tmp_path / "conf/htpasswd").write_text(ALICE)
    return lambda text: text.replace("/srv/", f"{tmp_path}/")


def configuration(snippet):
    """A whole configuration out of a snippet, put where its keys belong."""
    value = json.loads(snippet if snippet.lstrip().startswith("{") else "{" + snippet + "}")
    if value.keys() & {"path", "regex"}:
        value = {"routes": [value]}
    if value.keys() & {"routes", "host"}:
        value = {"sites": [value]}
    if not value.keys() & (SCHEMA["properties"].keys() - {"root_path"}):
        value = {"http": value}
    if "listen" in value:
        value["address"] = value["port"] = None
        for listener in value["listen"]:
            listener["port"] = 0
    return value


def keys_of(value):
    if isinstance(value, dict):
        return set(value) | {key for member in value.values() for key in keys_of(member)}
    return {key for member in value for key in keys_of(member)} if isinstance(value, list) else set()


def known_keys():
    """What the program knows in http, a site, a route or a listener."""
    top = json.loads(run_server("--print-schema").stdout)["properties"]
    site = top["http"]["properties"]["sites"]["items"]["properties"]
    places = [top, top["listen"]["items"]["properties"], top["http"]["properties"], site, site["routes"]["items"]["properties"]]
    return {key for place in places for key in place}


def run_check(line, address, log):
    """Asks what one line of a check says and compares."""
    if line.startswith("log: "):
        eventually(lambda: log.exists() and line[5:] in log.read_text(), f"{line[5:]} in the access log")
        return
    asked, arrow, expected = line.partition(" -> ")
    assert arrow, f"no \"->\" in {line!r}"
    what, *fields = asked.split(" | ")
    preamble, method, target = re.fullmatch(r"(PROXY .* )?(\S+) (\S+)", what).groups()
    pairs = [tuple(field.split(": ", 1)) for field in fields]
    with Wire(address) as wire:
        start = f"{preamble.rstrip()}\r\n".encode() if preamble else b""
        wire.send(start + request(target, method, fields=[*pairs, ("Connection", "close")]))
        response = wire.read_response(method)
    status, *conditions = expected.split(" | ")
    assert response.status == int(status), f"{line}: {response!r}"
    for condition in conditions:
        word, _, rest = condition.partition(" ")
        if word == "body":
            assert rest in response.body.decode(), f"{line}: {response.body[:300]!r}"
        elif word in ("no", "has"):
            assert (rest in response) == (word == "has"), f"{line}: {response!r}"
        else:
            name, value = condition.split(": ", 1)
            assert response.get(name) == value, f"{line}: {response!r}"


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.title)
def test_here(pair, srv, start_server, tmp_path):
    config = configuration(srv(pair.roost))
    missing = keys_of(config) & OPTIONAL - known_keys()
    if missing:
        pytest.skip(f"this build has no {', '.join(sorted(missing))}")
    server = start_server(config)
    for line in pair.of("here"):
        run_check(line, server.address, tmp_path / "logs/access.log")


@pytest.mark.skipif(PROGRAM is None, reason="nginx is not installed")
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.title)
def test_in_nginx(pair, srv, tmp_path):
    snippet = srv(pair.nginx)
    if "server {" not in snippet:
        snippet = "server {\nlisten 80;\n" + snippet + "}"
    nginx = Nginx(tmp_path, snippet)
    try:
        for line in pair.of("nginx"):
            run_check(line, nginx.address, tmp_path / "logs/access.log")
    finally:
        nginx.stop()


def test_every_pair_is_checked():
    assert len(PAIRS) >= 30
    assert all(list(pair.of("here")) and list(pair.of("nginx")) for pair in PAIRS)
