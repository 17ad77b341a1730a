"""What the tests of subscribing share: a server with a route for each kind, and a reader for each way."""

import contextlib
import email.utils
import itertools
import json
import os
import re
import sys

from raw_http import Wire, request
from roost_server import eventually

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "websocket"))
from ws_wire import BINARY, CLOSE, PING, TEXT, WsWire, close, frame  # noqa: E402,F401

CORS = {"origins": ["https://page.example"], "expose": ["Etag", "Push-Gap"]}
SUBSCRIBE = {"http": {"sites": [{"host": ["*"], "routes": [
    {"path": "/pub/{channel}", "push_publish": {}},
    {"path": "/short/{channel}", "push_publish": {"history": {"messages": 3}}},
    {"path": "/sub/{channel}", "push_subscribe": {}},
    {"path": "/nogaps/{channel}", "push_subscribe": {"gap_messages": False}},
    {"path": "/new/{channel}", "push_subscribe": {"first_message": "newest"}},
    {"path": "/last2/{channel}", "push_subscribe": {"first_message": 2}},
    {"path": "/quick/{channel}", "push_subscribe": {"timeout_ms": 300, "timeout_status": 408}},
    {"path": "/quick304/{channel}", "push_subscribe": {"timeout_ms": 300}},
    {"path": "/interval/{channel}", "push_subscribe": {"transports": ["interval_poll", "sse", "websocket"]}},
    {"path": "/polls/{channel}", "push_subscribe": {"transports": ["long_poll"]}},
    {"path": "/events/{channel}", "push_subscribe": {"transports": ["sse"]}},
    {"path": "/sockets/{channel}", "push_subscribe": {"transports": ["websocket"]}},
    {"path": "/beat/{channel}", "push_subscribe": {"heartbeat_ms": 300, "ping_interval_ms": 300}},
    {"path": "/plain/{channel}", "push_subscribe": {"heartbeat_ms": 0, "retry_ms": 0}},
    {"path": "/header/{channel}", "push_subscribe": {"id_header": "X-Message-Id", "timeout_ms": 300}},
    {"path": "/since/{channel}", "push_subscribe": {"id_query": "since"}},
    {"path": "/noquery/{channel}", "push_subscribe": {"id_query": None}},
    {"path": "/chat/{channel}", "push_subscribe": {"publish": {"max_message_bytes": 100}}},
    {"path": "/slowchat/{channel}", "push_subscribe": {"publish": {"messages_per_second": 2}}},
    {"path": "/talk/{channel}", "push_pubsub": {"publish": {"max_message_bytes": 1000}, "subscribe": {"timeout_ms": 300}}},
    {"path": "/open/{channel}", "push_subscribe": {"origins": ["https://page.example"]}},
    {"path": "/cors/{channel}", "push_subscribe": {"timeout_ms": 600}, "cors": CORS},
    {"path": "/all/{channel}", "push_subscribe": {"timeout_ms": 600}, "cors": {"origins": ["*"]}},
    {"path": "/dressed/{channel}", "push_subscribe": {"timeout_ms": 600},
     "headers": {"set": {"X-Channel": "here"}}, "security_headers": {}},
    {"path": "/metrics", "metrics": {}},
]}]}}

ID = re.compile(r"(\d+):(\d+)-([0-9a-f]{8})")
_numbers = itertools.count()


def fresh(prefix="s"):
    """A channel's name that no other test has."""
    return f"{prefix}{next(_numbers)}"


def publish(server, channel, body="hello", route="/pub/", **fields):
    """Publishes and returns the message's id."""
    body = body.encode() if isinstance(body, str) else body
    answer = server.ask(route + channel, "POST", body=body,
                        fields={name.replace("_", "-"): text for name, text in fields.items()})
    assert answer.status in (201, 202), answer
    return re.search(rb"last message id: (\S+)", answer.body)[1].decode()


def wait_for(server, channel, count):
    """Until that many subscribe to the channel."""
    def subscribers():
        answer = server.ask("/pub/" + channel, fields={"Accept": "application/json"})
        return answer.status == 200 and json.loads(answer.body)["subscribers"] == count
    eventually(subscribers, f"{count} subscribers of {channel}")


def conditions(id_text, tag='"{}"'):
    """The fields by which a long poll comes back."""
    seconds, tag_text = id_text.split(":")
    return {"If-Modified-Since": email.utils.formatdate(int(seconds), usegmt=True),
            "If-None-Match": tag.format(tag_text)}


def id_of(answer):
    """The id in a long poll's answer."""
    seconds = email.utils.parsedate_to_datetime(answer["Last-Modified"]).timestamp()
    assert re.fullmatch('"[^"]+"', answer["Etag"])
    return f"{int(seconds)}:" + answer["Etag"].strip('"')


