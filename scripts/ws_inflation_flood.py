#!/usr/bin/env python3
"""Floods a WebSocket route with messages that inflate a thousandfold, and measures how long others wait meanwhile.

Each of the attackers sends frames of 1 KB that inflate to 1 MB, all at once. One honest client sends a short message again and
again and waits for its echo; its longest wait is what the flood can do to others on the same loop. The server is started with one
IO thread and `ws_echo` with compression. The exit code is 1 where the honest client waited for longer than --most-ms.
"""

import argparse
import json
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

from autobahn import free_port, wait_for

ROOT = pathlib.Path(__file__).resolve().parent.parent
REQUEST = (b"GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
           b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s\r\n")


def opened(port, extensions=b""):
    connection = socket.create_connection(("127.0.0.1", port), 300)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(REQUEST % extensions)
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += connection.recv(1)
    assert b" 101 " in head, head
    return connection


def frame(payload, first):
    size = len(payload)
    length = struct.pack("!B", 0x80 | size) if size < 126 else struct.pack("!BH", 0xfe, size)
    return bytes([first]) + length + bytes(4) + payload  # masked with zeros


def bomb(size):
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return (compressor.compress(bytes(size)) + compressor.flush(zlib.Z_SYNC_FLUSH))[:-4]


def drain(connection):
    try:
        while connection.recv(1 << 20):
            pass
    except OSError:
        pass


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1])
    parser.add_argument("--server", default=str(ROOT / "server"), help="the program (./server)")
    parser.add_argument("--attackers", type=int, default=16)
    parser.add_argument("--frames", type=int, default=60, help="of each attacker")
    parser.add_argument("--inflated", type=int, default=1 << 20, help="bytes that a frame inflates to")
    parser.add_argument("--most-ms", type=float, default=500, help="the longest that the honest client may wait")
    return parser.parse_args()


def main():
    args = arguments()
    with tempfile.TemporaryDirectory(prefix="ws-flood-") as name:
        port = free_port()
        config = {"address": "127.0.0.1", "port": port, "worker_processes": 1, "log": {"path": "", "level": "ERROR"},
                  "http": {"sites": [{"host": ["*"], "routes": [{"path": "/echo", "ws_echo": {"max_message_bytes": 2 << 20, "compression": {}}}]}]}}
        file = pathlib.Path(name) / "server.json"
        file.write_text(json.dumps(config))
        server = subprocess.Popen([args.server, "-f", str(file)], stdout=subprocess.DEVNULL)
        try:
            wait_for(port, server)
            attackers = [opened(port, b"Sec-WebSocket-Extensions: permessage-deflate\r\n") for _ in range(args.attackers)]
            honest = opened(port)
            flood = frame(bomb(args.inflated), 0xc2) * args.frames
            readers = [threading.Thread(target=drain, args=(one,), daemon=True) for one in attackers]
            for reader in readers:
                reader.start()
            waits = []
            for one in attackers:
                one.sendall(flood)
            began = time.monotonic()
            while time.monotonic() < began + 5:
                sent = time.monotonic()
                honest.sendall(frame(b"hello", 0x81))
                answer = b""
                while len(answer) < 7:
                    answer += honest.recv(7 - len(answer))
                waits.append((time.monotonic() - sent) * 1000)
                time.sleep(0.01)
            for one in (*attackers, honest):
                one.close()
        finally:
            server.kill()
            server.wait()
    longest = max(waits)
    print(f"{args.attackers} attackers with {args.frames} frames of {len(bomb(args.inflated))} bytes, {args.inflated} inflated: "
          f"the honest client had {len(waits)} echoes, the longest wait was {longest:.0f} ms")
    return 1 if longest > args.most_ms else 0


if __name__ == "__main__":
    sys.exit(main())
