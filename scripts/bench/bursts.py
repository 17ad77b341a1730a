"""Bursts of clients for bench_burst_memory.py: each makes a server hold much memory, and then leaves.

A burst's clients are spread over processes, since a process may have only so many descriptors. They send what makes the server
hold memory, and read nothing unless said otherwise.
"""

import multiprocessing
import os
import select
import socket
import struct
import sys
import time
import zlib

CLIENTS_OF_PROCESS = 15_000
CLIENTS_OF_ADDRESS = 10_000  # of one source address: the kernel has about 14,000 ports of one parity
STAY_EVERY = 100
MESSAGE_BYTES = 1_000_000
IP_BIND_ADDRESS_NO_PORT = 24


class Burst:
    """One kind. `open` makes client `number` hold memory; `act` is what the main process does once all are there."""

    name = what = ""
    clients = 0          # as many as the whole bench has
    receive_bytes = None  # of the client's socket, where it is to be small
    reads = 0            # of so many clients one reads all that it is sent; 0: none does
    needs_database = False

    def open(self, sock, number):
        raise NotImplementedError

    def act(self, bench):
        pass

    def calm(self, bench):
        """Once those that leave have left."""


class Polls(Burst):
    name, what, clients = "polls", "long polls that wait", 750_000

    def open(self, sock, number):
        sock.sendall(b"GET /sub/news HTTP/1.1\r\nHost: a\r\n\r\n")


class ChannelPolls(Burst):
    name, what, clients = "channels", "long polls that wait, each on a channel of its own", 100_000

    def open(self, sock, number):
        sock.sendall(b"GET /sub/c%d HTTP/1.1\r\nHost: a\r\n\r\n" % number)


class Held(Burst):
    name, what, clients = "held", "requests that `hold` holds: a timer each", 300_000

    def open(self, sock, number):
        sock.sendall(b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")


def upgrade(sock, path, more=b""):
    sock.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                 b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + more + b"\r\n")


def read_head(sock):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = sock.recv(1)
        if not byte:
            raise ConnectionError("closed within the answer's head")
        head += byte
    return head


class WebSockets(Burst):
    name, what, clients = "websockets", "WebSockets that wait", 300_000

    def open(self, sock, number):
        upgrade(sock, b"/sub/news")


class Pipelines(Burst):
    name, what, clients, receive_bytes = "pipelines", "200 pipelined requests for a file each, answers unread", 4000, 4096

    def open(self, sock, number):
        sock.sendall(b"GET /page HTTP/1.1\r\nHost: a\r\n\r\n" * 200)


class Messages(Burst):
    name, what = "messages", "1 MB messages to subscribers, half of which do not read"
    clients, receive_bytes, reads, messages = 400, 65536, 2, 60

    def open(self, sock, number):
        upgrade(sock, b"/sub/big%d" % (number % 4))

    def act(self, bench):
        body = b"x" * MESSAGE_BYTES
        for number in range(self.messages):
            bench.ask("POST", f"/pub/big{number % 4}", body)


class Bodies(Burst):
    name, what, clients = "bodies", "1 MB request bodies that stay unfinished", 1200

    def open(self, sock, number):
        sock.sendall(b"POST /pub/a HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % MESSAGE_BYTES + b"x" * (MESSAGE_BYTES - 100_000))


def masked(first_byte, payload):
    """A frame of up to 64 KB, masked with zeros."""
    length = struct.pack("!BBH", first_byte, 0x80 | 126, len(payload))
    return length + bytes(4) + payload


class Inflation(Burst):
    name, what, clients = "inflation", "compressed WebSocket messages of 1 MB, unfinished, contexts kept", 600

    def __init__(self):
        coder = zlib.compressobj(9, zlib.DEFLATED, -15)
        self.payload = coder.compress(bytes(900_000)) + coder.flush(zlib.Z_SYNC_FLUSH)

    def open(self, sock, number):
        upgrade(sock, b"/echo", b"Sec-WebSocket-Extensions: permessage-deflate\r\n")
        head = read_head(sock)
        if b"permessage-deflate" not in head:
            raise ConnectionError(f"no compression: {head!r}")
        sock.sendall(masked(0x40 | 0x02, self.payload))


class MySqlBodies(Burst):
    name, what, clients, needs_database = "mysql", "700 KB bodies for a table that is locked", 400, True

    def open(self, sock, number):
        row = b'{"body":"' + b"x" * 700_000 + b'"}'
        sock.sendall(b"POST /data/notes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                     % len(row) + row)

    def act(self, bench):
        pass

    def calm(self, bench):
        bench.unlock()


ALL = {burst.name: burst for burst in (Polls, ChannelPolls, Held, WebSockets, Pipelines, Messages, Bodies, Inflation, MySqlBodies)}


# --- the processes ----------------------------------------------------------------------------------------------------------------

def connect(burst, port, number):
    sock = socket.socket()
    sock.settimeout(10)
    if burst.receive_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, burst.receive_bytes)
    sock.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
    address = number // CLIENTS_OF_ADDRESS
    sock.bind((f"127.0.{2 + address // 250}.{1 + address % 250}", 0))
    sock.connect(("127.0.0.1", port))
    return sock


def work(burst, port, numbers, pipe):
    """A process's life: "open" (once, or again with other numbers), "leave" with who stays, "end"."""
    held, readers = {}, select.epoll()
    while True:
        if not pipe.poll(0.02 if burst.reads else None):
            drain(readers)
            continue
        order, argument = pipe.recv()
        if order == "open":
            for number in numbers:
                if number in held or (argument and number % argument):
                    continue
                sock = None
                try:
                    sock = connect(burst, port, number)
                    burst.open(sock, number)
                except OSError:  # refused: it is over its cap
                    if sock is not None:
                        sock.close()
                    continue
                sock.setblocking(False)
                held[number] = sock
                if burst.reads and number % burst.reads == 0:
                    readers.register(sock, select.EPOLLIN)
            pipe.send(len(held))
        elif order == "leave":
            stays = {number: sock for number, sock in held.items() if argument and number % argument == 0}
            for number, sock in held.items():
                if number not in stays:
                    sock.close()
            held = stays
            pipe.send(len(held))
        else:
            os._exit(0)


def drain(readers):
    for descriptor, _ in readers.poll(0):
        try:
            while os.read(descriptor, 1 << 20):
                pass
        except OSError:
            continue
        readers.unregister(descriptor)


class Crowd:
    """All clients of a burst, in as many processes as they need."""

    def __init__(self, burst, port, clients):
        self.workers = []
        count = max(-(-clients // CLIENTS_OF_PROCESS), min(2, clients))
        for part in range(count):
            ours, theirs = multiprocessing.Pipe()
            worker = multiprocessing.Process(target=work, args=(burst, port, range(part, clients, count), theirs), daemon=True)
            worker.start()
            self.workers.append((worker, ours))

    def order(self, what, argument=0):
        """Every process does it; returns how many clients there are then."""
        for _, pipe in self.workers:
            pipe.send((what, argument))
        return sum(pipe.recv() for _, pipe in self.workers)

    def end(self):
        for worker, pipe in self.workers:
            pipe.send(("end", 0))
            worker.join()


if __name__ == "__main__":
    sys.exit("for bench_burst_memory.py")
