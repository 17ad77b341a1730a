#!/usr/bin/env python3
"""Measures coded (compressed) answers of this server and its peers side by side, at the same levels.

As bench_static.py: one worker of each server on one core, the load generator on another, rounds interleaved, medians;
CPU per request counts all threads of all processes of a server. Every server is asked for the coding of the row and
its answer decoded before anything is timed. Debian packages of the peers: nginx-light libnginx-mod-http-brotli-filter
libnginx-mod-http-brotli-static lighttpd-mod-deflate h2o caddy.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import sys
import tempfile

import bench_static
from bench import coded_rows, coded_servers, measure, process, report


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(process.REPOSITORY / "server"), help="this server's program")
    parser.add_argument("--servers", default=",".join(coded_servers.ALL), help="default: %(default)s")
    parser.add_argument("--rows", default=",".join(coded_rows.ROWS), help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="measured per round")
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--load-core", type=int, default=1)
    parser.add_argument("--nice", type=int, default=0, help="of servers and generator; below 0 needs root")
    parser.add_argument("--json", help="write everything measured here")
    parser.add_argument("--markdown", help="write the tables here")
    parser.add_argument("--check", action="store_true", help="exit 1 unless this server is ahead everywhere")
    return parser.parse_args()


def choose(options):
    """The classes named, without those that cannot run here."""
    for name in options.servers.split(","):
        why = coded_servers.ALL[name].missing(options)
        if why:
            print(f"left out: {name} ({why})")
        else:
            yield coded_servers.ALL[name]


def measure_row(row, running, generator, options):
    runs = {server.name: [] for server in running}
    for number in range(options.rounds):
        turn = number % len(running)
        for server in running[turn:] + running[:turn]:
            run = generator.run(server, row, options.seconds)
            runs[server.name].append(run)
            bench_static.progress(f"{row.name:16} round {number + 1}/{options.rounds}  {server.name:12}"
                                  f" {run['server_cpu_us_per_request']:12,.2f} µs")
    bench_static.progress("")
    return {name: report.summarize(found, {}, True) | {"runs": found} for name, found in runs.items()}


def per_cpu_second(cell):
    return 1e6 / statistics.median(run["server_cpu_us_per_request"] for run in cell["runs"])


def table(title, cells):
    """Markdown: requests per CPU second, how many times roost's peers, the spread, the size of one answer."""
    own = cells.get("roost")
    lines = [f"**{title}**", "", "| server | requests per CPU second | roost is ahead by | CPU µs | spread | bytes |",
             "|---|---|---|---|---|---|"]
    for name, cell in sorted(cells.items(), key=lambda item: item[1]["cpu"]):
        spread = (cell["cpu_max"] - cell["cpu_min"]) / 2 / cell["cpu"] * 100
        ahead = f"{per_cpu_second(own) / per_cpu_second(cell):.2f}" if own and name != "roost" else ""
        lines.append(f"| {name} | {per_cpu_second(cell):,.0f} | {ahead} | {cell['cpu']:,.2f} | ±{spread:.0f} % |"
                     f" {cell['coded_bytes']:,} |")
    return "\n".join(lines) + "\n"


def run(options, folder):
    site = coded_rows.make_site(folder)
    generator = measure.Generator(options.server, options.load_core, options.nice)
    results = {}
    with contextlib.ExitStack() as stack:
        started = []
        for cls in choose(options):
            server = cls(folder, site, options.server_core, options.nice, options=options)
            stack.callback(server.stop)
            server.start()
            started.append(server)
        for name in options.rows.split(","):
            row = coded_rows.ROWS[name]
            running = [server for server in started if server.rows is None or name in server.rows]
            sizes = {server.name: coded_rows.verify(server, row, site) for server in running}
            results[name] = measure_row(row, running, generator, options)
            for server, cell in results[name].items():
                cell["coded_bytes"] = sizes[server]
            print(table(row.title, results[name]), flush=True)
    return results


def conclude(results, options, where):
    behind = []
    for name, cells in results.items():
        for warning in report.warnings(coded_rows.ROWS[name].title, cells):
            print(f"warning: {warning}")
        own = cells.get("roost")
        for server, cell in cells.items():
            if own and server not in ("roost", "roost-anew") and own["cpu"] >= cell["cpu"]:
                behind.append(f"{name}: {own['cpu']:.2f} µs, {server} {cell['cpu']:.2f} µs")
    print("must: ahead everywhere: " + ("MISSED " + "; ".join(behind) if behind else "holds"))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"environment": where, "results": results}, indent=1))
    if options.markdown:
        tables = [table(coded_rows.ROWS[name].title, cells) for name, cells in results.items()]
        pathlib.Path(options.markdown).write_text("\n".join([where + "\n", *tables]))
    return 1 if options.check and behind else 0


def main():
    options = arguments()
    if {options.server_core, options.load_core} - os.sched_getaffinity(0) or options.server_core == options.load_core:
        raise SystemExit("the servers and the generator need a core each: see --server-core and --load-core")
    process.raise_descriptor_limit(20000)
    where = bench_static.environment(options) + f" Levels: {coded_servers.LEVELS}."
    print(where + "\n")
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        results = run(options, folder)
    return conclude(results, options, where)


if __name__ == "__main__":
    sys.exit(main())
