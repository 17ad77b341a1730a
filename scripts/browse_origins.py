#!/usr/bin/env python3
"""Lets a page of another origin try to write, in headless Chromium: every way that needs no preflight, and some that do.

A server has push routes, a WebSocket and, where a MariaDB is named, tables and a statement behind a password that the browser
knows. A page of another origin (another host, another port, a sandboxed frame) posts by fetch, sendBeacon and forms, and opens
WebSockets. Then a page of the server's own, and one that cors names, do the same and succeed. The exit code is 1 when a foreign
page has written anything, or one that may has not.
"""

import argparse
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from autobahn import free_port, stop, wait_for
from browse_push import Tab
from browse_site import ROOT, Browser, find_chromium

# Each is an expression of a page; `at` is the address of a route with /CHANNEL or a table behind it.
SIMPLE = {
    "fetch, text": "fetch(at, {method: 'POST', mode: 'no-cors', body: 'x'}).then(r => r.status, String)",
    "fetch, no type": "fetch(at, {method: 'POST', mode: 'no-cors', body: new Blob(['[]'])}).then(r => r.status, String)",
    "fetch, form": "fetch(at, {method: 'POST', mode: 'no-cors', body: new URLSearchParams({text: 'x'})}).then(r => r.status, String)",
    "fetch, credentials": "fetch(at, {method: 'POST', mode: 'no-cors', credentials: 'include', body: 'x'}).then(r => r.status, String)",
    "fetch, cors": "fetch(at, {method: 'POST', body: 'x'}).then(r => r.status, String)",
    "fetch, JSON": "fetch(at, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '[]'}).then(r => r.status, String)",
    "fetch, a row": "fetch(at, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{\"text\":\"x\"}'}).then(r => r.status, String)",
    "fetch, messages": "fetch(at, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '[{\"channel\":\"batch\",\"data\":\"x\"}]'}).then(r => r.status, String)",
    "fetch, operations": """fetch(at, {method: 'POST', headers: {'Content-Type': 'application/json'},
        body: '[{"method":"POST","path":"notes","body":{"text":"x"}}]'}).then(r => r.status, String)""",
    "fetch, PUT": "fetch(at, {method: 'PUT', body: 'x'}).then(r => r.status, String)",
    "fetch, DELETE": "fetch(at, {method: 'DELETE'}).then(r => r.status, String)",
    "beacon": "String(navigator.sendBeacon(at, 'x'))",
    "beacon, no type": "String(navigator.sendBeacon(at, new Blob(['{}'])))",
    "XMLHttpRequest": "new Promise(done => { const x = new XMLHttpRequest(); x.open('POST', at); x.onloadend = () => done(x.status); x.send('x'); })",
    "form": """new Promise(done => { const frame = document.body.appendChild(document.createElement('iframe')); frame.name = 'f' + Math.random();
        const form = document.body.appendChild(document.createElement('form')); form.method = 'POST'; form.action = at; form.target = frame.name;
        form.innerHTML = '<input name=text value=x>'; frame.onload = () => done('sent'); setTimeout(done, 2000, 'no load'); form.submit(); })""",
    "form, text/plain": """new Promise(done => { const frame = document.body.appendChild(document.createElement('iframe')); frame.name = 'f' + Math.random();
        const form = document.body.appendChild(document.createElement('form')); form.method = 'POST'; form.action = at; form.target = frame.name;
        form.enctype = 'text/plain'; form.innerHTML = '<input name=\\'{"text":"\\' value=\\'x"}\\'>'; frame.onload = () => done('sent');
        setTimeout(done, 2000, 'no load'); form.submit(); })""",
    "sandboxed form": """new Promise(done => { const frame = document.body.appendChild(document.createElement('iframe')); frame.sandbox = 'allow-scripts allow-forms';
        frame.srcdoc = `<form method=POST action="${at}"><input name=text value=x></form><script>document.forms[0].submit()<\\/script>`;
        setTimeout(done, 1500, 'sent'); })""",
    "WebSocket": """new Promise(done => { const ws = new WebSocket(at.replace('http', 'ws')); ws.onerror = () => done('refused');
        ws.onopen = () => { ws.send('x'); setTimeout(done, 300, 'open'); }; })""",
}
PAGE = "<!DOCTYPE html><title>a page</title><body>"


def ask(url, method="GET", **fields):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method, headers=fields), timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Place:
    """A route that may be written to, and how many times that has happened."""

    def __init__(self, name, at, count):
        self.name, self.at, self.count = name, at, count


def queued(url):
    """The messages of a channel; one that is gone has been written to as well."""
    status, text = ask(url)
    return int(text.split()[2]) if status == 200 else -1


def push_places(origin):
    for path in ("pub", "both", "named"):
        channel = f"{path}-{time.monotonic_ns()}"
        ask(f"{origin}/count/{channel}", "PUT")  # so that DELETE has something to end
        yield Place(f"/{path}/", f"{origin}/{path}/{channel}", lambda channel=channel: queued(f"{origin}/count/{channel}"))
    yield Place("/batch", f"{origin}/batch", lambda: queued(f"{origin}/count/batch"))


def mysql_places(origin, database):
    def rows():
        return int(database("SELECT COUNT(*) FROM notes"))
    yield Place("mysql_rest", f"{origin}/data/notes", rows)
    yield Place("/data/batch", f"{origin}/data/batch", rows)
    yield Place("mysql_query", f"{origin}/note", rows)


