#!/usr/bin/env python3
"""One message to many subscribers: this server, Nchan, and what the kernel alone takes. Method: docs/performance.md.

For every transport (long-poll, SSE, WebSocket) and in turns, a fresh server on one core gets --clients subscribers of one
channel from swarm on another core. Then --broadcasts numbered messages are published, each when the last has come to rest.

 - own memory: what the server's processes have written and share with nobody, per subscriber: with all of them idle, and
   once messages have flowed.
 - CPU per delivery: the scheduler's account of all the server's threads over the broadcasts, by deliveries. Over loopback the
   receiving side's network work is done in the sender's time, for all servers alike; what it would take to wake swarm is not in
   it, as swarm polls (--sleeping): that depends on how often it happens to sleep, and is not paid towards another machine.
 - last, p50, p99: from just before publishing until swarm has read the message at the subscribers; medians over broadcasts.
 - who has been answered polls again after --think-ms, when the others have their answers, as it would over a network; without that
   swarm's work for the next polls would hold up its reading of the others' answers, and hide how fast the server was.
 - floor: a loop of send() over such sockets (SSE, WebSocket), and answers to whatever waits, unread (long-poll).

Prints tables, and which limits were kept; exits 1 if a must was not, or a message was lost.
"""

import argparse
import json
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

from bench import memory, process, processor, push_report, push_servers

SECONDS = 900  # after which swarm gives up


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(process.REPOSITORY / "server"), help="this server's program")
    parser.add_argument("--swarm", help="the load generator; default: beside the server's program")
    parser.add_argument("--servers", default="floor,roost,nchan", help="default: %(default)s")
    parser.add_argument("--transports", default="poll,sse,ws", help="default: %(default)s")
    parser.add_argument("--clients", type=int, default=15000)
    parser.add_argument("--broadcasts", type=int, default=12, help="measured in each round; default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--message-bytes", type=int, default=128)
    parser.add_argument("--think-ms", type=int, default=200, help="until who has been answered polls again; default: %(default)s")
    parser.add_argument("--sleeping", action="store_true", help="let swarm sleep when it has nothing to do")
    parser.add_argument("--settle", type=float, default=1.0, help="seconds before idle memory is read")
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--load-core", type=int, default=1)
    parser.add_argument("--nice", type=int, default=0, help="priority of servers and swarm, such as -15")
    parser.add_argument("--json", help="write everything measured here")
    parser.add_argument("--markdown", help="write the tables here")
    options = parser.parse_args()
    options.swarm = options.swarm or str(process.swarm_beside(options.server))
    options.sleeping = options.sleeping or options.server_core == options.load_core
    if options.message_bytes < 40:
        parser.error("--message-bytes: a number and a time need 40")
    return options


def message(number, size):
    return f"{number} {time.monotonic_ns()} ".ljust(size, "x")


def start_swarm(options, server, messages, report):
    kind = ["--ws-mode", "listen"] if server.transport == "ws" else ["--kind", server.transport]
    if server.transport == "poll":
        kind += ["--think-ms", str(options.think_ms)]
    if not options.sleeping:
        kind += ["--spin", "on"]
    command = [options.swarm, server.url(server.transport), *kind, "-c", str(options.clients), "-t", "1", "-q", "--settle-s", "0",
               "--connect-timeout-ms", "60000", "--expect-sequence", "on", "--expect-messages", str(messages),
               "-d", str(SECONDS), "--json", str(report)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            preexec_fn=process.pinned(options.load_core, options.nice))


