#!/usr/bin/env python3
"""1m-go-tcp's table for this server: a small message there and back over many connections.

For each way of sharing the work between threads and each number of connections, a server of its own and one run of swarm
(every client sends again when it has its answer); --rounds rounds, medians. Prints throughput, mean and p99 latency as a table;
--svg draws them.

usage: bench_echo_table.py [--server FILE] [--swarm FILE] [--connections 100 5000 60000] [--seconds 5] [--rounds 1]
                           [--svg FILE] [--json FILE]
"""

import argparse
import json
import math
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

from bench import process

WAITS, COMPUTES = {"kind": "sleep", "us": 1000}, {"kind": "cpu", "us": 100}
# What the table calls it: how connections are accepted, and what a message costs where.
MODES = {
    "hand-off": ("handoff", None),
    "reuseport": ("reuseport", None),
    "reuseport, waits 1 ms on the loop": ("reuseport", {**WAITS, "where": "loop"}),
    "reuseport, waits 1 ms on task threads": ("reuseport", {**WAITS, "where": "task"}),
    "reuseport, waits 1 ms by a timer": ("reuseport", {**WAITS, "where": "timer"}),
    "reuseport, computes 100 µs on the loop": ("reuseport", {**COMPUTES, "where": "loop"}),
    "reuseport, computes 100 µs on task threads": ("reuseport", {**COMPUTES, "where": "task"}),
}
RESERVE = 200  # descriptors of a process or thread that are no connections


