"""The database killed, stopped, restarted, out of connections, locked and altered while it is read and written.

ROOST_TORTURE=full runs 1,000 sequences, ROOST_TORTURE_SEED=N others; scripts/mysql_torture.py runs any number of them."""

import os

from mysql_torture import OPTIONS, World

FULL = os.environ.get("ROOST_TORTURE") == "full"
SEED = os.environ.get("ROOST_TORTURE_SEED", "6")


def test_sequences(own_mariadb, start_rest):
    world = World(own_mariadb(*OPTIONS), start_rest, SEED)
    world.run(1000 if FULL else 14)
    print(dict(world.load.book.outcomes), f"longest recovery {world.longest_s:.2f} s", world.events)
    outcomes = world.load.book.outcomes
    assert outcomes["read"] > 100 and outcomes["POST done"] > 100, outcomes  # it was no torture of a server that refuses all
