#!/usr/bin/env python3
"""Attacks tables on a route, over a MariaDB of its own, and prints what was tried and what was found.

sqlmap (Debian) at --level 5 --risk 3 against query parameters, fields and bodies; schemathesis (PyPI, in a virtual environment
below --packages) against the OpenAPI document; and seeded requests that are made of the grammar and then broken
(tests/integration/mysql/mysql_mutations.py). What is not there is left out, and said. The exit code is 1 where anything was
found, or a text that is no fixed one reached the database.
"""

import argparse
import concurrent.futures
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import venv

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests/integration/mysql"), str(ROOT / "tests/integration")]

import mysql_mutation_run  # noqa: E402
import sample_schema  # noqa: E402
from general_log import Report  # noqa: E402
from mariadb_server import MISSING, MariaDb, ends_with_us, template  # noqa: E402
from rest_server import TABLES, RestServer, configured_statements, rest_config, writable  # noqa: E402

CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
          "response_schema_conformance", "unsupported_method", "allow_header_conformance"]
# Methods that HTTP does not know are answered 501 by the server itself (RFC 9110 15.6.2), before there is a route; QUERY is one.
SETTINGS = """[phases.coverage]
unexpected-methods = ["DELETE", "PUT", "POST", "PATCH", "OPTIONS", "TRACE", "GET"]
"""
QUERY = {"path": "/top/{country}", "mysql_query": {
    "sql": "SELECT id, name FROM customers WHERE country = :country AND name LIKE :name ORDER BY id LIMIT :limit",
    "parameters": {"country": {"type": "string", "from": "path"}, "name": {"type": "string", "default": "%"},
                   "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}}}}
# What sqlmap is let loose on: a name, the target, and options. "*" is where it puts what it has.
TARGETS = [
    ("a number in a filter", "/data/orders?id=eq.7*", []),
    ("a number in a filter, but for boolean tests", "/data/orders?id=eq.7*", ["--technique=EUSTQ"]),
    ("a text in a filter", "/data/customers?name=eq.Customer%207*", []),
    ("an operator", "/data/orders?id=eq*.7", []),
    ("a column's name", "/data/orders?id*=eq.7", []),
    ("a list", "/data/orders?id=in.(1,2,3*)", []),
    ("a pattern", "/data/customers?name=like.Customer*", []),
    ("a regular expression", "/data/customers?name=match.%5ECustomer%201*", []),
    ("a full text", "/data/articles?title_body=fts.starling*&select=id", []),
    ("a tree", "/data/orders?or=(id.eq.7*,status.eq.paid)", []),
    ("select", "/data/orders?select=id,total*&limit=5", []),
    ("a path in JSON", "/data/products?select=id,tags->>colour*&limit=5", []),
    ("order", "/data/orders?order=id.desc*&limit=5", []),
    ("limit and offset", "/data/orders?limit=5*&offset=3*", []),
    ("an embedded table", "/data/orders?select=id,customers(name*)&limit=5", []),
    ("a table's name", "/data/orders*?limit=5", []),
    ("all parameters, as they come", "/data/orders?id=gte.7&status=eq.paid&order=id&limit=3", []),
    ("fields", "/data/orders?limit=5", ["--headers=Range: 0-4*\nPrefer: count=exact*\nAccept: application/json*\nIf-None-Match: \"x*\""]),
    ("a JSON body", "/data/notes", ["--method=POST", "--data={\"author\": \"a*\", \"text\": \"b*\"}", "--headers=Content-Type: application/json"]),
    ("a JSON body, as it comes", "/data/notes", ["--method=POST", "--data={\"author\": \"a\", \"text\": \"b\"}", "--headers=Content-Type: application/json"]),
    ("names in a JSON body", "/data/notes", ["--method=POST", "--data={\"author*\": \"a\"}", "--headers=Content-Type: application/json"]),
    ("a CSV body", "/data/notes", ["--method=POST", "--data=author,text*\na,b*\n", "--headers=Content-Type: text/csv"]),
    ("a PATCH", "/data/notes?id=eq.1*", ["--method=PATCH", "--data={\"text\": \"b*\"}", "--headers=Content-Type: application/json"]),
    ("a DELETE", "/data/notes?author=eq.nobody*", ["--method=DELETE"]),
    ("a batch", "/data/batch", ["--method=POST", "--data=[{\"method\": \"POST\", \"path\": \"notes?columns=text*\", \"body\": {\"text\": \"b*\"}}]",
                                "--headers=Content-Type: application/json"]),
    ("a statement of the configuration", "/top/de*?name=C%25*&limit=5*", []),
]


HIT = "identified the following injection point"
VERDICTS = [HIT, "all tested parameters do not appear to be injectable", "does not seem to be injectable"]


def attack_with_sqlmap(server, folder, seconds, workers, names):
    """Lines of what was found."""
    if not shutil.which("sqlmap"):
        print("sqlmap: not installed; left out")
        return []
    base = f"http://{server.address[0]}:{server.address[1]}"
    print(f"sqlmap {subprocess.run(['sqlmap', '--version'], capture_output=True, text=True).stdout.split()[0]} "
          f"--level 5 --risk 3, at most {seconds} s on each of:")
    found = []

    def one(target):
        name, path, options = target
        begin, log = time.monotonic(), folder / (name.replace(" ", "-") + ".log")
        with open(log, "w", encoding="utf-8") as output:
            try:
                subprocess.run(["sqlmap", "-u", base + path, "--batch", "--flush-session", "--level=5", "--risk=3", "--dbms=MySQL", "--threads=2", "--skip-waf",
                                "--ignore-code=*", "--time-sec=2", "--disable-coloring", "--answers=crack=N,follow=N", f"--output-dir={folder / name}", *options],
                               stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, timeout=seconds, check=False)
                ended = None
            except subprocess.TimeoutExpired:
                ended = "out of time"
        text = log.read_text(errors="replace")
        verdicts = [verdict for verdict in VERDICTS if verdict in text]  # "appears to be" is only its first suspicion
        hits = [line for line in text.splitlines() if line.strip().startswith(("Type: ", "Payload: "))] if HIT in text else []
        ended = ended or (verdicts and "finished") or f"no verdict: {text.splitlines()[-8:]}"
        refused = ", ".join(line for line in text.splitlines() if line.endswith(" times"))
        return name, ended, time.monotonic() - begin, text.count("] testing '"), refused, hits

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        chosen = [target for target in TARGETS if not names or target[0] in names]
        for name, ended, took, tests, refused, hits in pool.map(one, chosen):
            print(f"  {name}: {tests} kinds of tests, {took:.0f} s, {ended}; {refused or 'nothing refused'}" + "".join(f"\n    {hit}" for hit in hits), flush=True)
            found += [f"{name}: {hit}" for hit in hits] + ([f"{name}: {ended}"] if ended.startswith("no verdict") else [])
            server.check_alive()
    return found


def attack_with_schemathesis(server, packages, examples, seconds, checks):
    program = packages / "schemathesis/bin/schemathesis"
    if not program.exists():
        venv.create(packages / "schemathesis", with_pip=True)
        subprocess.run([packages / "schemathesis/bin/pip", "install", "-q", "schemathesis"], check=True)
    document = server.get("", Accept="application/json")
    if document.status != 200:
        return [f"no OpenAPI document: {document}"]
    (packages / "openapi.json").write_bytes(document.body)
    (packages / "schemathesis.toml").write_text(SETTINGS)
    command = [program, "run", f"http://{server.address[0]}:{server.address[1]}/data/", "--checks", checks, "--max-examples", str(examples), "--seed", "6",
               "--phases", "examples,coverage,fuzzing", "--continue-on-failure", "--generation-database", "none", "--request-timeout", "20", "--no-color"]
    if seconds:
        command += ["--max-time", str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=packages, check=False)
    lines = done.stdout.splitlines()
    print("\n".join(lines[-25:]))
    if done.returncode:
        (packages / "schemathesis.log").write_text(done.stdout + done.stderr)
        print(f"all of it: {packages / 'schemathesis.log'}")
        return [line.strip() for line in lines if line.lstrip().startswith("- ")] or [f"schemathesis ended with {done.returncode}: {done.stderr[-500:]}"]
    return []


def attack_with_mutations(server, count, seed):
    begin = time.monotonic()
    statuses, complaints = mysql_mutation_run.run(server.address, seed, count)
    print(f"mutations: {count} of seed {seed!r} in {time.monotonic() - begin:.0f} s: "
          + ", ".join(f"{number} x {status}" for status, number in sorted(statuses.items())))
    return complaints


def start(binary, mariadb, database, folder, **more):
    orders = {"name": "orders", "where": "note=neq.zq7xhidden"} if more.pop("hidden", False) else "orders"
    written = ("notes", "accounts", "documents", "stock")
    tables = [*(name for name in TABLES if name not in ("orders", *written)), orders, *writable(*written)]
    config = rest_config(mariadb, tables, database, options={"batch": True}, log={"level": "INFO"}, **more)
    import roost_server  # pylint: disable=import-outside-toplevel
    roost_server.BINARY = binary
    return RestServer(folder, mariadb, config, before_exec=ends_with_us), configured_statements(config)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=pathlib.Path, default=ROOT / "server")
    parser.add_argument("--packages", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "roost-mysql-attack")
    parser.add_argument("--only", default="mutations,schemathesis,sqlmap", help="which of them, with commas")
    parser.add_argument("--mutations", type=int, default=50000)
    parser.add_argument("--seed", default="6")
    parser.add_argument("--examples", type=int, default=100, help="of schemathesis, per operation")
    parser.add_argument("--seconds", type=int, default=300, help="of sqlmap, per target")
    parser.add_argument("--checks", default=",".join(CHECKS), help="of schemathesis")
    parser.add_argument("--schemathesis-seconds", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, help="sqlmaps at a time")
    parser.add_argument("--target", action="append", default=[], help="one of sqlmap's targets by its name")
    arguments = parser.parse_args()
    if MISSING:
        sys.exit(MISSING)
    arguments.packages.mkdir(parents=True, exist_ok=True)
    found, only = [], arguments.only.split(",")
    with tempfile.TemporaryDirectory(prefix="roost-attack-") as name:
        folder = pathlib.Path(name)
        mariadb = MariaDb.copied(template(folder / "mariadb", sample_schema.fill_sample))
        try:
            database = mariadb.new_database(sample_schema.fill)
            if "mutations" in only:
                mariadb.run("UPDATE orders SET note = 'zq7xhidden' WHERE id % 10 = 0", database)
                server, _ = start(arguments.server.resolve(), mariadb, database, folder / "mutations", hidden=True)
                found += attack_with_mutations(server, arguments.mutations, arguments.seed)
                server.stop()
                database = mariadb.new_database(sample_schema.fill)
            server, configured = start(arguments.server.resolve(), mariadb, database, folder / "server", routes=[QUERY])
            if "schemathesis" in only:
                found += attack_with_schemathesis(server, arguments.packages.resolve(), arguments.examples, arguments.schemathesis_seconds, arguments.checks)
            if "sqlmap" in only:
                found += attack_with_sqlmap(server, arguments.packages.resolve(), arguments.seconds, arguments.workers, arguments.target)
            server.stop()
            report = Report(mariadb.general_log, configured)
            print(f"the database was told {report}")
            found += report.problems
        finally:
            mariadb.end()
    print(f"{len(found)} findings" + "".join(f"\n- {line}" for line in found[:100]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
