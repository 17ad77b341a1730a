#!/usr/bin/env python3
"""Tries the page of a mysql_rest route in Chromium: each table is chosen and read, one of them with a condition.

    scripts/browse_tables.py http://127.0.0.1:4507/data/

Prints what came of each; the exit code is 1 when the browser complains of anything (a policy, a script, a request) or rows are
missing that a request of one's own finds.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from browse_site import Browser, find_chromium

WAIT_S = 10
ANSWERED = "document.getElementById('status').textContent"


class Page:
    def __init__(self, browser, url):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Log", "Runtime", "Page"):
            browser.call(f"{domain}.enable", self.session)
        browser.call("Page.navigate", self.session, url=url)
        self.wait("document.querySelectorAll('#tables a').length > 0")

    def run(self, script):
        result = self.browser.call("Runtime.evaluate", self.session, expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, script):
        deadline = time.monotonic() + WAIT_S
        while not self.run(script):
            assert time.monotonic() < deadline, f"not so: {script}"
            time.sleep(0.05)

    def send(self):
        self.run("document.getElementById('status').textContent = ''; document.getElementById('request').requestSubmit()")
        self.wait(ANSWERED)
        return self.run(ANSWERED), self.run("document.querySelectorAll('#rows tbody tr').length")

    def complaints(self):
        for event in self.browser.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                yield params["exceptionDetails"].get("text", "an exception")
            elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                yield f"{params['entry']['text']} {params['entry'].get('url', '')}"


def rows_of(url):
    with urllib.request.urlopen(url) as answer:
        return len(json.load(answer))


def try_tables(page, url):
    failed = False
    for name in page.run("[...document.querySelectorAll('#tables a')].map((a) => a.getAttribute('href').slice(1))"):
        page.run(f"location.hash = {json.dumps(name)}")
        page.wait(f"document.querySelector('#tables a[aria-current]').getAttribute('href') === {json.dumps('#' + name)}")
        columns = page.run("document.querySelectorAll('#columns tbody tr').length")
        status, rows = page.send()
        expected = rows_of(url + urllib.parse.unquote(name) + "?limit=20")
        print(f"{urllib.parse.unquote(name)}: {columns} columns, {status}, {rows} rows")
        failed |= rows != expected or not columns
    page.run("document.getElementById('operator').value = 'is'; document.getElementById('value').value = 'null';"
             "document.getElementById('add').click()")
    status, rows = page.send()
    print(f"{page.run('url()')}: {status}, {rows} rows")
    return failed or not status.startswith("200")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", help="the route's own path")
    url = parser.parse_args().url
    program = find_chromium()
    if program is None:
        sys.exit("there is no Chromium")
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(program, pathlib.Path(folder))
        try:
            page = Page(browser, url)
            failed = try_tables(page, url)
            complaints = list(page.complaints())
        finally:
            browser.stop()
    for complaint in complaints:
        print(f"the browser: {complaint}")
    sys.exit(1 if failed or complaints else 0)


if __name__ == "__main__":
    main()
