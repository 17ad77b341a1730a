#!/usr/bin/env python3
"""Does the memory of a burst come back? Bursts of polls, WebSockets, pipelines, messages, bodies, inflation and MySQL bodies.

For each burst a fresh server is measured in two variants: all clients leave, and 1 in 100, evenly spread, stays. Then a third
server has a cap on its memory that the burst runs into, and a third of the burst comes back once 99 in 100 have left.

 - before, peak, after: resident memory; after is 10 s after the last client has left.
 - in use: of it, what is not free for the next allocations.
 - longest: the longest call in which a loop gave memory back, as the server measured it (an upper bound: a bucket's; where another
   thread had the loop's processor meanwhile, its time is left out).
 - refused: requests answered 503 and pauses of accepting, from 10 s after the burst on, while a third of it comes back.

Rules: memory is back within 20 % + 8 MB of before (in use, plus what those who stay need, where some stay); no call takes longer
than 1 ms; nobody is refused. Prints a table and exits 1 where a rule is broken.

usage: bench_burst_memory.py [--server FILE] [--only NAME,...] [--scale 1.0] [--threads N] [--json FILE]
"""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time

from bench import bursts, mariadb, process

MB = 1_000_000
WAIT_S = 10
ALLOWED_PART, ALLOWED_BYTES = 1.2, 8 * MB
LONGEST_S = 0.001
TABLE = "CREATE TABLE notes (id INT PRIMARY KEY AUTO_INCREMENT, body LONGTEXT)"


