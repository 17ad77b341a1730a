#!/usr/bin/env python3
"""2,000,000 WebSockets in one process, and one message a minute to all of them; or held requests. Both ends on this machine.

    scripts/bench_million.py --clients 2000000 --json 2m.json              # 15 GB, ten minutes on two processors
    scripts/bench_million.py --clients 1200000 --json 1m2.json             # as many as the C1000K study's
    scripts/bench_million.py --clients 1017147 --held --json held.json     # requests held for 30 to 89 s, as libtnet's
    scripts/bench_million.py --write-docs 2m.json 1m2.json held.json --svg docs/million.svg
    scripts/bench_million.py --small [--held]                              # 4,000 clients and half a minute: does it work here?

Starts the server with "accept": "reuseport" and "fd_table": "per_thread" and as many IO threads as the limit of descriptors asks
for; swarm opens the connections, publishes numbered and stamped messages, and checks that each reaches every client once and in
order. Nothing is pinged meanwhile. Prints the time to connect, memory of the server, the clients and the kernel, and when the
first, half, 99 % and the last of the clients had each message.

Before it starts it says what this machine lacks, and exits with 2. It ends the run when less than 1.5 GiB of memory are left. Exit
code 1: something was lost, or the run did not come to its end. Everything that it started is ended, on Ctrl-C and SIGTERM too.
"""

import argparse
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import time

from bench import capacity, million, process, push_servers, watch

SLACK_MS = 60000  # that an answer may be late where both ends share the processors
STALL_S = 90      # without one connection more, before all are there
MOST_MESSAGES = 128  # of which swarm tells the delivery of each
KEPT = ("connections_held", "connect_s", "connect_rate", "connect_latency", "latency", "messages_total", "replies_total", "unanswered",
        "published", "publish_latency", "delivery_latency", "threads", "source_addresses", "errors", "failed", "interrupted",
        "own_bytes_per_client", "server_cpu_us_per_request", "server_waiting", "own_waiting")


