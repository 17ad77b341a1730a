"""The server under test with tables on a route."""

import json
import re
import socket

from raw_http import Wire, request
from roost_server import BINARY, Server, eventually, merged

TABLES = ["customers", "products", "orders", "order_lines", "stock", "every_type", "documents", "articles", "employees", "accounts",
          "order_totals", "paid_orders", "notes", "odd name"]
# Sanitizers take and keep memory of their own.
SANITIZED = BINARY.exists() and any(name in BINARY.read_bytes() for name in (b"__asan_init", b"__tsan_init"))
ALL_METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE"]


def writable(*names, **more):
    """Those tables with all methods, and ids of the clients' choice."""
    return [{"name": name, "methods": ALL_METHODS, "client_ids": True, **more} for name in names]


def rest_config(mariadb, tables=None, database=None, mysql=None, options=None, routes=(), path="/data/", **config):
    """A configuration: `tables` as mysql_rest has them (all for reading, by default), `options` more of mysql_rest's keys, `mysql`
    more of mysql's, `routes` before that route, the rest laid over all."""
    routes = [translated(route, mariadb) for route in routes]
    data = {"path": path, "mysql_rest": {"tables": TABLES if tables is None else tables, "regex": True, **(options or {})}}
    return merged({"mysql": mariadb.config(database, **(mysql or {})), "http": {"sites": [{"host": ["*"], "routes": [*routes, data]}]}}, config)


def translated(route, mariadb):
    """A route with its statements in the server's own words."""
    if "mysql_query" not in route:
        return route
    sql = route["mysql_query"]["sql"]
    told = mariadb.translated(sql) if isinstance(sql, str) else [mariadb.translated(text) for text in sql]
    return {**route, "mysql_query": {**route["mysql_query"], "sql": told}}


def configured_statements(config):
    """The texts of all mysql_query of a configuration, as they are prepared."""
    found = set()
    if isinstance(config, dict):
        for key, value in config.items():
            if key == "mysql_query":
                texts = value.get("sql", [])
                found |= {marked(text) for text in ([texts] if isinstance(texts, str) else texts)}
            else:
                found |= configured_statements(value)
    elif isinstance(config, list):
        for value in config:
            found |= configured_statements(value)
    return found


def marked(text):
    """":name" outside of quotes becomes "?"."""
    result, quote, at = "", None, 0
    while at < len(text):
        char = text[at]
        if quote:
            quote = None if char == quote else quote
        elif char in "'\"`":
            quote = char
        elif char == ":" and text[at + 1:at + 2].isidentifier() and text[at - 1:at] != ":":
            result, at = result + "?", at + 1
            while at < len(text) and (text[at].isalnum() or text[at] == "_"):
                at += 1
            continue
        result, at = result + char, at + 1
    return result


class RestServer(Server):
    """A running server whose tables are there.

        rest.get("orders?limit=2").json()                       [{"id": 1, ...}, ...]
        rest.post("notes", {"text": "hello"}, Prefer="return=representation").status
        rest.send("GET", "orders", Range="0-9", Accept="text/csv")
    """

    def __init__(self, folder, mariadb, config, path="/data/", wait=True, **more):
        """`wait`: until the schema has been read."""
        super().__init__(folder, config, **more)
        self.mariadb, self.path = mariadb, path
        if wait:
            try:
                eventually(lambda: all(self.get("").status != 503 for _ in range(4)), "each loop has the tables", 30)
            except BaseException:
                self.kill()
                raise

    def send(self, method, target, body=None, path=None, wire=None, **fields):
        """Sends a request below the route's path and reads the answer, over a connection of its own or `wire`. `body`: bytes, or
        what becomes JSON. Fields: Content_Type="text/csv" and the like."""
        names = {name.replace("_", "-"): value for name, value in fields.items()}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            names.setdefault("Content-Type", "application/json")
            names.setdefault("Content-Length", str(len(body)))
        data = request((path or self.path) + target, method, fields=names, body=body or b"")
        if wire is not None:
            wire.send(data)
            return wire.read_response(method)
        with self.connect() as own:
            own.send(data)
            return own.read_response(method)

    def get(self, target, **fields):
        return self.send("GET", target, **fields)

    def head(self, target, **fields):
        return self.send("HEAD", target, **fields)

    def post(self, target, body=None, **fields):
        return self.send("POST", target, body, **fields)

    def patch(self, target, body=None, **fields):
        return self.send("PATCH", target, body, **fields)

    def put(self, target, body=None, **fields):
        return self.send("PUT", target, body, **fields)

    def delete(self, target, **fields):
        return self.send("DELETE", target, **fields)


class SlowWire(Wire):
    """A connection whose receiving side takes little at a time."""

    def __init__(self, address):
        super().__init__(address, 60)
        self.socket.close()
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(60)
        self.socket.connect(address)


def rss_anon(server):
    """Bytes of memory of the server's own."""
    with open(f"/proc/{server.process.pid}/status") as status:
        return int(re.search(r"RssAnon:\s+(\d+) kB", status.read()).group(1)) * 1024


def stop_servers(servers):
    """Stops those that run, and only then complains of the first that did not end as it should."""
    problems = []
    for server in servers:
        if server.process.returncode is None:
            try:
                server.stop()
            except AssertionError as problem:
                problems.append(problem)
    if problems:
        raise problems[0]
