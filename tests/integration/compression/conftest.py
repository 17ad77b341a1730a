"""Fixtures of the compression tests: one server over coded_site.FILES, shared by all."""

import shutil

import pytest

from coded_site import CONFIG, write_coded_site
from roost_server import Server, eventually


@pytest.fixture(scope="session")
def coded_site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("coded")
    write_coded_site(folder / "html")
    server = Server(folder, CONFIG)
    eventually(lambda: not server.ask("/page.html")["ETag"].startswith("W/"), "the entity tags are strong")
    yield server
    server.stop()
    shutil.rmtree(server.html)


@pytest.fixture
def coded(coded_site):
    yield coded_site
    coded_site.check_alive()