class Failed(Exception):
    """The run did not come to its end."""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(process.REPOSITORY / "server"), help="this server's program; a release build for figures")
    parser.add_argument("--swarm", help="the load generator; default: beside the server's program")
    parser.add_argument("--clients", type=int, help="default: 2000000")
    parser.add_argument("--held", action="store_true", help="requests that the server holds, in place of WebSockets")
    parser.add_argument("--small", action="store_true", help="4,000 clients, messages a second apart, requests held for 2 to 3 s")
    parser.add_argument("--messages", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--interval", type=float, help="seconds from one message to the next; default: 60")
    parser.add_argument("--message-bytes", type=int, default=128)
    parser.add_argument("--hold-ms", type=int, nargs=2, metavar=("LEAST", "MOST"), help="default: 30000 89000")
    parser.add_argument("--hold-s", type=float, help="how long clients ask again once all are connected; default: 60")
    parser.add_argument("--connect-rate", type=int, default=0, help="connections a second; default: as many as succeed")
    parser.add_argument("--settle", type=float, help="seconds of rest before memory is read; default: 10")
    parser.add_argument("--threads", type=int, help="IO threads; default: as many as the descriptors need")
    parser.add_argument("--json", help="write the result here")
    parser.add_argument("--svg", help="draw the results (with --write-docs, or of this run)")
    parser.add_argument("--write-docs", nargs="+", metavar="JSON",
                        help="measure nothing: print the tables of these results as markdown, a long and a short one")
    options = parser.parse_args()
    large = not options.small
    for name, small, default in (("clients", 4000, 2000000), ("interval", 1, 60), ("hold_ms", [2000, 3000], [30000, 89000]),
                                 ("hold_s", 3, 60), ("settle", 1, 10)):
        if getattr(options, name) is None:
            setattr(options, name, default if large else small)
    options.swarm = options.swarm or str(pathlib.Path(options.server).resolve().with_name("swarm"))
    if not 1 <= options.messages <= MOST_MESSAGES:
        parser.error(f"--messages: 1 to {MOST_MESSAGES}")
    if options.message_bytes < 40:
        parser.error("--message-bytes: a number and a time need 40")
    options.threads = options.threads or capacity.io_threads(options.clients)
    return options


class Server(push_servers.Roost):
    """With a descriptor table for each IO thread, and a route that holds requests."""

    def configuration(self):
        configuration = super().configuration()
        low, high = self.options.hold_ms
        configuration["http"]["sites"][0]["routes"].append({"path": "/hold", "hold": {"min_ms": low, "max_ms": high}})
        return {**configuration, "worker_processes": self.options.threads, "accept": "reuseport", "fd_table": "per_thread"}


def swarm_command(options, port, report):
    command = [options.swarm, "-c", str(options.clients), "--connect-timeout-ms", "60000", "--require-all", "on", "--settle-s",
               str(options.settle), "--json", str(report)]
    if options.connect_rate:
        command += ["--connect-rate", str(options.connect_rate)]
    if options.held:
        low, high = options.hold_ms
        return [*command, f"http://127.0.0.1:{port}/hold", "--kind", "hold", "--expect-min-ms", str(low), "--expect-max-ms",
                str(high + SLACK_MS), "--timeout-ms", str(high + SLACK_MS + 1000), "-d", str(options.hold_s), "--drain-s",
                str((high + SLACK_MS) / 1000)]
    return [*command, f"ws://127.0.0.1:{port}/sub/{push_servers.CHANNEL}", "--ws-mode", "listen", "--publish-url",
            f"/pub/{push_servers.CHANNEL}", "--publish-messages", str(options.messages), "--publish-interval-s", str(options.interval),
            "--publish-bytes", str(options.message_bytes), "--timeout-ms", "120000", "-d", str(options.messages * options.interval + 240)]


def lasts_at_most(options):
    """Seconds that swarm may take: beyond them something hangs."""
    load = options.hold_s + options.hold_ms[1] / 1000 + SLACK_MS / 1000 if options.held else options.messages * options.interval + 240
    return 300 + options.clients / 1000 + options.settle + load


def preflight(options):
    """What keeps the run from being made here, a line each."""
    lines = [f"{what} is not there: build it first" for what in (options.server, options.swarm) if not os.access(what, os.X_OK)]
    facts = capacity.machine()
    lines += capacity.lacking(options.clients, facts, options.threads)
    if not lines:
        check = subprocess.run([*swarm_command(options, 1, os.devnull), "--check"], capture_output=True, text=True)
        lines += check.stderr.strip().splitlines() if check.returncode else []
    if not lines:
        for line in capacity.disturbing(options.clients, facts):
            print(f"note: {line}", file=sys.stderr)
    return lines


def start_swarm(options, server, folder):
    """In a session of its own: Ctrl-C comes to this program alone. Its progress goes to our standard error."""
    command = [*swarm_command(options, server.port, folder / "report.json"), "--pid", str(server.process.pid)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=open(folder / "swarm.txt", "wb"), start_new_session=True,
                            preexec_fn=process.ends_with_parent)


def wait_for(options, server, swarm, watcher, sockets_before):
    deadline = time.monotonic() + lasts_at_most(options)
    most, since = 0, time.monotonic()
    while swarm.poll() is None:
        if (grown := watcher.most("sockets") - sockets_before) > most:
            most, since = grown, time.monotonic()
        if most < 2 * options.clients * 0.99 and time.monotonic() - since > STALL_S:
            raise Failed(f"connecting stopped at about {most // 2:,} of {options.clients:,} clients")
        if server.process.poll() is not None:
            said = (server.folder / "output.txt").read_text(errors="replace").strip().splitlines()[-3:]
            raise Failed("\n".join([f"the server ended with {server.process.returncode}", *said]))
        if time.monotonic() > deadline:
            raise Failed(f"it is not over after {lasts_at_most(options):.0f} s")
        time.sleep(0.2)
    if watcher.low is not None:
        raise Failed(f"ended because only {watcher.low / 1e9:.2f} GB of memory were left: fewer --clients fit")


def measured_from(report):
    """When memory was at rest: CLOCK_MONOTONIC at the end of swarm's settling."""
    at_s = next((each["at_s"] for each in report["samples"] if each["phase"] in ("warming up", "measuring")), None)
    if at_s is None:
        raise Failed("; ".join(report["failed"]) or "it was interrupted before all clients were connected")
    return report["begin_ns"] + int(at_s * 1e9)


def result_of(options, report, watcher, before):
    wanted = [options.clients] * options.messages
    wrong = report["errors"]["total"] + report["unanswered"]
    complete = wrong == 0 and not report["failed"] and not report["interrupted"] and report["connections_held"] == options.clients
    if not options.held:
        complete = complete and [each["receivers"] for each in report["broadcasts"]] == wanted
    info = {"processors": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "memory": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")}
    return {"clients": options.clients, "held": options.held, "io_threads": options.threads, "message_bytes": options.message_bytes,
            "interval_s": options.interval, "hold_ms": options.hold_ms, "machine": info, "connections": report["connections_held"],
            "connect_s": report["connect_s"], "waiting_at_once": max((each["waiting"] for each in report["samples"]), default=0),
            "memory": {"before": before, "held": watcher.at(measured_from(report)),
                       "most": {name: watcher.most(name) for name in watcher.pids},
                       "least_room": min(each["room"] for each in watcher.samples)},
            "broadcasts": report["broadcasts"], "wrong": wrong, "complete": complete, "report": {key: report[key] for key in KEPT},
            "connections_over_time": [[each["at_s"], each["open"]] for each in report["samples"]]}


def measure(options, folder):
    """Starts both ends, watches them, and ends them whatever happens."""
    server, swarm, watcher = Server(folder, "all", options.clients, options), None, None
    try:
        server.start()
        time.sleep(1)
        before = watch.sample({"server": server.process.pid}, with_pss=True)
        swarm = start_swarm(options, server, folder)
        watcher = watch.Watch({"server": server.process.pid, "swarm": swarm.pid}, capacity.GUARD_BYTES,
                              on_low=lambda: swarm.send_signal(signal.SIGINT))
        watcher.start()
        wait_for(options, server, swarm, watcher, before["sockets"])
    finally:
        if watcher is not None:
            watcher.stop()
        if swarm is not None and swarm.poll() is None:
            process.stop(swarm)
        server.stop()
        if swarm is not None:
            print((folder / "swarm.txt").read_text(), end="")
    if not (folder / "report.json").exists():
        raise Failed(f"swarm ended with {swarm.returncode} and no report")
    return result_of(options, json.loads((folder / "report.json").read_text()), watcher, before)


def show(result):
    held, most = result["memory"]["held"], result["memory"]["most"]
    print(f"\nIO threads: {result['io_threads']}; the clients' threads: {result['report']['threads']}, source addresses:"
          f" {result['report']['source_addresses']}; connected in {result['connect_s']:.1f} s.")
    print(f"server: RssAnon {million.size(held['server'])} at rest, {million.size(most['server'])} at most, PSS"
          f" {million.size(held.get('server_pss', 0))}; clients: {million.size(held['swarm'])}; kernel, both ends:"
          f" {million.size(million.kernel_of(result))}.")
    print(f"all together: {million.size(million.all_of(result))} less are free, and {million.size(million.all_of(result, 'available'))} by"
          f" MemAvailable, which takes inodes of open sockets for reclaimable; least left: {million.size(result['memory']['least_room'])}.")
    if result["held"]:
        print(f"{result['waiting_at_once']:,} requests were held at the same time, {result['report']['replies_total']:,} answered.")
    for each in result["broadcasts"]:
        print(f"message {each['number']} to {each['receivers']:,}: first {million.seconds(each['first_us'])}, half"
              f" {million.seconds(each['p50_us'])}, 99 % {million.seconds(each['p99_us'])}, last {million.seconds(each['last_us'])}")
    print("\n" + million.table([result]))
    print(f"\nmust: every {'request was answered' if result['held'] else 'message reached every client once, in order'}:"
          f" {'yes' if result['complete'] else 'NO'}")


def run(options):
    lines = preflight(options)
    for line in lines:
        print(f"lacking: {line}", file=sys.stderr)
    if lines:
        return 2
    print(f"{options.clients:,} {'held requests' if options.held else 'WebSockets'}, {options.threads} IO threads, at most"
          f" {lasts_at_most(options) / 60:.0f} minutes", flush=True)
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        result = measure(options, pathlib.Path(folder))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1))
    if options.svg:
        pathlib.Path(options.svg).write_text(million.plot([result]))
    show(result)
    return 0 if result["complete"] else 1


def write_docs(options):
    results = [json.loads(pathlib.Path(path).read_text()) for path in options.write_docs]
    for path, result in zip(options.write_docs, results):
        if not result["complete"]:
            raise Failed(f"{path}: something was lost in that run")
    print(million.table(results) + "\n\n" + million.table(results, million.SHORT))
    if options.svg:
        pathlib.Path(options.svg).write_text(million.plot(results))
    return 0


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    process.raise_descriptor_limit(1 << 20)
    try:
        return write_docs(options) if options.write_docs else run(options)
    except (Failed, RuntimeError) as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
