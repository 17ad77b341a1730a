#!/usr/bin/env python3
"""swarm beside wrk and h2load: do they measure the same, and what does each cost?

The server runs on one core, the tool on another; the tools take turns, --rounds times; medians are printed.

1. Closed loop: --connections connections, each asking again when answered, for a small file ("light": the tool may well be
   the slower side, which its "busy" column shows) and for a page that the server compresses anew each time ("heavy": the
   server is the slower side for every tool). Rate, and the tool's own processor time per request (user and system, the whole
   process from its start to its end).
2. Fixed rate: --rate requests per second over --slow-clients clients, of which each asks a few times a second. Percentiles
   of the time from when a request was sent: wrk knows no rates, and h2load does not know when a request was due. Once for
   the small file, whose few microseconds are mostly the tool's own and its neighbours', and once for answers that the server
   holds for 5 to 50 ms, all times alike: there it is known what every tool has to find.

usage: compare_load_tools.py [--server FILE] [--swarm FILE] [--rounds 5] [--seconds 4] [--json FILE]
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from bench import process

SIZE = 612         # of the file asked for
HOLD_MS = (5, 50)  # how long answers are held


def start_server(options, folder):
    site = folder / "html"
    site.mkdir()
    (site / "light.html").write_bytes(b"x" * SIZE)
    (site / "heavy").mkdir()
    (site / "heavy" / "page.html").write_bytes(b"".join(b"<p>%d bottles of beer on the wall</p>\n" % i for i in range(500)))
    port = process.free_port()
    configuration = {"address": "127.0.0.1", "port": port, "worker_processes": 1, "log": {"path": ""},
                     "http": {"root_path": str(site), "sites": [{"host": ["*"], "routes": [
                         {"path": "/heavy/", "static": {}, "compress": {"levels": {"gzip": 6}, "max_kept_bytes": 0}},
                         {"path": "/hold", "hold": {"min_ms": HOLD_MS[0], "max_ms": HOLD_MS[1]}},
                         {"path": "/", "static": {}}]}]}}
    (folder / "server.json").write_text(json.dumps(configuration))
    server = subprocess.Popen([options.server, "-f", str(folder / "server.json")], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, preexec_fn=process.pinned(options.server_core))
    process.wait_until_listening(port, server)
    return server, f"http://127.0.0.1:{port}/"


def run(command, core, good=(0,)):
    """Runs a tool to its end; returns what it printed, its processor time in seconds, and how much of the time that was."""
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, preexec_fn=process.pinned(core))
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if child.returncode not in good:
        raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}:\n{text}")
    cpu_s = usage.ru_utime + usage.ru_stime
    return text, cpu_s, cpu_s / (time.monotonic() - begin)


def percentile(values, percent):
    """Of sorted values, in the same unit."""
    return values[min(len(values) - 1, int(len(values) * percent / 100))]


class Swarm:
    name = "swarm"

    def __init__(self, options):
        self.options = options
        self.program = str(pathlib.Path(options.swarm).resolve())

    def report(self, url, clients, *more):
        with tempfile.NamedTemporaryFile("r", suffix=".json") as report:
            _, cpu_s, busy = run([self.program, url, "-c", str(clients), "-t", "1", "-q", "-d", str(self.options.seconds),
                            "--warmup-s", "0", "--settle-s", "0", "-H", "Accept-Encoding: gzip", "--json", report.name, *more], self.options.load_core, good=(0, 1))
            numbers = json.load(report)
        # A request that could not be sent at the very end fails a run, but not a comparison.
        if numbers["errors"]["total"] > 0 or numbers["replies"] == 0:
            raise RuntimeError(f"{url}: {numbers['errors']} {numbers['failed']}")
        return numbers, cpu_s, busy

    def closed(self, url):
        report, cpu_s, busy = self.report(url, self.options.connections)
        return {"rate": report["replies_per_s"], "busy": busy, "cpu_us": cpu_s * 1e6 / report["replies_total"],
                "mean_us": report["latency"]["mean_us"], "p50_us": report["latency"]["p50_us"],
                "p99_us": report["latency"]["p99_us"]}

    def fixed(self, url):
        report, cpu_s, _ = self.report(url, self.options.slow_clients, "-r", str(self.options.rate))
        sent, due = report["latency_from_send"], report["latency"]
        return {"rate": report["replies_per_s"], "cpu_us": cpu_s * 1e6 / report["replies_total"],
                "mean_us": sent["mean_us"], "p50_us": sent["p50_us"], "p99_us": sent["p99_us"],
                "due_p50_us": due["p50_us"], "due_p99_us": due["p99_us"]}


def in_us(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()
    return float(number) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]


class Wrk:
    name = "wrk"

    def __init__(self, options):
        self.options = options

    def closed(self, url):
        text, cpu_s, busy = run(["wrk", "-t", "1", "-c", str(self.options.connections), "-d", f"{self.options.seconds:g}s",
                                 "-H", "Accept-Encoding: gzip", "--latency", url], self.options.load_core)
        assert "Non-2xx" not in text and "Socket errors" not in text, text
        requests = int(re.search(r"(\d+) requests in", text)[1])
        return {"rate": float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]), "busy": busy, "cpu_us": cpu_s * 1e6 / requests,
                "mean_us": in_us(re.search(r"Latency\s+(\S+)", text)[1]), "p50_us": in_us(re.search(r"(?m)^\s+50%\s+(\S+)", text)[1]),
                "p99_us": in_us(re.search(r"(?m)^\s+99%\s+(\S+)", text)[1])}

    fixed = None


class H2load:
    name = "h2load"

    def __init__(self, options):
        self.options = options

    def closed(self, url):
        text, cpu_s, busy = run(["h2load", "--h1", "-t", "1", "-c", str(self.options.connections), "-D",
                                 f"{self.options.seconds:g}", "-H", "Accept-Encoding: gzip", url], self.options.load_core)
        requests, failed = map(int, re.search(r"requests: \d+ total, \d+ started, (\d+) done, .* (\d+) failed", text).groups())
        assert failed == 0, text
        return {"rate": float(re.search(r"([\d.]+) req/s", text)[1]), "busy": busy, "cpu_us": cpu_s * 1e6 / requests,
                "mean_us": in_us(re.search(r"time for request:\s+\S+\s+\S+\s+(\S+)", text)[1])}

    def fixed(self, url):
        """Its clients begin one after the other over one of their periods, so that they do not all ask at once."""
        options = self.options
        per_client = options.rate / options.slow_clients
        count = int(options.rate * options.seconds)
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            text, cpu_s, _ = run(["h2load", "--h1", "-t", "1", "-c", str(options.slow_clients), "-n", str(count), "--rps",
                               f"{per_client:g}", "-r", str(max(1, int(options.slow_clients * per_client / 1000))),
                               "--rate-period", "1ms", "--log-file", str(log), url], options.load_core)
            times = sorted(int(line.split()[2]) for line in log.read_text().splitlines())
        return {"rate": float(re.search(r"([\d.]+) req/s", text)[1]), "cpu_us": cpu_s * 1e6 / len(times),
                "mean_us": statistics.mean(times), "p50_us": percentile(times, 50), "p99_us": percentile(times, 99)}


def measure(options, tools, url):
    results = {}
    for round_ in range(options.rounds):
        for kind, method, path in (("light", "closed", "light.html"), ("heavy", "closed", "heavy/page.html"),
                                   ("fixed", "fixed", "light.html"), ("held", "fixed", "hold")):
            order = tools[round_ % len(tools):] + tools[:round_ % len(tools)]  # nobody is always the first
            for tool in order:
                if getattr(tool, method) is not None:
                    results.setdefault(kind, {}).setdefault(tool.name, []).append(getattr(tool, method)(url + path))
        print(f"round {round_ + 1} of {options.rounds} done", file=sys.stderr)
    return {kind: {name: {key: statistics.median(run_[key] for run_ in runs) for key in runs[0]}
                   for name, runs in by_tool.items()} for kind, by_tool in results.items()}


def cell(values, key):
    return f"{values[key]:,.1f}" if key in values else "-"


def show(options, medians):
    for kind, what in (("light", f"{SIZE}-byte file"), ("heavy", "page compressed anew each time")):
        print(f"\nClosed loop, {options.connections} connections, {what}, one core each; medians of {options.rounds} rounds of"
              f" {options.seconds:g} s\n| tool | requests/s | beside swarm | own CPU µs per request | busy | mean µs | p50 µs | p99 µs |"
              "\n|---|---|---|---|---|---|---|---|")
        base = medians[kind]["swarm"]["rate"]
        for name, values in sorted(medians[kind].items()):
            print(f"| {name} | {values['rate']:,.0f} | {values['rate'] / base * 100 - 100:+.1f} % | {values['cpu_us']:.2f} |"
                  f" {values['busy'] * 100:.0f} % | {cell(values, 'mean_us')} | {cell(values, 'p50_us')} | {cell(values, 'p99_us')} |")
    low, high = HOLD_MS
    for kind, what in (("fixed", f"{SIZE}-byte file"),
                       ("held", f"answers held {low} to {high} ms: p50 {(low + high) / 2 * 1000:,.0f} µs,"
                                f" p99 {(low + (high - low) * 0.99) * 1000:,.0f} µs and what the way takes")):
        print(f"\nFixed rate, {options.rate:,} requests/s over {options.slow_clients} clients, time from sending; {what}\n"
              "| tool | requests/s | own CPU µs per request | mean µs | p50 µs | p99 µs | from when due: p50, p99 µs |\n"
              "|---|---|---|---|---|---|---|")
        for name, values in sorted(medians[kind].items()):
            print(f"| {name} | {values['rate']:,.0f} | {values['cpu_us']:.2f} | {cell(values, 'mean_us')} |"
                  f" {cell(values, 'p50_us')} | {cell(values, 'p99_us')} |"
                  f" {cell(values, 'due_p50_us')}, {cell(values, 'due_p99_us')} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server", default=str(process.REPOSITORY / "server"))
    parser.add_argument("--swarm", default=str(process.REPOSITORY / "swarm"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--rate", type=int, default=5000)
    parser.add_argument("--slow-clients", type=int, default=1000)
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--load-core", type=int, default=1)
    parser.add_argument("--json")
    options = parser.parse_args()
    missing = [program for program in ("wrk", "h2load") if not shutil.which(program)]
    if missing:
        parser.error(f"missing: {', '.join(missing)} (Debian: wrk, nghttp2-client)")
    with tempfile.TemporaryDirectory() as folder:
        server, url = start_server(options, pathlib.Path(folder))
        try:
            medians = measure(options, [Swarm(options), Wrk(options), H2load(options)], url)
        finally:
            process.stop(server)
    show(options, medians)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(medians, indent=1))


if __name__ == "__main__":
    main()
