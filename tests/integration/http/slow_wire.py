"""A client that takes little at a time."""

import socket

from raw_http import Wire


def slow_wire(server):
    """A connection with a receive buffer so small that every write of the server is a partial one."""
    wire = Wire.__new__(Wire)
    wire.timeout, wire.buffer = 10, bytearray()
    wire.socket = socket.socket()
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    wire.socket.settimeout(wire.timeout)
    wire.socket.connect(server.address)
    return wire
