"""A client that sends a body to a file: the answer reaches it, whatever becomes of the body. RFC 9112 section 9.6."""

import os

import pytest

from exchange_case import FILES, OK, OK2, SECOND, get


@pytest.mark.rfc("9112 9.6")
@pytest.mark.parametrize("method, status", [(b"GET", 200), (b"POST", 405)])
@pytest.mark.parametrize("size", [70_000, 1_000_000, 20_000_000])
def test_the_answer_survives_a_large_body(http_server, method, status, size):
    """All of the body is sent before anything is read: a reset would destroy the answer."""
    with http_server.connect() as wire:
        wire.send(get(b"Content-Length: %d" % size, method=method))
        body = bytes(100_000)
        for _ in range(size // len(body)):
            wire.send(body)
        wire.send(bytes(size % len(body)) + SECOND)
        response = wire.read_response()
        assert response.status == status and response.closes
        wire.expect_close()


@pytest.mark.rfc("9112 9.3")
@pytest.mark.parametrize("size", [1, 1000, 60_000, 65_536])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_small_body_keeps_the_connection(http_server, size, chunked):
    with http_server.connect() as wire:
        if chunked:
            wire.send(get(b"Transfer-Encoding: chunked") + b"%x\r\n" % size + bytes(size) + b"\r\n0\r\n\r\n" + SECOND)
        else:
            wire.send(get(b"Content-Length: %d" % size) + bytes(size) + SECOND)
        OK.check(wire.read_response())
        OK2.check(wire.read_response())
        wire.expect_alive("/probe.txt")


@pytest.mark.rfc("9112 8")
@pytest.mark.parametrize("begun", [
    get(b"Content-Length: 10") + b"five!", get(b"Transfer-Encoding: chunked") + b"5\r\nfi"])
def test_a_body_that_breaks_off(http_server, begun):
    with http_server.connect() as wire:
        wire.send(begun)
        OK.check(wire.read_response())
        wire.shutdown_write()
        wire.expect_close()


@pytest.mark.rfc("9112 8")
@pytest.mark.parametrize("begun", [b"G", b"GET /hello.txt HTTP/1.1\r\nHost: a\r\n", b"\r\n"])
def test_a_head_that_breaks_off(http_server, begun):
    """There is nobody left to tell."""
    with http_server.connect() as wire:
        wire.send(begun)
        wire.shutdown_write()
        wire.expect_close()


def forget(path):
    """Drops a file's pages from memory, where the file system can."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


@pytest.mark.parametrize("tasks", [0, 2])
def test_files_cold_on_disk(start_server, tasks):
    """They come from the disk whole, and other requests of the connection stay in order behind them."""
    files = {name: FILES[name] for name in ("hello.txt", "64k.txt", "64k-and-one.txt", "1m.bin", "second.txt")}
    server = start_server({"worker_processes": 1, "task_processes": tasks, "http": {"file_cache": {"revalidate_ms": 0}}},
                          files=files)
    with server.connect() as wire:
        for _ in range(3):
            for name in files:
                forget(server.html / name)
            wire.send(b"".join(get(target=b"/" + name.encode()) for name in files) + SECOND)
            for name in [*files, "second.txt"]:
                assert wire.read_response().body == files[name]
            forget(server.html / "1m.bin")
            wire.send(get(b"Range: bytes=100000-900000", target=b"/1m.bin") + get(method=b"HEAD"))
            assert wire.read_response().body == files["1m.bin"][100000:900001]
            assert wire.read_response("HEAD").content_length() == 612
