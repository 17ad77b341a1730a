"""swarm against the real server, and what it shows."""

import json
import re
import resource
import signal
import subprocess
import xml.etree.ElementTree

import pytest

from roost_server import REPOSITORY, eventually
from swarm_process import QUICK, errors_of, measure, run_swarm, start_swarm

ROUTES = {"http": {"sites": [{"host": ["*"], "routes": [
    {"path": "/hold", "hold": {"min_ms": 300, "max_ms": 500}},
    {"path": "/echo", "ws_echo": {}},
    {"path": "/pub/{channel}", "push_publish": {"channel": "{channel}"}},
    {"path": "/sub/{channel}", "push_subscribe": {"channel": "{channel}"}},
    {"path": "/", "static": {}}]}]},
    "address": None, "port": None,
    "listen": [{"address": "127.0.0.1", "port": 0}, {"address": "127.0.0.1", "port": 0, "tcp_echo": {}}]}


@pytest.fixture
def url(shared_server):
    """url(scheme, path) of a server that has a route for every kind of client."""
    server = shared_server(ROUTES)

    def of(scheme, path="/"):
        port = server.addresses[0][1]
        return f"{scheme}://127.0.0.1:{port}{path}"
    of.server = server
    return of


def echo_port(server):
    return int(re.search(r"tcp_echo:127\.0\.0\.1:(\d+)", server.output)[1])


@pytest.mark.parametrize("more", [(), ("-r", 100), ("-H", "Connection: close"), ("-X", "HEAD"), ("-t", 3, "-c", 7), ("--pipeline", 8),
                                  ("--spin", "on", "-t", 1)])
def test_http(url, more):
    report = measure(url("http", "/hello.txt"), "-c", 20, "--expect-body", "same", "--pid", url.server.process.pid, *more)
    assert report["errors"]["total"] == 0 and report["replies"] > 20
    assert report["connections_held"] == report["clients"]
    assert report["latency"]["p50_us"] <= report["latency"]["p99_us"] <= report["latency"]["max_us"]
    assert report["server_cpu_us_per_request"] > 0
    assert report["unanswered"] == 0
    assert (report["connections_reopened"] > 20) == ("Connection: close" in more)
    if "-r" in more:
        assert report["requests_total"] + report["unsent"] + report["unsent_own"] == pytest.approx(30, abs=2)


def test_the_hash_of_the_content_can_be_demanded(url):
    one = measure(url("http", "/hello.txt"), "-c", 2, "--expect-body", "same")
    again = measure(url("http", "/hello.txt"), "-c", 2, "--expect-body", one["body_hash"])
    assert again["errors"]["total"] == 0
    other = measure(url("http", "/"), "-c", 2, "--expect-body", one["body_hash"], code=1)
    assert "body" in errors_of(other) or "status" in errors_of(other)


def test_hold(url):
    report = measure(url("http", "/hold"), "--kind", "hold", "-c", 200, "--requests-per-client", 2, "--duration-s", 20,
                     "--expect-min-ms", 300, "--expect-max-ms", 5000)
    assert report["errors"]["total"] == 0
    assert report["replies"] == 400 and report["measured_s"] < 10
    assert report["latency"]["p50_us"] > 300e3


@pytest.mark.parametrize("message_bytes", [1, 20, 100_000])
def test_tcp_echo(url, message_bytes):
    report = measure(f"tcp://127.0.0.1:{echo_port(url.server)}", "-c", 10, "--message-bytes", message_bytes)
    assert report["errors"]["total"] == 0 and report["replies"] > 10


@pytest.mark.parametrize("options", [("--message-bytes", 20), ("--message-bytes", 100_000), ("--ws-mode", "quiet")])
def test_websockets(url, options):
    report = measure(url("ws", "/echo"), "-c", 10, *options)
    assert report["errors"]["total"] == 0 and report["connections_held"] == 10
    assert report["replies"] > 10 or report["replies_total"] == 10  # quiet: the pongs at the end


@pytest.mark.parametrize("kind", ["ws", "sse", "poll"])
def test_one_command_publishes_and_measures_delivery(url, kind):
    subscribe = url("ws" if kind == "ws" else "http", f"/sub/{kind}")
    options = [subscribe, "--kind", kind, "--ws-mode", "listen", "-c", 30, "--publish-url", f"/pub/{kind}", "-d", 20,
               "--publish-messages", 4, "--publish-interval-s", 0.05]
    for _ in range(2):  # the second finds the messages of the first in the channel's history
        report = measure(*options)
        assert report["errors"]["total"] == 0 and report["published"] == 4 and report["messages_total"] == 120
        assert [(each["number"], each["receivers"]) for each in report["broadcasts"]] == [(n, 30) for n in (1, 2, 3, 4)]
        assert report["delivery_latency"]["count"] == 120 and report["measured_s"] < 15


