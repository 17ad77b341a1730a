"""Subscribers that others have written, against our server: everything once, in order, over reconnections."""

import shutil

import pytest

import real_clients

ROUTES = [{"path": "/both/{channel}", "push_pubsub": {}}, {"path": "/pub/{channel}", "push_publish": {}}, {"path": "/sub/{channel}", "push_subscribe": {}}]
MISSING = {"websockets": real_clients.websockets is None, "httpx": real_clients.httpx is None, "curl": shutil.which("curl") is None}


@pytest.fixture
def push_server(shared_server):
    server = shared_server({"http": {"sites": [{"host": ["*"], "routes": ROUTES}]}})
    yield server
    server.check_alive()


@pytest.mark.parametrize("name", real_clients.CLIENTS)
def test_everything_once(push_server, name):
    if MISSING[name.partition(",")[0]]:
        pytest.skip(f"{name} is not installed")
    host, port = push_server.address
    url = f"http://{host}:{port}/both/{name.replace(', ', '-').replace(' ', '-')}"
    assert real_clients.drive(real_clients.CLIENTS[name], url) == 20


def test_one_id_on_all(push_server):
    """Each client goes on with the id that another one had."""
    clients = [client for name, client in real_clients.CLIENTS.items() if not MISSING[name.partition(",")[0]]]
    host, port = push_server.address
    url = f"http://{host}:{port}/both/passed-on"
    last_id, number = None, 0
    for client in clients * 2:
        for _ in range(2):
            number += 1
            real_clients.publish(url, number)
        listening = client(url, last_id)
        for expected in (number - 1, number):
            last_id, data = next(listening)
            assert data == str(expected), client
        listening.close()
