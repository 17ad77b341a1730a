"""Every case of the tables."""

import json
import time

import pytest

from limit_cases_config import CASES as CONFIG_CASES
from limit_cases_count import CASES as COUNT_CASES
from limit_cases_rate import CASES as RATE_CASES
from local_wire import LocalWire
from raw_http import request
from roost_server import BASE_CONFIG, eventually, merged, run_server


@pytest.mark.parametrize("index", range(len(RATE_CASES)), ids=[case.name for case in RATE_CASES])
def test_rate(limits_server, index):
    case = RATE_CASES[index]
    wires = {}
    try:
        for number, (target, statuses, more) in enumerate(case.steps):
            more = dict(more)
            source, method = more.pop("source", "127.0.0.1"), more.pop("method", "GET")
            place = (source, number if case.fresh else 0)
            if place not in wires:
                wires[place] = LocalWire(limits_server.address, source)
            response = wires[place].ask(target, method, host=f"rate{index}.test", **more)
            allowed = statuses if isinstance(statuses, set) else {statuses}
            assert response.status in allowed, (number, target, response)
            assert not response.closes
            refused = response.status in (429, 503)
            assert ("Retry-After" in response) == refused
            if refused:
                assert response.body or method == "HEAD"
                assert case.retry_after is None or int(response["Retry-After"]) in case.retry_after
    finally:
        for wire in wires.values():
            wire.close()


@pytest.mark.parametrize("index", range(len(COUNT_CASES)), ids=[case.name for case in COUNT_CASES])
def test_requests_at_a_time(limits_server, index):
    case = COUNT_CASES[index]

    def ask(target, source="127.0.0.1"):
        with LocalWire(limits_server.address, source, receive_bytes=4096) as wire:
            wire.send(request(target, host=f"count{index}.test"))
            return wire.read_head()

    def answered(status, *step):
        """An answer's place is free a moment after it, and the next request may come to another thread."""
        response = ask(*step)
        if status == 200 and response.status != 200:
            return eventually(lambda: (again := ask(*step)).status == 200 and again, "there is room")
        assert response.status == status, (step, response)
        return response

    held = []
    try:
        for target in case.held:
            held.append(LocalWire(limits_server.address, receive_bytes=4096))
            held[-1].send(request(target, host=f"count{index}.test"))
            assert held[-1].read_head().status == 200
        for target, status, *source in case.steps:
            response = answered(status, target, *source)
            for name, value in case.fields.items():
                assert response.get(name.replace("_", "-")) == value
    finally:
        for wire in held:
            wire.reset()
    for target, status in case.after or []:
        with LocalWire(limits_server.address) as wire:
            eventually(lambda: wire.ask(target, host=f"count{index}.test").status == status, "room again")


@pytest.mark.parametrize("name,config,words", CONFIG_CASES, ids=[case[0] for case in CONFIG_CASES])
def test_configuration_is_refused(tmp_path, name, config, words):
    path = tmp_path / "conf" / "server.json"
    path.parent.mkdir()
    (tmp_path / "html").mkdir()
    path.write_text(json.dumps(merged(BASE_CONFIG, config)))
    result = run_server("-t", "-f", path)
    assert result.returncode == 1
    assert words in result.stdout + result.stderr and "server.json:1:" in result.stdout + result.stderr


def test_pipelined_requests_are_refused_in_their_place(start_server):
    server = start_server({"http": {"rate_limit": {"requests": 2, "per_s": 86400}}}, files={"a": b"a\n"})
    with server.connect() as wire:
        wire.send(request("/a") * 5)
        assert [wire.read_response().status for _ in range(5)] == [200, 200, 429, 429, 429]
        wire.send(request("/a"))
        assert wire.read_response().status == 429


def test_sites_below_http_count_together(start_server):
    sites = [{"host": ["one.test"]}, {"host": ["two.test"]}]
    config = {"http": {"rate_limit": {"requests": 2, "per_s": 86400}, "sites": sites}}
    server = start_server(config, files={"a": b"a\n"})
    statuses = [server.ask("/a", host=host).status for host in ("one.test", "two.test", "one.test", "two.test")]
    assert statuses == [200, 200, 429, 429]


def test_delayed_requests_come_at_the_plain_rate(start_server):
    config = {"http": {"rate_limit": {"requests": 20, "per_s": 1, "burst": 8, "delay_after": 2}}}
    server = start_server(config, files={"a": b"a\n"})
    begin = time.monotonic()
    wires = [server.connect() for _ in range(9)]
    for wire in wires:
        wire.send(request("/a"))
    statuses = [wire.read_response().status for wire in wires]
    assert statuses.count(200) >= 8 and set(statuses) <= {200, 429}
    assert time.monotonic() - begin >= 6 / 20 * 0.95
    for wire in wires:
        wire.close()