def fits(accept, connections, options):
    """Whether the server's limit of descriptors allows it: per thread with reuseport, for the process otherwise."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    tables = options.threads if accept == "reuseport" else 1
    share = connections * 5 // 4 // tables if tables > 1 else connections  # they are not dealt out evenly
    return limit == resource.RLIM_INFINITY or share + RESERVE <= limit


def measure(options, accept, work, connections):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        port = process.free_port()
        configuration = {"worker_processes": options.threads, "task_processes": options.task_threads, "accept": accept,
                         "listen": [{"address": "127.0.0.1", "port": port, "tcp_echo": {"work": work}}],
                         "log": {"path": ""}, "http": {"root_path": str(folder)}}
        if accept == "reuseport":
            configuration["fd_table"] = "per_thread"
        (folder / "server.json").write_text(json.dumps(configuration))
        process.raise_descriptor_limit(1 << 20)
        server = subprocess.Popen([options.server, "-f", str(folder / "server.json")], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        try:
            process.wait_until_listening(port, server)
            subprocess.run([options.swarm, f"tcp://127.0.0.1:{port}", "-c", str(connections), "-d", str(options.seconds),
                            "--warmup-s", str(options.warmup), "--timeout-ms", "60000", "--drain-s", "60", "-q", "--pid",
                            str(server.pid), "--connect-rate", "20000", "--json", str(folder / "report.json")],
                           check=False, stdout=subprocess.DEVNULL)
            report = json.loads((folder / "report.json").read_text())
        finally:
            process.stop(server)
    latency = report["latency"] or {"mean_us": math.nan, "p99_us": math.nan}
    return {"held": report["connections_held"], "rate": report["replies_per_s"], "mean_ms": latency["mean_us"] / 1e3,
            "p99_ms": latency["p99_us"] / 1e3, "server_us": report["server_cpu_us_per_request"],
            "errors": report["errors"]["total"]}


def measure_all(options):
    runs = {}
    for _ in range(options.rounds):
        for connections in options.connections:
            for mode, (accept, work) in MODES.items():
                if fits(accept, connections, options):
                    print(f"{mode}, {connections} connections", file=sys.stderr)
                    runs.setdefault((mode, connections), []).append(measure(options, accept, work, connections))
    return {key: {name: statistics.median(one[name] for one in many) for name in many[0]} for key, many in runs.items()}


def show(options, results):
    print(f"\n20 bytes, {options.threads} IO threads, {options.task_threads} task threads; {options.rounds} x {options.seconds:g} s\n\n"
          "| | connections | messages/s | mean latency, ms | p99 latency, ms | server CPU, µs per message | errors |\n"
          "|---|---|---|---|---|---|---|")
    for mode in MODES:
        for connections in options.connections:
            cell = results.get((mode, connections))
            if cell is None:
                print(f"| {mode} | {connections:,} | the process's limit of descriptors is lower | | | | |")
                continue
            print(f"| {mode} | {cell['held']:,.0f} | {cell['rate']:,.0f} | {cell['mean_ms']:,.2f} | {cell['p99_ms']:,.2f} |"
                  f" {cell['server_us']:.2f} | {cell['errors']:.0f} |")


COLOURS = ["#1f6feb", "#d9730d", "#cf222e", "#1a7f37", "#8250df", "#57606a", "#bf3989"]


def panel(results, connections, key, title, unit, left, top, width, height):
    """One diagram: a line per mode over the number of connections, both axes logarithmic."""
    values = [cell[key] for cell in results.values() if cell[key] > 0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    logs = [math.log10(count) for count in connections]
    span = (max(logs) - min(logs)) or 1

    def x(count):
        return left + (math.log10(count) - min(logs)) / span * width

    def y(value):
        return top + height - (math.log10(value) - low) / (high - low) * height

    out = [f'<text x="{left}" y="{top - 14}" font-size="15" font-weight="600" fill="#1f2328">{title}</text>']
    for decade in range(low, high + 1):
        out.append(f'<path d="M{left} {y(10 ** decade):.1f}h{width}" stroke="#d0d7de"/><text x="{left - 8}"'
                   f' y="{y(10 ** decade) + 4:.1f}" text-anchor="end">{10 ** decade if decade >= 0 else 10.0 ** decade:,}{unit}</text>')
    for count in connections:
        out.append(f'<path d="M{x(count):.1f} {top}v{height}" stroke="#d0d7de"/><text x="{x(count):.1f}" y="{top + height + 18}"'
                   f' text-anchor="middle">{count:,}</text>')
    for colour, mode in zip(COLOURS, MODES):
        points = [(x(count), y(results[mode, count][key])) for count in connections
                  if (mode, count) in results and results[mode, count][key] > 0]
        path = " ".join(f"{'L' if i else 'M'}{px:.1f} {py:.1f}" for i, (px, py) in enumerate(points))
        out.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3.5" fill="{colour}"/>' for px, py in points]
    out.append(f'<text x="{left + width / 2}" y="{top + height + 38}" text-anchor="middle">connections</text>')
    return "\n".join(out)


def plot(options, results):
    width, height = 1060, 520
    legend = "\n".join(
        f'<path d="M{80 + i % 2 * 500} {432 + i // 2 * 22}h22" stroke="{colour}" stroke-width="3"/>'
        f'<text x="{110 + i % 2 * 500}" y="{436 + i // 2 * 22}">{mode}</text>'
        for i, (colour, mode) in enumerate(zip(COLOURS, MODES)))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
            ' font-family="system-ui, sans-serif" font-size="12" fill="#57606a"><rect width="100%" height="100%" fill="#fff"/>\n'
            + panel(results, options.connections, "rate", "Messages per second", "", 90, 50, 400, 310)
            + panel(results, options.connections, "p99_ms", "Latency, 99th percentile", " ms", 610, 50, 400, 310)
            + legend + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server", default=str(process.REPOSITORY / "server"))
    parser.add_argument("--swarm", default=str(process.REPOSITORY / "swarm"))
    parser.add_argument("--connections", type=int, nargs="+", default=[100, 5000, 60000])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--warmup", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--task-threads", type=int, default=32)
    parser.add_argument("--svg")
    parser.add_argument("--json")
    options = parser.parse_args()
    results = measure_all(options)
    show(options, results)
    if options.svg:
        pathlib.Path(options.svg).write_text(plot(options, results))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps([{"mode": mode, "connections": count, **cell}
                                                          for (mode, count), cell in results.items()], indent=1))


if __name__ == "__main__":
    main()
