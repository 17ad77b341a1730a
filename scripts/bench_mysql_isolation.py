#!/usr/bin/env python3
"""Does a database that hangs hold up anything else? Method: docs/performance.md.

One server with one IO thread, on --server-core: files, a push channel and a database's tables on the same loop. latency_probe, on
--load-core, fetches a file and publishes a message to its own subscriber at a fixed rate, while swarm, on the same core, keeps asking
for rows, --rest-rate a second over --rest-clients connections, and

 - idle        nobody asks for rows: the baseline
 - busy        the database answers them
 - sleep       every connection of the pool runs SELECT SLEEP(5), and the rest of the requests wait for one
 - stopped     mariadbd has been sent SIGSTOP
 - mute        connections were lost, and who connects is never answered
 - backlog     connections were lost, and who connects finds a backlog that is full
 - dns         connections were lost, and the name server that knows the database's address answers no more

Time limits in the server are short (--limit-ms), so that running into them, ending statements and connecting anew are part of it.
For each, in --rounds rounds, what of the requests for rows became, and the percentiles of the file and the message. Afterwards the
database is let go, and the time until rows come again is taken. Exits 1 if p99.9 of the median round was not below 2 ms.
"""

import argparse
import collections
import contextlib
import http.client
import json
import os
import pathlib
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from bench import mariadb, mysql_servers, process, processor

import gate  # tests/integration/mysql, made known by bench.mariadb

