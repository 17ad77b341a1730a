"""Every IO thread with a table of descriptors of its own: nothing of one thread is to be seen in another's.

What a test of something else says of this mode: ROOST_TEST_CONFIG='{"accept": "reuseport", "fd_table": "per_thread"}'.
"""

import ctypes
import gzip
import json
import os
import random
import resource
import signal
import socket
import threading

import pytest

from raw_http import ProtocolError, Wire
from roost_server import eventually, run_server

PER_THREAD = {"accept": "reuseport", "fd_table": "per_thread", "worker_processes": 3}
LIMIT = 80


def limit_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))


def test_a_listening_socket_is_in_one_table(start_server):
    server = start_server({**PER_THREAD, "address": None, "port": None,
                           "listen": [{"address": "127.0.0.1", "port": 0}, {"unix": "a.sock"}, {"address": "127.0.0.1", "port": 0}]})
    assert server.output.rstrip().endswith("an fd table per thread)")
    tables = server.fd_tables()
    assert len(tables) == 4
    sockets = [{what for what in table.values() if what.startswith("socket:")} for table in tables]
    assert sum(map(len, sockets)) == len(set.union(*sockets)) == 3 + 3 + 1  # the Unix socket belongs to one thread
    pollers = [sum("eventpoll" in what for what in table.values()) for table in tables]
    assert pollers == [1, 1, 1, 1]
    assert sum(any("server.log" in what for what in table.values()) for table in tables) == 1


def test_many_files_at_once(start_server):
    """Small, large, coded and listed, cold and warm: each client gets the bytes of its own file."""
    rng = random.Random(7)
    files = {f"{i}.txt": rng.randbytes(32) * (size // 32) for i, size in enumerate([320, 64_000, 320_000, 9_600_000] * 6)}
    routes = [{"path": "/", "static": {"listing": {}}, "compress": {}}]
    server = start_server({**PER_THREAD, "task_processes": 2, "http": {"sites": [{"host": ["*"], "routes": routes}]}},
                          files=files)
    for name in files:
        with open(server.html / name, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    problems = []

    def client(seed):
        mine = random.Random(seed)
        try:
            for _ in range(6):
                with server.connect() as wire:
                    for name in mine.sample(sorted(files), 4):
                        fields = {"Accept-Encoding": "gzip"} if mine.random() < 0.3 else {}
                        response = wire.ask(f"/{name}", fields=fields)
                        body = gzip.decompress(response.body) if "Content-Encoding" in response else response.body
                        assert response.status == 200 and body == files[name], name
                    assert b"23.txt" in wire.ask("/").body
        except Exception as problem:  # told by the thread that asserts
            problems.append(problem)

    clients = [threading.Thread(target=client, args=(seed,)) for seed in range(8)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    assert not problems, problems


def test_logs_are_opened_anew(start_server):
    server = start_server({**PER_THREAD, "http": {"access_log": {"path": "logs/access.log", "flush_second": 1}}},
                          files={"a": b"answer"})
    logs = server.folder / "logs"
    for round_number in range(3):
        for _ in range(12):  # on every thread
            assert server.ask(f"/a?{round_number}").body == b"answer"
        log = logs / "access.log"
        eventually(lambda: log.exists() and log.read_text().count(f"/a?{round_number}") == 12, "12 lines in the file of that name")
        for name in ("access.log", "server.log"):
            (logs / name).rename(logs / f"{name}.{round_number}")
        server.signal(signal.SIGUSR1)
        eventually(lambda: (logs / "access.log").exists() and (logs / "server.log").exists(), "new files")
    server.stop()
    for number in range(3):
        assert (logs / f"access.log.{number}").read_text().count("/a?") == 12


def test_the_limit_counts_per_thread(start_server):
    server = start_server(PER_THREAD, files={"a": b"answer"}, before_exec=limit_descriptors)
    held = []
    try:
        for _ in range(3 * LIMIT):
            wire = Wire(server.address, timeout=5)
            held.append(wire)
            try:
                if wire.ask("/a").status != 200:
                    break
                wire.send(b"GET /a HTTP/1.1\r\n")  # half a request: an idle connection would be closed for others
            except (ProtocolError, ConnectionError):
                break
        assert len(held) > LIMIT  # more than one table could hold
        beyond = [Wire(server.address, timeout=5) for _ in range(3 * LIMIT)]
        held += beyond
        eventually(lambda: "Too many open files" in server.log, "a line that says why")
        held[0].send(b"Host: x\r\n\r\n")
        assert held[0].read_response().status == 200
    finally:
        for wire in held:
            wire.close()

    def answers():
        try:
            return server.ask("/a").status == 200
        except (ProtocolError, ConnectionError):
            return False

    eventually(lambda: all(answers() for _ in range(12)), "every thread serves new clients")


def test_no_listening_socket_outlives_the_first_signal(start_server):
    server = start_server(PER_THREAD, files={"large": b"x" * 30_000_000})
    with server.connect() as wire:
        wire.send(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        wire.read_head()
        server.signal(signal.SIGTERM)
        refused = 0
        while server.process.poll() is None and refused < 20:
            try:
                socket.create_connection(server.address, 5).close()
            except ConnectionRefusedError:
                refused += 1
            except ConnectionResetError:
                pass  # connected, and the socket was closed with it in its queue
    assert refused == 20
    assert server.wait() == 0


def test_a_crash_on_a_thread_is_in_the_log(start_server):
    server = start_server(PER_THREAD)
    tasks = f"/proc/{server.process.pid}/task"
    thread = next(int(tid) for tid in os.listdir(tasks) if open(f"{tasks}/{tid}/comm").read() == "roost-io-1\n")
    tgkill = 234
    ctypes.CDLL(None).syscall(tgkill, server.process.pid, thread, signal.SIGABRT)
    assert server.wait() == -signal.SIGABRT
    assert "crashed by SIGABRT" in server.log


@pytest.mark.parametrize("changes, complaint", [
    ({"accept": "handoff"}, '"per_thread" needs "accept": "reuseport"'),
    ({"log": {"async": "off"}}, '"per_thread" needs "log.async" on'),
])
def test_what_it_needs(tmp_path, changes, complaint):
    (tmp_path / "conf").mkdir()
    (tmp_path / "html").mkdir()
    path = tmp_path / "conf" / "server.json"
    path.write_text(json.dumps({**PER_THREAD, **changes}))
    result = run_server("-t", "-f", path)
    assert result.returncode == 1
    assert f"server.json:1:" in result.stderr and complaint in result.stderr
