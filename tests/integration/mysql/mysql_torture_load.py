"""Readers and writers that check each answer, and a book of what writers did, to be compared with the tables."""

import collections
import csv
import io
import json
import random
import threading
import time
import traceback

from mysql_torture_tables import FACTS, FLEETING, SHARDS, check_fact, ledger_row, md5, shard_ids, whole_number
from mysql_torture_wire import CutWire
from raw_http import ProtocolError, check_response

# What may be answered while the database is being tortured, and when it certainly changed nothing.
REFUSED = {
    "database_unavailable": {503}, "pool_full": {503}, "pool_timeout": {504}, "query_timeout": {504}, "schema_changed": {503},
    "unknown_column": {400}, "unknown_table": {404}, "schema_unavailable": {503}, "unknown_relation": {400}, "deadlock": {409}, "lock_timeout": {503},
}
UNKNOWN = {"outcome_unknown": {503}}  # carried out or not
ANSWER_LIMIT_S = 12


class Book:
    """What is known of each token: at least and at most so many rows of it; and of each cell: what may stand in it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.rows, self.cells = {}, {}
        self.outcomes, self.problems = collections.Counter(), []

    def expect(self, token, least, most, why="no answer yet"):
        with self.lock:
            self.rows[token] = (least, most, why)

    def count(self, what):
        with self.lock:
            self.outcomes[what] += 1

    def complain(self, problem):
        with self.lock:
            self.problems.append(problem)


def outcome_of(answer, whole, what):
    """"done", "refused" or "unknown"; complains of anything else."""
    assert answer is not None and whole, f"{what}: no whole answer: {answer}"
    check_response(answer)
    if 200 <= answer.status < 300:
        return "done"
    problem = answer.json()
    assert answer["Content-Type"].startswith("application/problem+json"), f"{what}: {answer}"
    assert problem["status"] == answer.status and problem["title"] and "message" in problem, f"{what}: {problem}"
    assert not any(word in answer.body for word in (b"SELECT ", b"INSERT ", b"UPDATE ", b"/tmp/", b"roost-db", b"MariaDB")), f"{what}: {problem}"
    if answer.status == 503:  # nothing to try again where it may have been done
        assert ("Retry-After" in answer) == (problem["code"] not in UNKNOWN), f"{what}: Retry-After: {problem}"
    for codes, outcome in ((UNKNOWN, "unknown"), (REFUSED, "refused")):
        if problem["code"] in codes:
            assert answer.status in codes[problem["code"]], f"{what}: {problem}"
            return outcome
    raise AssertionError(f"{what}: {answer.status} is no answer of the documented ones: {problem}")


class Worker(threading.Thread):
    """Asks one thing after the other while `load` runs; between sequences it stands still."""

    def __init__(self, load, number, seed):
        super().__init__(daemon=True)
        self.load, self.number, self.rng, self.wire = load, number, random.Random(seed), None
        self.idle, self.refused = threading.Event(), False

    def run(self):
        while not self.load.ended:
            if not self.load.running.is_set():
                self.idle.set()
                self.load.running.wait(0.5)
                continue
            self.idle.clear()
            self.refused = False
            begin = time.monotonic()
            what = "?"
            try:
                what = self.step()
            except Exception:  # pylint: disable=broad-except
                self.load.book.complain(f"{type(self).__name__} {self.number}: {what}\n{traceback.format_exc()[-2500:]}")
                self.drop()
            took = time.monotonic() - begin
            if took > ANSWER_LIMIT_S:
                self.load.book.complain(f"{type(self).__name__} {self.number}: {what} took {took:.1f} s")
            time.sleep(self.rng.random() * self.load.think_s * (8 if self.refused else 1))
        self.drop()

    def drop(self):
        if self.wire is not None:
            self.wire.close()
            self.wire = None

    def ask(self, method, target, body=None, fields=(), small=False):
        for _ in range(2):
            fresh = self.wire is None or small
            if fresh:
                self.drop()
                self.wire = CutWire(self.load.address, small=small)
            answer, whole = self.wire.exchange(method, "/data/" + target, body, fields)
            if not whole or answer.closes or small:
                self.drop()
            if answer is not None or fresh or method != "GET":
                break  # else the connection was closed while it was idle
        self.refused = answer is not None and answer.status >= 500
        return answer, whole


class Reader(Worker):
    def step(self):
        kind = self.rng.choice(["one", "one", "one", "shard", "shard", "parts", "all", "slow", "leave", "fleeting", "count"])
        target, ids, fields = getattr(self, "ask_" + kind)()
        if kind == "leave":
            return self.leave(target)
        small = kind == "slow"
        answer, whole = self.ask_slowly(target, fields) if small else self.ask("GET", target, fields=fields)
        what = f"GET {target}"
        if answer is not None and answer.status in (200, 206):
            check_response(answer)
            self.check_rows(what, answer, whole, ids)
            self.load.book.count("read" if whole else "read, cut")
        else:
            assert outcome_of(answer, whole, what) == "refused", f"{what}: {answer.body}"
            self.load.book.count(f"read {answer.json()['code']}")
        return what

    def columns(self):
        return "" if self.rng.random() < 0.5 else "&select=id,shard,n,body,sum"

    def ask_one(self):
        number = self.rng.randrange(1, FACTS + 1)
        return f"facts?id=eq.{number}{self.columns()}", [number], {}

    def ask_shard(self):
        shard = self.rng.randrange(SHARDS)
        return f"facts?shard=eq.{shard}&order=id{self.columns()}", shard_ids(shard), self.format()

    def ask_parts(self):
        first = self.rng.randrange(1, FACTS - 30)
        return (f"facts?id=gte.{first}&id=lt.{first + 20}&order=id&select=id,shard,n,body,sum,parts(k,sum)",
                list(range(first, first + 20)), {})

    def ask_all(self):
        return f"facts?order=id{self.columns()}", list(range(1, FACTS + 1)), self.format()

    ask_slow = ask_leave = ask_all

    def ask_count(self):
        first = self.rng.randrange(FACTS - 10)
        return (f"facts?order=id&limit=10&offset={first}", list(range(first + 1, first + 11)), {"Prefer": "count=exact"})

    def ask_fleeting(self):
        return "fleeting?order=id", None, {}

    def format(self):
        return self.rng.choice([{}, {}, {"Accept": "application/x-ndjson"}, {"Accept": "text/csv"}])

    def ask_slowly(self, target, fields):
        pause = self.rng.choice([0.001, 0.003])
        self.drop()
        self.wire = CutWire(self.load.address, small=True)
        self.wire.pace = lambda: time.sleep(pause) if self.load.running.is_set() else None
        answer, whole = self.wire.exchange("GET", "/data/" + target, None, fields)
        self.drop()
        return answer, whole

    def leave(self, target):
        """Goes away within the answer."""
        self.drop()
        self.wire = CutWire(self.load.address, small=True)
        try:
            self.wire.send(f"GET /data/{target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            self.wire.socket.recv(self.rng.choice([1, 5000, 100000]))
            self.wire.reset()
        except OSError:
            pass
        self.wire = None
        self.load.book.count("read, left")
        return "left"

    def check_rows(self, what, answer, whole, ids):
        rows = rows_of(answer, whole)
        for row in rows:
            check_fact(row)
        seen = [int(row["id"]) for row in rows]
        if not whole:  # cut: a beginning of it, and not passed off as the whole
            assert seen == (ids or range(1, FLEETING + 1))[:len(seen)], f"{what}: cut, and not a beginning: {seen[:20]}"
            return
        if ids is None:  # fleeting: all, or none just after it was made
            assert seen in (list(range(1, FLEETING + 1)), []), f"{what}: {len(seen)} rows"
            return
        assert seen == ids, f"{what}: rows of another request, or too few: {seen[:20]}... instead of {ids[:20]}..."
        if "count=exact" in answer.get("Preference-Applied", ""):
            assert answer["Content-Range"] == f"{ids[0] - 1}-{ids[-1] - 1}/{FACTS}", f"{what}: {answer}"


def rows_of(answer, whole):
    """The rows of an answer; of one that was cut those that came whole."""
    text = answer.body.decode()
    kind = answer["Content-Type"].split(";")[0]
    if kind == "text/csv":
        lines = text.split("\n") if whole else text.rsplit("\n", 1)[0].split("\n")
        rows = list(csv.DictReader(io.StringIO("\n".join(line.rstrip("\r") for line in lines))))
        for row in rows:
            if row.get("extra"):
                row["extra"] = int(row["extra"])
        return rows
    if kind == "application/x-ndjson":
        lines = text.split("\n")
        assert not whole or lines[-1] == "", "the last line has no end"
        return [json.loads(line) for line in lines[:-1]]
    assert kind == "application/json", answer
    if whole:
        return json.loads(text)
    assert not is_json(text), f"cut, and yet a whole document: {text[-200:]!r}"
    end = text.rfind("}", 0, len(text))
    while end > 0:
        try:
            return json.loads(text[:end + 1] + "]")
        except ValueError:
            end = text.rfind("}", 0, end)
    return []


def is_json(text):
    try:
        json.loads(text)
        return True
    except ValueError:
        return False


class Writer(Worker):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.serial, self.kept = 0, []
        self.cell = self.load.book.cells.setdefault(self.number + 1, {"none"})

    def step(self):
        kind = self.rng.choice(["one", "one", "many", "patch", "put", "delete", "batch", "batch"])
        return getattr(self, "write_" + kind)()

    def token(self):
        self.serial += 1
        return f"{self.load.name}-{self.number}-{self.serial}"

    def row(self, token):
        n = self.rng.randrange(1 << 31)
        return ledger_row(token, n, f"note {n} of {token}")

    def write(self, what, method, target, body, fields, tokens):
        """Asks, and books what must now be true of the tokens' rows."""
        for token in tokens:
            self.load.book.expect(token, 0, 1)
        answer, whole = self.ask(method, target, body, fields)
        outcome = outcome_of(answer, whole, what)
        for token in tokens:
            self.load.book.expect(token, *{"done": (1, 1), "refused": (0, 0), "unknown": (0, 1)}[outcome], (answer.status, answer.body[:200]))
        self.load.book.count(f"{method} {outcome}" if outcome == "done" else f"{method} {answer.json()['code']}")
        return outcome, answer

    def prefer(self):
        return self.rng.choice([{}, {"Prefer": "return=minimal"}, {"Prefer": "return=representation"}])

    def write_one(self):
        token = self.token()
        row, fields = self.row(token), self.prefer()
        outcome, answer = self.write(f"POST ledger {token}", "POST", "ledger", row, fields, [token])
        if outcome == "done":
            assert answer.status == 201, answer
            self.kept.append(token)
            if "representation" in fields.get("Prefer", ""):
                self.check_ledger(answer.json(), [row])
        return f"POST ledger {token}"

    def write_many(self):
        tokens = [self.token() for _ in range(self.rng.randrange(2, 7))]
        rows, fields = [self.row(token) for token in tokens], self.prefer()
        outcome, answer = self.write(f"POST ledger {tokens}", "POST", "ledger", rows, fields, tokens)
        if outcome == "done" and "representation" in fields.get("Prefer", ""):
            self.check_ledger(answer.json(), rows)
        if outcome == "unknown":
            self.load.book.rows[frozenset(tokens)] = "all or none"
        return f"POST {len(tokens)}"

    def check_ledger(self, got, sent):
        assert [row["token"] for row in got] == [row["token"] for row in sent], f"rows of another request: {got}"
        for row, want in zip(got, sent):
            assert row["sum"] == want["sum"] and whole_number(row["n"]) == want["n"], f"{row} instead of {want}"

    def write_cell(self, method, target, body, token):
        outcome, _ = self.write(f"{method} {target} {token}", method, target, body, {}, [])
        if outcome == "done":
            if not self.load.queries_are_killed:
                self.cell -= {value for value in self.cell if not value.startswith("?")}
            self.cell.add(token)
        elif outcome == "unknown":
            self.cell.add("?" + token)  # may come at any time, even after what is written later
        return f"{method} {target}"

    def write_patch(self):
        token = self.token()
        return self.write_cell("PATCH", f"cells?id=eq.{self.number + 1}", {"value": token}, token)

    def write_put(self):
        token, number = self.token(), self.number + 1
        return self.write_cell("PUT", f"cells?id=eq.{number}", {"id": number, "value": token}, token)

    def write_delete(self):
        if not self.kept:
            return self.write_one()
        token = self.kept.pop(self.rng.randrange(len(self.kept)))
        fields = self.rng.choice([{"Prefer": "count=exact"}, {"Prefer": "count=exact, return=representation"}])
        answer, whole = self.ask("DELETE", f"ledger?token=eq.{token}", fields=fields)
        outcome = outcome_of(answer, whole, f"DELETE {token}")
        if outcome == "done" and self.load.queries_are_killed and answer.get("Content-Range") == "*/0":
            outcome = "unknown"  # the database's own word for one that somebody has killed (docs/decisions.md)
        self.load.book.expect(token, *{"done": (0, 0), "refused": (1, 1), "unknown": (0, 1)}[outcome], ("DELETE", answer.status, answer.get("Content-Range"), answer.body[:200]))
        self.load.book.count(f"DELETE {outcome}" if answer.status < 300 else f"DELETE {answer.json()['code']}")
        return f"DELETE {token}"

    def write_batch(self):
        """One transaction: two rows, and locks in any order between them."""
        if not self.load.batch:
            return self.write_many()
        tokens = [self.token(), self.token()]
        first, second = self.rng.sample(range(1, 5), 2)
        operations = [{"method": "POST", "path": "ledger", "body": self.row(tokens[0])},
                      {"method": "PATCH", "path": f"locks?id=eq.{first}", "body": {"value": tokens[0]}},
                      {"method": "PATCH", "path": f"locks?id=eq.{second}", "body": {"value": tokens[1]}},
                      {"method": "POST", "path": "ledger", "body": self.row(tokens[1])}]
        outcome, _ = self.write(f"batch {tokens}", "POST", "batch", operations, {}, tokens)
        if outcome == "unknown":
            self.load.book.rows[frozenset(tokens)] = "all or none"
        return "batch"


