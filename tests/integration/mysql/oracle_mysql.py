"""Oracle's MySQL in MariaDB's place: ROOST_TEST_MYSQL names the socket of a running one, whose root has no password.

Only what asks the shared server is tried on it (scripts/mysql_oracle.py says how one is had, and which tests cannot hold there).
The sample is the same but for what only MariaDB has: sequences, UUID, INET6.
"""

import os
import re

from mariadb_client import Client
from mariadb_server import FIXTURE, PASSWORD, USER, MariaDb

SOCKET = os.environ.get("ROOST_TEST_MYSQL")
SEQUENCE = r"FROM (WITH RECURSIVE s (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM s WHERE seq < \1) SELECT seq FROM s) AS seq_1_to_\1"
CHANGES = [(r"FROM seq_1_to_(\d+)", SEQUENCE), (r" t_uuid UUID, t_inet6 INET6,", ""), (r" t_uuid = '[^']*',\s*t_inet6 = '[^']*',", ""),
           (r"'-838:59:59\.999'", "'-838:59:59'"), (r"'2038-01-19 03:14:07\.999'", "'2038-01-19 03:14:07.499'")]
USERS = [f"DROP USER IF EXISTS {FIXTURE}@localhost, {USER}@localhost", f"CREATE USER {FIXTURE}@localhost",
         f"GRANT ALL ON *.* TO {FIXTURE}@localhost WITH GRANT OPTION", f"CREATE USER {USER}@localhost IDENTIFIED BY '{PASSWORD}'",
         f"GRANT SELECT, INSERT, UPDATE, DELETE, SHOW VIEW ON `sample%`.* TO {USER}@localhost",
         "SET GLOBAL cte_max_recursion_depth = 2000000", "SET GLOBAL time_zone = '+00:00'"]


class Translating(Client):
    def run(self, text):
        for pattern, replacement in CHANGES:
            text = re.sub(pattern, replacement, text)
        return super().run(text)


class OracleMysql(MariaDb):
    """As a MariaDb, but that its process is somebody else's."""

    def __init__(self, fill):  # pylint: disable=super-init-not-called
        self.socket, self.port, self.process, self._client, self._serial = SOCKET, 3306, None, None, 0
        with Client(self.socket, "root") as root:
            for statement in USERS:
                root.run(statement)
            for name, in root.run("SHOW DATABASES LIKE 'sample%'"):
                root.run(f"DROP DATABASE `{name}`")
        with self.client() as client:
            fill(client)

    def client(self, database=None, user=FIXTURE, password="", timeout_s=60):
        return Translating(self.socket, user, password, database, timeout_s=timeout_s)

    def end(self):
        self._close_client()
