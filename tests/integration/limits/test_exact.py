"""One address spread over all loops is limited to the rate, within 1 %."""

import select
import time

import pytest

from raw_http import request

RATE, BURST, SECONDS, AT_ONCE = 1000, 1000, 3.0, 20
ASK = request("/a") * AT_ONCE


@pytest.mark.parametrize("accept", ["handoff", "reuseport"])
def test_exact_over_all_loops(start_server, accept):
    config = {"accept": accept, "worker_processes": 4, "log": {"level": "ERROR"},
              "http": {"rate_limit": {"requests": RATE, "per_s": 1, "burst": BURST}}}
    server = start_server(config, files={"a": b"a\n"})
    wires = {}
    for _ in range(24):
        wire = server.connect()
        wires[wire.socket] = [wire, 0]  # answers still to come
    admitted = refused = 0
    begin = time.monotonic()
    first_answer = last_ask = None
    while time.monotonic() - begin < SECONDS:
        for state in wires.values():
            if state[1] == 0:
                last_ask = time.monotonic()
                state[0].send(ASK)
                state[1] = AT_ONCE
        for socket in select.select(list(wires), [], [], 1)[0]:
            data = socket.recv(1 << 18)
            assert data
            state = wires[socket]
            state[0].buffer += data
            # Up to the last whole status line: a part of one is counted with the next piece.
            admitted, refused, found = count(state[0].buffer, admitted, refused)
            state[1] -= found
            first_answer = first_answer or time.monotonic()
    for state in wires.values():
        while state[1] > 0:
            data = state[0].socket.recv(1 << 18)
            assert data
            state[0].buffer += data
            admitted, refused, found = count(state[0].buffer, admitted, refused)
            state[1] -= found
    end = time.monotonic()
    for state in wires.values():
        state[0].close()
    assert refused > admitted / 10, "the client was too slow to say anything"
    least, most = RATE * (last_ask - first_answer) + BURST, RATE * (end - begin) + BURST
    print(f"{accept}: {admitted} admitted, {refused} refused, {least:.0f} to {most:.0f} expected")
    assert 0.99 * least <= admitted <= 1.01 * most


def count(buffer, admitted, refused):
    """Takes whole heads off the buffer; both kinds of answers have bodies that hold no empty line."""
    end = buffer.rfind(b"\r\n\r\n")
    whole = bytes(buffer[:end + 4]) if end >= 0 else b""
    del buffer[:end + 4 if end >= 0 else 0]
    good, bad = whole.count(b"HTTP/1.1 200 "), whole.count(b"HTTP/1.1 429 ")
    return admitted + good, refused + bad, good + bad
