"""A connection that tells a whole answer from one that was cut, and keeps what came of the latter."""

import json
import socket

from raw_http import ProtocolError, Wire, request


class Ended(ProtocolError):
    """The connection ended where an answer had not."""


class CutWire(Wire):
    """`address` as Wire has it. pace: called after each read of a body, to be slow; small: with little room for what comes."""

    def __init__(self, address, timeout=20, small=False):
        super().__init__(address, timeout)
        self.pace, self.partial = None, b""
        if small:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)

    def _fill(self):
        try:
            if super()._fill():
                return True
        except ConnectionError:
            pass
        raise Ended("closed within an answer")

    def _read_chunked(self):
        body = bytearray()
        try:
            while (size := int(self.read_line(), 16)) > 0:
                while size:
                    piece = self.buffer[:size] if self.buffer else (self._fill() and self.buffer[:size])
                    body += self._take(len(piece))
                    size -= len(piece)
                    if self.pace:
                        self.pace()
                if self.read_exactly(2) != b"\r\n":
                    raise ProtocolError("a chunk is longer than it said")
            if self.read_line() != b"":
                raise ProtocolError("trailer fields where none were expected")
        except Ended:
            self.partial = bytes(body)
            raise
        return bytes(body)

    def exchange(self, method, target, body=None, fields=()):
        """(answer, whole): the answer's body is what came; None when not even a head did."""
        fields, self.partial = dict(fields), b""
        data = b""
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            fields.setdefault("Content-Type", "application/json")
        head = None
        try:
            self.send(request(target, method, fields=fields, body=data))
            head = self.read_head()
            head.body = self._read_body(head, method)
            return head, True
        except (Ended, ConnectionError):
            if head is not None:
                head.body = self.partial
            return head, False