class Database:
    """A MariaDB server of the bench's own with a table that it keeps locked until told otherwise."""

    def __init__(self, folder):
        self.maria = mariadb.MariaDb(folder)
        self.locker = None

    def __enter__(self):
        mariadb.SCHEMA[:] = [each for each in mariadb.SCHEMA if not each.startswith(("ANALYZE", "INSERT"))]
        self.maria.start()
        self.maria.run(f"USE {mariadb.DATABASE}; {TABLE}")
        return self

    def lock(self):
        self.locker = subprocess.Popen([*self.maria.client(), "-n", mariadb.DATABASE], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        self.locker.stdin.write("LOCK TABLES notes WRITE; SELECT 'locked';\n")
        self.locker.stdin.flush()
        while "locked" not in self.locker.stdout.readline():
            pass

    def unlock(self):
        if self.locker is not None:
            self.locker.communicate("UNLOCK TABLES;\n")
            self.locker = None

    def __exit__(self, *_):
        self.unlock()
        self.maria.stop()


class Bench:
    """One server, for one run of one burst."""

    def __init__(self, options, burst, folder, database, cap=0):
        self.options, self.burst, self.folder, self.database = options, burst, pathlib.Path(folder), database
        self.port = process.free_port()
        (self.folder / "page").write_bytes(b"p" * 16384)
        os.utime(self.folder / "page", (1767225600, 1767225600))
        (self.folder / "server.json").write_text(json.dumps(self.configuration(cap)))
        output = open(self.folder / "output.txt", "ab")
        self.server = subprocess.Popen([options.server, "-f", str(self.folder / "server.json")], stdout=output, stderr=output)
        try:
            process.wait_until_listening(self.port, self.server)
        except RuntimeError as error:
            raise SystemExit(f"{error}:\n{(self.folder / 'output.txt').read_text()}") from None

    def configuration(self, cap):
        routes = [{"path": "/sub/{channel}", "push_subscribe": {"timeout_ms": 0, "ping_interval_ms": 0, "origins": ["*"]}},
                  {"path": "/pub/{channel}", "push_publish": {"history": {"messages": 0}}},
                  {"path": "/hold", "hold": {"min_ms": 600000, "max_ms": 900000}},
                  {"path": "/metrics", "metrics": {}},
                  {"path": "/echo", "ws_echo": {"max_message_bytes": 1 << 20, "compression": {"client_context_takeover": True}}},
                  {"path": "/", "static": {}}]
        text = {"address": "127.0.0.1", "port": self.port, "worker_processes": self.options.threads, "accept": "reuseport",
                "fd_table": "per_thread", "cpu_affinity": "off", "log": {"path": ""}, "overload": {"max_memory_bytes": cap},
                "push": {"max_channels": 0, "max_subscribers_per_address": 0, "slow_window_bytes": 64 << 20},
                "http": {"root_path": str(self.folder), "sites": [{"host": ["*"], "routes": routes}]}}
        if self.database is not None:
            del text["fd_table"]  # the database's sockets are the loop's
            text["mysql"] = {"mysql_started": "on", "unix_socket": str(self.database.maria.socket), "user": mariadb.USER,
                             "password": mariadb.PASSWORD, "database_name": mariadb.DATABASE, "driver": "loop", "max_connections": 8}
            routes.insert(0, {"path": "/data/", "mysql_rest": {"tables": [{"name": "notes", "methods": ["GET", "POST"]}]}})
        return text

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with contextlib.closing(connection):
            connection.request(method, path, body)
            response = connection.getresponse()
            return response.status, response.read()

    def metrics(self):
        """{name with labels: value}"""
        text = self.ask("GET", "/metrics")[1].decode()
        return {name: float(value) for name, value in re.findall(r"^(roost_\S+) (\S+)$", text, re.M)}

    def resident(self):
        return int(pathlib.Path(f"/proc/{self.server.pid}/statm").read_text().split()[1]) * resource.getpagesize()

    def unlock(self):
        self.database.unlock()

    def warm_up(self):
        """Each kind of request once, so that code and what is made once are there before."""
        crowd = bursts.Crowd(self.burst, self.port, 1)
        crowd.order("open")
        crowd.order("leave")
        crowd.end()
        for path in ("/page", "/metrics"):
            self.ask("GET", path)
        self.ask("POST", "/pub/a", b"x")
        time.sleep(self.options.settle)

    def longest_call(self):
        """An upper bound, in seconds, and how many calls there were."""
        metrics = self.metrics()
        name = "roost_memory_give_back_seconds"
        count = metrics.get(name + "_count", 0)
        bounds = [(float(bound), value) for key, value in metrics.items()
                  for bound in re.findall(name + r'_bucket\{le="([0-9.e-]+)"\}', key)]
        return min((bound for bound, value in bounds if value == count), default=float("inf")), int(count)

    def refusals(self):
        metrics = self.metrics()
        return sum(value for name, value in metrics.items() if name.startswith(("roost_http_shed_total", "roost_accept_pauses_total")))

    def end(self):
        process.stop(self.server)


class Peak:
    """The most that the server's resident memory has been, looked at every 50 ms."""

    def __init__(self, bench):
        self.bench, self.bytes, self.over = bench, 0, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while not self.over.wait(0.05):
            with contextlib.suppress(OSError, IndexError):
                self.bytes = max(self.bytes, self.bench.resident())

    def end(self):
        self.over.set()
        self.thread.join()
        return self.bytes


def burst_and_leave(bench, crowd, stay):
    """Returns how many clients there were."""
    if bench.database is not None:
        bench.database.lock()
    there = crowd.order("open")
    bench.burst.act(bench)
    time.sleep(bench.options.settle)
    crowd.order("leave", stay)
    bench.burst.calm(bench)
    return there


def run(options, kind, folder, database, stay):
    """One variant without a cap."""
    burst = kind()
    clients = max(100, int(burst.clients * options.scale))
    bench = Bench(options, burst, folder, database)
    try:
        bench.warm_up()
        before, peak = bench.resident(), Peak(bench)
        crowd = bursts.Crowd(burst, bench.port, clients)
        there = burst_and_leave(bench, crowd, stay)
        left_at, highest, back_s = time.monotonic(), peak.end(), None
        # Those who stay need their share.
        allowed = before * ALLOWED_PART + ALLOWED_BYTES + ((highest - before) / stay * 2 if stay else 0)

        def held():
            """What counts: where some stay, what is free does not."""
            return bench.metrics().get("roost_memory_in_use_bytes", 0) if stay else bench.resident()

        while time.monotonic() < left_at + WAIT_S:
            if back_s is None and held() <= allowed:
                back_s = time.monotonic() - left_at
            time.sleep(0.25)
        after, in_use = bench.resident(), bench.metrics().get("roost_memory_in_use_bytes", 0)
        longest, calls = bench.longest_call()
        crowd.end()
        return {"burst": burst.name, "variant": f"1 in {stay} stays" if stay else "all leave", "clients": there, "wanted": clients,
                "before": before, "peak": highest, "after": after, "in_use": in_use, "allowed": allowed, "back_s": back_s,
                "longest_s": longest, "calls": calls, "kept": held_within(after, in_use, allowed, stay) and longest <= LONGEST_S}
    finally:
        bench.end()


def held_within(after, in_use, allowed, stay):
    return (in_use if stay else after) <= allowed


def run_capped(options, kind, folder, database, before, peak):
    """A burst that runs into a cap, of which 1 in 100 stays; a third of it comes back."""
    burst = kind()
    clients = max(100, int(burst.clients * options.scale))
    cap = int(before + max((peak - before) * 0.6, 24 * MB))
    bench = Bench(options, burst, folder, database, cap)
    try:
        bench.warm_up()
        crowd = bursts.Crowd(burst, bench.port, clients)
        burst_and_leave(bench, crowd, bursts.STAY_EVERY)
        time.sleep(WAIT_S)
        in_use = bench.metrics().get("roost_memory_in_use_bytes", 0)
        refused_before = bench.refusals()
        statuses = [bench.ask("GET", "/page")[0] for _ in range(200)]
        again = crowd.order("open", 3)
        refused = bench.refusals() - refused_before + sum(status != 200 for status in statuses)
        crowd.order("leave")
        burst.calm(bench)
        crowd.end()
        return {"cap": cap, "in_use_capped": in_use, "again": again, "during": refused_before, "refused": int(refused)}
    finally:
        bench.end()


def measure(options, name):
    kind, rows = bursts.ALL[name], []
    with contextlib.ExitStack() as stack:
        database = None
        if kind.needs_database:
            database = stack.enter_context(Database(stack.enter_context(tempfile.TemporaryDirectory())))
        for stay in (0, bursts.STAY_EVERY):
            with tempfile.TemporaryDirectory() as folder:
                rows.append(run(options, kind, folder, database, stay))
                print(line(rows[-1]), flush=True)
        if options.capped:
            with tempfile.TemporaryDirectory() as folder:
                rows[-1] |= run_capped(options, kind, folder, database, rows[0]["before"], rows[0]["peak"])
                rows[-1]["kept"] = rows[-1]["kept"] and rows[-1]["refused"] == 0
                print(f"  with a cap of {rows[-1]['cap'] / MB:.0f} MB: {rows[-1]['during']:.0f} refused in the burst, "
                      f"{rows[-1]['in_use_capped'] / MB:.1f} MB in use after it, {rows[-1]['again']:,} clients then, "
                      f"{rows[-1]['refused']} refused", flush=True)
    return rows


def line(row):
    back = "-" if row["back_s"] is None else f"{row['back_s']:.1f} s"
    return (f"| {row['burst']} | {row['variant']} | {row['clients']:,} | " +
            " | ".join(f"{row[key] / MB:.1f}" for key in ("before", "peak", "after", "in_use", "allowed")) +
            f" | {back} | ≤ {row['longest_s'] * 1000:g} ms of {row['calls']} | {'yes' if row['kept'] else 'NO'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(process.REPOSITORY / "server"))
    parser.add_argument("--only", default=",".join(bursts.ALL), help="default: %(default)s")
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of clients")
    parser.add_argument("--threads", type=int, help="IO threads; default: as many as the largest burst's descriptors need")
    parser.add_argument("--settle", type=float, default=2.0, help="seconds before memory is read, and before clients leave")
    parser.add_argument("--no-cap", dest="capped", action="store_false", help="leave out the runs with a cap")
    parser.add_argument("--json")
    options = parser.parse_args()
    names = options.only.split(",")
    if unknown := [name for name in names if name not in bursts.ALL]:
        parser.error(f"no such burst: {unknown[0]}; there are {', '.join(bursts.ALL)}")
    process.raise_descriptor_limit(20_000)
    most = max(bursts.ALL[name].clients for name in names) * options.scale
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    options.threads = options.threads or max(2, int(most * 1.25 / (limit - 200)) + 1)
    print("| burst | variant | clients | before, MB | peak | after 10 s | in use | allowed | back within | longest call | kept |\n"
          "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|", flush=True)
    rows = [row for name in names for row in measure(options, name)]
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))
    kept = all(row["kept"] for row in rows)
    print(f"\nmemory is back, no call over {LONGEST_S * 1000:g} ms, nobody refused: {'yes' if kept else 'NO'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
