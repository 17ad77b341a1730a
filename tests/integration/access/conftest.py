"""Fixtures of the tests of who may ask.

    gate    one server for all tests: peers 127.0.0.1 and 127.0.0.9 and a Unix socket are trusted proxies, others are not
    ask     ask(host, target="/", fields=(), source=None) -> the status; `source` is the address to come from

Its listeners, in order: plain; PROXY protocol from anybody; PROXY protocol from 127.0.0.7 alone.
"""

import pytest

from access_sites import CONFIG, FILES, SITES, wire_from, write_files
from raw_http import request
from roost_server import Server


@pytest.fixture(scope="session")
def shared_gate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gate")
    write_files(folder)
    config = {**CONFIG, "address": None, "port": None, "http": {**CONFIG["http"], "sites": SITES}}
    server = Server(folder, config)
    yield server
    server.stop()


@pytest.fixture
def gate(shared_gate):
    yield shared_gate
    shared_gate.check_alive()


@pytest.fixture
def ask(gate):
    def one(host, target="/", fields=(), source=None, version="1.1"):
        with (wire_from(gate.address, source) if source else gate.connect()) as wire:
            wire.send(request(target, host=host, fields=fields, version=version))
            response = wire.read_response()
            if response.status == 200:
                assert response.body == FILES["html" + target + ("index.html" if target.endswith("/") else "")]
            return response.status
    return one
