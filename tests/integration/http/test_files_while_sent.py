"""Files that shrink, grow or go while they are being sent."""

import os

import pytest

from raw_http import request
from roost_server import eventually
from slow_wire import slow_wire
from site_files import pattern

SIZE = 20 << 20  # of large.bin


@pytest.mark.parametrize("left", [0, 1000, 5 << 20])
def test_a_file_that_shrinks_while_being_sent_ends_the_connection(large, left):
    with slow_wire(large) as wire:
        wire.send(request("/large.bin") + request("/small.txt"))
        head = wire.read_head()
        assert head.content_length() == SIZE
        os.truncate(large.html / "large.bin", left)
        try:
            received = wire.read_until_close()
        except ConnectionResetError:
            received = bytes(wire.buffer)
        assert len(received) < SIZE and pattern(SIZE).startswith(received[:left])
    used = large.cpu_seconds()
    eventually(lambda: large.ask("/large.bin").content_length() == left, "the shrunken file is served")
    assert large.cpu_seconds() - used < 1, "it spins"


def test_a_file_that_grows_while_being_sent(large):
    with slow_wire(large) as wire:
        wire.send(request("/large.bin") + request("/small.txt"))
        head = wire.read_head()
        with open(large.html / "large.bin", "ab") as file:
            file.write(b"more" * 1_000_000)
        assert head.content_length() == SIZE
        assert wire.read_exactly(SIZE) == pattern(SIZE)
        assert wire.read_response().body == b"small\n"


@pytest.mark.parametrize("how", ["replaced", "deleted"])
def test_a_file_that_goes_while_being_sent_is_sent_to_its_end(large, how):
    with slow_wire(large) as wire:
        wire.send(request("/large.bin") + request("/large.bin"))
        assert wire.read_head().content_length() == SIZE
        if how == "deleted":
            (large.html / "large.bin").unlink()
        else:
            (large.html / "new").write_bytes(b"new" * 1_000_000)
            os.replace(large.html / "new", large.html / "large.bin")
        assert wire.read_exactly(SIZE) == pattern(SIZE)
        second = wire.read_response()
        assert second.status == 404 if how == "deleted" else second.body == b"new" * 1_000_000
