#!/usr/bin/env python3
"""Tortures a MariaDB under a server that shows its tables, and checks every answer: seeded sequences of kills, stops, restarts,
exhausted connections, deadlocks, and tables altered and dropped (tests/integration/mysql/mysql_torture.py).

    scripts/mysql_torture.py --sequences 1000 --seed 6
    scripts/mysql_torture.py --first 417 --sequences 1 --seed 6     # that one again

The exit code is 1 when an answer was wrong or mixed, a write was lost, done twice or done though it was refused, a transaction was
done in part, or the server did not recover by itself; then the data stays where --folder says.
"""

import argparse
import pathlib
import shutil
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests/integration/mysql"), str(ROOT / "tests/integration")]

import roost_server  # noqa: E402
import sample_schema  # noqa: E402
from general_log import Report  # noqa: E402
from mariadb_server import MISSING, MariaDb, ends_with_us, template  # noqa: E402
from mysql_torture import OPTIONS, World  # noqa: E402
from rest_server import RestServer, rest_config  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=pathlib.Path, default=ROOT / "server")
    parser.add_argument("--sequences", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", default="6")
    parser.add_argument("--writers", type=int, default=3)
    parser.add_argument("--driver", default="auto", help="the configuration's mysql.driver")
    parser.add_argument("--events", default="", help="of these kinds alone, with commas (tests/integration/mysql/mysql_torture_events.py)")
    parser.add_argument("--tcp", action="store_true", help="not by the Unix-domain socket")
    parser.add_argument("--folder", type=pathlib.Path, help="where the server's configuration and log go")
    arguments = parser.parse_args()
    if MISSING:
        sys.exit(MISSING)
    roost_server.BINARY = arguments.server.resolve()
    folder = arguments.folder or pathlib.Path(tempfile.mkdtemp(prefix="roost-torture-"))
    mariadb = MariaDb.copied(template(folder / "mariadb", sample_schema.fill_sample), OPTIONS)
    servers = []

    def start(server, **more):
        servers.append(RestServer(folder / "server", server, rest_config(server, **more), before_exec=ends_with_us))
        return servers[-1]

    begin, worst = time.monotonic(), 0
    try:
        world = World(mariadb, start, arguments.seed, arguments.writers, [kind for kind in arguments.events.split(",") if kind],
                      driver=arguments.driver, **({"unix_socket": None} if arguments.tcp else {}))

        def report(number, at):
            if (number + 1 - arguments.first) % 25 == 0:
                print(f"{number + 1 - arguments.first} sequences, {time.monotonic() - begin:.0f} s, {sum(at.load.book.outcomes.values())} requests, "
                      f"longest recovery {at.longest_s:.2f} s", flush=True)

        world.run(arguments.sequences, arguments.first, report)
        for server in servers:
            server.stop()
        for name, count in sorted(world.load.book.outcomes.items()):
            print(f"  {count:8} {name}")
        print("events: " + ", ".join(f"{count} {name}" for name, count in sorted(world.events.items())))
        said = Report(mariadb.general_log)
        print(f"the database was told {said}")
        for problem in said.problems[:20]:
            print(problem)
        worst = 1 if said.problems else 0
    except AssertionError as problem:
        print(f"{problem}\n{servers[0].log[-1500:] if servers else ''}")
        worst = 1
        shutil.copy(mariadb.general_log, folder / "general.log")
    finally:
        for server in servers:
            if server.process.poll() is None:
                server.kill()
        mariadb.end()
        if worst == 0 and arguments.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
        elif worst:
            print(f"the server's log: {folder / 'server/logs'}; what the database was told: {folder / 'general.log'}")
    return worst


if __name__ == "__main__":
    sys.exit(main())
