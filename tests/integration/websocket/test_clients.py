"""A client that others have written: Python's websockets, with compression and without."""

import asyncio
import os

import pytest

websockets = pytest.importorskip("websockets")


def talk(server, path, compression, conversation):
    async def run():
        host, port = server.address
        async with websockets.connect(f"ws://{host}:{port}{path}", compression=compression, max_size=None) as client:
            await conversation(client)
        return client.close_code
    return asyncio.run(asyncio.wait_for(run(), 60))


@pytest.mark.parametrize("path, compression", [("/plain", None), ("/deflate", None), ("/deflate", "deflate"),
                                               ("/context", "deflate"), ("/window", "deflate")])
def test_conversation(ws_server, path, compression):
    async def conversation(client):
        assert bool(client.extensions) == (compression is not None)
        for size in (0, 1, 20, 125, 126, 1000, 65535, 65536, 500_000):
            data = os.urandom(size)
            text = ("ä€😀 words " * (size // 8 + 1))[:size]
            await client.send(data)
            await client.send(text)
            assert await client.recv() == data
            assert await client.recv() == text
        await client.send(["in ", "three ", "fragments"])
        assert await client.recv() == "in three fragments"
        await (await client.ping(b"there?"))
    assert talk(ws_server, path, compression, conversation) == 1000


def test_many_at_once(ws_server):
    async def one(number):
        host, port = ws_server.address
        async with websockets.connect(f"ws://{host}:{port}/plain") as client:
            for i in range(20):
                await client.send(f"{number} {i}")
            return [await client.recv() for _ in range(20)] == [f"{number} {i}" for i in range(20)]

    async def run():
        return await asyncio.gather(*(one(number) for number in range(50)))
    assert all(asyncio.run(asyncio.wait_for(run(), 60)))
