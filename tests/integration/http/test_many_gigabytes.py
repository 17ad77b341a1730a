"""Offsets that need more than 32 bits, in a file that takes no room on the disk."""

import os

import pytest

from raw_http import request

GIB = 1 << 30


@pytest.mark.rfc("9110 14.1.2")
def test_many_gigabytes(start_server):
    server = start_server({"worker_processes": 1})
    size, marker = 9 * GIB + 7, b"beyond four gigabytes"
    with open(server.html / "huge.bin", "wb") as file:
        file.truncate(size)
        file.seek(5 * GIB)
        file.write(marker)
        file.seek(-len(marker), os.SEEK_END)
        file.write(marker)
    with server.connect() as wire:
        assert wire.ask("/huge.bin", "HEAD").content_length() == size
        for first, last, value in ((5 * GIB, 5 * GIB + len(marker) - 1, f"{5 * GIB}-{5 * GIB + len(marker) - 1}"),
                                   (size - len(marker), size - 1, f"-{len(marker)}"),
                                   (size - len(marker), size - 1, f"{size - len(marker)}-")):
            response = wire.ask("/huge.bin", fields={"Range": f"bytes={value}"})
            assert response.status == 206 and response.body == marker
            assert response["Content-Range"] == f"bytes {first}-{last}/{size}"
        multi = wire.ask("/huge.bin", fields={"Range": f"bytes=0-9,{5 * GIB}-{5 * GIB + 9},-10"})
        assert multi.body.count(marker[:10]) == 1 and marker[-10:] in multi.body and bytes(10) in multi.body
        assert wire.ask("/huge.bin", fields={"Range": f"bytes={size}-"}).status == 416
        assert wire.ask("/huge.bin", fields={"Range": f"bytes={4 * GIB - 1000}-{4 * GIB + 999}"}).body == bytes(2000)
    with server.connect() as wire:  # the beginning of the whole
        wire.send(request("/huge.bin"))
        assert wire.read_head().content_length() == size
        assert wire.read_exactly(30 << 20) == bytes(30 << 20)
