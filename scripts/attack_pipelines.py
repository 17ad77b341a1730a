#!/usr/bin/env python3
"""Attacks a server of its own with pipelined requests for files, and shows what that costs it and its other clients.

Two attacks, each on a fresh server with a memory cap. Every attacker sends 33 KB of pipelined requests for a file and hardly
reads the answers.

  slow    --readers connections read 2,000 bytes every --pause seconds, for --seconds. Meanwhile ordinary clients connect
          ten times a second and ask for a page.
  burst   --burst connections send their requests at the same moment.

It prints the server's resident memory before, at its highest and after, how many ordinary clients were served and how long
they waited, and what the server's counters say. Exit code 1: an ordinary client was not served within --patience seconds, or
the memory passed the cap.

Usage: scripts/attack_pipelines.py [--server ./server] [--attack slow|burst|both] [--seconds 60]
"""

import argparse
import contextlib
import json
import pathlib
import re
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time

FILE_BYTES = 100_000  # larger than what the server keeps in memory, so that it goes out as a range of the file
REQUEST = b"GET /file HTTP/1.1\r\nHost: a\r\n\r\n"
PIPELINE = REQUEST * (33_000 // len(REQUEST))
READ_BYTES = 2_000
MIB = 1 << 20


@contextlib.contextmanager
def running(binary, cap_bytes):
    """(address, process) of a server with that memory cap."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in ("conf", "html", "logs"):
            (folder / part).mkdir()
        (folder / "html" / "file").write_bytes(b"f" * FILE_BYTES)
        (folder / "html" / "page").write_bytes(b"page\n")
        path = folder / "conf" / "server.json"
        path.write_text(json.dumps({
            "address": "127.0.0.1", "port": 0, "worker_processes": 2, "log": {"level": "WARN", "path": "logs/"},
            "overload": {"max_memory_bytes": cap_bytes},
            "http": {"root_path": "html/", "sites": [{"host": ["*"], "routes": [
                {"path": "/metrics", "metrics": {}}, {"path": "/", "static": {}}]}]}}))
        process = subprocess.Popen([binary, "-f", path], cwd=folder, stdout=subprocess.PIPE, text=True)
        try:
            host, port = re.search(r"http://([0-9.]+):(\d+)/", process.stdout.readline()).groups()
            yield (host, int(port)), process
        finally:
            process.terminate()
            process.wait()


def resident_bytes(process):
    return int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * resource.getpagesize()


class MemoryLog:
    """Reads the server's resident memory every millisecond, on a thread of its own."""

    def __init__(self, process):
        self.process, self.samples, self.ended = process, [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ended.wait(0.001):
            self.samples.append((time.monotonic(), resident_bytes(self.process)))

    def stop(self):
        self.ended.set()
        self.thread.join()

    def peak(self):
        return max(self.samples, key=lambda sample: sample[1])


def ask(address, target, timeout):
    """The answer to one request over a connection of its own; None where there was none in time."""
    try:
        with socket.create_connection(address, timeout) as wire:
            wire.settimeout(timeout)
            wire.sendall(b"GET " + target + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            data = b""
            while piece := wire.recv(65536):
                data += piece
            return data if data.startswith(b"HTTP/1.1 200 ") else None
    except OSError:
        return None


class Clients:
    """Ordinary clients: each connects, asks for a page and goes."""

    def __init__(self, address, patience):
        self.address, self.patience = address, patience
        self.waits, self.refused, self.ended = [], 0, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ended.wait(0.1):
            begin = time.monotonic()
            if ask(self.address, b"/page", self.patience) is None:
                self.refused += 1
            else:
                self.waits.append(time.monotonic() - begin)

    def stop(self):
        self.ended.set()
        self.thread.join()


def attackers(address, count):
    """Connections with small receive buffers, so that the answers stay with the server."""
    wires = []
    for _ in range(count):
        wire = socket.socket()
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.connect(address)
        wire.setblocking(False)
        wires.append(wire)
    return wires


def send_all(wires):
    """Everybody's pipeline, as far as the server takes it; returns the bytes that were sent."""
    total = 0
    for wire in wires:
        with contextlib.suppress(OSError):
            total += wire.send(PIPELINE)
    return total


def read_some(wires):
    for wire in wires:
        with contextlib.suppress(OSError):
            wire.recv(READ_BYTES)


def counters(address):
    data = ask(address, b"/metrics", 10) or b""
    names = ("roost_http_requests_total", "roost_http_pipeline_waits_total", "roost_http_shed_total",
             "roost_connections_reset_for_memory_total", "roost_connections_evicted_total", "roost_accept_pauses_total")
    found = {name: re.findall(rb"^" + name.encode() + rb"(?:\{[^}]*\})? ([0-9]+)", data, re.MULTILINE) for name in names}
    return {name: sum(map(int, values)) for name, values in found.items() if values}


def report(name, process, memory, before, cap, clients, address):
    when, peak = memory.peak()
    print(f"{name}: resident {before / MIB:.1f} MiB before, {peak / MIB:.1f} MiB at most (cap {cap / MIB:.0f}), "
          f"{resident_bytes(process) / MIB:.1f} MiB now")
    waits = sorted(clients.waits)
    if waits:
        print(f"  ordinary clients: {len(waits)} served, {clients.refused} not; "
              f"p50 {waits[len(waits) // 2] * 1000:.1f} ms, longest {waits[-1] * 1000:.1f} ms")
    else:
        print(f"  ordinary clients: none served, {clients.refused} not")
    for counter, value in counters(address).items():
        print(f"  {counter} {value}")
    return peak <= cap and clients.refused == 0 and bool(waits)


def slow(options):
    cap = options.slow_cap_mib * MIB
    with running(options.server, cap) as (address, process):
        before, memory = resident_bytes(process), MemoryLog(process)
        wires = attackers(address, options.readers)
        sent = send_all(wires)
        clients = Clients(address, options.patience)
        end = time.monotonic() + options.seconds
        next_read = time.monotonic() + options.pause
        while time.monotonic() < end:
            time.sleep(0.1)
            if time.monotonic() >= next_read:
                next_read += options.pause
                read_some(wires)
                sent += send_all(wires)
        clients.stop()
        memory.stop()
        good = report(f"slow: {options.readers} readers, {sent / max(1, len(wires)) / 1000:.1f} KB sent by each", process, memory,
                      before, cap, clients, address)
        for wire in wires:
            wire.close()
    return good


def burst(options):
    cap = options.burst_cap_mib * MIB
    with running(options.server, cap) as (address, process):
        wires = attackers(address, options.burst)
        time.sleep(0.5)
        before, memory = resident_bytes(process), MemoryLog(process)
        begin = time.monotonic()
        sent = send_all(wires)
        sending_ms = (time.monotonic() - begin) * 1000
        clients = Clients(address, options.patience)
        time.sleep(options.burst_seconds)
        clients.stop()
        memory.stop()
        good = report(f"burst: {options.burst} at once, {sent / 1e6:.1f} MB in {sending_ms:.0f} ms", process, memory, before, cap,
                      clients, address)
        when, peak = memory.peak()
        half = next(at for at, size in memory.samples if size >= (before + peak) / 2)
        print(f"  half of the growth was there after {(half - begin) * 1000:.0f} ms")
        for wire in wires:
            wire.close()
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="./server")
    parser.add_argument("--attack", choices=("slow", "burst", "both"), default="both")
    parser.add_argument("--readers", type=int, default=60)
    parser.add_argument("--pause", type=float, default=15, help="seconds from one reading to the next")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--slow-cap-mib", type=int, default=200)
    parser.add_argument("--burst", type=int, default=900)
    parser.add_argument("--burst-cap-mib", type=int, default=410)
    parser.add_argument("--burst-seconds", type=float, default=10)
    parser.add_argument("--patience", type=float, default=2, help="seconds that an ordinary client waits")
    options = parser.parse_args()
    options.server = pathlib.Path(options.server).resolve()
    good = True
    if options.attack in ("slow", "both"):
        good = slow(options) and good
    if options.attack in ("burst", "both"):
        good = burst(options) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