CONDITIONS = ("idle", "busy", "sleep", "stopped", "mute", "backlog", "dns")
MUST_US = 2000
HOST = "database.test"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(process.REPOSITORY / "server"), help="this server's program")
    parser.add_argument("--drivers", default="loop,threads", help="default: %(default)s")
    parser.add_argument("--conditions", default=",".join(CONDITIONS), help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10, help="of each condition; default: %(default)s")
    parser.add_argument("--interval-us", type=int, default=1000, help="between two files, and two messages; default: %(default)s")
    parser.add_argument("--rest-rate", type=int, default=200)
    parser.add_argument("--rest-clients", type=int, default=128)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--limit-ms", type=int, default=1000, help="to wait in the queue, to connect, of a statement (but SLEEP's)")
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--load-core", type=int, default=1)
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("--fifo", type=int, default=0, help="real-time priority of server and probe, where other work is about")
    parser.add_argument("--json", help="write everything measured here")
    parser.add_argument("--markdown", help="write the table here")
    return parser.parse_args()


class Rows:
    """swarm, which asks for rows at a steady rate over many connections."""

    def __init__(self, options, port, path):
        self.options, self.port, self.path = options, port, path

    def start(self):
        program = process.swarm_beside(self.options.server)
        self.swarm = subprocess.Popen(
            [str(program), f"http://127.0.0.1:{self.port}{self.path}", "-c", str(self.options.rest_clients), "-t", "1", "-q",
             "-r", str(self.options.rest_rate), "-d", "3600"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=process.pinned(self.options.load_core, self.options.nice))

    def stop(self):
        self.swarm.send_signal(signal.SIGINT)
        try:
            self.swarm.wait(20)
        except subprocess.TimeoutExpired:
            process.stop(self.swarm)


class World:
    """A database, what stands before it, and a server over both, for one condition."""

    def __init__(self, options, folder, driver, condition, database, stack):
        self.options, self.condition, self.database = options, condition, database
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.folder.chmod(0o755)
        (self.folder / "file.txt").write_text("x" * 600)
        self.port = process.free_port()
        self.gate = self.names = None
        where = {"unix_socket": str(database.socket)}
        if condition in ("mute", "backlog", "dns"):
            self.gate = stack.enter_context(gate.Gate(database.socket))
            where = {"address": HOST if condition == "dns" else "127.0.0.1", "port": self.gate.port}
        if condition == "dns":
            self.names = stack.enter_context(gate.NameServer())
        command = [str(pathlib.Path(options.server).resolve()), "-f", self.configuration(driver, where)]
        output = open(self.folder / "output.txt", "ab")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, preexec_fn=self.prepare)
        stack.callback(process.stop, self.process)
        try:
            process.wait_until_listening(self.port, self.process)
        except RuntimeError as problem:
            raise RuntimeError(f"{problem}: {(self.folder / 'output.txt').read_text()[-3000:]}") from problem
        self.recovers(30)

    def prepare(self):
        process.pinned(self.options.server_core, self.options.nice, self.options.fifo)()
        if self.names:
            self.names.enter()

    def configuration(self, driver, where):
        limit = self.options.limit_ms
        mysql = {"mysql_started": "on", "user": mariadb.USER, "password": mariadb.PASSWORD, "database_name": mariadb.DATABASE,
                 "driver": driver, "max_connections": self.options.connections, "queue_timeout_ms": limit, "connect_timeout_ms": limit,
                 "query_timeout_ms": 20000 if self.condition == "sleep" else limit, **where}
        routes = [
            {"path": "/data/", "mysql_rest": {"tables": [mariadb.TABLE]}},
            {"path": "/sleep", "mysql_query": {"sql": "SELECT SLEEP(5) AS slept"}},
            {"path": "/metrics", "metrics": {}},
            {"path": "/pub/{channel}", "push_publish": {"channel": "{channel}", "history": {"messages": 10}}},
            {"path": "/sub/{channel}", "push_subscribe": {"channel": "{channel}", "transports": ["sse"], "first_message": "newest",
                                                          "heartbeat_ms": 3600000}},
            {"path": "/", "static": {}}]
        text = {"worker_processes": 1, "cpu_affinity": "off", "log": {"path": "", "level": "ERROR"}, "mysql": mysql,
                "listen": [{"address": "127.0.0.1", "port": self.port}],
                "http": {"root_path": str(self.folder), "sites": [{"host": ["*"], "routes": routes}]}}
        path = self.folder / "server.json"
        path.write_text(json.dumps(text, indent=2))
        return str(path)

    def ask(self, path, timeout=30):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        with contextlib.closing(connection):
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read()

    def recovers(self, longest_s):
        """Seconds until a row comes."""
        began = time.monotonic()
        while self.ask(f"/data/{mariadb.TABLE}?id=eq.1")[0] != 200:
            if time.monotonic() - began > longest_s:
                raise RuntimeError(f"no rows after {longest_s} s: {(self.folder / 'output.txt').read_text()[-3000:]}")
            time.sleep(0.01)
        return time.monotonic() - began

    def numbers(self):
        """The metrics roost_mysql_*, summed up over their labels."""
        found = collections.Counter()
        text = self.ask("/metrics")[1].decode()
        for name, value in re.findall(r"^roost_mysql_(\w+?)(?:\{[^}]*\})? ([0-9.e+]+)$", text, re.MULTILINE):
            found[name] += float(value)
        return found

    def shut(self):
        if self.condition == "stopped":
            self.database.process.send_signal(signal.SIGSTOP)
        elif self.condition == "mute":
            self.gate.mute()
        elif self.condition == "backlog":
            self.gate.fill()
        elif self.condition == "dns":
            self.names.silent = True
            self.gate.mute()

    def let_go(self):
        if self.condition == "stopped":
            self.database.process.send_signal(signal.SIGCONT)
        elif self.gate:
            self.gate.open()
        if self.names:
            self.names.silent = False


def measure(options, folder, driver, condition, database, probe):
    """One round of one condition."""
    with contextlib.ExitStack() as stack:
        world = World(options, folder, driver, condition, database, stack)
        rows = None
        if condition != "idle":
            rows = Rows(options, world.port, "/sleep" if condition == "sleep" else f"/data/{mariadb.TABLE}?id=eq.7")
            rows.start()
            stack.callback(rows.stop)
            time.sleep(0.7)
        before, use = world.numbers(), processor.use(process.descendants(world.process.pid))
        stack.callback(world.let_go)
        world.shut()
        command = [str(probe), str(world.port), str(options.seconds), str(options.interval_us), "/file.txt", "/sub/a", "/pub/a"]
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              preexec_fn=process.pinned(options.load_core, options.nice, options.fifo))
        if done.returncode:
            raise RuntimeError(f"{condition}: the probe failed: {done.stderr}")
        found = json.loads(done.stdout)
        after, used = world.numbers(), processor.use(process.descendants(world.process.pid))
        found["server_busy"], found["server_waiting"] = [(now - then) / 1e9 / options.seconds for now, then in zip(used, use)]
        if rows:
            rows.stop()
        world.let_go()
        found["recovered_s"] = world.recovers(60)
        found["numbers"] = {name: after[name] - before[name] if name.endswith("_total") else after[name] for name in sorted(after)}
        found["names_unanswered"] = world.names.unanswered if world.names else 0
        return found


