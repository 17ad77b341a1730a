"""Our client against a server that others have written, Python's websockets, and against servers that lie."""

import asyncio
import socket
import subprocess
import threading

import pytest

from roost_server import BINARY
from ws_wire import TEXT, frame

PROBE = BINARY.resolve().parent / "ws_client_probe"
websockets = pytest.importorskip("websockets")
permessage_deflate = pytest.importorskip("websockets.extensions.permessage_deflate")


@pytest.fixture(autouse=True)
def probe_is_built():
    if not PROBE.exists():
        pytest.skip(f"there is no {PROBE}")


def probe(*arguments, code=0):
    ran = subprocess.run([str(PROBE), *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert ran.returncode == code, ran.stdout + ran.stderr
    return ran.stdout


class EchoServer:
    """websockets.serve in a thread; `offers` are what it can agree on."""

    def __init__(self, **options):
        self.loop = asyncio.new_event_loop()
        self.agreed = []
        started = threading.Event()

        async def echo(peer, *_):
            self.agreed.append([extension.__class__.__name__ for extension in peer.extensions])
            async for message in peer:
                await peer.send(message)

        async def serve():
            self.server = await websockets.serve(echo, "127.0.0.1", 0, max_size=None, **options)
            self.port = self.server.sockets[0].getsockname()[1]
            started.set()

        self.loop.create_task(serve())
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        assert started.wait(10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        async def end():
            self.server.close()
            await self.server.wait_closed()
        asyncio.run_coroutine_threadsafe(end(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


def deflate(**parameters):
    return {"compression": None,
            "extensions": [permessage_deflate.ServerPerMessageDeflateFactory(**parameters)]}


@pytest.mark.parametrize("server, client, compressed", [
    ({"compression": None}, [], False),
    ({"compression": None}, ["compress=1"], False),
    ({}, [], False),
    ({}, ["compress=1"], True),
    ({}, ["compress=1", "server_context=1", "client_context=1"], True),
    (deflate(server_no_context_takeover=True), ["compress=1", "server_context=1", "client_context=1"], True),
    (deflate(client_no_context_takeover=True), ["compress=1", "server_context=1", "client_context=1"], True),
    (deflate(server_max_window_bits=9, client_max_window_bits=10), ["compress=1", "server_context=1", "client_context=1"], True),
    (deflate(), ["compress=1", "server_bits=10", "client_bits=9"], True),
])
def test_echo(server, client, compressed):
    with EchoServer(**server) as foreign:
        assert "messages echoed" in probe("echo", f"ws://127.0.0.1:{foreign.port}/", "max_bytes=300000", *client)
        assert foreign.agreed == [["PerMessageDeflate"] if compressed else []]


def test_subprotocol():
    with EchoServer(subprotocols=["superchat", "chat"]) as foreign:
        out = probe("echo", f"ws://127.0.0.1:{foreign.port}/", "max_bytes=1", "subprotocol=chat")
        assert "subprotocol chat" in out


def test_against_ourselves(ws_server):
    host, port = ws_server.address
    for path, options in (("plain", ["max_bytes=16000000"]), ("deflate", ["compress=1"]),
                          ("context", ["compress=1", "server_context=1", "client_context=1", "server_bits=8"])):
        assert "messages echoed" in probe("echo", f"ws://{host}:{port}/{path}", *options)


GOOD = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"


@pytest.mark.parametrize("answer, reason", [
    ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "status 200: no upgrade"),
    ("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "status 403: no upgrade"),
    (GOOD + "\r\n", "status 101: wrong Sec-WebSocket-Accept"),
    (GOOD + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n", "status 101: wrong Sec-WebSocket-Accept"),
    (GOOD.replace("websocket", "h2c") + "\r\n", "status 101: upgrade to something else"),
    ("", "closed_early"),
])
def test_lies(answer, reason):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve():
            peer, _ = listener.accept()
            with peer:
                peer.recv(65536)
                peer.sendall(answer.encode() + frame(TEXT, b"x", mask=False))
        thread = threading.Thread(target=serve)
        thread.start()
        out = probe("refuse", f"ws://127.0.0.1:{listener.getsockname()[1]}/")
        thread.join()
    assert reason in out or (not answer and out.strip())


def test_nobody_there():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert "Connection refused" in probe("refuse", f"ws://127.0.0.1:{port}/")