def test_a_message_that_nobody_takes_is_told(url):
    report = measure(url("http", "/sub/none"), "--kind", "sse", "-c", 2, "--publish-url", "/none", "--publish-messages", 2,
                     "--publish-interval-s", 0, "--reconnect-delay-ms", 50, code=1)
    assert set(errors_of(report)) == {"publish"} and report["errors"]["publish"]["first"].startswith("message 1: status 4")
    assert report["published"] == 0 and report["failed"] == ["only 0 of 2 messages were published"]


def test_a_host_name_is_looked_up(url):
    named = url("http", "/hello.txt").replace("127.0.0.1", "localhost.")
    assert measure(named, "-c", 2)["errors"]["total"] == 0
    _, err = run_swarm("http://no-such-host.invalid/", code=2)
    assert "url: no-such-host.invalid: " in err


def test_a_thread_may_hold_as_many_as_its_own_table_takes(url):
    def few_descriptors():
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))

    report = measure(url("http", "/hello.txt"), "-c", 240, "-t", 4, "-r", 1000, preexec_fn=few_descriptors)
    assert report["connections_held"] == 240 and report["errors"]["total"] == 0
    _, err = run_swarm(url("http"), "-c", 240, "-t", 2, preexec_fn=few_descriptors, code=3)
    assert "52 short" in err and "--threads 4" in err


def test_an_interrupted_run_reports_what_it_has(url, tmp_path):
    process = start_swarm(*QUICK, url("http", "/hello.txt"), "-d", 100, "--json", tmp_path / "r.json")
    lines = iter(process.stderr.readline, "")
    assert any("measuring" in line for line in lines)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 0 and "Interrupted" in out
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["interrupted"] and report["replies"] > 0 and report["measured_s"] < 50


def test_a_client_that_asks_once_is_measured(url):
    out, _ = run_swarm(url("http", "/hello.txt"), "-c", 10, "--requests-per-client", 1, "--settle-s", 0.05, "-q", "--json", "-")
    report = json.loads(out)
    assert report["replies"] == 10 and report["latency"]["count"] == 10


def test_a_port_of_another_protocol_is_noticed(url):
    report = measure(f"tcp://127.0.0.1:{url.server.addresses[0][1]}", "-c", 2, code=1)
    assert report["replies_total"] == 0 and report["failed"]


def test_a_process_that_ends_during_the_run_is_told(url, tmp_path):
    watched = subprocess.Popen(["sleep", "100"])
    try:
        process = start_swarm(*QUICK, url("http", "/hello.txt"), "-d", 0.5, "--pid", watched.pid, "--json", tmp_path / "r.json")
        lines = iter(process.stderr.readline, "")
        assert any("measuring" in line for line in lines)
    finally:
        watched.kill()
    out, _ = process.communicate(timeout=20)
    watched.wait()
    report = json.loads((tmp_path / "r.json").read_text())
    assert process.returncode == 1 and "ended during the run" in out and "nan %" not in out
    assert report["server_ended"] and report["server_waiting"] is None and report["server_cpu_busy"] is None
    _, err = run_swarm(url("http"), "--pid", watched.pid, code=2)
    assert f"no process {watched.pid}" in err


def test_the_plot_is_xml(url, tmp_path):
    run_swarm(*QUICK, url("http", "/hello.txt"), "-q", "-r", 300, "--svg", tmp_path / "p.svg")
    root = xml.etree.ElementTree.parse(tmp_path / "p.svg").getroot()
    assert root.tag.endswith("svg") and len(list(root)) > 30


def test_nobody_else_is_loaded_by_accident():
    _, err = run_swarm("http://192.0.2.1/", code=2)
    assert "--allow-remote" in err


@pytest.mark.parametrize("scenario", sorted((REPOSITORY / "conf" / "swarm").glob("*.json")), ids=lambda path: path.stem)
def test_the_samples_are_good(scenario):
    out, _ = run_swarm(scenario, "--check")
    assert out.startswith(f"swarm: {scenario.name}: good")


def test_the_schema_names_every_key():
    out, _ = run_swarm("--print-schema")
    assert "clients" in json.loads(out)["properties"]
