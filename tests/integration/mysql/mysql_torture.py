"""Sequences of what may happen to a database, under a load of reads and writes that are all checked.

    world = World(mariadb, start_rest, seed)
    world.run(1000)      # raises AssertionError with the seed, the sequence and what happened in it
"""

import random
import time

from mysql_torture_events import Disturber
from mysql_torture_load import Load, compare
from mysql_torture_tables import fill

MAX_CONNECTIONS = 6
RECOVERY_S = 4  # beyond the time that the sequence took: the wait between attempts doubles up to that
OPTIONS = ["--max-connections=24", "--innodb-lock-wait-timeout=1"]
MYSQL = {"max_connections": MAX_CONNECTIONS, "max_waiting": 32, "queue_timeout_ms": 2000, "connect_timeout_ms": 1000,
         "query_timeout_ms": 1500, "stream_timeout_ms": 8000, "idle_timeout_s": 2, "lifetime_s": 5, "schema_poll_s": 1}
METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE"]
TABLES = [{"name": name, "methods": METHODS, "max_rows": 0} for name in ("facts", "fleeting", "parts", "ledger", "cells", "locks")]


def configuration(**more):
    return {"tables": TABLES, "options": {"batch": True}, "mysql": {**MYSQL, **more}, "log": {"level": "INFO"}}


class World:
    def __init__(self, mariadb, start, seed, writers=3, kinds=(), **mysql):
        """`kinds`: of events; () for all."""
        """start(server=, database=, **rest_config's) -> a RestServer."""
        self.mariadb, self.seed = mariadb, seed
        self.database = mariadb.new_database(fill)
        self.server = start(server=mariadb, database=self.database, **configuration(**mysql))
        self.load = Load(self.server.address, "t", seed, writers=writers)
        self.writers, self.kinds = writers, kinds
        self.longest_s, self.events = 0.0, {}

    def run(self, count, first=0, report=None):
        """`count` sequences, the first of which has the number `first`: a number and the seed make a sequence."""
        try:
            for number in range(first, first + count):
                self.sequence(number)
                if report:
                    report(number, self)
        finally:
            self.load.end()
        self.check("at the end")

    def sequence(self, number):
        rng = random.Random(f"{self.seed} {number}")
        disturber = Disturber(self.mariadb, self.database, rng, self.kinds)
        steps = []
        for _ in range(rng.choice([1, 1, 2, 3])):
            begin = rng.uniform(0.03, 0.3)
            steps += [(begin + at, index, step) for index, (at, step) in enumerate(disturber.pick())]
        self.load.queries_are_killed = "kill_queries" in disturber.ran
        what = f"sequence {number} of seed {self.seed!r} ({' + '.join(disturber.ran)})"
        self.load.go()
        begin = time.monotonic()
        try:
            for at, _, step in sorted(steps, key=lambda step: step[:2]):
                time.sleep(max(0.0, begin + at - time.monotonic()))
                step()
            time.sleep(rng.uniform(0, 0.1))
        finally:
            disturber.heal()
        healed = time.monotonic()
        self.recover(what, healed - begin)
        self.load.halt()
        self.check(what)
        for name in disturber.ran:
            self.events[name] = self.events.get(name, 0) + 1

    def recover(self, what, lasted_s):
        """By itself, soon: a read and a write are answered as ever."""
        begin, missing = time.monotonic(), ["facts?id=eq.7&select=id,body", "fleeting?id=eq.7", "ledger?limit=1&select=note"]
        while True:
            self.server.check_alive()
            answers = [self.server.get(target) for target in missing] or [self.probe()]
            bad = [answer for answer in answers if answer.status not in (200, 204)]
            if not bad and not missing:
                break
            missing = missing if bad else []
            took = time.monotonic() - begin
            assert took < lasted_s + RECOVERY_S, f"{what}: not recovered after {took:.1f} s: {bad} {[answer.body for answer in bad]}"
            time.sleep(0.02 if bad else 0)
        self.longest_s = max(self.longest_s, time.monotonic() - begin)

    def probe(self):
        return self.server.patch("locks?id=eq.1", {"value": "recovered"}) if self.writers else self.server.get("locks?id=eq.1")

    def check(self, what):
        self.server.check_alive()
        problems, self.load.book.problems = self.load.book.problems, []
        with self.mariadb.client(self.database) as client:
            problems += compare(self.load.book, client)
            open_now = client.value("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'roost'")
            if int(open_now) > MAX_CONNECTIONS + 2:  # one for the schema, one that kills
                problems.append(f"{open_now} connections")
            deadline = time.monotonic() + 3
            pending = "SELECT t.trx_query, p.info FROM information_schema.innodb_trx t JOIN information_schema.processlist p" \
                      " ON p.id = t.trx_mysql_thread_id WHERE p.user = 'roost'"
            while left := client.run(pending):
                if time.monotonic() > deadline:
                    problems.append(f"transactions left open: {left}")
                    break
                time.sleep(0.05)
        assert not problems, f"{what}: {len(problems)} problems\n" + "\n".join(problems[:10])
        self.settle()

    def settle(self):
        """What is in the table now is what is known from now on."""
        book = self.load.book
        with self.mariadb.client(self.database) as client:
            cells = dict(client.run("SELECT id, value FROM cells"))
        for number, values in book.cells.items():
            values.clear()
            values.add(cells[str(number)])
