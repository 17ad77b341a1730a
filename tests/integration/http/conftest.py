"""Fixtures of the HTTP tests.

    old_site     one server with one IO thread over exchange_case.FILES, shared by all tests
    http_server  the same, once the entity tags of its files are strong
    large        a server of this test alone with a file of 20 MB
"""

import os
import shutil

import pytest

from exchange_case import FILES, OLD_S
from roost_server import Server, eventually
from site_files import pattern


def write_old_site(html, files):
    for path, content in files.items():
        file = html / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        os.utime(file, (OLD_S, OLD_S))


@pytest.fixture(scope="session")
def old_site(tmp_path_factory):
    """A server over FILES whose one loop reads what was sent on its connections in the order in which it was sent."""
    folder = tmp_path_factory.mktemp("http")
    write_old_site(folder / "html", FILES)
    server = Server(folder, {"worker_processes": 1})
    yield server
    server.stop()
    shutil.rmtree(server.html)


@pytest.fixture(scope="session")
def strong_etag(old_site):
    """The entity tag of /hello.txt once the file has been still for long enough."""
    def strong():
        etag = old_site.ask("/hello.txt")["ETag"]
        return None if etag.startswith("W/") else etag
    return eventually(strong, "the entity tag is strong").encode()


@pytest.fixture
def http_server(old_site, strong_etag):
    yield old_site
    old_site.check_alive()


LARGE_SIZE = 20 << 20


@pytest.fixture
def large(start_server):
    server = start_server({"worker_processes": 1}, files={"large.bin": pattern(LARGE_SIZE), "small.txt": b"small\n"})
    yield server
    server.check_alive()