def wait_for_subscribers(options, server, swarm):
    deadline = time.monotonic() + 30 + options.clients / 200
    while (found := server.subscribers()) < options.clients:
        if swarm.poll() is not None:
            raise RuntimeError(f"swarm ended early: {swarm.stderr.read().strip()}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"{server.name}, {server.transport}: only {found} of {options.clients} subscribed")
        time.sleep(0.1)


def broadcast(options, server, first, count):
    """Publishes messages, each when the server is at rest again. True if it always came to rest."""
    pids = server.pids()
    rested = True
    for number in range(first, first + count):
        server.publish(message(number, options.message_bytes))
        if server.transport == "poll":
            time.sleep(options.think_ms / 1e3 + 0.05)
        rested = processor.wait_until_quiet(pids) and rested
    return rested


def measure(cls, transport, options, folder):
    """One round: what one server takes for one transport."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
    folder.chmod(0o755)
    server = cls(folder, transport, options.clients + 1000, options, options.server_core, options.nice)
    softirq = processor.softirq_thread(options.server_core)
    swarm = None
    server.start()
    try:
        pids = server.pids()
        server.subscribers()
        time.sleep(0.3)
        before = memory.own_bytes(pids)["private"]
        report = folder / "report.json"
        # The first message warms up, the last ends the run.
        swarm = start_swarm(options, server, options.broadcasts + 2, report)
        wait_for_subscribers(options, server, swarm)
        time.sleep(options.settle)
        processor.wait_until_quiet(pids)
        idle = memory.own_bytes(pids)["private"]
        rested = broadcast(options, server, 1, 1)
        cpu, kernel = processor.use(pids), processor.use([softirq])[0] if softirq else 0
        began = time.monotonic()
        rested = broadcast(options, server, 2, options.broadcasts) and rested
        took_s = time.monotonic() - began
        cpu_after, kernel_after = processor.use(pids), processor.use([softirq])[0] if softirq else 0
        flowed = memory.own_bytes(pids)["private"]
        broadcast(options, server, options.broadcasts + 2, 1)
        _, errors = swarm.communicate(timeout=60)
        if not report.exists():
            raise RuntimeError(f"swarm failed: {errors.strip()}")
        seen = json.loads(report.read_text())
    finally:
        if swarm is not None and swarm.poll() is None:
            process.stop(swarm)
        server.stop()
    return summary(options, seen, {"before": before, "idle": idle, "flowed": flowed}, cpu, cpu_after,
                   kernel_after - kernel, took_s, rested)


def summary(options, seen, own, cpu, cpu_after, kernel_ns, took_s, rested):
    measured = [each for each in seen["broadcasts"] if 2 <= each["number"] <= options.broadcasts + 1]
    deliveries = sum(each["receivers"] for each in measured)
    if deliveries == 0:
        raise RuntimeError(f"not one message was delivered: {seen['errors']}")
    middle = {key: statistics.median(each[f"{key}_us"] for each in measured) / 1e3 for key in ("p50", "p99", "last")}
    return {**middle, "idle_bytes": (own["idle"] - own["before"]) / options.clients,
            "flowed_bytes": (own["flowed"] - own["before"]) / options.clients, "before_bytes": own["before"],
            "cpu_us": (cpu_after[0] - cpu[0]) / 1e3 / deliveries, "softirq_us": kernel_ns / 1e3 / deliveries,
            "server_waiting": (cpu_after[1] - cpu[1]) / 1e9 / took_s, "own_waiting": seen["own_waiting"],
            "own_cpu_us": seen["own_cpu_us_per_request"], "deliveries": deliveries,
            "expected": options.clients * options.broadcasts, "errors": seen["errors"]["total"], "rested": rested,
            "broadcasts": seen["broadcasts"]}


def environment(options):
    model = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), "unknown processor")
    return (f"{options.clients:,} subscribers of each transport, messages of {options.message_bytes} bytes, {options.broadcasts}"
            f" broadcasts in each of {options.rounds} rounds, servers in turns on one core, swarm on another. {model},"
            f" Linux {platform.release()}.")


def main():
    options = arguments()
    process.raise_descriptor_limit(options.clients + 2000)
    servers = []
    for name in options.servers.split(","):
        why = push_servers.ALL[name].missing(options)
        if why:
            print(f"left out: {name} ({why})")
        else:
            servers.append(push_servers.ALL[name])
    transports = options.transports.split(",")
    cells = {transport: {cls.name: [] for cls in servers} for transport in transports}
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        pathlib.Path(folder).chmod(0o755)
        for number in range(options.rounds):
            for transport in transports:
                for cls in servers:
                    run = measure(cls, transport, options, folder)
                    cells[transport][cls.name].append(run)
                    print(push_report.progress(number + 1, transport, cls.name, run), flush=True)
    text = push_report.markdown(cells, environment(options))
    print("\n" + text)
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(cells, indent=1))
    for warning in push_report.warnings(cells):
        print(f"note: {warning}")
    kept = True
    for kind, holds, line in push_report.check(cells):
        print(f"{'holds ' if holds else 'MISSED'} {line}")
        kept = kept and (holds or kind == "goal")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
