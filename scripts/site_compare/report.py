"""What a comparison found: counted while it runs, shown when it is over."""

import collections
import hashlib
import shutil
import sys
import time

from . import cases, rules, servers

MOST_EXAMPLES = 40
PLAIN_EVERY_S = 10.0


def shown(value, most=70):
    """A difference's value for people."""
    if value is None:
        return "-"
    if isinstance(value, bytes):
        return f"{len(value)} bytes, SHA-256 {hashlib.sha256(value).hexdigest()[:12]}"
    text = str(value)
    return text if len(text) <= most else text[:most] + "..."


class Example:
    def __init__(self, asked, difference):
        self.request = f"{asked.method} {asked.target.decode('utf-8', 'backslashreplace')}"
        self.fields = "; ".join(f"{name}: {value}" for name, value in asked.fields.items())
        is_status = difference.what == "status"
        self.kind = (difference.what, self.fields if is_status else "", asked.target if asked.kind == "odd" and not is_status else "",
                     *(difference[1:] if is_status or difference.what == "content-type" else ()))
        self.what, self.ours, self.theirs = difference.what, shown(difference.ours), shown(difference.theirs)

    def __str__(self):
        return f"{self.request}{' [' + self.fields + ']' if self.fields else ''}: {self.what}: {self.ours} | {self.theirs}"


class Tally:
    """Counts of requests and of differences by rule. Parts of it, made by several processes, can be merged."""

    def __init__(self):
        self.requests = 0
        self.by_kind = collections.Counter()
        self.by_rule = collections.Counter()
        self.unexplained = 0
        self.examples = {}  # rule, or None -> examples
        self.failures = []

    def count(self, asked):
        self.requests += 1
        self.by_kind[asked.kind] += 1

    def add(self, asked, difference, name):
        self.by_rule[name] += 1
        if name is None:
            self.unexplained += 1
        example = Example(asked, difference)
        self._keep(name, example)

    def _keep(self, name, example):
        """A few of each rule; of what is unexplained one of each kind."""
        known = self.examples.setdefault(name, [])
        if len(known) < MOST_EXAMPLES and (name is not None or all(example.kind != other.kind for other in known)):
            known.append(example)

    def fail(self, kind, target, problem):
        self.failures.append(f"{kind} {target!r}: {problem}")

    def merge(self, other):
        self.requests += other.requests
        self.by_kind += other.by_kind
        self.by_rule += other.by_rule
        self.unexplained += other.unexplained
        self.failures += other.failures
        for name, examples in other.examples.items():
            for example in examples:
                self._keep(name, example)

    def print_summary(self, urls, seconds, examples):
        print(f"\n{urls} URLs, {self.requests} requests to each server, {seconds:.0f} s")
        width = max([len(known.name) for known in rules.RULES] + [11])
        print(f"\n{'differences':>11}  {'rule':<{width}}  why")
        for known in rules.RULES:
            count = self.by_rule[known.name]
            if count == 0:
                continue
            print(f"{count:>11}  {known.name:<{width}}  {known.why}")
            for example in self.examples.get(known.name, [])[:examples]:
                print(f"{'':>13}{example}")
        print(f"{self.unexplained:>11}  unexplained")
        for example in self.examples.get(None, []):
            print(f"  {example}")
        for failure in self.failures:
            print(f"  no answer: {failure}")


class Progress:
    """A bar on a terminal, a line now and then elsewhere."""

    def __init__(self, total):
        self.total, self.done = total, 0
        self.is_terminal = sys.stdout.isatty()
        self.began = self.said = time.monotonic()

    def advance(self, count, tally):
        self.done += count
        now = time.monotonic()
        if not self.is_terminal and now - self.said < PLAIN_EVERY_S:
            return
        self.said = now
        text = f"{self.done}/{self.total} URLs, {tally.requests} requests, {tally.unexplained} unexplained"
        if not self.is_terminal:
            print(text, flush=True)
            return
        room = max(10, shutil.get_terminal_size().columns - len(text) - 4)
        filled = room * self.done // self.total
        print(f"\r[{'#' * filled}{'.' * (room - filled)}] {text}", end="", flush=True)

    def end(self):
        if self.is_terminal:
            print()


def write_manual(path, tally, urls, sidecars):
    """The rules in Markdown, each with its count and an example."""
    out = [HEAD.format(urls=urls, requests=tally.requests, version=servers.nginx_version(), ways=len(cases.all_cases()) + 2,
                       sidecars=SIDECARS if sidecars else "")]
    for known in rules.RULES:
        count = tally.by_rule[known.name]
        if count == 0:
            continue
        example = tally.examples[known.name][0]
        out.append(f"## {known.name}\n\n{known.why}\n\n{count} differences, such as:\n\n")
        out.append(f"```\n{example.request}\n" + (f"{example.fields}\n" if example.fields else ""))
        out.append(f"\n{example.what}\n  here   {example.ours}\n  nginx  {example.theirs}\n```\n\n")
    path.write_text("".join(out).rstrip("\n") + "\n")


HEAD = """\
# Beside nginx

<!-- Written by scripts/compare_site.py --write: edit the rules in scripts/site_compare/rules.py, not this file. -->

`scripts/compare_site.py` serves the HTML of Debian's python3-doc, postgresql-doc-15 and git-doc by this server and by nginx
{version}, asks both for every file, folder and some hundred other URLs in {ways} ways (Accept-Encoding, conditional and range
fields, methods), and compares status, fields and body. The last run asked for {urls} URLs with {requests} requests to each
server.{sidecars} These are all the differences it found, by their reason; one without a reason fails the run.

"""
SIDECARS = " Both serve compressed files that lie beside the originals."
