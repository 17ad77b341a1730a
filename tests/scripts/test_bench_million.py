"""scripts/bench_million.py with few clients: that it runs, loses nothing, says what is lacking, and leaves nothing running."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("ROOST_SERVER", str(ROOT / "server"))
SCRIPT = [sys.executable, str(ROOT / "scripts" / "bench_million.py"), "--server", BINARY]
sys.path.insert(0, str(ROOT / "scripts"))

from bench import capacity, million, process, watch  # noqa: E402

AMPLE = {"room": 64 << 30, "descriptors": 20000, "ports": (32768, 60999), "open_files": 1000, "file_max": None, "epoll_watches": 10 ** 8,
         "somaxconn": 4096, "conntrack_max": None, "threads_max": 10 ** 5, "pids_max": None, "tcp_mem": 10 ** 7, "load": 0.0}


def run(*arguments):
    done = subprocess.run([*SCRIPT, *map(str, arguments)], capture_output=True, text=True, timeout=240)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The files of a small run of each kind."""
    folder = tmp_path_factory.mktemp("million")
    for name, options in (("ws", ["--messages", 2, "--interval", 0.5, "--svg", folder / "ws.svg"]), ("held", ["--held"])):
        code, output = run("--small", *options, "--settle", 0.5, "--json", folder / f"{name}.json")
        assert code == 0, output
    return folder


def test_every_message_reaches_every_client(results):
    result = json.loads((results / "ws.json").read_text())
    assert result["complete"] and result["wrong"] == 0 and result["connections"] == 4000
    assert [(each["number"], each["receivers"]) for each in result["broadcasts"]] == [(1, 4000), (2, 4000)]
    # So few clients fit into what the allocator has anyway.
    assert result["memory"]["held"]["server"] > 0 and result["memory"]["before"]["server"] > 0
    assert result["memory"]["held"]["swarm"] > 0 and million.kernel_of(result) > 0
    assert (results / "ws.svg").read_text().count("<path") > 10


def test_every_held_request_is_answered(results):
    result = json.loads((results / "held.json").read_text())
    assert result["complete"] and result["waiting_at_once"] == 4000 and result["report"]["replies_total"] >= 4000


def test_the_tables_have_the_published_figures_beside(results, tmp_path):
    code, output = run("--write-docs", results / "ws.json", results / "held.json", "--svg", tmp_path / "p.svg")
    assert code == 0, output
    rows = [line for line in output.splitlines() if line.startswith("| roost: 4,000") or "(as published)" in line]
    assert len(rows) == 8 and {row.count("|") for row in rows[:4]} == {13} and {row.count("|") for row in rows[4:]} == {5}
    assert "15.00 GB to 22.00 GB | 12,500 B to 18,333 B" in output and "1.28 GB | 1,258 B" in output
    plot = (tmp_path / "p.svg").read_text()
    assert plot.count("<rect") == 5 and plot.count("<path") == plot.count("/>") - plot.count("<rect")


def test_what_is_lacking_is_said_before_anything_starts():
    code, output = run("--clients", 500_000_000)
    assert code == 2 and "lacking: memory: " in output and "IO threads, at most" not in output


def test_programs_that_are_not_there_are_told():
    code, output = run("--small", "--server", "/nowhere/server")
    assert code == 2 and "lacking: /nowhere/server is not there" in output and "lacking: /nowhere/swarm is not there" in output


@pytest.mark.parametrize("facts, told", [
    ({}, []), ({"room": 8 << 30}, ["memory: 8.6 GB are free, 19.2 GB are needed: at most 793,104 clients fit"]),
    ({"file_max": 100_000}, ["sysctl -w fs.file-max=4011000"]), ({"epoll_watches": 4}, ["sysctl -w fs.epoll.max_user_watches=4010000"]),
    ({"somaxconn": 128}, ["sysctl -w net.core.somaxconn=1024"]), ({"descriptors": 1024}, ["ulimit -n 2642"]),
    ({"conntrack_max": 262144}, ["nf_conntrack_max=2400000"]), ({"ports": (40000, 40010)}, ["source addresses would be needed"]),
    ({"pids_max": 200, "threads_max": 300}, ["kernel.threads-max=1254", "pids.max is 200, 354 are needed"]),
])
def test_each_limit_is_known(facts, told):
    lines = capacity.lacking(2_000_000, AMPLE | facts)
    assert len(lines) == len(told) and all(words in line for words, line in zip(told, lines)), lines


def test_too_few_threads_are_told():
    assert capacity.lacking(2_000_000, AMPLE, 124) == []
    assert capacity.lacking(2_000_000, AMPLE, 101) == ["101 IO threads with 20,000 descriptors each do not hold them: --threads 127"]


def test_the_plan_leaves_room():
    assert capacity.io_threads(2_000_000, 20000) == 127
    assert capacity.source_addresses(1_000_000, (32768, 60999)) == 95
    assert capacity.disturbing(2_000_000, AMPLE) == []
    assert len(capacity.disturbing(2_000_000, AMPLE | {"tcp_mem": 383_867, "load": 3.0})) == 2


def test_the_watch_says_once_that_memory_is_low():
    told = []
    watcher = watch.Watch({"own": os.getpid()}, 1 << 60, lambda: told.append(1))
    watcher.start()
    deadline = time.monotonic() + 30
    while len(watcher.samples) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    watcher.stop()
    assert told == [1] and watcher.low > 0 and watcher.most("own") > 0
    assert watcher.at(time.monotonic_ns())["own_pss"] > 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_when_it_is_ended(number):
    bench = subprocess.Popen([*SCRIPT, "--small", "--interval", "60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert any("measuring" in line for line in iter(bench.stderr.readline, ""))
        children = set(process.descendants(bench.pid)) - {bench.pid}
        assert len(children) == 2
        bench.send_signal(number)
        _, err = bench.communicate(timeout=60)
    finally:
        bench.kill()
    assert bench.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[number], err
    assert not any(pathlib.Path(f"/proc/{pid}").exists() for pid in children)
