"""A WebSocket client over a bare socket: frames are sent exactly as they are written, and read by a parser that forgives nothing.

    with WsWire(server, "/plain") as ws:
        ws.send(frame(TEXT, b"hello"))
        assert ws.read() == (TEXT, b"hello")
"""

import os
import socket
import struct
import zlib

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
MASK = b"\x37\xfa\x21\x3d"


def masked(payload, key=MASK):
    if not payload:
        return b""
    stream = (key * (len(payload) // 4 + 1))[:len(payload)]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(stream, "big")).to_bytes(len(payload), "big")


def frame(opcode, payload=b"", fin=True, rsv=0, mask=True, length_form=None):
    """A frame; `length_form` 2 or 8 writes the length in so many bytes, needed or not."""
    size = len(payload)
    form = length_form or (0 if size < 126 else 2 if size < 65536 else 8)
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode,
                  (0x80 if mask else 0) | (size if form == 0 else 126 if form == 2 else 127)])
    head += {0: b"", 2: struct.pack("!H", size & 0xffff), 8: struct.pack("!Q", size)}[form]
    return head + (MASK + masked(payload) if mask else payload)


def fragments(opcode, *pieces):
    """A message in as many frames."""
    last = len(pieces) - 1
    return b"".join(frame(opcode if i == 0 else CONTINUATION, piece, fin=i == last) for i, piece in enumerate(pieces))


def close(code=None, reason=b""):
    return frame(CLOSE, b"" if code is None else struct.pack("!H", code) + reason)


def deflated(message, bits=15, compressor=None):
    """The payload of a compressed message."""
    compressor = compressor or zlib.compressobj(6, zlib.DEFLATED, -bits)
    data = compressor.compress(message) + compressor.flush(zlib.Z_SYNC_FLUSH)
    assert data.endswith(b"\x00\x00\xff\xff")
    return data[:-4]


def inflated(payload, bits=15, decompressor=None):
    decompressor = decompressor or zlib.decompressobj(-bits)
    return decompressor.decompress(payload + b"\x00\x00\xff\xff")


class WsWire:
    def __init__(self, server, path, fields=(), timeout=10):
        self.socket = socket.create_connection(server.address, timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        lines = [f"GET {path} HTTP/1.1", "Host: test", "Connection: Upgrade", "Upgrade: websocket",
                 "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {KEY.decode()}", *fields]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        self.status = int(head.split()[1])
        self.fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def _more(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError("the server has ended the connection")
        self.buffer += data

    def _take(self, size):
        while len(self.buffer) < size:
            self._more()
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def send(self, data, step=None):
        """Sends the bytes, in segments of `step`."""
        for at in range(0, len(data), step or max(1, len(data))):
            self.socket.sendall(data[at:at + (step or len(data))])

    def read_frame(self):
        """One frame: (opcode, payload, fin, rsv). A server's frames are never masked and lengths are in their shortest form."""
        first, second = self._take(2)
        assert second & 0x80 == 0, "a server must not mask"
        size = second & 0x7f
        if size == 126:
            size = struct.unpack("!H", self._take(2))[0]
            assert size > 125
        elif size == 127:
            size = struct.unpack("!Q", self._take(8))[0]
            assert size > 65535
        return first & 15, self._take(size), bool(first & 0x80), first >> 4 & 7

    def read(self):
        """One frame that is a whole message, uncompressed: (opcode, payload)."""
        opcode, payload, fin, rsv = self.read_frame()
        assert fin and rsv == 0
        return opcode, payload

    def read_close(self):
        """The code of a Close frame (None: without one), and then the end of the connection."""
        opcode, payload = self.read()
        assert opcode == CLOSE, f"opcode {opcode}, {payload[:100]!r}"
        self.expect_end()
        return struct.unpack("!H", payload[:2])[0] if payload else None

    def expect_end(self):
        assert self.buffer == b""
        assert self.socket.recv(1) == b""


def some_bytes(size):
    return os.urandom(size)
