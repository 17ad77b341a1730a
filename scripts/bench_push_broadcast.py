#!/usr/bin/env python3
"""60,000 subscribers of each transport in one process, and one message a minute to all of them: the C1000K study's measurement.

Starts the server with "accept": "reuseport" and "fd_table": "per_thread" and as many IO threads as the limit of descriptors
asks for. Long-poll, SSE and WebSocket subscribers of one channel come one after the other, by a swarm each, and the server's
own memory is read each time all are there. Then a message is published once per --interval, and one more that ends the run, when who has it leaves while others are still waiting
for theirs; swarm checks that each reaches
every subscriber once and in order, and measures the time from just before publishing until the subscriber has read it.

Prints memory by transport, the time until each message had reached the last subscriber, and the slowest message of each
transport in the study's form beside the study's own figures. Exits 1 where a message was lost. Method: docs/performance.md.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from bench import c1000k, capacity, memory, process, processor, push_servers
from bench.push_report import TITLES

GOAL_BYTES = 25e6  # of own memory for the subscribers of one transport
COLOURS = {"poll": "#1f6feb", "sse": "#1a7f37", "ws": "#d9730d"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(process.REPOSITORY / "server"), help="this server's program")
    parser.add_argument("--swarm", help="the load generator; default: beside the server's program")
    parser.add_argument("--transports", default="poll,sse,ws", help="default: %(default)s")
    parser.add_argument("--clients", type=int, default=60000, help="of each transport; default: %(default)s")
    parser.add_argument("--messages", type=int, default=5)
    parser.add_argument("--interval", type=float, default=60, help="seconds between messages; default: %(default)s")
    parser.add_argument("--message-bytes", type=int, default=128)
    parser.add_argument("--connect-rate", type=int, default=10000)
    parser.add_argument("--threads", type=int, default=0, help="IO threads; 0: as many as the descriptors need")
    parser.add_argument("--settle", type=float, default=3, help="seconds before memory is read")
    parser.add_argument("--json", help="write everything measured here")
    parser.add_argument("--svg", help="draw the latencies")
    options = parser.parse_args()
    options.swarm = options.swarm or str(process.swarm_beside(options.server))
    options.transports = options.transports.split(",")
    if options.message_bytes < 40:
        parser.error("--message-bytes: a number and a time need 40")
    return options


class Server(push_servers.Roost):
    """As it is meant to be run, with heartbeats and pings; only polls do not end between two messages."""

    def configuration(self):
        configuration = super().configuration()
        subscribe = configuration["http"]["sites"][0]["routes"][1]["push_subscribe"]
        for key in ("heartbeat_ms", "ping_interval_ms"):
            del subscribe[key]
        return {**configuration, "worker_processes": self.options.threads, "accept": "reuseport", "fd_table": "per_thread"}


def start_swarm(options, server, transport, report):
    kind = ["--ws-mode", "listen"] if transport == "ws" else ["--kind", transport]
    # All transports come from the same addresses to the same port: their connections count together.
    addresses = capacity.source_addresses(options.clients * len(options.transports))
    command = [options.swarm, server.url(transport), *kind, "-c", str(options.clients), "--source-addresses", str(addresses),
               "--connect-rate", str(options.connect_rate), "--connect-timeout-ms", "60000", "--settle-s", "0", "-q",
               "--expect-sequence", "on", "--expect-messages", str(options.messages + 1), "--json", str(report),
               "-d", str(options.messages * options.interval + 900)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def wait_for_subscribers(server, swarm, wanted, seconds):
    deadline = time.monotonic() + seconds
    while (found := server.subscribers()) != wanted:
        if swarm.poll() is not None:
            raise RuntimeError(f"swarm ended early: {swarm.stderr.read().strip()}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"{found} of {wanted} subscribed")
        time.sleep(0.2)


def gather(options, server, folder, swarms):
    """All subscribers, transport by transport; returns what the server's own memory was before, and after each."""
    pids = server.pids()
    own = [memory.own_bytes(pids)["private"]]
    for number, transport in enumerate(options.transports, 1):
        swarms[transport] = start_swarm(options, server, transport, folder / f"{transport}.json")
        wait_for_subscribers(server, swarms[transport], number * options.clients, 60 + options.clients / 500)
        time.sleep(options.settle)
        own.append(memory.own_bytes(pids)["private"])
        print(f"{TITLES[transport]}: {options.clients:,} subscribed, {own[-1] - own[-2]:,} bytes of own memory", flush=True)
    return own


def publish(options, server, number):
    server.publish(f"{number} {time.monotonic_ns()} ".ljust(options.message_bytes, "x"))
    print(f"message {number} published", flush=True)


