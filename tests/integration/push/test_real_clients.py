"""Subscribers that others have written, against our server: everything once, in order, over reconnections."""

import asyncio
import shutil

import pytest

import real_clients

ROUTES = [{"path": "/both/{channel}", "push_pubsub": {}},
          {"path": "/new/{channel}", "push_pubsub": {"subscribe": {"first_message": "newest"}}}]
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


@pytest.mark.skipif(MISSING["websockets"], reason="websockets is not installed")
def test_a_place_before_the_first_message(push_server):
    """A WebSocket that offers "position" is told where it begins; others are told nothing that they do not know."""
    host, port = push_server.address
    url = f"ws://{host}:{port}/new/place"
    connect = real_clients.websockets.connect

    async def run():
        async with connect(url, subprotocols=["ws+meta.nchan", "position"]) as client, connect(url, subprotocols=["ws+meta.nchan"]) as other:
            assert client.subprotocol == "ws+meta.nchan"
            place = (await client.recv()).removeprefix("position: ").removesuffix("\n\n")
            real_clients.publish(url.replace("ws", "http", 1), "one")
            assert (await other.recv()).endswith("\n\none")
        async with connect(f"{url}?last_event_id={place}", subprotocols=["ws+meta.nchan", "position"]) as client:
            assert (await client.recv()).endswith("\n\none")
    asyncio.run(asyncio.wait_for(run(), 20))