def try_all(tab, places, may_write):
    """Problems found."""
    problems = 0
    for place in places:
        written = []
        for way, script in SIMPLE.items():
            if way == "WebSocket" and place.name not in ("/both/", "/named/"):
                continue
            before = place.count()
            told = tab.run(f"(() => {{ const at = {json.dumps(place.at)}; return {script}; }})()")
            time.sleep(0.2 if "beacon" in way else 0.02)
            if place.count() != before:
                written.append(way)
                if not may_write:
                    print(f"    {place.name}: {way} has written ({told})")
        if may_write and not written:
            print(f"    {place.name}: nothing got through")
        problems += len(written) if not may_write else not written
        print(f"    {place.name:<12} {len(written)} of {len(SIMPLE)} ways wrote", flush=True)
    return problems


def configuration(port, app, folder, mysql):
    both = {"push_pubsub": {"channel": "{channel}"}}
    routes = [
        {"path": "/pub/{channel}", "push_publish": {}},
        {"path": "/both/{channel}", **both},
        {"path": "/named/{channel}", **both, "cors": {"origins": [app], "methods": ["GET", "POST", "PUT", "DELETE"], "headers": ["Content-Type"]}},
        {"path": "/batch", "push_publish": {"channel": "batch", "batch": {}}},
        {"path": "/count/{channel}", "push_publish": {}},
        {"path": "/page", "respond": {"content_type": "text/html", "body": PAGE}}]
    config = {"address": "127.0.0.1", "port": port, "worker_processes": 2, "log": {"path": "", "level": "WARN"},
              "http": {"root_path": str(folder), "sites": [{"host": ["*"], "routes": routes}]}}
    if mysql:
        door = {"basic_auth": {"users_file": str(folder / "users")}}
        tables = [{"name": "notes", "methods": ["GET", "POST", "PATCH", "PUT", "DELETE"]}]
        routes += [{"path": "/data/", **door, "mysql_rest": {"tables": tables, "batch": True}},
                   {"path": "/note", **door, "mysql_query": {"sql": "INSERT INTO notes (text) VALUES (:text)", "parameters": {"text": {}},
                                                             "result": "affected"}},
                   {"path": "/door", **door, "respond": {"content_type": "text/html", "body": PAGE}}]
        config["mysql"] = {"mysql_started": "on", **mysql}
    return config


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1])
    parser.add_argument("--server", default=str(ROOT / "server"), help="the program (./server)")
    parser.add_argument("--mysql", metavar="SOCKET", help="a MariaDB's socket; its database `roost_origins` is made anew by `mariadb -u root`")
    return parser.parse_args()


def main():
    args = arguments()
    program = find_chromium()
    if program is None:
        print("no Chromium here (Debian package chromium)", file=sys.stderr)
        return 2
    problems = 0
    with tempfile.TemporaryDirectory(prefix="browse-origins-", ignore_cleanup_errors=True) as name, contextlib.ExitStack() as ends:
        folder = pathlib.Path(name)
        port, other = free_port(), free_port()
        origin, app = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{other}"

        def database(text):
            return subprocess.run(["mariadb", "-u", "root", f"--socket={args.mysql}", "-N", "-e", text, *database_name],
                                  check=True, capture_output=True, text=True).stdout

        mysql, database_name = None, []
        if args.mysql:
            database("DROP DATABASE IF EXISTS roost_origins; CREATE DATABASE roost_origins; CREATE TABLE roost_origins.notes"
                     " (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, text TEXT)")
            database_name = ["roost_origins"]
            mysql = {"unix_socket": args.mysql, "user": "root", "password": "", "database_name": "roost_origins"}
            made = subprocess.run(["openssl", "passwd", "-5", "secret"], check=True, capture_output=True, text=True).stdout
            (folder / "users").write_text(f"ada:{made}")
        (folder / "server.json").write_text(json.dumps(configuration(port, app, folder, mysql)))
        running = subprocess.Popen([args.server, "-f", str(folder / "server.json")], stdout=subprocess.DEVNULL)
        ends.callback(lambda: stop(running))
        wait_for(port, running)
        elsewhere = {"address": "127.0.0.1", "port": other, "log": {"path": "", "level": "WARN"},
                     "http": {"sites": [{"host": ["*"], "routes": [{"path": "/page", "respond": {"content_type": "text/html", "body": PAGE}}]}]}}
        (folder / "elsewhere.json").write_text(json.dumps(elsewhere))
        pages = subprocess.Popen([args.server, "-f", str(folder / "elsewhere.json")], stdout=subprocess.DEVNULL)
        ends.callback(lambda: stop(pages))
        wait_for(other, pages)
        browser = Browser(program, folder)
        ends.callback(browser.stop)
        if mysql:  # from now on the browser knows the password
            Tab(browser, f"http://ada:secret@127.0.0.1:{port}/door").close()
        for title, page, may_write in (("another host", f"http://localhost:{other}/page", False),
                                       ("another port, a sibling site", f"http://127.0.0.1:{other}/page", None),
                                       ("the same host by another name", f"http://localhost:{port}/page", False),
                                       ("its own", f"{origin}/page", True)):
            print(f"  a page of {title} ({page})")
            tab = Tab(browser, page)
            tab.browser.call("Network.enable", tab.session)
            places = [*push_places(origin), *(mysql_places(origin, database) if mysql else [])]
            named = [place for place in places if place.name == "/named/"]
            if may_write is None:  # cors names this one
                problems += try_all(tab, [place for place in places if place not in named], False)
                problems += try_all(tab, named, True)
            else:
                problems += try_all(tab, places, may_write)
            tab.close()
    print(f"{problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