class Poll:
    """A long poll that waits: the request is sent, its answer is read when it is wanted."""

    def __init__(self, server, target, fields=(), method="GET", version="1.1", timeout=10):
        self.wire = Wire(server.address, timeout)
        self.method = method
        self.wire.send(request(target, method, fields=fields, version=version))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wire.close()

    def answer(self):
        return self.wire.read_response(self.method)


class Stream:
    """An event stream, read as HTML section 9.2 says: blocks of (id, event, data), comments apart."""

    def __init__(self, server, target, fields=(), version="1.1", timeout=10):
        self.wire = Wire(server.address, timeout)
        self.wire.send(request(target, fields={"Accept": "text/event-stream", **dict(fields)}, version=version))
        self.head = self.wire.read_head()
        self.text = ""
        self.ended = False
        self.comments = []
        self.retry = self.last_id = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wire.close()

    def _more(self):
        if self.head.get("Transfer-Encoding") != "chunked":
            assert self.wire._fill(), "the stream has ended"
            self.text += self.wire._take(len(self.wire.buffer)).decode()
            return
        size = int(self.wire.read_line(), 16)
        self.text += self.wire.read_exactly(size).decode()
        assert self.wire.read_exactly(2) == b"\r\n"
        self.ended = size == 0

    def block(self):
        """The fields of the next block as they stand, [(name, value)]; comments have no name. None at the end."""
        while "\n\n" not in self.text:
            if self.ended:
                assert all(line == "" or line.startswith((":", "retry: ")) for line in self.text.split("\n")), self.text
                return None
            self._more()
        block, self.text = self.text.split("\n\n", 1)
        assert "\r" not in block
        return [tuple(line.split(": ", 1)) if not line.startswith(":") else ("", line[1:]) for line in block.split("\n")]

    def position(self):
        """Where it says that it begins, in a comment."""
        while not (found := re.search(r"^: position (\S+)\n", self.text, re.MULTILINE)):
            self._more()
        return found[1]

    def event(self):
        """The next event: (id, event, data); None at the end."""
        while (fields := self.block()) is not None:
            data, name = [], "message"
            for key, value in fields:
                if key == "":
                    self.comments.append(value)
                elif key == "id":
                    self.last_id = value
                elif key == "event":
                    name = value
                elif key == "data":
                    data.append(value)
                else:
                    assert key == "retry", fields
                    self.retry = int(value)
            if data:
                return self.last_id, name, "\n".join(data)
        return None

    def texts(self, count):
        return [self.event()[2] for _ in range(count)]


def socket(server, target, meta=False, fields=(), timeout=10):
    """`meta`: with all that there is; the message that says where it begins has been read."""
    protocol = ["Sec-WebSocket-Protocol: ws+meta.nchan, position"] if meta else []
    ws = WsWire(server, target, [*protocol, *fields], timeout)
    if meta and "last_event_id" not in target:
        assert ws.read()[1].startswith(b"position: ")
    return ws


def meta_of(payload):
    """The head and the payload of a ws+meta message."""
    head, payload = payload.split(b"\n\n", 1) if b"\n\n" in payload else (payload[:-1], b"")
    return dict(line.split(": ", 1) for line in head.decode().split("\n")), payload


@contextlib.contextmanager
def listening(server, way, target, channel, id_text=None):
    """A function that gives the next message by any of the ways, as (id or None, text); a gap as ("gap", json)."""
    query = f"{target}{channel}" + (f"?last_event_id={id_text}" if id_text else "")
    if way == "sse":
        with Stream(server, query) as stream:
            def read_event():
                id_read, name, data = stream.event()
                return ("gap", json.loads(data)) if name == "gap" else (id_read, data)
            yield read_event
    elif way in ("ws", "meta"):
        with socket(server, query, way == "meta") as ws:
            def read_frame():
                payload = ws.read()[1]
                if way == "ws":
                    gap = payload.startswith(b'{"event":"gap"')
                    return ("gap", json.loads(payload)) if gap else (None, payload.decode())
                fields, text = meta_of(payload)
                return ("gap", json.loads(text)) if fields.get("event") == "gap" else (fields["id"], text.decode())
            yield read_frame
    else:
        last, told = [id_text], []

        def read_poll():
            if told:
                return told.pop()
            answer = server.ask(target + channel, fields=conditions(last[0]) if last[0] else {})
            assert answer.status == 200, answer
            if "Push-Gap" in answer:
                missed = answer["Push-Gap"]
                told.append((id_of(answer), answer.body.decode()))
                gap = {"after": last[0], "missed": None if missed == "unknown" else int(missed)}
                last[0] = id_of(answer)
                return "gap", gap
            last[0] = id_of(answer)
            return last[0], answer.body.decode()
        yield read_poll


WAYS = ["poll", "sse", "ws", "meta"]
