"""Oracle's MySQL in MariaDB's place: ROOST_TEST_MYSQL names the socket of a running one, whose root has no password.

Only what asks the shared server is tried on it (scripts/mysql_oracle.py says how one is had). The sample is the same but for columns
that a version does not have. MariaDb.has says what each of the servers has, by name; a test that stands on it asks for it.
"""

import os
import re

from mariadb_client import Client
from mariadb_server import FIXTURE, PASSWORD, USER, MariaDb

SOCKET = os.environ.get("ROOST_TEST_MYSQL")
LENGTHS = [5, 10, 15, 20, 60, 100, 200, 300, 2000, 5000, 20000, 1000000]
SEQUENCES = "sample_sequences"  # a database with tables named as MariaDB's sequences are
# What tests say, and what MySQL is told instead.
CHANGES = [(r"\bseq_1_to_(\d+)", rf"{SEQUENCES}.seq_1_to_\1"), (r" t_uuid UUID, t_inet6 INET6,", ""),
           (r" t_uuid = '[^']*',\s*t_inet6 = '[^']*',", ""), (r"'-838:59:59\.999'", "'-838:59:59'"),
           (r"'2038-01-19 03:14:07\.999'", "'2038-01-19 03:14:07.499'"), (r" COLLATE utf8mb4_nopad_bin", " COLLATE utf8mb4_0900_bin")]
# Where the first version that has it is newer than what may be tested.
SINCE = {
    (8, 0, 16): ([
        "checks",                 # read before, and not heeded
        "names of foreign keys",  # an account without further rights is not told which one refuses a row
        "views' own collations",  # NOT (column <> ?) on a view that compares the same column is error 1267
        "few deadlocks",          # merges of the same new row, under a `where`
    ], []),
    (8, 0, 17): ([], [(r" COLLATE utf8mb4_0900_bin", " COLLATE utf8mb4_0900_as_cs")]),
    (8, 0, 23): ([], [(r", t_hidden INT INVISIBLE DEFAULT 7", "")]),
}
USERS = [f"DROP USER IF EXISTS {FIXTURE}@localhost, {USER}@localhost", f"CREATE USER {FIXTURE}@localhost",
         f"GRANT ALL ON *.* TO {FIXTURE}@localhost WITH GRANT OPTION", f"CREATE USER {USER}@localhost IDENTIFIED BY '{PASSWORD}'",
         f"GRANT SELECT, INSERT, UPDATE, DELETE, SHOW VIEW ON `sample%`.* TO {USER}@localhost", "SET GLOBAL time_zone = '+00:00'"]
DIGITS = "(" + " UNION ALL ".join(f"SELECT {digit} AS d" for digit in range(10)) + ")"


def make_sequences(root):
    root.run(f"CREATE DATABASE {SEQUENCES}; USE {SEQUENCES}; CREATE TABLE numbers (seq INT NOT NULL PRIMARY KEY)")
    powers = " + ".join(f"t{at}.d * {10 ** at}" for at in range(6))
    root.run(f"INSERT INTO numbers SELECT 1 + {powers} FROM " + ", ".join(f"{DIGITS} t{at}" for at in range(6)))
    for length in LENGTHS:
        root.run(f"CREATE VIEW seq_1_to_{length} AS SELECT seq FROM numbers WHERE seq <= {length}")


class Translating(Client):
    changes = ()

    def run(self, text):
        return super().run(translated(text, self.changes))


def translated(text, changes):
    for pattern, replacement in changes:
        text = re.sub(pattern, replacement, text)
    return text


class OracleMysql(MariaDb):
    """As a MariaDb, but that its process is somebody else's."""

    def __init__(self, fill):  # pylint: disable=super-init-not-called
        self.socket, self.port, self.process, self._client, self._serial = SOCKET, 3306, None, None, 0
        with Client(self.socket, "root") as root:
            self.version = tuple(int(part) for part in re.match(r"(\d+)\.(\d+)\.(\d+)", root.value("SELECT VERSION()")).groups())
            later = [what for first, what in SINCE.items() if first > self.version]
            self.has = self.has - {"RETURNING", "JSON as it was written"} - {name for names, _ in later for name in names}
            self.absent = {"t_uuid", "t_inet6"}
            self.changes = CHANGES + [change for _, changes in later for change in changes]
            for statement in USERS:
                root.run(statement)
            for name, in root.run("SHOW DATABASES LIKE 'sample%'"):
                root.run(f"DROP DATABASE `{name}`")
            make_sequences(root)
        with self.client() as client:
            fill(client)

    def client(self, database=None, user=FIXTURE, password="", timeout_s=60):
        made = Translating(self.socket, user, password, database, timeout_s=timeout_s)
        made.changes = self.changes
        return made

    def translated(self, text):
        return translated(text, self.changes)

    def end(self):
        self._close_client()
