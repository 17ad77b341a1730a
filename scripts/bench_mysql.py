#!/usr/bin/env python3
"""A table of a million rows as JSON: this server, its peers, and what the connector takes. Method: docs/performance.md.

A MariaDB of the bench's own on a Unix socket; every server with all its processes on --server-core, wrk on --load-core, MariaDB on
--database-cores (both, unless said), the same for all. One runs at a time: the others are stopped (SIGSTOP), or, where they do not
bear that, started for each turn. Rounds are interleaved: every server in turn, then again, starting one further. Two workloads: a
row by its key (20,000 keys by chance), the first 100 rows.

 - CPU: the kernel's account of all a server's processes over the run, by answers; medians of the rounds. It is what to compare.
 - requests/s: what the three processes together make of two cores. wrk keeps --clients connections busy.
 - database: MariaDB's CPU per answer, for all alike unless a server asks it for more than one statement.

Each server's rows are compared with what was inserted before anything is measured. npm's and PyPI's peers go to --packages.
Prints tables and the limits; exits 1 if one marked must was not kept.
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

from bench import mariadb, mysql_servers, process, processor

WORKLOADS = {"one": "a row by its key", "many": "100 rows"}
PEERS = ("xmysql", "sandman2")  # what roost has to leave behind; php is told beside them
MUST = {"one": 8.0, "many": 5.0}
GOAL_CPU_US = {"one": 22.0, "many": 55.0}
GOAL_RATE = 0.75  # of c-server's


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(process.REPOSITORY / "server"), help="this server's program")
    parser.add_argument("--servers", default=",".join(mysql_servers.ALL), help="default: %(default)s")
    parser.add_argument("--workloads", default="one,many", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each run; default: %(default)s")
    parser.add_argument("--clients", type=int, default=64, help="connections of wrk; default: %(default)s")
    parser.add_argument("--connections", type=int, default=8,
                        help="to the database, of those who can be told; default: %(default)s")
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--load-core", type=int, default=1)
    parser.add_argument("--database-cores", default="0,1", help="default: %(default)s")
    parser.add_argument("--nice", type=int, default=0, help="priority of all three, such as -15")
    parser.add_argument("--packages", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "roost-mysql-peers",
                        help="where npm's and PyPI's peers are kept; default: %(default)s")
    parser.add_argument("--json", help="write everything measured here")
    parser.add_argument("--markdown", help="write the tables here")
    return parser.parse_args()


class Progress:
    """A bar on the terminal; nothing where there is none."""

    def __init__(self, steps):
        self.steps, self.done, self.began = steps, 0, time.monotonic()

    def step(self, text):
        self.done += 1
        left = (time.monotonic() - self.began) / self.done * (self.steps - self.done)
        filled = 30 * self.done // self.steps
        if sys.stdout.isatty():
            print(f"\r[{'#' * filled}{'.' * (30 - filled)}] {left:4.0f} s left  {text:60}", end="", flush=True)

    def end(self):
        if sys.stdout.isatty():
            print(f"\r{'':110}\r", end="", flush=True)


def load(options, server, workload, seconds):
    """One run of wrk: its report."""
    path = server.one("%d") if workload == "one" else server.many()
    command = ["wrk", "-t", "1", "-c", str(options.clients), "-d", f"{max(1, round(seconds))}s", "--timeout", "20s",
               "-s", str(mysql_servers.PEERS / "requests.lua"), f"http://127.0.0.1:{server.port}",
               "--", path, str(mariadb.MariaDb.rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=True,
                          preexec_fn=process.pinned(options.load_core, options.nice))
    report = json.loads(re.search(r"^REPORT (.*)$", done.stdout, re.MULTILINE)[1])
    if workload == "many" and report["bytes"] < report["requests"] * server.size[server.many()]:
        raise RuntimeError(f"{server.name} answered with less than 100 rows: {report}")
    return report


def measure(options, server, database, workload):
    """One round of one server."""
    pids = None if isinstance(server, mysql_servers.CLoop) else server.pids()
    before, database_before = sum(map(processor.of_process, pids or [])), processor.of_process(database.process.pid)
    if pids is None:
        requests, seconds, cpu = server.run(workload == "many", options.seconds)
        report = {"requests": requests, "seconds": seconds, "errors": 0, "p50_us": None, "p99_us": None}
    else:
        report = load(options, server, workload, options.seconds)
        cpu = (sum(map(processor.of_process, pids)) - before) / 1e9
    database_cpu = (processor.of_process(database.process.pid) - database_before) / 1e9
    requests = report["requests"]
    if requests == 0:
        raise RuntimeError(f"{server.name} answered nothing: {report}")
    return {**report, "rate": requests / report["seconds"], "cpu_us": cpu * 1e6 / requests, "busy": cpu / report["seconds"],
            "database_us": database_cpu * 1e6 / requests}


def summarize(runs):
    cell = {figure: statistics.median(run[figure] for run in runs) for figure in ("rate", "cpu_us", "busy", "database_us")}
    cpu = [run["cpu_us"] for run in runs]
    cell["spread"] = (max(cpu) - min(cpu)) / 2 / cell["cpu_us"]
    for figure in ("p50_us", "p99_us"):
        cell[figure] = statistics.median(run[figure] for run in runs) if runs[0][figure] is not None else None
    return cell | {"errors": sum(run["errors"] for run in runs), "runs": runs}


def by_round(cells, name, other, figure):
    """The median of the ratios, round by round: the rounds are what two servers have in common."""
    return statistics.median(one[figure] / two[figure] for one, two in zip(cells[name]["runs"], cells[other]["runs"]))


HEADINGS = ["server", "requests/s", "CPU µs", "spread", "core used", "p50 ms", "p99 ms", "database µs", "rate / xmysql",
            "rate / c-server"]


def table(cells):
    for name, cell in sorted(cells.items(), key=lambda item: item[1]["cpu_us"]):
        ratios = [f"{by_round(cells, name, other, 'rate'):.2f}" if other in cells else "-" for other in ("xmysql", "c-server")]
        times = [f"{cell[figure] / 1e3:.2f}" if cell[figure] is not None else "-" for figure in ("p50_us", "p99_us")]
        yield [name, f"{cell['rate']:,.0f}", f"{cell['cpu_us']:,.1f}", f"±{cell['spread']:.0%}", f"{cell['busy']:.0%}", *times,
               f"{cell['database_us']:,.1f}", *ratios]


def markdown(results, what, where):
    text = [where, ""]
    for workload, cells in results.items():
        text += [f"**{WORKLOADS[workload]}**", "", "| " + " | ".join(HEADINGS) + " |", "|---|" + "---:|" * (len(HEADINGS) - 1)]
        text += ["| " + " | ".join(line) + " |" for line in table(cells)] + [""]
    return "\n".join([*text, *[f"- {name}: {told}" for name, told in what.items()]]) + "\n"


def check(results):
    """Yields (kind, holds, text) for every limit whose servers were measured."""
    for workload, cells in results.items():
        for name in [name for name in ("roost", "roost-threads") if name in cells]:
            for peer in [peer for peer in (*PEERS, "php") if peer in cells]:
                found, least = by_round(cells, name, peer, "rate"), MUST[workload]
                kind = "must" if peer in PEERS and name == "roost" else "told"
                yield kind, found >= least, f"{WORKLOADS[workload]}: {name} {found:.1f} x {peer}'s requests/s ({kind}: >= {least:g})"
            cpu, most = cells[name]["cpu_us"], GOAL_CPU_US[workload]
            yield "goal", cpu <= most, f"{WORKLOADS[workload]}: {name} {cpu:.1f} µs of CPU (goal: <= {most:g})"
            if "c-server" in cells:
                found = by_round(cells, name, "c-server", "rate")
                yield ("goal", found >= GOAL_RATE,
                       f"{WORKLOADS[workload]}: {name} {found:.2f} x c-server's requests/s (goal: >= {GOAL_RATE})")


def choose(options):
    for name in options.servers.split(","):
        if name not in mysql_servers.ALL:
            raise SystemExit(f"no such server: {name}; there are {', '.join(mysql_servers.ALL)}")
        why = mysql_servers.ALL[name].missing(options)
        if why:
            print(f"left out: {name} ({why})")
        else:
            yield mysql_servers.ALL[name]


def run(options, folder, chosen):
    """{workload: {server: cell}}"""
    workloads = options.workloads.split(",")
    with contextlib.ExitStack() as stack:
        cores = [int(core) for core in options.database_cores.split(",")]
        database = stack.enter_context(mariadb.MariaDb(folder / "db", cores, options.nice))
        started = []
        for cls in chosen:
            server = cls(folder, database, options)
            if not isinstance(server, mysql_servers.CLoop):
                stack.callback(server.stop)
                server.start()
                server.verify()
                for workload in workloads:
                    load(options, server, workload, 1)  # warms up
                server.rest()
            started.append(server)
        progress = Progress(options.rounds * len(workloads) * len(started))
        results = {workload: {server.name: [] for server in started} for workload in workloads}
        for number in range(options.rounds):
            first = number % len(started)
            for server in started[first:] + started[:first]:
                server.wake()
                if not isinstance(server, mysql_servers.CLoop):
                    load(options, server, workloads[0], 1)  # warms up
                for workload in workloads:
                    found = measure(options, server, database, workload)
                    results[workload][server.name].append(found)
                    progress.step(f"{workload:5}{server.name:14}{found['rate']:10,.0f}/s {found['cpu_us']:9.1f} µs")
                server.rest()
        progress.end()
    return {workload: {name: summarize(runs) for name, runs in cells.items()} for workload, cells in results.items()}


def environment(options):
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown CPU")
    version = subprocess.run([mariadb.MARIADBD, "--no-defaults", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\d+\.\d+\.\d+", version)
    return (f"{model}, {os.cpu_count()} CPUs, Linux {platform.release()}, MariaDB {found[0] if found else '?'} on a Unix socket,"
            f" {mariadb.MariaDb.rows:,} rows; servers on core {options.server_core}, wrk with {options.clients} connections on core"
            f" {options.load_core}, MariaDB on {options.database_cores}; {options.connections} connections to it; medians of"
            f" {options.rounds} interleaved rounds of {options.seconds:g} s; load average {os.getloadavg()[0]:.1f} at the start.")


def main():
    options = arguments()
    options.packages = options.packages.resolve()
    where = environment(options)
    print(where)
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        pathlib.Path(folder).chmod(0o755)
        chosen = list(choose(options))
        results = run(options, pathlib.Path(folder), chosen)
    what = {cls.name: cls.what.format(connections=options.connections) for cls in chosen}
    text = markdown(results, what, where)
    print(text)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"environment": where, "results": results}, indent=1))
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text)
    kept = True
    for kind, holds, line in check(results):
        print(f"{'holds ' if holds else 'MISSED'} {line}")
        kept = kept and (holds or kind != "must")
    failed = [f"{workload}: {name} {cell['errors']}" for workload, cells in results.items() for name, cell in cells.items()
              if cell["errors"]]
    if failed:
        print(f"wrong or missing answers: {', '.join(failed)}")
    return 0 if kept and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
