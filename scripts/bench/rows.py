"""The rows of the comparison and the site they are measured on."""

import dataclasses
import hashlib
import http.client
import os
import pathlib
import random

TINY = "A tiny answer of one hundred bytes, kept in memory where the server can do that. Nothing more to see"
LARGE_BYTES = 262144  # from here on a row is about bytes, not requests


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    title: str
    path: str
    mode: str = "keep-alive"
    connections: int = 64
    status: int = 200
    size: int = -1
    accept: str = ""  # Accept-Encoding


ROWS = {row.name: row for row in (
    Row("tiny", "tiny, in memory", "/tiny.txt", size=100),
    Row("612", "612-byte file", "/612.html", size=612),
    Row("10k", "10 KB file", "/10k.html", size=10240),
    Row("1m", "1 MB file", "/1m.bin", size=1 << 20, connections=16),
    Row("100m", "100 MB file", "/100m.bin", size=100 << 20, connections=4),
    Row("404", "404", "/no/such/file.html", status=404),
    Row("short", "short connections, 612-byte file", "/612.html", mode="close", size=612),
    Row("pipelined", "pipelined 16 deep, tiny", "/tiny.txt", mode="pipelined", size=100),
)}


def make_site(folder):
    """Writes the files of every row below `folder`; their content does not compress and is the same every time."""
    site = pathlib.Path(folder) / "site"
    site.mkdir()
    assert len(TINY) == 100
    (site / "tiny.txt").write_text(TINY)
    source = random.Random(4507)
    for name, size in (("612.html", 612), ("10k.html", 10240)):
        (site / name).write_bytes(bytes(source.choices(range(97, 123), k=size)))
    megabyte = source.randbytes(1 << 20)
    (site / "1m.bin").write_bytes(megabyte)
    with open(site / "100m.bin", "wb") as large:
        for part in range(100):
            large.write(megabyte[part:] + megabyte[:part])
    for path in site.iterdir():
        os.utime(path, (1767225600, 1767225600))  # long ago: nobody need hold back a validator or a cache entry
    for path in [folder, site, *site.iterdir()]:
        pathlib.Path(path).chmod(0o755)
    return site


def verify(server, row, site):
    """One plain request: the status and every byte of the body, before anything is timed."""
    port, _ = server.address(row.name)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", row.path)
    response = connection.getresponse()
    digest, size = hashlib.sha256(), 0
    while part := response.read(1 << 20):
        digest.update(part)
        size += len(part)
    connection.close()
    if response.status != row.status or (row.size >= 0 and size != row.size):
        raise RuntimeError(f"{server.name}, {row.name}: status {response.status} and {size} bytes,"
                           f" not {row.status} and {row.size}")
    if row.status == 200 and server.serves_files:
        wanted = hashlib.sha256()
        with open(site / row.path.lstrip("/"), "rb") as file:
            while part := file.read(1 << 20):
                wanted.update(part)
        if digest.digest() != wanted.digest():
            raise RuntimeError(f"{server.name}, {row.name}: the body is not the file's")
