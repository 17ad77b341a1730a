"""docs/push.md says how to stand behind nginx: its two configurations, as they stand there, and each transport through them."""

import json
import re

import pytest

from manual import without_comments
from nginx_process import PROGRAM, Nginx
from raw_http import Wire, request
from roost_server import REPOSITORY, Server
from subscribe_case import TEXT, Stream, frame
from ws_wire import WsWire

SECTION = (REPOSITORY / "docs/push.md").read_text().partition("## Behind nginx\n")[2].partition("\n## ")[0]


def block(language):
    return re.search(rf"^```{language}\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture(scope="module")
def front(tmp_path_factory):
    if PROGRAM is None:
        pytest.skip("no nginx here (Debian package nginx)")
    folder = tmp_path_factory.mktemp("behind")
    config = json.loads(without_comments(block("jsonc")))
    server = Server(folder, {**config, "port": 0})
    nginx = Nginx(folder, block("nginx").replace("127.0.0.1:4507", "{}:{}".format(*server.address)))
    yield nginx
    nginx.stop()
    server.stop()


def ask(front, target, method="GET", body=b"", **fields):
    wire = Wire(front.address)
    wire.send(request(target, method, fields=fields, body=body))
    answer = wire.read_response(method)
    wire.close()
    return answer


def publish(front, channel, text):
    assert ask(front, "/chat/" + channel, "POST", text.encode()).status in (201, 202)


def test_long_poll(front):
    publish(front, "poll", "one")
    assert ask(front, "/chat/poll").body == b"one"


def test_events_come_at_once(front):
    with Stream(front, "/chat/events") as stream:
        assert stream.position()
        for text in ("one", "two"):
            publish(front, "events", text)
            assert stream.event()[2] == text


def test_websocket(front):
    page = "http://{}:{}".format(*front.address)
    with WsWire(front, "/chat/socket", ["Origin: http://test"]) as ws:
        assert ws.status == 101
        ws.send(frame(TEXT, b"hello"))
        assert ws.read() == (TEXT, b"hello")
    with WsWire(front, "/chat/socket", ["Origin: " + page.replace("127.0.0.1", "other.example")]) as ws:
        assert ws.status == 403


def test_each_client_has_its_own_rate(front):
    """By the address that nginx names, and not by what clients say."""
    for attempt in range(30):
        fields = {"X-Forwarded-For": f"192.0.2.{attempt}"}
        if ask(front, "/chat/rate", "POST", b"x", **fields).status == 429:
            break
    else:
        raise AssertionError("never too fast")
