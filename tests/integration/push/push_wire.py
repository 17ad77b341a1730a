"""Very many connections from one thread: an epoll loop, and an HTTP client of few lines on top of it.

    reactor = Reactor()
    asker = Asker(reactor, address)
    asker.ask("GET", "/pub/a", on_answer=answers.append)
    reactor.run_until(lambda: answers, "an answer")

Everything happens in run_until(). What a peer does wrong is an AssertionError out of it.
"""

import collections
import os
import select
import socket
import struct
import time

RESET = struct.pack("ii", 1, 0)
READ_BYTES = 1 << 18
TIMEOUT_S = int(os.environ.get("ROOST_TORTURE_TIMEOUT_S", "60"))  # for what must come at all


class Reactor:
    def __init__(self):
        self.epoll = select.epoll()
        self.peers = {}

    def run_until(self, condition, what, timeout_s=TIMEOUT_S):
        """Serves all peers until `condition()`; `what` says in an error what did not come."""
        deadline = time.monotonic() + timeout_s
        while not (value := condition()):
            if time.monotonic() > deadline:
                raise AssertionError(f"still not after {timeout_s} s: {what() if callable(what) else what}")
            self.turn(0.01)
        return value

    def turn(self, wait_s=0.0):
        for fd, events in self.epoll.poll(wait_s, 512):
            if peer := self.peers.get(fd):
                if events & select.EPOLLOUT:
                    peer.flush()
                if events & ~select.EPOLLOUT:
                    peer.read()

    def settle(self, turns=20):
        """Goes on until nothing has come for a while."""
        quiet, deadline = 0, time.monotonic() + TIMEOUT_S
        while quiet < turns:
            assert time.monotonic() < deadline, "something comes all the time"
            ready = self.epoll.poll(0.002, 512)
            quiet = 0 if ready else quiet + 1
            for fd, _ in ready:
                if peer := self.peers.get(fd):
                    peer.flush()
                    peer.read()

    def close(self):
        for peer in list(self.peers.values()):
            peer.close()
        self.epoll.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Peer:
    """A connection. `on_bytes(peer)` finds them in `peer.buffer`, and takes off what it has used; `on_end(peer, why)`."""

    __slots__ = ("reactor", "socket", "fd", "buffer", "out", "on_bytes", "on_end", "paused")

    def __init__(self, reactor, address, on_bytes=None, on_end=None, receive_bytes=None, segment_bytes=None, source=None):
        """Small `segment_bytes` keep the kernel from buffering megabytes for it."""
        self.reactor, self.on_bytes, self.on_end = reactor, on_bytes, on_end
        self.socket = socket.socket()
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        if segment_bytes:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment_bytes)
        if source:
            self.socket.bind((source, 0))
        self.socket.settimeout(TIMEOUT_S)
        self.socket.connect(address)
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer, self.out = bytearray(), bytearray()
        self.fd = self.socket.fileno()
        self.paused = False
        reactor.peers[self.fd] = self
        reactor.epoll.register(self.fd, select.EPOLLIN)

    def send(self, data):
        if self.out:
            self.out += data
            return
        try:
            sent = self.socket.send(data)
        except BlockingIOError:
            sent = 0
        except ConnectionError:
            return  # read() will see it too
        if sent < len(data):
            self.out += data[sent:]
            self._watch()

    def flush(self):
        while self.out:
            try:
                del self.out[:self.socket.send(self.out)]
            except BlockingIOError:
                return
            except ConnectionError:
                self.out.clear()
        if self.fd >= 0:
            self._watch()

    def pause(self, paused=True):
        """Reads nothing any more, or goes on."""
        self.paused = paused
        self._watch()

    def widen(self):
        """Receives as others do from now on, whatever `receive_bytes` was."""
        if self.fd >= 0:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 18)

    def _watch(self):
        self.reactor.epoll.modify(self.fd, (0 if self.paused else select.EPOLLIN) | (select.EPOLLOUT if self.out else 0))

    def read(self, most=READ_BYTES, trickle=False):
        """`trickle`: although it is paused."""
        if self.fd < 0 or self.paused and not trickle:
            return
        try:
            data = self.socket.recv(most)
        except BlockingIOError:
            return
        except ConnectionError as error:
            self._ended(type(error).__name__)
            return
        if not data:
            self._ended("eof")
            return
        self.buffer += data
        if self.on_bytes:
            self.on_bytes(self)
        else:
            self.buffer.clear()

    def _ended(self, why):
        self.close()
        if self.on_end:
            self.on_end(self, why)

    def close(self, reset=False):
        if self.fd < 0:
            return
        self.reactor.epoll.unregister(self.fd)
        del self.reactor.peers[self.fd]
        self.fd = -1
        if reset:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.socket.close()


