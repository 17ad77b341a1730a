"""What the tests of publishing share: a server with a route for each kind, and readers of its answers."""

import itertools
import json
import re

PUSH = {"http": {"sites": [{"host": ["*"], "routes": [
    {"path": "/pub/{channel}", "push_publish": {}},
    {"path": "/app/{app}/{room}", "push_publish": {"channel": "{app}/{room}"}},
    {"path": "/fixed", "push_publish": {"channel": "the news"}},
    {"path": "/query", "push_publish": {"channel": "{query.id}"}},
    {"path": "/header", "push_publish": {"channel": "h-{header.X-Room}"}},
    {"regex": "^/re/(?P<kind>[a-z]+)-(?P<number>[0-9]+)$", "push_publish": {"channel": "{kind}:{number}"}},
    {"path": "/small/{channel}", "push_publish": {"max_message_bytes": 10}},
    {"path": "/none/{channel}", "push_publish": {"max_message_bytes": 0}},
    {"path": "/short/{channel}", "push_publish": {"history": {"messages": 3}}},
    {"path": "/nohistory/{channel}", "push_publish": {"history": {"messages": 0}}},
    {"path": "/brief/{channel}", "push_publish": {"history": {"seconds": 1}}},
    {"path": "/slow/{channel}", "push_publish": {"messages_per_second": 3}},
    {"path": "/impatient/{channel}", "push_publish": {"max_wait_ms": 100}},
    {"path": "/nowait/{channel}", "push_publish": {"max_wait_ms": 0}},
    {"path": "/list/{channel}", "push_publish": {"max_message_bytes": 100, "batch": {}}},
    {"path": "/few/{channel}", "push_publish": {"batch": {"max_messages": 3, "max_bytes": 200}}},
    {"path": "/own/{channel}", "push_publish": {"batch": {"channels": ["own/", "also"]}}},
    {"path": "/big/{channel}", "push_publish": {"batch": {"max_messages": 10000}}},
    {"path": "/cors/{channel}", "push_publish": {}, "cors": {"origins": ["https://page.example"]}},
    {"path": "/metrics", "metrics": {}},
]}]}}

ID = r"(\d+):(\d+)-([0-9a-f]{8})"
TEXT = re.compile(rf"queued messages: (\d+)\r\nlast requested: (-?\d+) sec\. ago\r\n"
                  rf"active subscribers: (\d+)\r\nlast message id: ({ID})")
_numbers = itertools.count()


def fresh(prefix="c"):
    """A channel's name that no other test has."""
    return f"{prefix}{next(_numbers)}"


def numbers(answer):
    """(messages, requested, subscribers, id) of an answer in text."""
    match = TEXT.fullmatch(answer.body.decode())
    assert match is not None, answer.body
    return int(match[1]), int(match[2]), int(match[3]), match[4]


def json_of(answer):
    assert answer["Content-Type"] in ("application/json", "text/json"), answer
    return json.loads(answer.body)


def chunked(*pieces):
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def publish(server, target, body=b"hello", **fields):
    return server.ask(target, "POST", body=body, fields={name.replace("_", "-"): text for name, text in fields.items()})


def publish_list(server, target, messages, **fields):
    text = messages if isinstance(messages, bytes) else json.dumps(messages).encode()
    return publish(server, target, text, Content_Type="application/json", Accept="application/json", **fields)