class Load:
    """Readers and writers against one server."""

    def __init__(self, address, name, seed, readers=4, writers=3, think_s=0.004, batch=True):
        self.address, self.name, self.batch, self.think_s = address, name, batch, think_s
        self.book, self.running, self.ended = Book(), threading.Event(), False
        self.queries_are_killed = False  # by others than the server
        self.workers = [Reader(self, i, f"{seed} reader {i}") for i in range(readers)]
        self.workers += [Writer(self, i, f"{seed} writer {i}") for i in range(writers)]
        for worker in self.workers:
            worker.start()

    def go(self):
        for worker in self.workers:
            worker.idle.clear()
        self.running.set()

    def halt(self):
        """Returns when every request has been answered."""
        self.running.clear()
        for worker in self.workers:
            if not worker.idle.wait(ANSWER_LIMIT_S + 5):
                self.book.complain(f"{type(worker).__name__} {worker.number} still waits for an answer")

    def end(self):
        self.ended = True
        self.running.set()
        for worker in self.workers:
            worker.join(20)


def compare(book, client):
    """Compares the book with the tables, when nothing is under way; returns what does not fit."""
    problems = []
    column = client.value("SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND"
                          " table_name = 'ledger' AND column_name IN ('note', 'renamed')")
    rows = collections.defaultdict(list)
    for token, n, note, total in client.run(f"SELECT token, n, `{column}`, sum FROM ledger"):
        rows[token].append((n, note, total))
        if md5(token, n, note) != total:
            problems.append(f"a row that is not what was sent: {(token, n, note)}")
    for token, expected in book.rows.items():
        if expected == "all or none":
            if len({len(rows.get(one, ())) for one in token}) != 1:
                problems.append(f"a part of a transaction: {[(one, len(rows.get(one, ()))) for one in token]}")
        elif not expected[0] <= len(rows.get(token, ())) <= expected[1]:
            by = [client.value(f"SELECT COUNT(*) FROM ledger {how} INDEX (token) WHERE token = '{token}'") for how in ("FORCE", "IGNORE")]
            problems.append(f"{token}: {len(rows.get(token, ()))} rows, where {expected} were due; by its index and without: {by}, "
                            f"and the database says of the table: {client.run('CHECK TABLE ledger')}")
    for token in rows.keys() - book.rows.keys():
        problems.append(f"{token}: a row that nobody wrote")
    for number, value in client.run("SELECT id, value FROM cells WHERE value <> 'none'"):
        may = book.cells.get(int(number), {"none"})
        if value not in may and "?" + value not in may:
            problems.append(f"cell {number} has {value} instead of one of {sorted(may)[-10:]}")
    return problems
