"""scripts/bench_push.py and bench_push_broadcast.py, with few subscribers: that they run and lose nothing, not how fast."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("ROOST_SERVER", str(ROOT / "server"))
sys.path.insert(0, str(ROOT / "scripts"))

from bench import c1000k, push_report, push_servers  # noqa: E402


def run(script, *arguments):
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / script), "--server", BINARY, *map(str, arguments)],
                          capture_output=True, text=True, timeout=180)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("cc") is None, reason="no cc: the floor cannot be built")
def test_one_message_to_many_beside_the_floor(tmp_path):
    servers = ["floor", "roost"]
    cores = sorted(os.sched_getaffinity(0))
    _, output = run("bench_push.py", "--servers", ",".join(servers), "--clients", 40, "--rounds", 1, "--think-ms", 0,
                    "--broadcasts", 2, "--settle", 0, "--server-core", cores[0], "--load-core", cores[-1], "--json", tmp_path / "r.json")
    cells = json.loads((tmp_path / "r.json").read_text())  # how it went says nothing of its limits at this size
    for transport in push_servers.TRANSPORTS:
        for server in servers:
            (result,) = cells[transport][server]
            assert (result["deliveries"], result["errors"]) == (80, 0), f"{transport}, {server}:\n{output}"
            assert [each["receivers"] for each in result["broadcasts"]] == [40] * 4
            assert result["cpu_us"] > 0 and 0 < result["p50"] <= result["p99"] <= result["last"]


def test_a_message_to_all_transports_at_once(tmp_path):
    code, output = run("bench_push_broadcast.py", "--clients", 50, "--messages", 2, "--interval", 0.3, "--settle", 0,
                       "--threads", 2, "--json", tmp_path / "r.json", "--svg", tmp_path / "p.svg")
    assert code == 0, output
    reports = json.loads((tmp_path / "r.json").read_text())["reports"]
    assert [report["messages_total"] for report in reports.values()] == [150] * 3
    assert "| 99 % ≤ |" in output and (tmp_path / "p.svg").read_text().count("<path") > 10


def test_a_lost_message_and_a_missed_limit_are_told():
    good = {"idle_bytes": 300, "flowed_bytes": 400, "cpu_us": 5, "last": 50, "deliveries": 10, "expected": 10, "errors": 0}
    cells = {"sse": {"roost": [good], "nchan": [{**good, "cpu_us": 8, "last": 90}], "floor": [{**good, "cpu_us": 4}]}}
    told = {line: (kind, holds) for kind, holds, line in push_report.check(cells)}
    assert [pair for pair in told.values() if not pair[1]] == [("goal", False)] * 2  # 384 B, and 1.15 x the floor
    cells["sse"]["roost"] = [{**good, "deliveries": 9, "cpu_us": 9, "flowed_bytes": 513}]
    told = [(kind, holds) for kind, holds, _ in push_report.check(cells)]
    assert told.count(("must", False)) == 3


def test_the_table_has_the_studys_form():
    lines = c1000k.table(c1000k.STUDY).splitlines()
    assert lines[2].startswith("| count | 50,000 |") and lines[-1].startswith("| 99.9 % ≤ | 18,301 |") and len(lines) == 13