class Answer:
    """A response: status, fields (names in lower case), body."""

    __slots__ = ("status", "fields", "body", "size")

    def __init__(self, status, fields):
        self.status, self.fields, self.body, self.size = status, fields, b"", 0

    def __repr__(self):
        return f"<{self.status} {self.fields} {bytes(self.body[:200])!r}>"


def read_head(buffer):
    """Takes a head off the buffer: Answer, or None where it is not all there. Interim ones are passed over."""
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        assert len(buffer) < 65536, f"a head without an end: {bytes(buffer[:200])!r}"
        return None
    first, *lines = bytes(buffer[:end]).decode("latin-1").split("\r\n")
    del buffer[:end + 4]
    version, status = first.split(" ", 2)[:2]
    assert version == "HTTP/1.1", first
    fields = {}
    for line in lines:
        name, value = line.split(":", 1)
        name = name.lower()
        assert name not in fields or name in ("vary", "cache-control"), f"{name} twice: {lines}"
        fields[name] = value.strip()
    if status[0] == "1" and status != "101":
        return read_head(buffer)
    return Answer(int(status), fields)


def read_chunk(buffer):
    """Takes one chunk of a chunked body off the buffer: its bytes (none: the last), None where it is not all there."""
    line = buffer.find(b"\r\n")
    if line < 0:
        return None
    size = int(bytes(buffer[:line]), 16)
    if len(buffer) < line + size + 4:
        return None
    assert buffer[line + 2 + size:line + size + 4] == b"\r\n", f"a chunk without its end: {bytes(buffer[:200])!r}"
    chunk = bytes(buffer[line + 2:line + 2 + size])
    del buffer[:line + size + 4]
    return chunk


class Asker:
    """A connection for ordinary requests, as many as like on their way at a time; it is opened anew when it ends between two."""

    def __init__(self, reactor, address, **more):
        self.reactor, self.address, self.more = reactor, address, more
        self.waiting = collections.deque()  # what to call with each answer to come, and whether it has a body
        self.peer = self.answer = self.chunks = None
        self.ended = None

    def ask(self, method, target, fields=(), body=b"", on_answer=None):
        lines = [f"{method} {target} HTTP/1.1", "Host: x", *fields]
        if body or method in ("POST", "PUT"):
            lines.append(f"Content-Length: {len(body)}")
        if self.peer is None or self.peer.fd < 0:
            self.peer = Peer(self.reactor, self.address, self._bytes, self._end, **self.more)
        self.waiting.append((on_answer, method != "HEAD"))
        self.peer.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body)

    def get(self, method, target, fields=(), body=b""):
        """Asks and waits for the answer."""
        answers = []
        self.ask(method, target, fields, body, answers.append)
        self.reactor.run_until(lambda: answers, f"an answer to {method} {target}")
        return answers[0]

    def _bytes(self, peer):
        while peer.buffer and self.peer is peer:
            if self.answer is None:
                self.answer = read_head(peer.buffer)
                if self.answer is None:
                    return
                assert self.waiting, f"an answer that nobody has asked for: {self.answer}"
                self.chunks = [] if "transfer-encoding" in self.answer.fields else None
            if not self._body(peer.buffer, self.waiting[0][1]):
                return
            answer, self.answer = self.answer, None
            on_answer, _ = self.waiting.popleft()
            if answer.fields.get("connection", "").lower() == "close":
                peer.close()
                self._end(peer, "close")
            if on_answer:
                on_answer(answer)

    def _body(self, buffer, has_body):
        if not has_body or self.answer.status in (204, 304):
            return True
        if self.chunks is not None:
            while (chunk := read_chunk(buffer)) is not None:
                if not chunk:
                    self.answer.body = b"".join(self.chunks)
                    return True
                self.chunks.append(chunk)
            return False
        size = int(self.answer.fields.get("content-length", 0))
        if len(buffer) < size:
            return False
        self.answer.body = bytes(buffer[:size])
        del buffer[:size]
        return True

    def _end(self, _, why):
        self.ended = why
        self.answer = None
        lost = len(self.waiting)
        self.waiting.clear()
        self.on_end(why, lost)

    def on_end(self, why, lost):
        """Overridden by who can do without answers."""
        assert not lost, f"the connection has ended ({why}) with {lost} requests unanswered"

    def close(self, reset=False):
        if self.peer:
            self.peer.close(reset)
