#!/usr/bin/env python3
"""WebSocket echo beside uWebSockets and others: messages per second and CPU per message, small and large messages.

One server on one core, the load generator (swarm) on another; every connection sends its next message when the echo of the
one before is back. All servers in turn in every round, medians over the rounds. No compression. The peers come from PyPI,
npm and the Go proxy and are built below build/ws_peers; one that cannot be had is left out, and said.
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from bench import process, ws_peers

ROOST = "roost"


class Roost(ws_peers.Peer):
    def __init__(self, program, folder, core):
        super().__init__(ROOST, [pathlib.Path(program).resolve()], core)
        configuration = {"worker_processes": 1, "accept": "reuseport", "log": {"path": ""},
                         "listen": [{"address": "127.0.0.1", "port": self.port}],
                         "http": {"sites": [{"host": ["*"], "routes": [
                             {"path": "/", "ws_echo": {}}]}]}}
        file = pathlib.Path(folder) / "server.json"
        file.write_text(json.dumps(configuration))
        self.command += ["-f", str(file)]

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL,
                                        preexec_fn=process.pinned(self.core))
        process.wait_until_listening(self.port, self.process)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(process.REPOSITORY / "server"), help="this server's program")
    parser.add_argument("--swarm", default=str(process.REPOSITORY / "swarm"), help="the load generator")
    parser.add_argument("--peers", default=",".join(ws_peers.MAKERS), help="default: %(default)s")
    parser.add_argument("--sizes", default="20,1024", help="bytes of a message, default: %(default)s")
    parser.add_argument("--connections", type=int, default=100, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=2.0, help="measured per round, default: %(default)s")
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--load-core", type=int, default=1)
    parser.add_argument("--cache", default=str(process.REPOSITORY / "build" / "ws_peers"), help="where peers are built")
    parser.add_argument("--json", help="write everything measured here")
    return parser.parse_args()


def measure(options, server, size, folder):
    report = pathlib.Path(folder) / "report.json"
    command = [options.swarm, f"ws://127.0.0.1:{server.port}/", "-t", "1", "-c", str(options.connections),
               "--message-bytes", str(size), "-d", str(options.seconds), "--warmup-s", "0.5", "--quiet",
               "--json", str(report)]
    for pid in server.pids():
        command += ["--pid", str(pid)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
                          preexec_fn=process.pinned(options.load_core), timeout=options.seconds * 10 + 60)
    if not report.exists():
        raise RuntimeError(f"swarm failed against {server.name}: {done.stderr.strip()}")
    result = json.loads(report.read_text())
    report.unlink()
    if result["errors"]["total"]:
        raise RuntimeError(f"{server.name} made {result['errors']['total']} errors: {result['errors']}")
    return result


def table(size, cells):
    print(f"\n{size}-byte messages")
    print(f"  {'server':<10}{'messages/s':>13}{'CPU µs':>9}{'spread':>9}{'p50 µs':>9}{'p99 µs':>9}{'busy':>7}"
          f"{'roost CPU / its':>17}{'roost rate / its':>18}")
    middle = {name: {key: statistics.median(pick(run) for run in runs) for key, pick in {
        "rate": lambda run: run["replies_per_s"], "cpu": lambda run: run["server_cpu_us_per_request"],
        "busy": lambda run: run["server_cpu_busy"], "p50": lambda run: run["latency"]["p50_us"],
        "p99": lambda run: run["latency"]["p99_us"]}.items()} for name, runs in cells.items()}
    for name, cell in sorted(middle.items(), key=lambda item: item[1]["cpu"]):
        cpus = [run["server_cpu_us_per_request"] for run in cells[name]]
        # Round by round, as what disturbs a round disturbs all in it.
        pairs = list(zip(cells.get(ROOST, []), cells[name]))
        cpu = statistics.median(a["server_cpu_us_per_request"] / b["server_cpu_us_per_request"] for a, b in pairs)
        rate = statistics.median(a["replies_per_s"] / b["replies_per_s"] for a, b in pairs)
        print(f"  {name:<10}{cell['rate']:>13,.0f}{cell['cpu']:>9.2f}"
              f"{(max(cpus) - min(cpus)) / 2 / cell['cpu']:>8.0%} {cell['p50']:>9.0f}{cell['p99']:>9.0f}"
              f"{cell['busy']:>7.0%}{cpu:>17.2f}{rate:>18.2f}")
    return middle


def main():
    options = arguments()
    process.raise_descriptor_limit(20000)
    commands, missing = ws_peers.make([name for name in options.peers.split(",") if name], options.cache)
    for line in missing:
        print(f"left out: {line}")
    measured = {}
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder, contextlib.ExitStack() as stack:
        servers = [Roost(options.server, folder, options.server_core)]
        servers += [ws_peers.Peer(name, command, options.server_core) for name, command in commands.items()]
        for server in servers:
            stack.callback(server.stop)
            server.start()
        for size in map(int, options.sizes.split(",")):
            cells = {server.name: [] for server in servers}
            for _ in range(options.rounds):
                for server in servers:
                    cells[server.name].append(measure(options, server, size, folder))
            table(size, cells)
            measured[size] = cells
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(measured, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
