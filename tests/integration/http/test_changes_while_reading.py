"""Files that change under many readers: every answer is one version, whole, with that version's fields."""

import os
import threading
import time

import pytest

from exchange_case import get
from raw_http import request
from roost_server import eventually

SIZES = {"small.txt": 3000, "large.txt": 200_000}


def version(number, size):
    return bytes([65 + number % 26]) * (size + number % 26)


@pytest.mark.parametrize("name", SIZES)
def test_replaced_under_load(start_server, name):
    server = start_server({"worker_processes": 2}, files={name: version(0, SIZES[name])})
    stop = threading.Event()

    def replace():
        for number in range(1, 100_000):
            if stop.wait(0.0005):
                return
            (server.folder / "new").write_bytes(version(number, SIZES[name]))
            os.replace(server.folder / "new", server.html / name)

    writer = threading.Thread(target=replace)
    writer.start()
    seen = set()
    begin = time.monotonic()
    try:
        # On a busy machine the writer may have to wait for its turn.
        while len(seen) < 3 and time.monotonic() - begin < 30:
            with server.connect() as wire:
                for _ in range(10):
                    wire.send(request("/" + name) * 10)
                    for _ in range(10):
                        body = wire.read_response().body
                        assert body == version(body[0] - 65, SIZES[name])
                        seen.add(body[0])
    finally:
        stop.set()
        writer.join()
    assert len(seen) > 1
    last = (server.html / name).read_bytes()
    assert server.ask("/" + name).body == last


@pytest.mark.parametrize("accept", ["handoff", "reuseport"])
@pytest.mark.parametrize("how", ["rename", "rewrite", "delete"])
def test_a_cached_answer_changes_while_it_is_being_sent(start_server, how, accept):
    """What has begun to leave memory stays as it was, whatever becomes of the cache."""
    size = 60_000
    server = start_server({"worker_processes": 1, "accept": accept}, files={"file.txt": version(0, size)})
    path = server.html / "file.txt"
    count = 60
    with server.connect() as wire:
        wire.send(get(target=b"/file.txt") * count)  # more than fits into the socket's buffers
        head = wire.read_head()
        if how == "rename":
            (server.folder / "new").write_bytes(version(1, size))
            os.replace(server.folder / "new", path)
        elif how == "rewrite":
            path.write_bytes(version(1, size))
        else:
            path.unlink()
        for _ in range(20):
            with server.connect() as other:  # what was let go is used again by others
                assert other.ask("/file.txt").status == (404 if how == "delete" else 200)
        assert wire.read_exactly(head.content_length()) == version(0, size)
        for _ in range(count - 1):
            response = wire.read_response()
            if how == "rewrite":  # in place, it was empty for a moment, and as much of it as was written the next
                assert response.body == version(0, size) or version(1, size).startswith(response.body)
            else:
                assert response.status == 404 or response.body in (version(0, size), version(1, size))


def test_descriptors_of_the_cache_are_bounded(start_server):
    server = start_server({"worker_processes": 1})
    for number in range(1500):
        with open(server.html / f"{number}.bin", "wb") as file:
            file.truncate(100_000 + number)
    before = server.open_fds()
    with server.connect() as wire:
        for number in range(1500):
            assert wire.ask(f"/{number}.bin", "HEAD").content_length() == 100_000 + number
        assert server.open_fds() - before < 600
    eventually(lambda: server.open_fds() - before < 600, "descriptors are given back")


def test_a_small_cache_forgets_and_answers_rightly(start_server):
    server = start_server({"worker_processes": 1, "http": {"file_cache": {"max_entries": 3, "max_bytes": 20_000}}},
                          files={f"{number}.txt": version(number, 5000) for number in range(20)})
    with server.connect() as wire:
        for _ in range(3):
            for number in range(20):
                assert wire.ask(f"/{number}.txt").body == version(number, 5000)
                assert wire.ask(f"/missing{number}").status == 404
