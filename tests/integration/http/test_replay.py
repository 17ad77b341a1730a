"""Every case of the tables again, cut in two at every byte, and byte by byte: it must come out the same.

Many connections at once go to a server of one loop, which reads in the order of sending. So once the answer to a later
request on another connection has come, it has read the pieces sent before.
"""

import select

import pytest

from all_cases import TABLES
from exchange_case import ALIVE, get
from raw_http import ProtocolError

LONG_BYTES = 700  # beyond this, only every thirteenth place is cut: it is filler
WAVE = 150
BARRIER = get(target=b"/empty.txt")


class Pool:
    """Connections, used again where they live on."""

    def __init__(self, server):
        self.server, self.idle, self.busy = server, [], []
        self.barrier_wire = server.connect()

    def take(self):
        wire = self.idle.pop() if self.idle else self.server.connect()
        self.busy.append(wire)
        return wire

    def give(self, wire, reusable):
        self.busy.remove(wire)
        if reusable:
            assert not wire.buffer, f"left over: {bytes(wire.buffer[:200])!r}"
            self.idle.append(wire)
        else:
            wire.close()

    def wait_until_read(self):
        self.barrier_wire.send(BARRIER)
        assert self.barrier_wire.read_response().status == 200

    def close(self):
        for wire in [*self.idle, *self.busy, self.barrier_wire]:
            wire.close()


@pytest.fixture
def pool(http_server):
    pool = Pool(http_server)
    yield pool
    pool.close()


def send(wire, data):
    """The server may have answered and gone before all of a bad request was sent."""
    try:
        wire.send(data)
    except (BrokenPipeError, ConnectionResetError):
        pass


def finish(pool, case, wire, where):
    try:
        case.read(wire)
        if case.end != ALIVE:
            wire.expect_close()
    except (AssertionError, ProtocolError, OSError) as problem:
        raise AssertionError(f"{case.id}, {where}: {problem}") from problem
    pool.give(wire, case.end == ALIVE)


def places(size):
    return [at for at in range(1, size) if size <= LONG_BYTES or at % 13 == 0 or at < 64 or at > size - 64]


@pytest.mark.parametrize("table", TABLES)
def test_cut_at_every_byte(pool, strong_etag, table):
    jobs = [(case, data, at) for case in TABLES[table] for data in [case.bytes(strong_etag)] for at in places(len(data))]
    for begin in range(0, len(jobs), WAVE):
        wave = [(case, data, at, pool.take()) for case, data, at in jobs[begin:begin + WAVE]]
        for _, data, at, wire in wave:
            wire.send(data[:at])
        pool.wait_until_read()
        for _, data, at, wire in wave:
            send(wire, data[at:])
        for case, _, at, wire in wave:
            finish(pool, case, wire, f"cut at {at}")
    for wire in pool.idle:
        wire.expect_alive("/probe.txt")


@pytest.mark.parametrize("table", TABLES)
def test_byte_by_byte(pool, strong_etag, table):
    small = [(case, case.bytes(strong_etag)) for case in TABLES[table] if len(case.data) <= 160]
    wave = [(case, data, pool.take()) for case, data in small]
    for at in range(max(len(data) for _, data in small)):
        for _, data, wire in wave:
            send(wire, data[at:at + 1])
        pool.wait_until_read()
    for case, _, wire in wave:
        finish(pool, case, wire, "byte by byte")


def test_the_pieces_are_read_apart(pool):
    """A fault in the first piece is answered before the second is sent."""
    wires = [pool.take() for _ in range(50)]
    for wire in wires:
        wire.send(b"GET /\x00")
    pool.wait_until_read()
    for wire in wires:
        readable, _, _ = select.select([wire.socket], [], [], 5)  # read, and answered soon
        assert readable
        assert wire.read_response().status == 400
