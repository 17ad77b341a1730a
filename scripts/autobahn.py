#!/usr/bin/env python3
"""Autobahn's WebSocket cases against ws_echo, and against our client.

The cases come from PyPI's kosoku, which is put into an environment of its own below build/. Categories 1 to 10 run against
a server without compression, 12 and 13 against one that keeps no context and one that keeps both. In the other direction
kosoku is the server, and tests/integration/websocket/ws_client_probe.cc echoes. Prints a table, leaves the reports in
--out, and exits with 1 where a case failed.
"""

import argparse
import collections
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import venv

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
SUITE = "kosoku==0.1.0"
PASSED = {"OK", "NON-STRICT", "INFORMATIONAL"}
LIMITS = {"max_message_bytes": 33554432, "max_queued_bytes": 67108864, "ping_interval_ms": 0}
ROUTES = {
    "plain": {},
    "fresh": {"compression": {"min_message_bytes": 0}},
    "context": {"compression": {"min_message_bytes": 0, "server_context_takeover": True, "client_context_takeover": True}},
}
COMPRESSED = ("12.*", "13.*")
ALL = [f"{n}.*" for n in (1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 13)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(REPOSITORY / "server"), help="this server's program")
    parser.add_argument("--probe", default=str(REPOSITORY / "build/checked/bin/ws_client_probe"),
                        help="our client; it is left out where there is none")
    parser.add_argument("--cases", action="append", help="only these, such as 1.* or 9.3.1; may be given many times")
    parser.add_argument("--only", choices=("server", "client"), help="one direction")
    parser.add_argument("--parallel", type=int, default=2, help="cases at a time against ws_echo, default: %(default)s")
    parser.add_argument("--out", default=str(REPOSITORY / "build/autobahn"), help="where the reports go")
    return parser.parse_args()


def suite(folder):
    """The suite's program, installed first where it is not."""
    program = folder / "venv/bin/kosoku"
    if not program.exists():
        venv.create(folder / "venv", with_pip=True)
        subprocess.run([folder / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", SUITE], check=True)
    return str(program)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process):
    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            sys.exit(f"autobahn: {process.args[0]} ended with {process.returncode}")
        time.sleep(0.02)
    sys.exit(f"autobahn: {process.args[0]} does not listen")


def stop(process):
    if process.poll() is None:
        process.terminate()
        process.wait(10)


def select(chosen, groups):
    """The arguments that choose the cases of one run; None where it has none."""
    wanted = [case for case in chosen or groups if any(case.split(".")[0] == group.split(".")[0] for group in groups)]
    return [argument for case in wanted for argument in ("-i", case)] if wanted else None


def results(folder):
    """{case: what came of it} of the reports in a folder."""
    cases = {}
    for agent in json.loads((folder / "index.json").read_text()).values():
        for case, result in agent.items():
            bad = {result["behavior"], result["behaviorClose"]} - PASSED
            cases[case] = bad.pop() if bad else result["behavior"]
    return cases


def against_server(options, program, out, folder):
    port = free_port()
    config = folder / "server.json"
    config.write_text(json.dumps({
        "address": "127.0.0.1", "port": port, "worker_processes": 1, "log": {"path": ""},
        "http": {"sites": [{"host": ["*"], "routes": [
            {"path": f"/{name}", "ws_echo": {**LIMITS, **route}} for name, route in ROUTES.items()]}]}}))
    server = subprocess.Popen([options.server, "-f", str(config)], stdout=subprocess.DEVNULL)
    runs = {}
    try:
        wait_for(port, server)
        for name in ROUTES:
            groups = ALL[:-2] if name == "plain" else COMPRESSED
            chosen = select(options.cases, groups)
            if chosen is None:
                continue
            reports = out / f"server-{name}"
            shutil.rmtree(reports, ignore_errors=True)
            subprocess.run([program, *chosen, "-p", str(options.parallel), "-o", str(reports), f"127.0.0.1:{port}/{name}"], check=False,
                           stdout=subprocess.DEVNULL)
            runs[f"ws_echo, {name}"] = results(reports)
            print(f"ws_echo, {name}: done", flush=True)
    finally:
        stop(server)
    return runs


def against_client(options, program, out, name, groups, probe_options):
    """One run of the suite as a server; {} where none of its cases is wanted."""
    chosen = select(options.cases, groups)
    if chosen is None:
        return {}
    port = free_port()
    reports = out / f"client-{name}"
    shutil.rmtree(reports, ignore_errors=True)
    server = subprocess.Popen([program, "-m", "fuzzingserver", *chosen, "-o", str(reports), f"127.0.0.1:{port}"],
                              stdout=subprocess.DEVNULL)
    try:
        wait_for(port, server)
        subprocess.run([options.probe, "suite", f"ws://127.0.0.1:{port}", "roost", "compress=1", *probe_options], check=True,
                       stdout=subprocess.DEVNULL)
        server.wait(60)  # it ends by itself when it has written its reports
        return {f"our client, {name}": results(reports)}
    finally:
        stop(server)


def category(case):
    return int(case.split(".")[0])


def show(runs):
    """The table; returns how many cases failed."""
    failed = 0
    for name, cases in runs.items():
        print(f"\n{name}: {len(cases)} cases")
        by_category = collections.defaultdict(collections.Counter)
        for case, what in cases.items():
            by_category[category(case)][what] += 1
        for number in sorted(by_category):
            counts = ", ".join(f"{count} {what}" for what, count in sorted(by_category[number].items()))
            print(f"  {number:>3}.*  {counts}")
        wrong = sorted((case for case, what in cases.items() if what not in PASSED), key=lambda case: [
            int(part) for part in case.split(".")])
        if wrong:
            print(f"  failed: {', '.join(wrong)}")
        failed += len(wrong)
    print(f"\n{sum(map(len, runs.values()))} cases, {failed} failed")
    return failed


def main():
    options = arguments()
    out = pathlib.Path(options.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    program = suite(out)
    runs = {}
    if options.only != "client":
        with tempfile.TemporaryDirectory() as folder:
            runs.update(against_server(options, program, out, pathlib.Path(folder)))
    if options.only != "server":
        if pathlib.Path(options.probe).exists():
            # Of 13.*, the suite runs some only with a client that offers to keep no context.
            runs.update(against_client(options, program, out, "context", ALL[:-1], ["server_context=1", "client_context=1"]))
            runs.update(against_client(options, program, out, "fresh", ["13.*"], ["server_context=1", "client_context=0"]))
        else:
            print(f"autobahn: no {options.probe}: our client is left out", file=sys.stderr)
    return 1 if show(runs) else 0


if __name__ == "__main__":
    sys.exit(main())
