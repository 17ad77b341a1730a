"""Runs http_client_probe, which lies beside the server's binary, and servers that say by script what they are told to."""

import json
import socket
import struct
import subprocess
import threading
import time

from roost_server import BINARY

PROBE = BINARY.resolve().parent / "http_client_probe"


def probe(*arguments, timeout=60, **options):
    """probe(url..., redirects=3, field=["A: b"]) -> the answers, a dictionary each; the client's state at the end is the last."""
    words = [str(PROBE)]
    for name, value in options.items():
        words += [f"{name}={one}" for one in (value if isinstance(value, list) else [value])]
    done = subprocess.run(words + list(arguments), capture_output=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def ask(url, **options):
    return probe(url, **options)[0]


def fnv1a(data):
    """What the probe calls "hash"."""
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f"{value:016x}"


def sleep(seconds):
    return lambda connection: time.sleep(seconds)


def read_head(connection):
    """Reads up to the end of a head; what came."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            break
        data += piece
    return data


def until_gone(connection):
    """Reads away what comes until the client is gone."""
    while connection.recv(1 << 20):
        pass


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class ScriptServer:
    """Listens on 127.0.0.1 and serves the nth connection by the nth script (the last one again and again): a list of bytes
    to send and of functions to call with the connection, which is closed at the end. Keeps what read_head() read."""

    def __init__(self, *scripts):
        self.scripts = scripts
        self.heads = []
        self.accepted = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        self.threads = [threading.Thread(target=self.accept, daemon=True)]

    def __enter__(self):
        self.threads[0].start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join(10)

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            script = self.scripts[min(self.accepted, len(self.scripts) - 1)]
            self.accepted += 1
            thread = threading.Thread(target=self.serve, args=(connection, script), daemon=True)
            self.threads.append(thread)
            thread.start()

    def serve(self, connection, script):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(30)
        try:
            with connection:
                for step in script:
                    if isinstance(step, bytes):
                        connection.sendall(step)
                        continue
                    read = step(connection)
                    if read is not None:
                        self.heads.append(read)
        except OSError:
            pass  # the client was done
