"""The page of metrics: what Prometheus takes, and numbers that are right."""

import math
import re

import pytest

from roost_server import eventually

CONFIG = {"http": {"sites": [{"host": ["*"], "routes": [
    {"path": "/metrics", "metrics": {}},
    {"path": "/private", "metrics": {}, "access": {"deny": ["127.0.0.0/8"]}},
    {"path": "/pub/{channel}", "push_publish": {"max_message_bytes": 10, "messages_per_second": 2}},
    {"path": "/sub/{channel}", "push_subscribe": {}},
    {"regex": r'^/q"uote\\/(?P<channel>\w+)$', "push_publish": {}},
    {"path": "/", "static": {}},
]}]}}

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf'({NAME})(?:\{{((?:{NAME}="(?:[^"\\\n]|\\["\\n])*",?)+)\}})? (\S+)')
LABEL = re.compile(rf'({NAME})="((?:[^"\\]|\\.)*)"(?:,|$)')
UNESCAPED = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


def parse(text):
    """{(name, labels): value} and {family: type} of a page, which must hold to the format in every line."""
    assert text.endswith("\n")
    samples, types, family, helped = {}, {}, None, set()
    for line in text.split("\n")[:-1]:
        if line == "# EOF":
            continue
        if line.startswith("# HELP "):
            family = line.split(" ", 3)[2]
            assert family not in helped, f"{family} comes in two pieces"
            helped.add(family)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == family and kind in ("counter", "gauge", "histogram")
            types[name] = kind
        elif line.startswith("# UNIT "):
            _, _, name, unit = line.split(" ")
            assert name == family and name.endswith("_" + unit)
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            name, labels, value = match.groups()
            suffixes = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("", "_total"), "gauge": ("",)}[types[family]]
            assert name.removeprefix(family) in suffixes, line
            pairs = tuple((key, re.sub(r"\\.", lambda m: UNESCAPED[m[0]], text)) for key, text in LABEL.findall(labels or ""))
            assert (name, pairs) not in samples, f"twice: {line}"
            samples[name, pairs] = float(value)
    assert set(types) == helped
    return samples, types


def page(server, target="/metrics", accept=None):
    answer = server.ask(target, fields={} if accept is None else {"Accept": accept})
    assert answer.status == 200
    return answer


def value(server, name, **labels):
    return parse(page(server).body.decode())[0].get((name, tuple(labels.items())))


@pytest.fixture
def metrics(shared_server):
    server = shared_server(CONFIG)
    yield server
    server.check_alive()


@pytest.mark.parametrize("accept, is_open", [
    (None, False), ("*/*", False), ("text/plain", False), ("text/plain;version=0.0.4", False), ("text/html", False),
    ("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", True),
    ("application/openmetrics-text", True), ("text/plain, application/openmetrics-text;q=0.9", False)])
def test_forms(metrics, accept, is_open):
    answer = page(metrics, accept=accept)
    kind = "application/openmetrics-text; version=1.0.0" if is_open else "text/plain; version=0.0.4"
    assert answer["Content-Type"] == kind + "; charset=utf-8" and answer["Cache-Control"] == "no-store"
    text = answer.body.decode()
    assert text.endswith("# EOF\n") == is_open
    samples, types = parse(text)
    counter = "roost_http_requests" if is_open else "roost_http_requests_total"
    assert types[counter] == "counter" and types["roost_http_answer_seconds"] == "histogram"
    assert samples["roost_http_requests_total", ()] >= 1


def test_histogram(metrics):
    for _ in range(20):
        metrics.ask("/")
    samples, _ = parse(page(metrics).body.decode())
    buckets = [(math.inf if le == "+Inf" else float(le), count) for (name, labels), count in samples.items()
               if name == "roost_http_answer_seconds_bucket" for _, le in labels]
    assert buckets == sorted(buckets) and [count for _, count in buckets] == sorted(count for _, count in buckets)
    assert buckets[-1][0] == math.inf and buckets[-1][1] == samples["roost_http_answer_seconds_count", ()] >= 20
    assert 0 < samples["roost_http_answer_seconds_sum", ()] < 20 * 60
    assert {0.001, 0.01, 0.1, 1.0} <= {bound for bound, _ in buckets}


def test_counters_count(metrics):
    before = value(metrics, "roost_http_requests_total")
    for _ in range(10):
        metrics.ask("/")
    assert value(metrics, "roost_http_requests_total") >= before + 11


