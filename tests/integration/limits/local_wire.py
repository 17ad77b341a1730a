"""A client that chooses its address."""

import socket

from raw_http import Wire


class LocalWire(Wire):
    """A connection from a certain address of this machine."""

    def __init__(self, address, source="127.0.0.1", timeout=10, receive_bytes=None):
        self.timeout, self.buffer = timeout, bytearray()
        self.socket = socket.socket()
        self.socket.settimeout(timeout)
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.bind((source, 0))
        self.socket.connect(address)
