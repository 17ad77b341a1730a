#!/usr/bin/env python3
"""Lets @supabase/postgrest-js, unmodified, read and write tables over a server of its own, and prints what did not work.

Starts a MariaDB with the tests' sample, the server over it, and mysql_clients.mjs in Node (20 or newer). The package comes from npm
and goes to --packages. The exit code is 1 when a case failed.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
for folder in ("tests/integration/mysql", "tests/integration"):
    sys.path.insert(0, str(ROOT / folder))

from push_clients import npm  # noqa: E402

PACKAGE = "@supabase/postgrest-js"
RPC = {
    "path": "/data/rpc/customers_of",
    "mysql_query": {
        "sql": "SELECT id, name FROM customers WHERE country = :country ORDER BY id LIMIT :most",
        "parameters": {"country": {"max_length": 2}, "most": {"type": "integer", "minimum": 0, "default": 100}},
    },
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=ROOT / "build/release/bin/server", type=pathlib.Path, help="the server to ask")
    parser.add_argument("--packages", default=pathlib.Path.home() / ".cache/roost-packages", type=pathlib.Path, help="where packages from npm go")
    arguments = parser.parse_args()

    os.environ["ROOST_SERVER"] = str(arguments.server.resolve())  # read when the tests' modules are
    import sample_schema
    from mariadb_server import MISSING, MariaDb, template
    from rest_server import TABLES, RestServer, rest_config, writable
    if MISSING:
        sys.exit(MISSING)

    where, version = npm(arguments.packages, PACKAGE)
    with tempfile.TemporaryDirectory(prefix="roost-clients-") as folder:
        folder = pathlib.Path(folder)
        mariadb = MariaDb.copied(template(folder / "template", sample_schema.fill_sample))
        try:
            server = RestServer(folder / "server", mariadb, rest_config(mariadb, writable(*TABLES), routes=[RPC]))
            try:
                host, port = server.address[:2]
                print(f"{PACKAGE} {version} over {arguments.server}")
                return subprocess.run(["node", ROOT / "scripts/mysql_clients.mjs", where / "dist/index.mjs", f"http://{host}:{port}/data"], check=False).returncode
            finally:
                server.stop()
        finally:
            mariadb.end()


if __name__ == "__main__":
    sys.exit(main())
