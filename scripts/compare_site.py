#!/usr/bin/env python3
"""Serves the same folders by this server and by nginx, asks both for every URL in many ways, and compares the answers.

Every difference of status, fields or body is put down to one of the rules in scripts/site_compare/rules.py, each with its
reason. A difference that none of them explains is printed, and the exit code is 1.

The folders are those of the Debian packages python3-doc, postgresql-doc-15 and git-doc, as far as they are installed, or the
ones that are named. They are copied, and some names that are hard to serve are added.
"""

import argparse
import multiprocessing
import os
import pathlib
import sys
import tempfile
import time

from site_compare import cases, rules, servers, tree
from site_compare.fetch import BadResponse, Client
from site_compare.report import Progress, Tally, write_manual

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUICK_URLS = 300
SETTLE_S = 3.0  # a file that has just been written has a weak entity tag for as long as this
CHUNK = 8


class Job:
    """One worker's connections to both servers."""

    def __init__(self, ours, theirs, sidecars):
        self.pair = (Client(ours), Client(theirs))
        self.sidecars = sidecars
        self.cases = cases.all_cases()

    def compare_url(self, kind, target, tally):
        first = [("GET", {}), ("GET", {"Accept-Encoding": "gzip"})]
        answers = [self._fetch(client, target, first) for client in self.pair]
        for index, (method, fields) in enumerate(first):
            self._compare(rules.Asked(kind, target, method, fields, {}), answers[0][index], answers[1][index], tally)
        forms = {}
        for answer in answers[0]:
            self._keep(forms, "GET", answer)
        said = [cases.Validators(*pair) for pair in answers]
        filled = [[(method, validators.fill(fields)) for method, fields in self.cases] for validators in said]
        wanted = [i for i in range(len(self.cases)) if filled[0][i][1] is not None and filled[1][i][1] is not None]
        answers = [self._fetch(client, target, [requests[i] for i in wanted]) for client, requests in zip(self.pair, filled)]
        for place, i in enumerate(wanted):
            self._keep(forms, self.cases[i][0], answers[0][place])
        for coding, body in forms.items():
            if coding is not None and not self.sidecars.fits(coding, body, forms.get(None)):
                tally.fail(kind, target, f"what was sent in {coding} is not what lies beside the file")
        for place, i in enumerate(wanted):
            method, fields = self.cases[i]
            self._compare(rules.Asked(kind, target, method, fields, forms), answers[0][place], answers[1][place], tally)

    @staticmethod
    def _keep(forms, method, answer):
        if method == "GET" and answer.status == 200:
            forms.setdefault(answer.get("content-encoding"), answer.body)

    @staticmethod
    def _fetch(client, target, requests):
        return client.fetch([(method, cases.request_bytes(method, target, fields)) for method, fields in requests])

    @staticmethod
    def _compare(asked, ours, theirs, tally):
        tally.count(asked)
        for difference in rules.differences(ours, theirs):
            tally.add(asked, difference, rules.explain(asked, difference, ours, theirs))


def start_worker(ours, theirs, sidecars):
    global job
    job = Job(ours, theirs, sidecars)


def run_chunk(urls):
    tally = Tally()
    for kind, target in urls:
        try:
            job.compare_url(kind, target, tally)
        except (BadResponse, OSError) as problem:
            tally.fail(kind, target, problem)
            for client in job.pair:
                client.close()
    return len(urls), tally


def compare_all(urls, ours, theirs, sidecars, workers):
    chunks = [urls[start:start + CHUNK] for start in range(0, len(urls), CHUNK)]
    tally, progress = Tally(), Progress(len(urls))
    with multiprocessing.Pool(workers, start_worker, (ours, theirs, sidecars)) as pool:
        for done, part in pool.imap_unordered(run_chunk, chunks):
            tally.merge(part)
            progress.advance(done, tally)
    progress.end()
    return tally


def spread(urls, count):
    """About `count` of them, of every kind."""
    kinds = {}
    for url in urls:
        kinds.setdefault(url[0], []).append(url)
    share = max(1, count // len(kinds))
    return [url for found in kinds.values() for url in found[::max(1, len(found) // share)]]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1])
    parser.add_argument("folder", nargs="*", type=pathlib.Path, help="folders to serve instead of the documentation")
    parser.add_argument("--server", type=pathlib.Path, default=ROOT / "server", help="the program (./server)")
    parser.add_argument("--quick", action="store_true", help=f"about {QUICK_URLS} URLs of all kinds only")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes that ask (one per processor)")
    parser.add_argument("--no-sidecars", action="store_true", help="no compressed files beside the originals")
    parser.add_argument("--examples", type=int, default=0, metavar="N", help="show N examples of each rule")
    parser.add_argument("--write", type=pathlib.Path, metavar="FILE", help="write the rules and their counts there, in Markdown")
    args = parser.parse_args()
    args.server = args.server.resolve()
    return args


def folders_of(args):
    if args.folder:
        return {f"{index}-{folder.resolve().name}": folder for index, folder in enumerate(args.folder)}
    found = tree.default_folders()
    for name, (path, package) in tree.DEBIAN_DOCS.items():
        if name not in found:
            print(f"left out: {path} is not here (Debian package {package})")
    return found


def main():
    args = arguments()
    if servers.program() is None:
        print("nginx is not installed: nothing to compare with", file=sys.stderr)
        return 2
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="compare-site-") as temp:
        temp = pathlib.Path(temp)
        temp.chmod(0o755)
        root = temp / "site"
        root.mkdir()
        tree.stage(folders_of(args), root)
        sidecars = not args.no_sidecars and "precompressed" in servers.static_options(servers.schema_of(args.server))
        known = tree.Sidecars()
        if sidecars:
            count, made = tree.add_sidecars(root)
            known.learn(root)
            print(f"{count} files have their {', '.join(made)} beside them")
        urls = tree.urls(root)
        if args.quick:
            urls = spread(urls, QUICK_URLS)
        time.sleep(SETTLE_S)
        theirs = servers.Nginx(temp, root, sidecars)
        try:
            ours = servers.Roost(args.server, temp, root, sidecars)
            try:
                tally = compare_all(urls, ours.address, theirs.address, known, args.workers)
            finally:
                ours.stop()
        finally:
            theirs.stop()
    seconds = time.monotonic() - began
    tally.print_summary(len(urls), seconds, args.examples)
    if args.write:
        write_manual(args.write, tally, len(urls), sidecars)
    return 1 if tally.unexplained or tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
