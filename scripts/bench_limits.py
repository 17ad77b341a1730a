#!/usr/bin/env python3
"""Measures the limits of a running server: memory with a million clients, and exactness over all IO threads.

Starts the server twice. First with a rate limit by a request field, and sends it a request of each of --keys values: resident
memory before, after, and how many of them are still refused when they ask again. Then with a limit by address, asked by many
connections over --threads IO threads for --seconds: what was admitted against rate * time + burst.

Usage: scripts/bench_limits.py [--server ./server] [--keys 1000000] [--threads 4] [--seconds 10]
"""

import argparse
import contextlib
import json
import pathlib
import re
import selectors
import socket
import subprocess
import tempfile
import time

AT_ONCE = 100


@contextlib.contextmanager
def running(binary, config):
    """(address, process) of a server with this configuration."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "conf").mkdir()
        (folder / "html").mkdir()
        (folder / "html" / "a").write_text("a\n")
        path = folder / "conf" / "server.json"
        path.write_text(json.dumps({"port": 0, "log": {"level": "ERROR"}, **config}))
        process = subprocess.Popen([binary, "-f", path], stdout=subprocess.PIPE, text=True)
        try:
            host, port = re.search(r"http://([0-9.]+):(\d+)/", process.stdout.readline()).groups()
            yield (host, int(port)), process
        finally:
            process.terminate()
            process.wait()


def resident_mib(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) / 1024


def statuses(data):
    return data.count(b"HTTP/1.1 200 "), data.count(b"HTTP/1.1 429 ")


def ask_each(address, keys):
    """One request of every key, in pipelines over one connection; the numbers of 200 and 429."""
    admitted = refused = 0
    with socket.create_connection(address) as wire:
        for first in range(0, keys, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, keys))
            wire.sendall(b"".join(b"GET /a HTTP/1.1\r\nHost: a\r\nX-Key: %d\r\n\r\n" % number for number in numbers))
            data = b""
            while sum(statuses(data)) < len(numbers) or not data.endswith((b"\r\n\r\na\n", b"</html>\n")):
                data += wire.recv(1 << 20)
            good, bad = statuses(data)
            admitted, refused = admitted + good, refused + bad
    return admitted, refused


def measure_memory(binary, keys):
    limit = {"requests": 1, "per_s": 86400, "key": "{header.x-key}", "max_keys": keys}
    with running(binary, {"worker_processes": 2, "http": {"rate_limit": limit}}) as (address, process):
        ask_each(address, 1000)
        before = resident_mib(process)
        admitted, _ = ask_each(address, keys)
        after = resident_mib(process)
        again, refused = ask_each(address, keys)
        print(f"memory: {before:.1f} MiB before, {after:.1f} MiB after {admitted + 1000} keys "
              f"({(after - before) * (1 << 20) / keys:.1f} bytes each), {resident_mib(process):.1f} MiB after asking again; "
              f"{refused} refused, {again} forgotten ({100 * again / keys:.3f} %)")


def measure_exactness(binary, threads, seconds, accept):
    rate, burst = 1000, 500
    config = {"worker_processes": threads, "accept": accept,
              "http": {"rate_limit": {"requests": rate, "per_s": 1, "burst": burst}}}
    ask = b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n" * 20
    with running(binary, config) as (address, _), selectors.DefaultSelector() as selector:
        left, admitted, refused = {}, 0, 0
        for _ in range(8 * threads):
            wire = socket.create_connection(address)
            selector.register(wire, selectors.EVENT_READ)
            left[wire] = [0, b""]
        begin = time.monotonic()
        first_answer = last_ask = begin
        while (now := time.monotonic()) - begin < seconds or any(state[0] for state in left.values()):
            if now - begin < seconds:
                for wire, state in left.items():
                    if state[0] == 0:
                        wire.sendall(ask)
                        state[0], last_ask = 20, time.monotonic()
            for event, _ in selector.select(1):
                state = left[event.fileobj]
                data = state[1] + event.fileobj.recv(1 << 20)
                end = data.rfind(b"\r\n\r\n") + 4
                good, bad = statuses(data[:end])
                state[0], state[1] = state[0] - good - bad, data[end:]
                admitted, refused = admitted + good, refused + bad
                if first_answer == begin:
                    first_answer = time.monotonic()
        end = time.monotonic()
        for wire in left:
            wire.close()
        fair = rate * ((end - begin) + (last_ask - first_answer)) / 2 + burst
        print(f"exactness, {accept}, {threads} IO threads, {len(left)} connections, {end - begin:.1f} s: {admitted} admitted, "
              f"{refused} refused, {fair:.0f} fair: {100 * (admitted / fair - 1):+.2f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server", default="./server")
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    for accept in ("handoff", "reuseport"):
        measure_exactness(options.server, options.threads, options.seconds, accept)
    measure_memory(options.server, options.keys)


if __name__ == "__main__":
    main()
