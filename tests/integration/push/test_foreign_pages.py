"""A web page of another origin publishes nothing and deletes nothing, unless the route's "cors" names it. The rule itself is tried in
tests/unit/http/origin_rule_test.cc; the same in a browser: scripts/browse_origins.py."""

import re

import pytest

from publish_case import chunked, fresh, json_of
from roost_server import eventually

APP, EVIL = "https://app.example", "https://evil.example"
CONFIG = {"http": {"sites": [{"host": ["*"], "routes": [
    {"path": "/pub/{channel}", "push_publish": {}},
    {"path": "/both/{channel}", "push_pubsub": {}},
    {"path": "/cors/{channel}", "push_pubsub": {}, "cors": {"origins": [APP]}},
    {"path": "/all/{channel}", "push_pubsub": {}, "cors": {"origins": ["*"]}},
    {"path": "/batch", "push_publish": {"channel": "batch", "batch": {}}},
    {"path": "/echo", "ws_echo": {}},
    {"path": "/metrics", "metrics": {}},
]}]}}
CROSS = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
# What a page can send without a preflight: forms, fetch with no-cors, sendBeacon, and a blob without a type.
SIMPLE = [{"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"},
          {"Content-Type": "multipart/form-data; boundary=x"}, {}]


@pytest.fixture
def push(shared_server):
    server = shared_server(CONFIG)
    yield server
    server.check_alive()


def counted(server, reason):
    name = f'roost_http_foreign_origins_total{{reason="{reason}"}} '
    return sum(int(line[len(name):]) for line in server.ask("/metrics").body.decode().splitlines() if line.startswith(name))


@pytest.mark.parametrize("kind", SIMPLE, ids=lambda kind: kind.get("Content-Type", "none"))
@pytest.mark.parametrize("said", [{"Origin": EVIL}, {"Origin": "null"}, {"Origin": EVIL, **CROSS}, CROSS], ids=str)
def test_cross_site_post(push, kind, said):
    for route in ("pub", "both", "cors"):
        channel = fresh()
        answer = push.ask(f"/{route}/{channel}", "POST", body=b"x", fields={**kind, **said})
        assert answer.status == 403 and b"may not write here" in answer.body, answer.body
        assert push.ask(f"/pub/{channel}").status == 404, "nothing is published"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_cross_site_methods(push, method):
    channel = fresh()
    assert push.ask(f"/pub/{channel}", "POST", body=b"x").status == 202
    answer = push.ask(f"/pub/{channel}", method, body=b"y" if method != "DELETE" else b"", fields={"Origin": EVIL})
    assert answer.status == 403
    assert b"queued messages: 1" in push.ask(f"/pub/{channel}").body
    assert push.ask(f"/pub/{channel}", fields={"Origin": EVIL, **CROSS}).status == 200, "reading is the browser's to refuse"


@pytest.mark.parametrize("fields", [
    {}, {"Origin": "http://site.example"}, {"Origin": "https://site.example"}, {"Sec-Fetch-Site": "none"},
    {"Origin": "https://public.example", "Sec-Fetch-Site": "same-origin"}], ids=str)
def test_who_may(push, fields):
    answer = push.ask(f"/pub/{fresh()}", "POST", host="site.example", body=b"x", fields=fields)
    assert answer.status == 202


def test_the_origins_of_cors(push):
    assert push.ask(f"/cors/{fresh()}", "POST", body=b"x", fields={"Origin": APP, **CROSS}).status == 202
    assert push.ask(f"/cors/{fresh()}", fields={"Origin": APP, **CROSS, **UPGRADE}).status == 101
    assert push.ask(f"/all/{fresh()}", "POST", body=b"x", fields={"Origin": EVIL, **CROSS}).status == 202
    for ambient in ({"Cookie": "session=1"}, {"Authorization": "Basic YTpi"}):
        answer = push.ask(f"/all/{fresh()}", "POST", body=b"x", fields={"Origin": EVIL, **CROSS, **ambient})
        assert answer.status == 403 and b"password or a cookie" in answer.body
        assert push.ask(f"/all/{fresh()}", fields={"Origin": EVIL, **UPGRADE, **ambient}).status == 403


@pytest.mark.parametrize("path", ["/both/a", "/echo"])
def test_the_refusal_of_a_websocket(push, path):
    answer = push.ask(path, fields={"Origin": EVIL, **UPGRADE})
    assert answer.status == 403 and answer["Content-Type"] == "text/plain"
    assert answer.body.decode() == (f"a page of the origin {EVIL} may not open a WebSocket here; to let it in, add its origin to "
                                    '"origins" of this route, or to those in its "cors"\n')


def test_the_refusal_says_so(push):
    """In body, log and metrics."""
    before = counted(push, "foreign"), counted(push, "opaque")
    answer = push.ask("/pub/told", "POST", body=b"x", fields={"Origin": EVIL, "Accept": "application/json"})
    sentence = f'a page of the origin {EVIL} may not write here; to let it in, add its origin to "origins" in the "cors" of this route'
    assert json_of(answer) == {"status": 403, "error": sentence}
    push.ask("/pub/told", "POST", body=b"x", fields={"Origin": "null"})
    assert (counted(push, "foreign"), counted(push, "opaque")) == (before[0] + 1, before[1] + 1)
    eventually(lambda: f"origin={EVIL} reason=foreign" in push.log, "the log's line")
    assert "may not write here; to let it in" in push.log
    assert re.search(r'refused_total\{[^}]*"/pub/\{channel\}"[^}]*"forbidden"\} [1-9]', push.ask("/metrics").body.decode())


@pytest.mark.parametrize("kind", [*SIMPLE, {"Content-Type": "text/json"}, {"Content-Type": "application/jsonx"}],
                         ids=lambda kind: kind.get("Content-Type", "none"))
def test_a_batch_without_the_type(push, kind):
    answer = push.ask("/batch", "POST", body=b'[{"channel": "a", "data": "x"}]', fields=kind)
    assert answer.status == 415 and b"application/json" in answer.body
    assert push.ask("/pub/batch").status == 404, "no message of the route's own channel either"


def test_a_cross_site_batch(push):
    channel = fresh()
    body = b'[{"channel": "%s", "data": "x"}]' % channel.encode()
    for fields in ({"Origin": EVIL}, CROSS):
        answer = push.ask("/batch", "POST", body=body, fields={"Content-Type": "application/json", **fields})
        assert answer.status == 403
    answer = push.ask("/batch", "POST", body=chunked(body),
                      fields={"Transfer-Encoding": "chunked", "Content-Type": "application/json", "Origin": EVIL})
    assert answer.status == 403 and push.ask(f"/pub/{channel}").status == 404