def publish_all(options, server):
    begin = time.monotonic()
    for number in range(1, options.messages + 1):
        time.sleep(max(0, begin + (number - 1) * options.interval - time.monotonic()))
        publish(options, server, number)


def measure(options, folder):
    server = Server(folder, "all", options.clients * len(options.transports), options)
    swarms = {}
    server.start()
    try:
        pids = server.pids()
        server.subscribers()
        time.sleep(0.5)
        own = gather(options, server, folder, swarms)
        before = processor.use(pids)
        publish_all(options, server)
        processor.wait_until_quiet(pids, quiet_s=1, busy=0.2)
        own.append(memory.own_bytes(pids)["private"])
        after = processor.use(pids)
        publish(options, server, options.messages + 1)
        for swarm in swarms.values():
            swarm.wait(120)
        reports = {transport: json.loads((folder / f"{transport}.json").read_text()) for transport in swarms}
    finally:
        for swarm in swarms.values():
            if swarm.poll() is None:
                process.stop(swarm)
        server.stop()
    for report in reports.values():
        report.pop("samples")
        report["last_broadcast"] = report["broadcasts"].pop()
    return {"own": own, "cpu_s": (after[0] - before[0]) / 1e9, "reports": reports}


def show(options, result):
    own, reports = result["own"], result["reports"]
    print(f"\n{options.clients:,} subscribers of each transport, messages of {options.message_bytes} bytes, one every"
          f" {options.interval:g} s, {options.threads} IO threads.\n\n"
          "| | subscribers | received | errors | own memory | per subscriber |\n|---|---:|---:|---:|---:|---:|")
    for number, transport in enumerate(options.transports):
        grown, report = own[number + 1] - own[number], reports[transport]
        print(f"| {TITLES[transport]} | {report['connections_held']:,} | {report['messages_total']:,} |"
              f" {report['errors']['total']} | {grown / 1e6:.1f} MB | {grown / options.clients:.0f} B |")
    total = options.clients * len(options.transports)
    print(f"| all, after {options.messages} messages | {total:,} | {sum(each['messages_total'] for each in reports.values()):,} |"
          f" | {(own[-1] - own[0]) / 1e6:.1f} MB | {(own[-1] - own[0]) / total:.0f} B |")
    print("\n| ms until the last had it | " + " | ".join(str(number + 1) for number in range(options.messages)) + " |\n|---|"
          + "---:|" * options.messages)
    for transport, report in reports.items():
        print(f"| {TITLES[transport]} | " + " | ".join(f"{each['last_us'] / 1e3:,.0f}" for each in report["broadcasts"]) + " |")
    slowest = {f"roost, {TITLES[transport]}": c1000k.figures(max(report["broadcasts"], key=lambda each: each["last_us"]))
               for transport, report in reports.items()}
    print("\n" + c1000k.table(slowest | c1000k.STUDY))


def draw(options, reports):
    total = f"{options.clients * len(reports):,} on {len(os.sched_getaffinity(0))} processors"
    groups = [(f"roost, {TITLES[transport]} ({total})", COLOURS[transport], False,
               [c1000k.figures(each) for each in report["broadcasts"]]) for transport, report in reports.items()]
    groups += [(f"{name} (1,000,000 on 16 processors)", colour, True, [c1000k.STUDY[name]])
               for name, colour in (("Netty", "#cf222e"), ("Undertow", "#8250df"), ("Vert.x", "#57606a"))]
    return c1000k.plot(groups)


def main():
    options = arguments()
    process.raise_descriptor_limit(1 << 20)
    options.threads = options.threads or capacity.io_threads(options.clients * len(options.transports))
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        result = measure(options, pathlib.Path(folder))
    show(options, result)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"options": vars(options), **result}, indent=1))
    if options.svg:
        pathlib.Path(options.svg).write_text(draw(options, result["reports"]))
    wanted = options.clients * (options.messages + 1)
    complete = all(report["messages_total"] == wanted and report["errors"]["total"] == 0
                   and [each["receivers"] for each in report["broadcasts"]] == [options.clients] * options.messages
                   and report["last_broadcast"]["number"] == options.messages + 1
                   for report in result["reports"].values())
    own = result["own"]
    most = max(after - before for before, after in zip(own, own[1:-1]))
    print(f"\nmust: every message reached every subscriber once, in order: {'yes' if complete else 'NO'}"
          f"\ngoal: own memory for {options.clients:,} of a transport {most / 1e6:.1f} MB (<= {GOAL_BYTES / 1e6:g}):"
          f" {'yes' if most <= GOAL_BYTES else 'NO'}")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
