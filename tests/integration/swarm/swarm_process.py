"""swarm as a process ($ROOST_SWARM, otherwise beside the server), and small servers that misbehave on purpose."""

import base64
import hashlib
import json
import os
import pathlib
import re
import socket
import subprocess
import threading

from roost_server import BINARY

SWARM = pathlib.Path(os.environ.get("ROOST_SWARM", BINARY.resolve().parent / "swarm"))
QUICK = ("--duration-s", "0.3", "--warmup-s", "0", "--settle-s", "0.05", "--drain-s", "0.5", "-t", "2")


def start_swarm(*arguments, **more):
    return subprocess.Popen([str(SWARM), *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **more)


def run_swarm(*arguments, code=0, **more):
    """Runs it to its end and returns (stdout, stderr)."""
    process = start_swarm(*arguments, **more)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, f"exit code {process.returncode}, not {code}:\n{out}\n{err}"
    return out, err


def measure(*arguments, code=0, **more):
    """A quick run; returns the JSON report. Arguments given here win over QUICK's."""
    out, _ = run_swarm(*QUICK, *arguments, "-q", "--json", "-", code=code, **more)
    return json.loads(out)


def errors_of(report):
    return {kind: entry["count"] for kind, entry in report["errors"].items() if kind != "total"}


class ForeignServer:
    """Calls `serve(connection)` for each connection, in a thread of its own; a broken connection is its end."""

    def __init__(self, serve):
        self.serve = serve
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection:
            try:
                self.serve(connection)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def read_head(connection):
    """One request's head, b"" at the end."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        piece = connection.recv(4096)
        if not piece:
            return b""
        head += piece
    return head


def until_closed(connection):
    while connection.recv(4096):
        pass


def accept_websocket(connection, fields=b""):
    """Grants what the head that comes next asks for; `fields` are whole lines. Returns that head."""
    head = read_head(connection)
    key = re.search(rb"Sec-WebSocket-Key: (\S+)", head)[1]
    accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       b"Sec-WebSocket-Accept: " + accept + b"\r\n" + fields + b"\r\n")
    return head


def text_frame(text):
    return bytes([0x81, len(text)]) + text.encode()
