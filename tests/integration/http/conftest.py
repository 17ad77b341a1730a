"""Fixtures of the HTTP tests: one server with one IO thread over exchange_case.FILES."""

import os
import shutil

import pytest

from exchange_case import FILES, OLD_S
from roost_server import Server, eventually


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
