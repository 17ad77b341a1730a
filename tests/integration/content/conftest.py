"""Fixtures of the tests of what modules make of an answer.

    content    a server over content_site, shared by all tests
"""

import pytest

from content_site import FILES, ROUTES
from roost_server import Server
from site_files import write_site


@pytest.fixture(scope="session")
def content(tmp_path_factory):
    folder = tmp_path_factory.mktemp("content")
    write_site(folder / "html", FILES)
    server = Server(folder, {"http": {"sites": [{"host": ["*"], "routes": ROUTES}]}})
    yield server
    server.stop()
