"""Requests made of the grammar and then broken: each is answered, with rows or with a clear refusal.

ROOST_TORTURE=full sends 50,000, ROOST_TORTURE_SEED=N others; scripts/mysql_attack.py any number."""

import os

import pytest

import mysql_mutation_run
from rest_server import TABLES, writable

FULL = os.environ.get("ROOST_TORTURE") == "full"
SEED = os.environ.get("ROOST_TORTURE_SEED", "6")
PARTS = 4


def tables():
    names = [name for name in TABLES if name not in ("orders", "notes", "accounts", "documents", "stock")]
    return [*names, {"name": "orders", "where": "note=neq.zq7xhidden"}, *writable("notes", "accounts", "documents", "stock")]


@pytest.mark.parametrize("part", range(PARTS))
def test_mutated(start_rest, database, part):
    server = start_rest(tables(), database=database, options={"batch": True}, log={"level": "INFO"})
    server.mariadb.run("UPDATE orders SET note = 'zq7xhidden' WHERE id % 10 = 0", database)
    before = server.mariadb.run("CHECKSUM TABLE orders, customers, products, articles, employees", database)
    statuses, complaints = mysql_mutation_run.run(server.address, f"{SEED} {part}", (50000 if FULL else 2000) // PARTS)
    server.check_alive()
    assert not complaints, f"{len(complaints)} of them:\n" + "\n".join(complaints[:12])
    assert statuses[200] > 20 and statuses[400] > 20, statuses
    assert server.mariadb.run("CHECKSUM TABLE orders, customers, products, articles, employees", database) == before
    assert server.get("customers?id=eq.7").status == 200