def test_publishing_is_counted(metrics):
    route = "/pub/{channel}"
    before = value(metrics, "roost_push_published_total", route=route)
    bytes_before = value(metrics, "roost_push_published_bytes_total", route=route)
    for i in range(5):
        assert metrics.ask(f"/pub/count{i}", "POST", body=b"x" * i).status == 202
    assert value(metrics, "roost_push_published_total", route=route) == before + 5
    assert value(metrics, "roost_push_published_bytes_total", route=route) == bytes_before + 10


@pytest.mark.parametrize("reason, request_", [
    ("size", {"body": b"x" * 11}), ("field", {"body": b"x", "fields": {"X-EventSource-Event": "gap"}}),
    ("name", {"target": "/pub/" + "n" * 1025})])
def test_refusals_are_counted(metrics, reason, request_):
    labels = {"route": "/pub/{channel}", "reason": reason}
    before = value(metrics, "roost_push_publish_refused_total", **labels)
    assert metrics.ask(request_.pop("target", "/pub/refused"), "POST", **request_).status in (400, 413)
    assert value(metrics, "roost_push_publish_refused_total", **labels) == before + 1


def test_rate_is_counted(metrics):
    labels = {"route": "/pub/{channel}", "reason": "rate"}
    before = value(metrics, "roost_push_publish_refused_total", **labels)
    refused = sum(metrics.ask("/pub/rate", "POST", body=b"x").status == 429 for _ in range(10))
    assert refused > 0 and value(metrics, "roost_push_publish_refused_total", **labels) == before + refused


def test_subscribers_are_counted(metrics):
    def listening(transport):
        return value(metrics, "roost_push_subscribers", route="/sub/{channel}", transport=transport)
    before = listening("sse")
    with metrics.connect() as wire:
        wire.send(b"GET /sub/listen HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
        eventually(lambda: listening("sse") == before + 1, "one more listens")
    eventually(lambda: listening("sse") == before, "one less listens")


def test_hub_numbers(start_server):
    server = start_server(CONFIG)
    for i in range(4):
        server.ask(f"/pub/hub{i}", "POST", body=b"0123456789")
    server.ask("/pub/hub0", "DELETE")
    samples, types = parse(page(server).body.decode())
    push = {name: int(number) for (name, labels), number in samples.items() if name.startswith("roost_push_") and not labels}
    assert push.pop("roost_push_history_bytes") > 3 * 10
    assert push.pop("roost_push_queued_bytes") == 0
    assert push == {"roost_push_channels": 3, "roost_push_messages_total": 4, "roost_push_evictions_total": 0,
                    "roost_push_slow_consumers_total": 0}
    assert types["roost_push_channels"] == "gauge" and types["roost_push_messages_total"] == "counter"


def test_without_push_there_is_nothing_of_it(start_server):
    server = start_server({"http": {"sites": [{"host": ["*"], "routes": [{"path": "/metrics", "metrics": {}}]}]}})
    assert "roost_push" not in page(server).body.decode()


def test_labels_are_escaped(metrics):
    labels = {name: text for (_, pairs) in parse(page(metrics).body.decode())[0] for name, text in pairs if '"' in text}
    assert labels == {"route": r'^/q"uote\\/(?P<channel>\w+)$'}


@pytest.mark.parametrize("method, status", [("HEAD", 200), ("OPTIONS", 204), ("POST", 405), ("PUT", 405), ("DELETE", 405)])
def test_methods(metrics, method, status):
    answer = metrics.ask("/metrics", method)
    assert answer.status == status
    if status != 200:
        assert answer["Allow"] == "GET, HEAD, OPTIONS"


def test_access_is_the_access_modules(metrics):
    assert metrics.ask("/private").status == 403


def test_without_task_threads(start_server):
    server = start_server({**CONFIG, "task_processes": 0})
    assert parse(page(server).body.decode())[0]["roost_http_requests_total", ()] >= 1


def test_many_scrapes_at_once(metrics):
    wires = [metrics.connect() for _ in range(30)]
    for wire in wires:
        wire.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    for wire in wires:
        parse(wire.read_response().body.decode())
        wire.close()
    for _ in range(10):  # scrapers that leave
        with metrics.connect() as wire:
            wire.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    eventually(lambda: metrics.ask("/metrics").status == 200, "it goes on")
