"""Listening sockets of every kind, in both ways to accept."""

import json
import os
import socket
import stat

import pytest

from raw_http import Wire
from roost_server import BASE_CONFIG, eventually, merged, run_server

SITE = {"a": b"answer"}
BOTH_MODES = pytest.mark.parametrize("accept", ["handoff", "reuseport"])


def ipv6():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@BOTH_MODES
def test_several_at_once(start_server, tmp_path, accept):
    listen = [{"address": "127.0.0.1", "port": 0}, {"address": "127.0.0.1", "port": 0}]
    if ipv6():
        listen.append({"address": "::1", "port": 0})
    path = str(tmp_path / "a.sock")
    listen += [{"unix": path, "unix_mode": "0600"}, {"unix": str(tmp_path / "b.sock")}]
    server = start_server({"address": None, "port": None, "listen": listen, "accept": accept}, files=SITE)
    assert len(server.addresses) == len(listen) - 2
    assert len({port for _, port in server.addresses}) == len(server.addresses)
    assert f"unix:{path}" in server.output
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    for address in [*server.addresses, path, str(tmp_path / "b.sock")]:
        for _ in range(8):
            with Wire(address) as wire:
                assert wire.ask("/a").body == b"answer"
    server.stop()
    assert not os.path.exists(path)


@BOTH_MODES
def test_the_file_of_a_dead_socket_is_replaced(start_server, tmp_path, accept):
    path = str(tmp_path / "a.sock")
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(path)
    dead.close()
    start_server({"address": None, "port": None, "listen": [{"unix": path}], "accept": accept}, files=SITE)
    with Wire(path) as wire:
        assert wire.ask("/a").body == b"answer"


@pytest.mark.parametrize("first, second", [("reuseport", "reuseport"), ("reuseport", "handoff"), ("handoff", "reuseport")])
def test_a_second_server_does_not_join_the_port_of_the_first(start_server, tmp_path, first, second):
    server = start_server({"accept": first}, files=SITE)
    port = server.address[1]
    (tmp_path / "second" / "html").mkdir(parents=True)
    config = tmp_path / "second" / "server.json"
    config.write_text(json.dumps(merged(BASE_CONFIG, {"port": port, "accept": second})))
    result = run_server("-f", config, cwd=tmp_path / "second")
    assert (result.returncode, result.stdout) == (1, ""), result
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert f"127.0.0.1:{port}" in result.stderr and "another process listens there" in result.stderr
    for _ in range(20):
        assert server.ask("/a").body == b"answer"
    server.stop()
    start_server({"port": port, "accept": second}, files=SITE)  # at once: what is left of the first is no obstacle


@BOTH_MODES
def test_every_address_is_named_by_one_that_works(start_server, accept):
    server = start_server({"address": "0.0.0.0", "accept": accept}, files=SITE)
    assert server.address[0] == "127.0.0.1"
    assert server.ask("/a").body == b"answer"


@BOTH_MODES
def test_blocked_addresses_are_closed_unanswered(start_server, accept):
    server = start_server({"address": "0.0.0.0", "accept": accept, "blocks_ip": ["127.0.0.2", "127.1.0.0/16"]},
                          files=SITE)
    port = server.address[1]
    for source, blocked in [("127.0.0.1", False), ("127.0.0.2", True), ("127.0.0.3", False), ("127.1.2.3", True)]:
        with socket.create_connection(("127.0.0.1", port), 10, (source, 0)) as peer:
            if blocked:
                try:
                    assert peer.recv(1) == b""
                except ConnectionResetError:
                    pass
            else:
                peer.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
                assert peer.recv(4096).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("affinity", ["on", [min(os.sched_getaffinity(0))]])
def test_threads_have_names_and_processors(start_server, affinity):
    server = start_server({"worker_processes": 2, "task_processes": 1, "cpu_affinity": affinity})
    allowed = sorted(os.sched_getaffinity(0)) if affinity == "on" else affinity
    threads = {}
    for task in os.listdir(f"/proc/{server.process.pid}/task"):
        with open(f"/proc/{server.process.pid}/task/{task}/comm") as comm:
            threads[comm.read().strip()] = int(task)
    for k in range(2):
        assert os.sched_getaffinity(threads[f"roost-io-{k}"]) == {allowed[k % len(allowed)]}
    assert len(os.sched_getaffinity(server.process.pid)) == len(os.sched_getaffinity(0))


@BOTH_MODES
def test_clients_beyond_worker_connections_wait(start_server, accept):
    server = start_server({"accept": accept, "worker_processes": 1, "worker_connections": 2}, files=SITE)
    with server.connect() as one, server.connect() as two:
        for wire in (one, two):
            wire.ask("/a")
            wire.send(b"GET /a HTTP/1.1\r\n")  # half a request: an idle connection would be closed for the third
        one.expect_silence(0.1)
        with server.connect() as third:
            third.send(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
            third.expect_silence(0.3)
            before = server.cpu_seconds()
            one.send(b"Host: x\r\n\r\nGET /a HTTP/1.1\r\n")
            assert one.read_response().body == b"answer"
            third.expect_silence(0.7)
            assert server.cpu_seconds() - before < 0.3  # it does not spin
            two.close()
            assert third.read_response().body == b"answer"
    eventually(lambda: "worker_connections" in server.log, "a line that says why")


@pytest.mark.parametrize("address, named", [("0.0.0.0", "0.0.0.0:"), ("::", "[::]:")])
def test_what_others_can_reach_is_said(start_server, address, named):
    if address == "::" and not ipv6():
        pytest.skip("no IPv6 here")
    server = start_server({"address": address}, files=SITE)
    port = server.address[1]
    eventually(lambda: "reachable from the network" in server.output, "a second line")
    assert f"roost: reachable from the network: listening on every address of this machine at {named}{port}" in server.output
    eventually(lambda: "reachable from the network" in server.log, "a line in the log")


def test_what_only_this_machine_can_reach_is_not_called_exposed(start_server):
    server = start_server(files=SITE)
    server.stop()
    assert "reachable" not in server.output + server.log
