#!/usr/bin/env python3
"""Measures what an idle keep-alive connection costs a server in memory of its own. Method: docs/performance.md.

Opens many connections from several loopback addresses, each makes one request (or, in the `silent` variant, none), and
compares the server's private memory before and after. Exits 1 if roost needs more than --limit bytes per connection
that has made its request, or if a server did not keep all connections.
"""

import argparse
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from bench import memory, process, rows, servers

SPARE_DESCRIPTORS = 128
ROW = rows.ROWS["612"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(process.REPOSITORY / "server"), help="this server's program")
    parser.add_argument("--roost-conf", help="JSON whose top-level keys replace those of roost's configuration")
    parser.add_argument("--servers", default="roost", help="of roost,nginx,lighttpd,h2o; default: %(default)s")
    parser.add_argument("--variants", default="asked,silent", help="default: %(default)s")
    parser.add_argument("--connections", type=int, default=15000)
    parser.add_argument("--settle", type=float, default=3.0, help="seconds to wait before measuring")
    parser.add_argument("--limit", type=float, default=256, help="bytes per connection roost may use")
    parser.add_argument("--json", help="write everything measured here")
    return parser.parse_args()


def start(cls, folder, site, options, capacity):
    """A fresh server that has answered some requests, so that what it allocates once is allocated."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
    folder.chmod(0o755)
    server = cls(folder, site, capacity=capacity, options=options)
    server.start()
    try:
        rows.verify(server, ROW, site)
        rows.verify(server, rows.ROWS["tiny"], site)
        time.sleep(1)
    except BaseException:
        server.stop()
        raise
    return server


def private_at_start(cls, folder, site, options, capacity):
    server = start(cls, folder, site, options, capacity)
    try:
        return memory.own_bytes(server.pids())["private"]
    finally:
        server.stop()


def hold(program, server, count, variant):
    """Starts swarm, whose clients ask once, or not at all; returns when it has opened all connections or given up.

    Its clients then think for an hour, or the run settles for as long; a signal ends it.
    """
    port, pids = server.address(ROW.name)
    before = memory.descriptors(pids)
    waits = ["--settle-s", "3600", *(["--kind", "hold", "--think-ms", "3600000"] if variant == "asked" else [])]
    command = [str(program), f"http://127.0.0.1:{port}{ROW.path}", "-c", str(count), "-q", "--json", "-",
               "--expect-bytes", str(ROW.size), "--timeout-ms", "3600000", *waits]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while memory.descriptors(pids) < before + count and holder.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    return holder


def connections_for(cls, options):
    """lighttpd holds at most half as many connections as it may have descriptors."""
    if cls is not servers.Lighttpd:
        return options.connections
    return process.most_descriptors(5 * options.connections // 2) * 2 // 5


def measure_server(cls, folder, site, program, options, variant):
    count = connections_for(cls, options)
    # nginx closes idle connections once less than a sixteenth of its reserve is left.
    server = start(cls, folder, site, options, count + count // 8 + SPARE_DESCRIPTORS)
    holder = None
    try:
        pids = server.pids()
        before, kernel_before, open_before = memory.own_bytes(pids), memory.kernel_bytes(), memory.descriptors(pids)
        holder = hold(program, server, count, variant)
        time.sleep(options.settle)
        after, kernel_after, open_after = memory.own_bytes(pids), memory.kernel_bytes(), memory.descriptors(pids)
        holder.send_signal(signal.SIGINT)
        done = json.loads(holder.communicate(timeout=60)[0])
        time.sleep(1)
        freed = memory.own_bytes(pids)
    finally:
        if holder is not None and holder.poll() is None:
            process.stop(holder)
        server.stop()
    return {"server": cls.name, "variant": variant, "connections": count, "accepted": open_after - open_before,
            "responses": done["replies_total"], "closed_by_server": done["connections_reopened"],
            "errors": done["errors"]["total"],
            "own": {name: (after[name] - before[name]) / count for name in before},
            "before_bytes": before["private"], "kept_after_close": (freed["private"] - before["private"]) / count,
            "kernel_both_ends": (kernel_after - kernel_before) / count}


def kept_all(result):
    answered = result["variant"] == "silent" or result["responses"] == result["connections"]
    return answered and result["errors"] == 0 and result["closed_by_server"] == 0


HEADINGS = ["server", "variant", "own B", "with reserve B", "PSS B", "after close B", "kernel, both ends B", "accepted"]


def line(result):
    own = result["own"]
    return [result["server"], result["variant"], f"{own['private']:.0f}", f"{own['private'] + result['reserved']:.0f}",
            f"{own['pss']:.0f}", f"{result['kept_after_close']:.0f}", f"{result['kernel_both_ends']:.0f}",
            str(result["accepted"])]


def table(results):
    lines = [HEADINGS, *map(line, results)]
    widths = [max(len(cells[column]) for cells in lines) for column in range(len(HEADINGS))]
    return "\n".join("  ".join(cell.ljust(width) if column < 2 else cell.rjust(width)
                               for column, (cell, width) in enumerate(zip(cells, widths))) for cells in lines)


def main():
    options = arguments()
    if process.most_descriptors(options.connections + SPARE_DESCRIPTORS) <= options.connections:
        raise SystemExit("the hard limit on descriptors (ulimit -Hn) is too low for so many connections")
    process.raise_descriptor_limit(4 * options.connections)
    results = []
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        site = rows.make_site(folder)
        program = process.swarm_beside(options.server)
        for cls in servers.choose(options.servers.split(","), options):
            # What a server reserves at start for the connections to come belongs to them too.
            few = private_at_start(cls, folder, site, options, 256)
            for variant in options.variants.split(","):
                print(f"{cls.name}, {variant}: {connections_for(cls, options)} connections ...", flush=True)
                result = measure_server(cls, folder, site, program, options, variant)
                result["reserved"] = (result["before_bytes"] - few) / result["connections"]
                results.append(result)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))
    print(table(results))
    failed = not results
    for result in results:
        if not kept_all(result):
            print(f"FAILED: {result['server']}, {result['variant']}: {result['responses']} answered,"
                  f" {result['errors']} errors, {result['closed_by_server']} closed by the server")
            failed = True
        over = result["own"]["private"] + result["reserved"] > options.limit
        if result["server"].startswith("roost") and result["variant"] == "asked" and over:
            print(f"FAILED: {result['server']} needs more than {options.limit:g} bytes per idle connection")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