def table(results):
    yield ["driver", "database", "file p50 µs", "p99", "p99.9", "worst", "message p50 µs", "p99", "p99.9", "worst", "back after"]
    for driver, conditions in results.items():
        for condition, runs in conditions.items():
            figures = [f"{statistics.median(run[what][figure] for run in runs):,.0f}" for what in ("static", "push")
                       for figure in ("p50", "p99", "p999", "max")]
            yield [driver, condition, *figures, f"{statistics.median(run['recovered_s'] for run in runs):.2f} s"]


def markdown(results, where):
    lines = ["| " + " | ".join(line) + " |" for line in table(results)]
    return "\n".join([where, "", lines[0], "|---|---|" + "---:|" * 9, *lines[1:]]) + "\n"


def main():
    options = arguments()
    model = next((line.partition(":")[2].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), "unknown CPU")
    where = (f"{model}, Linux {platform.release()}; server on core {options.server_core}, probe, swarm and MariaDB on core"
             f" {options.load_core}; a file and a message every {options.interval_us} µs for {options.seconds:g} s,"
             f" {options.rest_rate} requests for rows a second over {options.rest_clients} connections, {options.connections}"
             f" connections to the database; medians of {options.rounds} rounds"
             f"{', server and probe at a real-time priority' if options.fifo else ''}; load average {os.getloadavg()[0]:.1f} at the start.")
    print(where)
    conditions = options.conditions.split(",")
    if "dns" in conditions and gate.NameServer.missing():
        print(f"left out: dns ({gate.NameServer.missing()})")
        conditions.remove("dns")
    results = {driver: {condition: [] for condition in conditions} for driver in options.drivers.split(",")}
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        probe = mysql_servers.compiled("latency_probe", folder, connector=False)
        with mariadb.MariaDb(folder / "db", [options.load_core], options.nice) as database:
            for number in range(options.rounds):
                for driver, cells in results.items():
                    for condition in conditions:
                        found = measure(options, folder, driver, condition, database, probe)
                        cells[condition].append(found)
                        seen = {name: round(value) for name, value in found["numbers"].items() if value}
                        print(f"round {number + 1} {driver:8}{condition:8} file p99.9 {found['static']['p999']:8.0f} µs, message"
                              f" {found['push']['p999']:8.0f} µs, back after {found['recovered_s']:5.2f} s, server waited for its core"
                              f" {found['server_waiting']:.1%}  {seen}", flush=True)
    text = markdown(results, where)
    print("\n" + text)
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"environment": where, "results": results}, indent=1))
    kept = True
    for driver, cells in results.items():
        for condition, runs in cells.items():
            for what in ("static", "push"):
                middle = statistics.median(run[what]["p999"] for run in runs)
                holds = middle < MUST_US
                print(f"{'holds ' if holds else 'MISSED'} {driver}, {condition}: p99.9 of {what} {middle:.0f} µs (must: < {MUST_US})")
                kept = kept and holds
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
