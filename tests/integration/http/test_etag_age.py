"""A tag is strong only once its file has been still for two seconds: RFC 9110 section 8.8.1."""

import email.utils
import os
import time

import pytest

from roost_server import eventually


@pytest.mark.rfc("9110 8.8.1")
def test_a_fresh_file_has_a_weak_tag_until_it_has_been_still(start_server):
    server = start_server(files={"file.txt": b"1"})
    path = server.html / "file.txt"

    def touched():  # what the server goes by: a modification time set by hand does not make a file old
        status = path.stat()
        return max(status.st_mtime, status.st_ctime)
    with server.connect() as wire:
        os.utime(path, (10 ** 9, 10 ** 9))
        weak = wire.ask("/file.txt")["ETag"]
        if time.time() - touched() < 1.5:
            assert weak.startswith('W/"')
            part = wire.ask("/file.txt", fields={"Range": "bytes=0-0", "If-Range": weak})
            assert part.status == 200  # section 13.1.5: no weak tag will do
            assert wire.ask("/file.txt", fields={"If-Match": weak}).status == 412
            assert wire.ask("/file.txt", fields={"If-None-Match": weak}).status == 304
        strong = eventually(
            lambda: (tag := wire.ask("/file.txt")["ETag"]).startswith('"') and tag, "the tag is strong", 10)
        assert time.time() - touched() >= 2
        assert weak in ("W/" + strong, strong)
        assert wire.ask("/file.txt", fields={"If-Match": strong}).status == 200
        assert wire.ask("/file.txt", fields={"If-None-Match": "W/" + strong}).status == 304
        path.write_bytes(b"2")
        assert wire.ask("/file.txt")["ETag"].startswith("W/")


@pytest.mark.rfc("9110 8.8.2")
def test_a_modification_time_in_the_future(start_server):
    """Last-Modified is never later than Date, and the tag never strong."""
    server = start_server(files={"file.txt": b"1"})
    os.utime(server.html / "file.txt", (4_000_000_000, 4_000_000_000))
    response = server.ask("/file.txt")
    assert response["ETag"].startswith("W/")
    assert abs(parse(response["Last-Modified"]) - parse(response["Date"])) <= 2
    assert parse(response["Last-Modified"]) <= parse(response["Date"])


def parse(date):
    return email.utils.parsedate_to_datetime(date).timestamp()
