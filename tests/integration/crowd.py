"""Very many clients that send the same, over one selector, and a server whose memory runs out for it."""

import pathlib
import selectors
import socket
import time

from raw_http import request
from roost_server import BINARY

MIB = 1 << 20
CLIENTS = 620
SANITIZED = BINARY.exists() and any(name in BINARY.read_bytes() for name in (b"__asan_init", b"__tsan_init"))


def virtual_bytes(server):
    text = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(text.split("VmSize:")[1].split()[0]) * 1024


def unfinished(target, size=MIB, **fields):
    """A request whose last byte never comes."""
    return request(target, "POST", fields={"Content-Length": str(size), **fields}) + b"x" * (size - 1)


class Crowd:
    """Clients that each send the same bytes, and whatever comes back."""

    def __init__(self, server, data, count=CLIENTS):
        self.selector = selectors.DefaultSelector()
        self.answers, self.left = {}, {}
        for _ in range(count):
            self.add(server, data)

    def add(self, server, data):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(server.address)
        self.answers[connection], self.left[connection] = b"", memoryview(data)
        self.selector.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE)

    def run(self, seconds, until=lambda: False):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.selector.get_map() and not until():
            for key, events in self.selector.select(0.1):
                self.serve(key.fileobj, events)

    def serve(self, connection, events):
        try:
            if events & selectors.EVENT_WRITE:
                self.left[connection] = self.left[connection][connection.send(self.left[connection]):]
                if not self.left[connection]:
                    self.selector.modify(connection, selectors.EVENT_READ)
            if events & selectors.EVENT_READ:
                piece = connection.recv(65536)
                self.answers[connection] += piece
                if not piece:
                    raise ConnectionError("closed")
        except BlockingIOError:
            pass
        except OSError:
            self.selector.unregister(connection)
            connection.close()

    def statuses(self):
        return [int(answer.split(b" ", 2)[1]) for answer in self.answers.values() if answer.startswith(b"HTTP/1.1 ")]

    def close(self):
        for connection in self.answers:
            connection.close()
        self.selector.close()
