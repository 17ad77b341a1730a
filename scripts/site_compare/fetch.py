"""Requests over raw sockets, many in one write, and their responses as they came."""

import socket

TIMEOUT_S = 30
READ_SIZE = 1 << 20
BODILESS = (204, 304)


class Response:
    """One response. `fields` maps lower-case names to the list of their values, in order."""

    __slots__ = ("status", "reason", "fields", "body")

    def __init__(self, status, reason, fields, body):
        self.status, self.reason, self.fields, self.body = status, reason, fields, body

    def get(self, name):
        values = self.fields.get(name)
        return ", ".join(values) if values else None

    def __repr__(self):
        return f"{self.status} {self.reason} {self.fields} {len(self.body)} bytes"


class Closed(Exception):
    """The server has closed the connection between two responses."""


class BadResponse(Exception):
    """What came is no HTTP/1.1."""


class Client:
    """Connections to one server, one at a time, opened anew when the server closes."""

    def __init__(self, address):
        self.address = address
        self.socket = None
        self.buffer = bytearray()

    def close(self):
        if self.socket is not None:
            self.socket.close()
        self.socket = None
        self.buffer.clear()

    def fetch(self, requests):
        """`requests` are (method, bytes); returns their responses, in order."""
        responses = []
        while len(responses) < len(requests):
            pending = requests[len(responses):]
            before = len(responses)
            try:
                self._connect()
                self.socket.sendall(b"".join(data for _, data in pending))
                for method, _ in pending:
                    response = self._read(method)
                    responses.append(response)
                    if (response.get("connection") or "").lower() == "close":
                        self.close()
                        break
            except (Closed, ConnectionResetError, BrokenPipeError):
                self.close()
                if len(responses) == before:  # even a fresh connection is closed: try once more, then give up
                    self._retry(pending[0], responses)
        return responses

    def _retry(self, request, responses):
        method, data = request
        self._connect()
        try:
            self.socket.sendall(data)
            responses.append(self._read(method))
        except (Closed, ConnectionResetError, BrokenPipeError):
            responses.append(Response(0, "closed without an answer", {}, b""))
        self.close()

    def _connect(self):
        if self.socket is None:
            self.socket = socket.create_connection(self.address, TIMEOUT_S)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _fill(self):
        data = self.socket.recv(READ_SIZE)
        self.buffer += data
        return bool(data)

    def _take(self, size):
        while len(self.buffer) < size:
            if not self._fill():
                raise BadResponse(f"the body ends after {len(self.buffer)} of {size} bytes")
        taken = bytes(memoryview(self.buffer)[:size])
        del self.buffer[:size]
        return taken

    def _read(self, method):
        while (end := self.buffer.find(b"\r\n\r\n")) < 0:
            if not self._fill():
                if self.buffer:
                    raise BadResponse(f"the head does not end: {bytes(self.buffer[:100])!r}")
                raise Closed
        lines = self._take(end + 4)[:-4].decode("latin-1").split("\r\n")
        version, status, *reason = lines[0].split(" ", 2)
        if version != "HTTP/1.1":
            raise BadResponse(f"no HTTP/1.1: {lines[0]!r}")
        fields = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon:
                raise BadResponse(f"malformed field line: {line!r}")
            fields.setdefault(name.lower(), []).append(value.strip(" \t"))
        response = Response(int(status), reason[0] if reason else "", fields, b"")
        if method != "HEAD" and response.status not in BODILESS:
            response.body = self._read_body(fields)
        return response

    def _read_body(self, fields):
        if fields.get("transfer-encoding") == ["chunked"]:
            return self._read_chunked()
        if "content-length" in fields:
            return self._take(int(fields["content-length"][0]))
        while self._fill():
            pass
        return self._take(len(self.buffer))

    def _read_chunked(self):
        body = bytearray()
        while True:
            while (end := self.buffer.find(b"\r\n")) < 0:
                if not self._fill():
                    raise BadResponse("the chunks do not end")
            size = int(self._take(end + 2), 16)
            body += self._take(size)
            if self._take(2) != b"\r\n":
                raise BadResponse("a chunk is longer than it said")
            if size == 0:
                return bytes(body)
