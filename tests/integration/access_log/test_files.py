"""The files: reopening, rolling, sampling, selection, aborted downloads, and configurations that cannot work."""

import json
import resource
import signal

import pytest

from raw_http import request
from roost_server import eventually, run_server
from site_files import pattern


def test_reopening(start_logged):
    server = start_logged({"path": "logs/a.json", "format": "json"})
    server.ask("/hello.txt?1")
    server.read("a.json", 1)
    log = server.folder / "logs" / "a.json"
    log.rename(log.with_suffix(".old"))
    server.signal(signal.SIGUSR1)
    eventually(log.exists, "the file is made anew")
    server.ask("/hello.txt?2")
    assert "?2" in server.read("a.json", 1)[0]
    assert "?1" in server.read("a.old", 1)[0]


def test_rolling(start_logged):
    server = start_logged({"path": "logs/new/folder/a.log", "roll_size": 1000, "keep_files": 3})
    for number in range(60):
        server.ask(f"/hello.txt?{number}")
    folder = server.folder / "logs" / "new" / "folder"
    server.stop()
    files = sorted(folder.iterdir())
    assert len(files) == 4 and files[-1].name == "a.log"
    assert all(file.stat().st_size <= 1000 for file in files)
    lines = [line for file in files for line in file.read_text().splitlines()]
    numbers = [int(line.split("?")[1].split()[0]) for line in lines]
    assert numbers == list(range(60 - len(numbers), 60))


def test_several_io_threads_and_sites_share_a_file(start_logged):
    log = {"path": "logs/a.json", "format": "json"}
    sites = [{"host": [host], "access_log": log, "routes": [{"path": "/", "static": {}}]} for host in ("a", "b", "*")]
    server = start_logged(log, sites=sites)
    for number in range(90):
        server.ask(f"/hello.txt?{number}", host="abc"[number % 3])
    entries = [json.loads(line) for line in server.read("a.json", 90)]
    assert {entry["site"] for entry in entries} == {"a", "b", "*"}


def test_nothing_is_lost_at_the_end(start_logged):
    server = start_logged({"path": "logs/a.json", "format": "json", "flush_second": 3600})
    with server.connect() as wire:
        wire.send(b"".join(request("/hello.txt") for _ in range(500)))
        for _ in range(500):
            wire.read_response()
    server.stop()
    assert len(server.read("a.json", 500)) == 500


def test_sampling_takes_about_its_share(start_logged):
    server = start_logged({"path": "logs/a.json", "format": "json", "sample": 0.25, "always": ["404"]})
    with server.connect() as wire:
        for turn in range(20):
            wire.send(b"".join(request("/hello.txt") for _ in range(100)) + request("/none"))
            for _ in range(101):
                wire.read_response()
    server.stop()
    entries = [json.loads(line) for line in (server.folder / "logs" / "a.json").read_text().splitlines()]
    assert sum(entry["status"] == 404 for entry in entries) == 20
    sampled = sum(entry["status"] == 200 for entry in entries)
    assert 380 < sampled < 620  # 500, six standard deviations to either side


def test_only_some_statuses(start_logged):
    server = start_logged({"path": "logs/a.json", "format": "json", "only": ["4xx", "501"]})
    server.ask("/hello.txt")
    server.ask("/none")
    server.ask_raw(b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n")
    server.ask("/sub")
    server.stop()
    assert [json.loads(line)["status"] for line in server.read("a.json", 2)] == [404, 501]


def test_an_aborted_download(start_logged):
    server = start_logged({"path": "logs/a.json", "format": "json"})
    size = 64 << 20
    (server.html / "large.bin").write_bytes(pattern(1 << 20) * 64)
    with server.connect() as wire:
        wire.send(request("/large.bin"))
        wire.read_head()
        wire.read_exactly(100_000)
        wire.reset()
    entry = json.loads(server.read("a.json", 1)[0])
    assert entry["status"] == 200 and entry["aborted"] and 100_000 <= entry["bytes"] < size


def test_a_full_disk_harms_no_request(start_logged):
    def no_room():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    server = start_logged({"path": "logs/a.json", "format": "json"})
    server.stop()
    log = server.folder / "logs" / "a.json"
    again = type(server)(server.folder, server.config, before_exec=no_room)
    again.ask("/hello.txt")
    eventually(lambda: "a.json: File too large" in again.output, "the server says so")
    resource.prlimit(again.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    again.ask("/hello.txt")
    eventually(lambda: log.read_text().count("\n") == 2, "both lines are there")
    again.stop()
    assert "a.json: writing works again" in again.log


# What the configuration says, and what the server says of it.
REFUSED = {
    "unknown variable": ({"format": "{client} {nope}"}, 'there is no variable "{nope}"'),
    "open brace": ({"format": "{client"}, 'a "{" without its "}"'),
    "no variable": ({"format": "common"}, 'format "common" is neither'),
    "empty field name": ({"format": "{header.}"}, 'there is no variable "{header.}"'),
    "a folder": ({"path": "logs"}, "Is a directory"),
    "below a file": ({"path": "conf/server.json/a.log"}, "Not a directory"),
    "the server's own": ({"path": "logs/server.log"}, "is the server's own log"),
    "sample": ({"sample": 2}, "sample"),
    "status": ({"only": ["6xx"]}, "a status such as"),
    "unknown key": ({"pat": "x"}, 'pat'),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_configurations(tmp_path, name):
    options, message = REFUSED[name]
    conf = tmp_path / "conf" / "server.json"
    for folder in ("conf", "html", "logs"):
        (tmp_path / folder).mkdir()
    conf.write_text(json.dumps({"http": {"access_log": options}}))
    run = run_server("-f", conf, "-t")
    assert run.returncode == 1 and message in run.stderr and "server.json:1:" in run.stderr, run.stderr
    assert not list((tmp_path / "logs").iterdir())


def test_a_tested_configuration_leaves_nothing(tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "html").mkdir()
    conf = tmp_path / "conf" / "server.json"
    conf.write_text(json.dumps({"http": {"access_log": {"path": "logs/a/b.log"}}}))
    assert run_server("-f", conf, "-t").returncode == 0
    assert not (tmp_path / "logs").exists()
