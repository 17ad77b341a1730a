#!/usr/bin/env python3
"""Opens the pages of a site in Chromium and reports every request that failed.

The site is the documentation that scripts/compare_site.py uses, or the folders that are named, served by this server with
compressed files beside the originals. A request fails that is answered with 400 or more, or not at all: of icons Chromium does
not always tell the end, and then the server's access log says whether it was answered. Requests to other hosts are counted and
left alone. The exit code is 1 when one has failed.
"""

import argparse
import collections
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

from site_compare import servers, tree

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE_TIMEOUT_S = 10
START_TIMEOUT_S = 60
# Browsers ask for one of themselves, whatever a page says: a picture of one pixel.
FAVICON = bytes.fromhex("47494638396101000100800000d0703cffffff2c00000000010001000002024401003b")
NO_ANSWER = "no answer in time"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def find_chromium():
    """The browser's path; None where there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """Headless Chromium, spoken to over pipes (its descriptors 3 and 4): JSON messages that end with a zero byte."""

    def __init__(self, program, folder):
        to_read, self.to_browser = os.pipe()
        self.from_browser, to_write = os.pipe()

        def pipes():
            # First out of the way: either may have one of these numbers.
            ends = [fcntl.fcntl(fd, fcntl.F_DUPFD, 100) for fd in (to_read, to_write)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.log = open(folder / "chromium.txt", "wb")
        self.process = subprocess.Popen(
            [program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--mute-audio",
             f"--user-data-dir={folder / 'profile'}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, preexec_fn=pipes, close_fds=False)
        os.close(to_read)
        os.close(to_write)
        os.set_blocking(self.from_browser, True)
        self.buffer = b""
        self.last_id = 0
        self.events = collections.deque()

    def call(self, method, session=None, **params):
        """Sends a command and returns its result; events that come meanwhile are kept."""
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            answer = self._receive(deadline)
            if answer is None:
                raise RuntimeError(f"{method}: no answer of the browser")
            if answer.get("id") == self.last_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def event(self, deadline):
        """The next event, or None when there is none until then."""
        return self.events.popleft() if self.events else self._receive(deadline)

    def _receive(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.from_browser], [], [], left)[0]:
                return None
            data = os.read(self.from_browser, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def stop(self):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.log.close()


class Visitor:
    """Opens pages in one tab and keeps what became of every request."""

    def __init__(self, browser, origin):
        self.browser, self.origin = browser, origin
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Network", "Page"):
            browser.call(f"{domain}.enable", self.session)
        self.requests = self.elsewhere = self.coded = 0
        self.statuses = collections.Counter()
        self.failed = []

    def visit(self, url):
        self.pending = {}  # what has no end yet, and of it what has not even an answer
        self.unanswered = {}
        loaded = False
        answer = self.browser.call("Page.navigate", self.session, url=url)
        if "errorText" in answer:
            self.failed.append((url, url, answer["errorText"]))
            return
        deadline = time.monotonic() + PAGE_TIMEOUT_S
        while not loaded or self.pending:
            event = self.browser.event(deadline)
            if event is None:
                self.failed += [(url, asked, NO_ANSWER) for asked in self.unanswered.values()] or ([] if loaded else [(url, url, "not loaded")])
                return
            loaded |= event.get("method") == "Page.loadEventFired"
            self._note(url, event.get("method"), event.get("params", {}))

    def _note(self, page, method, params):
        if method == "Network.requestWillBeSent":
            asked = params["request"]["url"]
            if asked.startswith(self.origin):
                self.pending[params["requestId"]] = self.unanswered[params["requestId"]] = asked
            elif not asked.startswith("data:"):
                self.elsewhere += 1
        elif params.get("requestId") not in getattr(self, "pending", {}):
            return
        elif method == "Network.responseReceived":
            response = params["response"]
            self.unanswered.pop(params["requestId"], None)
            self.requests += 1
            self.statuses[response["status"]] += 1
            names = {name.lower(): value for name, value in response["headers"].items()}
            self.coded += "content-encoding" in names
            if response["status"] >= 400:
                self.failed.append((page, response["url"], response["status"]))
        elif method == "Network.loadingFailed":
            # A script that is answered with 404 is given up, too: it has been counted.
            asked = self.pending.pop(params["requestId"])
            if self.unanswered.pop(params["requestId"], None) is not None:
                self.failed.append((page, asked, params["errorText"]))
        elif method == "Network.loadingFinished":
            del self.pending[params["requestId"]]


def pages(root, count):
    """Paths of HTML files, spread over all that there are."""
    found = sorted(path for path in root.rglob("*.html") if path.is_file() and "odd" not in path.parts)
    step = max(1, len(found) // count) if count else 1
    return ["/" + urllib.parse.quote(str(path.relative_to(root))) for path in found[::step]]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1])
    parser.add_argument("folder", nargs="*", type=pathlib.Path, help="folders to serve instead of the documentation")
    parser.add_argument("--server", type=pathlib.Path, default=ROOT / "server", help="the program (./server)")
    parser.add_argument("--pages", type=int, default=300, help="how many to open; 0: all")
    args = parser.parse_args()
    args.server = args.server.resolve()
    return args


def browse(program, server, root, temp, count):
    browser = Browser(program, temp)
    try:
        host, port = server.address
        origin = f"http://{host}:{port}/"
        visitor = Visitor(browser, origin)
        wanted = pages(root, count)
        said = time.monotonic()
        for number, path in enumerate(wanted, 1):
            visitor.visit(origin + path[1:])
            if sys.stdout.isatty() or time.monotonic() - said > 10:
                said = time.monotonic()
                print(f"{number}/{len(wanted)} pages, {visitor.requests} requests, {len(visitor.failed)} failed",
                      end="\r" if sys.stdout.isatty() else "\n", flush=True)
        return len(wanted), visitor
    finally:
        browser.stop()


def leave_out_answered(visitor, log):
    """Takes away what the browser has not told the end of, where the server has answered it each time; returns how many."""
    wrong = collections.Counter()
    seen = collections.Counter()
    for line in log.read_text().splitlines():
        entry = json.loads(line)
        seen[entry["target"]] += 1
        wrong[entry["target"]] += entry["status"] >= 400 or entry["status"] == 0
    kept = []
    for page, url, problem in visitor.failed:
        target = url.removeprefix(visitor.origin.rstrip("/"))
        if problem != NO_ANSWER or not seen[target] or wrong[target]:
            kept.append((page, url, problem))
    untold, visitor.failed = len(visitor.failed) - len(kept), kept
    return untold


def main():
    args = arguments()
    program = find_chromium()
    if program is None:
        print("no Chromium here (Debian package chromium)", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="browse-site-", ignore_cleanup_errors=True) as temp:
        temp = pathlib.Path(temp)
        root = temp / "site"
        root.mkdir()
        folders = {f"{i}-{folder.resolve().name}": folder for i, folder in enumerate(args.folder)} or tree.default_folders()
        tree.stage(folders, root)
        (root / "favicon.ico").write_bytes(FAVICON)
        sidecars = "precompressed" in servers.static_options(servers.schema_of(args.server))
        if sidecars:
            tree.add_sidecars(root)
        log = temp / "access.log"
        server = servers.Roost(args.server, temp, root, sidecars, {"access_log": {"path": str(log), "format": "json"}})
        try:
            count, visitor = browse(program, server, root, temp, args.pages)
        finally:
            server.stop()
        untold = leave_out_answered(visitor, log)
    statuses = ", ".join(f"{status}: {number}" for status, number in sorted(visitor.statuses.items()))
    print(f"\n{count} pages, {visitor.requests} requests ({statuses}; {visitor.coded} compressed), "
          f"{visitor.elsewhere} to other hosts, {untold} that the access log alone tells the end of, {len(visitor.failed)} failed")
    for page, url, problem in visitor.failed:
        print(f"  {url}: {problem} (in {page})")
    return 1 if visitor.failed else 0


if __name__ == "__main__":
    sys.exit(main())
