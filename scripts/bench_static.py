#!/usr/bin/env python3
"""Measures this server and its peers side by side on static files. How and why: docs/performance.md.

One worker of each server on one core, the load generator on another, rounds interleaved (every server in turn, then
again, starting one further each time), medians. CPU per request counts all threads of all processes of a server.
Start `./build.sh` first; the peers are taken if they are installed (Debian: nginx-light, lighttpd, h2o).
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import sys
import tempfile

from bench import measure, process, report, rows, servers


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(process.REPOSITORY / "server"), help="this server's program")
    parser.add_argument("--roost-conf", help="JSON whose top-level keys replace those of roost's configuration")
    parser.add_argument("--servers", default=",".join(servers.ALL), help="default: %(default)s")
    parser.add_argument("--rows", default=",".join(rows.ROWS), help="default: %(default)s")
    parser.add_argument("--rounds", type=int, help="default: 5")
    parser.add_argument("--seconds", type=float, help="measured per round, default: 2.5")
    parser.add_argument("--quick", action="store_true", help="3 rounds of 1 second: a first look")
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--load-core", type=int, default=1)
    parser.add_argument("--nice", type=int, default=0, help="of servers and generator; below 0 needs root")
    parser.add_argument("--sleep", action="store_true", help="the generator sleeps, the server pays for waking it")
    parser.add_argument("--syscalls", choices=("auto", "perf", "strace", "none"), default="auto")
    parser.add_argument("--json", help="write everything measured here")
    parser.add_argument("--markdown", help="write the tables here")
    parser.add_argument("--check", action="store_true", help="exit 1 if a limit marked must does not hold")
    options = parser.parse_args()
    options.rounds = options.rounds or (3 if options.quick else 5)
    options.seconds = options.seconds or (1.0 if options.quick else 2.5)
    return options


def environment(options):
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown CPU")
    return (f"{model}, {os.cpu_count()} CPUs, Linux {platform.release()}; servers on core {options.server_core},"
            f" generator on core {options.load_core}; medians of {options.rounds} rounds of {options.seconds:g} s,"
            f" interleaved; load average {os.getloadavg()[0]:.1f} at the start.")


def progress(text):
    """The line that is being worked on; nothing where the output is not a terminal."""
    if sys.stdout.isatty():
        print(f"\r{text:78}\r", end="", flush=True)


def measure_row(row, running, generator, counter, options):
    runs = {server.name: [] for server in running}
    if row.mode == "close":
        # Closed connections linger for a minute until the kernel has enough; from then on all servers are alike.
        generator.run(running[0], row, 4.0)
    for number in range(options.rounds):
        for server in running[number % len(running):] + running[:number % len(running)]:
            run = generator.run(server, row, options.seconds)
            runs[server.name].append(run)
            progress(f"{row.name:10} round {number + 1}/{options.rounds}  {server.name:16}"
                     f" {run['requests_per_s']:12,.1f}/s {run['server_cpu_us_per_request']:12,.2f} µs")
    calls = {server.name: counter.per_request(generator, server, row, min(options.seconds, 1.5)) for server in running}
    progress("")
    return {name: report.summarize(found, calls[name], row.mode != "close") | {"runs": found}
            for name, found in runs.items()}


def run(options, folder):
    """Returns {row: {server: cell}}."""
    chosen_rows = [rows.ROWS[name] for name in options.rows.split(",")]
    site = rows.make_site(folder)
    generator = measure.Generator(options.server, options.load_core, options.nice, options.sleep)
    counter = measure.SyscallCounter(options.syscalls)
    results = {}
    with contextlib.ExitStack() as stack:
        started = []
        for cls in servers.choose(options.servers.split(","), options):
            server = cls(folder, site, options.server_core, options.nice, options=options)
            stack.callback(server.stop)
            server.start()
            started.append(server)
        for row in chosen_rows:
            running = [server for server in started if server.rows is None or row.name in server.rows]
            if not running:
                continue
            for server in running:
                rows.verify(server, row, site)
            results[row.name] = measure_row(row, running, generator, counter, options)
            print(report.terminal_table(row.title, results[row.name]), flush=True)
    return results


def conclude(results, options, where):
    titles = {name: row.title for name, row in rows.ROWS.items()}
    print()
    failed = warned = False
    for row, cells in results.items():
        for warning in report.warnings(titles[row], cells):
            print(f"warning: {warning}")
            warned = True
        failed |= any(cell["errors"] for cell in cells.values())
    if warned:
        print("Where a server had not all of its core, compare CPU per request and not requests/s.")
    for kind, holds, text in report.check(results):
        print(f"{'holds ' if holds else 'MISSED'}  {text}")
        failed |= options.check and kind == "must" and not holds
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"environment": where, "results": results}, indent=1))
    if options.markdown:
        pathlib.Path(options.markdown).write_text(report.markdown(results, titles, where))
    return 1 if failed else 0


def main():
    options = arguments()
    missing = {options.server_core, options.load_core} - os.sched_getaffinity(0)
    if missing or options.server_core == options.load_core:
        raise SystemExit("the servers and the generator need a core each: see --server-core and --load-core")
    process.raise_descriptor_limit(20000)
    where = environment(options)
    print(where)
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        results = run(options, folder)
    return conclude(results, options, where)


if __name__ == "__main__":
    sys.exit(main())
