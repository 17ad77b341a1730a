#!/usr/bin/env python3
"""What features cost: a small file served plainly, with an access log, and with everything a site has, beside nginx.

CPU per request of the server's process, all its threads (the log's too), as scripts/bench_static.py measures it: one
worker on one core, the load generator on another, every configuration in turn, medians. nginx does the same work:
lines of the same fields, buffered for a second, a limit that never strikes, the same fields added, as many locations.
`--check` fails where a limit of docs/performance.md does not hold. A feature that the program does not have is left out,
and said.
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import bench_static
from bench import measure, process, rows, servers

ROW = rows.ROWS["612"]
LOG_LIMIT, LOG_GOAL, NGINX_FACTOR = 1.08, 1.05, 2.0
ADDED = {"X-Content-Type-Options": "nosniff", "Cache-Control": "max-age=3600"}
FOLDERS = ["docs", "images", "api", "assets", "blog", "shop", "old", "private"]

NGINX_JSON = """log_format line escape=json '{"time":"$time_iso8601","client":"$remote_addr","request_id":"$request_id",'
    '"site":"$server_name","user":"$remote_user","method":"$request_method","scheme":"$scheme","host":"$host",'
    '"target":"$request_uri","protocol":"$server_protocol","status":$status,"bytes":$body_bytes_sent,'
    '"duration_ms":$request_time,"upstream_ms":"$upstream_response_time","referer":"$http_referer",'
    '"user_agent":"$http_user_agent","aborted":"$request_completion"}';"""


def has_key(program, key):
    schema = subprocess.run([program, "--print-schema"], capture_output=True, text=True, check=True).stdout
    return f'"{key}": {{' in schema


class Roost(servers.Roost):
    log = None
    all_features = False

    def command(self):
        http = {"root_path": str(self.site)}
        routes = [{"path": "/", "static": {}}]
        if self.log:
            http["access_log"] = {"path": str(self.folder / "access.log"), "format": self.log}
        if self.all_features:
            routes += [{"path": f"/{folder}/", "static": {}} for folder in FOLDERS]
            wanted = {"headers": {"set": ADDED}, "rate_limit": {"requests": 1000000, "per_s": 1}}
            http.update({key: value for key, value in wanted.items() if has_key(self.options.server, key)})
        http["sites"] = [{"host": ["*"], "routes": routes}]
        configuration = {"worker_processes": 1, "cpu_affinity": "off", "http": http, "log": {"path": ""},
                         "listen": [{"address": "127.0.0.1", "port": self.port}]}
        return [str(pathlib.Path(self.options.server).resolve()), "-f",
                self.write("server.json", json.dumps(configuration, indent=1))]


class Nginx(servers.Nginx):
    log = None
    all_features = False

    def command(self):
        command = super().command()
        file = pathlib.Path(command[-1])
        text = file.read_text()
        if self.log:
            name = "combined" if self.log == "combined" else "line"
            written = f"access_log {self.folder}/access.log {name} buffer=64k flush=1s;"
            text = text.replace("access_log off;", (NGINX_JSON if name == "line" else "") + "\n  " + written, 1)
        if self.all_features:
            zone = "limit_req_zone $binary_remote_addr zone=all:10m rate=1000000r/s;\n  server {"
            inside = "limit_req zone=all burst=100000 nodelay;\n    "
            inside += "\n    ".join(f'add_header {name} "{value}";' for name, value in ADDED.items())
            inside += "".join(f"\n    location /{folder}/ {{ }}" for folder in FOLDERS)
            text = text.replace("  server {", "  " + zone + "\n    " + inside, 1)
        file.write_text(text)
        return command


def variant(base, label, log=None, all_features=False):
    name = f"{base.name}-{label}"
    return type(f"{base.__name__}_{label}", (base,), {"name": name, "log": log, "all_features": all_features})


VARIANTS = [("plain", {}), ("json", {"log": "json"}), ("combined", {"log": "combined"}),
            ("everything", {"log": "json", "all_features": True})]
CLASSES = [variant(base, label, **more) for label, more in VARIANTS for base in (Roost, Nginx)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(process.REPOSITORY / "server"), help="this server's program")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=2.0, help="measured per round, default: %(default)s")
    parser.add_argument("--only", help="names of configurations, such as roost-plain,roost-json")
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--load-core", type=int, default=1)
    parser.add_argument("--nice", type=int, default=0, help="of servers and generator; below 0 needs root")
    parser.add_argument("--json", help="write everything measured here")
    parser.add_argument("--check", action="store_true", help="exit 1 if a limit marked must does not hold")
    options = parser.parse_args()
    options.roost_conf = None
    return options


def check_log(server):
    """A log has a line for each request that was answered; says how many were left out."""
    file = server.folder / "access.log"
    if server.log and not (file.exists() and file.stat().st_size > 0):
        raise RuntimeError(f"{server.name} has written no log")


def lines_written(server):
    file = server.folder / "access.log"
    return file.read_bytes().count(b"\n") if file.exists() else 0


def paired(cells, ours, other):
    """The median over the rounds of the ratio of CPU per request: what disturbs a round disturbs both."""
    pairs = zip(cells[ours]["runs"], cells[other]["runs"])
    return statistics.median(a["server_cpu_us_per_request"] / b["server_cpu_us_per_request"] for a, b in pairs)


def conclude(cells):
    """Prints what holds; returns whether every must does."""
    good = True
    for label in ("json", "combined", "everything"):
        if {f"roost-{label}", "roost-plain"} <= cells.keys():
            found = paired(cells, f"roost-{label}", "roost-plain")
            what = "an access log" if label != "everything" else "everything"
            print(f"{label}: {what} costs {100 * (found - 1):.1f} % CPU per request of roost-plain", end="")
            holds = found <= LOG_LIMIT
            print("" if label == "everything" else f" (must: <= 8 %, goal: <= 5 %): {'holds' if holds else 'MISSED'}")
            good &= holds or label == "everything"
    for label, _ in VARIANTS:
        if {f"roost-{label}", f"nginx-{label}"} <= cells.keys():
            found = 1 / paired(cells, f"roost-{label}", f"nginx-{label}")
            must = label == "everything"
            print(f"{label}: {found:.2f} x nginx's requests per CPU second"
                  + (f" (must: >= {NGINX_FACTOR:g}): {'holds' if found >= NGINX_FACTOR else 'MISSED'}" if must else ""))
            good &= found >= NGINX_FACTOR or not must
    return good


def main():
    options = arguments()
    process.raise_descriptor_limit(20000)
    print(bench_static.environment(options))
    for key in ("headers", "rate_limit"):
        if not has_key(options.server, key):
            print(f"left out: {key} (the program has no such key)")
    chosen = options.only.split(",") if options.only else [cls.name for cls in CLASSES]
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder, contextlib.ExitStack() as stack:
        site = rows.make_site(folder)
        generator = measure.Generator(options.server, options.load_core, options.nice)
        running = []
        for cls in CLASSES:
            if cls.name not in chosen or cls.missing(options):
                continue
            server = cls(folder, site, options.server_core, options.nice, options=options)
            stack.callback(server.stop)
            server.start()
            rows.verify(server, ROW, site)
            running.append(server)
        cells = bench_static.measure_row(ROW, running, generator, measure.SyscallCounter("none"), options)
        print(bench_static.report.terminal_table("612-byte file", cells))
        for server in running:
            server.stop()
            check_log(server)
            if server.log:
                answered = 1 + sum(run["total_responses"] for run in cells[server.name]["runs"])
                print(f"{server.name}: {lines_written(server):,} lines for {answered:,} responses")
    good = conclude(cells)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(cells, indent=1))
    return 1 if options.check and not good else 0


if __name__ == "__main__":
    sys.exit(main())
