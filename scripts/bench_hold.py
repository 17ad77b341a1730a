#!/usr/bin/env python3
"""What many held clients cost the server: idle WebSockets, and requests that wait for their answer.

Starts the server with "accept": "reuseport" and "fd_table": "per_thread", has swarm hold --clients of each kind, and prints the
server's own memory per client, the kernel's, and whether every one was connected, held and answered.

usage: bench_hold.py [--server FILE] [--swarm FILE] [--clients 60000] [--hold-ms 30000 89000] [--json FILE]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from bench import capacity, process

LIMIT_BYTES = 320  # of the server's own memory per client


def start_server(options, folder):
    port = process.free_port()
    low, high = options.hold_ms
    configuration = {
        "address": "127.0.0.1", "port": port, "worker_processes": capacity.io_threads(options.clients), "accept": "reuseport",
        "fd_table": "per_thread", "log": {"path": ""},
        "http": {"root_path": str(folder), "sites": [{"host": ["*"], "routes": [
            {"path": "/hold", "hold": {"min_ms": low, "max_ms": high}},
            {"path": "/echo", "ws_echo": {}}]}]}}
    (folder / "server.json").write_text(json.dumps(configuration))
    server = subprocess.Popen([options.server, "-f", str(folder / "server.json")], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    process.wait_until_listening(port, server)
    return server, port


def measure(options, kind):
    """A server of its own for each kind: what one leaves in the allocator would flatter the next."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        server, port = start_server(options, folder)
        try:
            low, high = options.hold_ms
            arguments = {
                "websocket": [f"ws://127.0.0.1:{port}/echo", "--ws-mode", "quiet", "-d", "5", "--drain-s", "30"],
                "held request": [f"http://127.0.0.1:{port}/hold", "--kind", "hold", "--requests-per-client", "1", "-d",
                                 str(high / 1000 + 5), "--timeout-ms", str(high + 5000), "--expect-min-ms", str(low),
                                 "--expect-max-ms", str(high + 2000)]}[kind]
            subprocess.run([options.swarm, *arguments, "-c", str(options.clients), "--settle-s", "1", "--pid", str(server.pid),
                            "--connect-rate", str(options.connect_rate), "--json", str(folder / "report.json")], check=False)
            return json.loads((folder / "report.json").read_text())
        finally:
            process.stop(server)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server", default=str(process.REPOSITORY / "server"))
    parser.add_argument("--swarm", default=str(process.REPOSITORY / "swarm"))
    parser.add_argument("--clients", type=int, default=60000)
    parser.add_argument("--connect-rate", type=int, default=20000)
    parser.add_argument("--hold-ms", type=int, nargs=2, default=[30000, 89000], metavar=("MIN", "MAX"))
    parser.add_argument("--json")
    options = parser.parse_args()
    reports = {kind: measure(options, kind) for kind in ("websocket", "held request")}
    print("\n| | held | answered | errors | server's own memory per client | slab, both ends | TCP buffers, both ends |"
          " swarm's own |\n|---|---|---|---|---|---|---|---|")
    for kind, report in reports.items():
        print(f"| {kind} | {report['connections_held']:,} | {report['replies_total']:,} | {report['errors']['total']} |"
              f" {report['server_bytes_per_client']:.0f} B | {report['kernel_slab_bytes_per_client']:.0f} B |"
              f" {report['kernel_tcp_bytes_per_client']:.0f} B | {report['own_bytes_per_client']:.0f} B |")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(reports, indent=1))
    kept = all(report["connections_held"] == report["replies_total"] == options.clients and report["errors"]["total"] == 0
               and report["server_bytes_per_client"] <= LIMIT_BYTES for report in reports.values())
    print(f"\nall held and answered within {LIMIT_BYTES} B each: {'yes' if kept else 'NO'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
