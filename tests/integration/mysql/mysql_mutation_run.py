"""Sends what mysql_mutations.py makes, and says what is wrong with the answers."""

import collections
import pathlib
import re

from mysql_mutations import requests
from raw_http import ProtocolError, Wire, check_response, request

DOCUMENTED = set(re.findall(r"`(\w+)`", (pathlib.Path(__file__).parents[3] / "docs/mysql.md").read_text(encoding="utf-8")))
HTTP_ALONE = {400, 414, 431, 501}  # what HTTP itself may refuse, before anybody knows of tables
HIDDEN = b"zq7xhidden"             # stands in rows that the route's `where` hides
LEAKS = (b"SELECT `", b"INSERT INTO", b"WHERE `", b"SQL syntax", b"MariaDB", b"sample_", b"/tmp/")


def complaint(method, response):
    """What an answer breaks; None: nothing."""
    if response.status >= 500:
        return f"{response.status}: {response.body[:300]!r}"
    if HIDDEN in response.body:
        return "a hidden row"
    if not (200 <= response.status < 300 or response.status == 304 or 400 <= response.status < 500):
        return f"{response.status}"
    if response.status < 400 or method == "HEAD":
        return None
    kind = response.get("Content-Type", "")
    if not kind.startswith("application/problem+json"):
        return None if response.status in HTTP_ALONE and kind.startswith("text/") else f"{response.status} without problem details: {kind}"
    problem = response.json()
    if problem["status"] != response.status or not problem["code"] or not problem["detail"] or "message" not in problem:
        return f"not a clear problem: {problem}"
    if problem["code"] not in DOCUMENTED:
        return f"the code {problem['code']}, which docs/mysql.md does not have"
    for leak in LEAKS:
        if leak in response.body:
            return f"{leak!r} in {problem}"
    return None


def run(address, seed, count, timeout=10):
    """(statuses, complaints): how often each status came, and what was wrong with which request."""
    statuses, complaints, wire = collections.Counter(), [], None
    for number, (method, target, fields, body) in enumerate(requests(seed, count)):
        data = request(target, method, fields=fields, body=body or b"")
        wrong = None
        try:
            if wire is None:
                wire = Wire(address, timeout)
            wire.send(data)
            response = wire.read_response(method)
            statuses[response.status] += 1
            wrong = complaint(method, response)
            check_response(response)
            if response.closes:
                wire.close()
                wire = None
        except (ProtocolError, OSError, ValueError, KeyError) as problem:
            wrong = f"{type(problem).__name__}: {problem}"
            if wire is not None:
                wire.close()
            wire = None
        if wrong:
            complaints.append(f"#{number} of seed {seed!r}: {wrong}\n   {data[:1500]!r}")
    return statuses, complaints
