"""Writes that get in each other's way, or lose the database: told as it is, and nothing is done twice."""

import json
import threading
import time

from raw_http import request
from roost_server import eventually
from pool_watch import METRICS, number
from rest_server import writable

# Of the program's statements none takes long but for locks. (INNODB_TRX would tell of them with a delay.)
VICTIM = "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'roost' AND COMMAND = 'Execute' AND TIME_MS > 50"


class Asked(threading.Thread):
    """A request under way."""

    def __init__(self, server, *arguments):
        super().__init__(daemon=True)
        self.server, self.arguments, self.answer = server, arguments, None
        self.start()

    def run(self):
        self.answer = self.server.send(*self.arguments)

    def answered(self):
        self.join(30)
        return self.answer.status, self.answer.json().get("code"), self.answer.get("Retry-After")


def waits(mariadb):
    eventually(lambda: len(mariadb.run(VICTIM)) == 1, "somebody waits for a lock", 20)


def change(target, text="new"):
    return ("PATCH", f"notes?id=eq.{target}", {"text": text})


def as_batch(*operations):
    return ("POST", "batch", [{"method": method, "path": path, "body": body} for method, path, body in operations])


def as_sent(method, target, body):
    return request(f"/data/{target}", method, fields={"Content-Type": "application/json"}, body=json.dumps(body).encode())


def test_locks(own_mariadb, start_rest):
    mariadb = own_mariadb("--innodb-lock-wait-timeout=1")
    name = mariadb.new_database(lambda client: client.run(
        "CREATE TABLE notes (id INT PRIMARY KEY, text TEXT); INSERT INTO notes SELECT seq, 'old' FROM seq_1_to_100"))
    server = start_rest(writable("notes"), server=mariadb, database=name, options={"batch": True})
    with mariadb.client(name) as other:
        # It is the one with less to take back that the server gives up.
        other.run("START TRANSACTION; UPDATE notes SET text = 'other' WHERE id > 10")
        asked = Asked(server, *as_batch(change(1), change(50)))
        waits(mariadb)
        other.run("UPDATE notes SET text = 'other' WHERE id = 1")
        assert asked.answered() == (409, "deadlock", "1")
        other.run("COMMIT")
        assert mariadb.run("SELECT DISTINCT text FROM notes WHERE id IN (1, 50)", name) == [("other",)]

        other.run("START TRANSACTION; UPDATE notes SET text = 'locked' WHERE id = 2")
        assert Asked(server, *change(2)).answered() == (503, "lock_timeout", "1")
        assert Asked(server, *as_batch(change(3), change(2))).answered() == (503, "lock_timeout", "1")
        other.run("ROLLBACK")
    assert mariadb.run("SELECT text FROM notes WHERE id IN (2, 3)", name) == [("old",), ("old",)]
    assert server.send(*change(2)).status == 204


def test_killed(own_mariadb, start_rest):
    mariadb = own_mariadb("--innodb-lock-wait-timeout=60")
    name = mariadb.new_database(lambda client: client.run("CREATE TABLE notes (id INT PRIMARY KEY, text TEXT); INSERT INTO notes VALUES (1, 'old'), (2, 'old')"))
    server = start_rest(writable("notes"), server=mariadb, database=name, options={"batch": True}, mysql={"query_timeout_ms": 20000})
    with mariadb.client(name) as other:
        other.run("START TRANSACTION; UPDATE notes SET text = 'other' WHERE id = 1")
        for arguments, code in [(change(1), "outcome_unknown"), (as_batch(change(2), change(1)), "database_unavailable")]:
            asked = Asked(server, *arguments)
            waits(mariadb)
            mariadb.run(f"KILL CONNECTION {mariadb.value(VICTIM)}")
            assert asked.answered()[:2] == (503, code)
        # Who leaves takes the statement along.
        for arguments in (change(1), as_batch(change(2), change(1))):
            with server.connect() as wire:
                wire.send(as_sent(*arguments))
                waits(mariadb)
            eventually(lambda: not mariadb.run(VICTIM), "the statement is killed", 20)
        other.run("ROLLBACK")
    assert mariadb.run("SELECT text FROM notes", name) == [("old",), ("old",)]
    assert server.send(*as_batch(change(2), change(1))).status == 200
    assert mariadb.run("SELECT text FROM notes", name) == [("new",), ("new",)]


def test_forbidden_and_altered(own_mariadb, start_rest):
    mariadb = own_mariadb()
    name = mariadb.new_database(lambda client: client.run("CREATE TABLE notes (id INT PRIMARY KEY AUTO_INCREMENT, text TEXT)"))
    server = start_rest(writable("notes", alias="slips"), server=mariadb, database=name, mysql={"schema_poll_s": 3600})

    def is_told(number, code, statement):
        eventually(lambda: f'mysql_rest notes as "slips": the database refuses with {number}, answered {code}: ' in server.log, "it is told")
        assert f"; the statement: {statement} INTO `notes` (" in server.log and "secret" not in server.log

    mariadb.run("ALTER TABLE notes CHANGE text body TEXT, ADD COLUMN more INT", name)
    refused = server.post("slips", {"text": "secret"})
    assert (refused.status, refused.json()["code"], refused["Retry-After"]) == (503, "schema_changed", "1")
    is_told("1054 (42S22)", "503 schema_changed", "INSERT")
    eventually(lambda: server.post("slips", {"body": "secret", "more": 1}).status == 201, "the schema is read again", 20)
    rows = mariadb.value("SELECT COUNT(*) FROM notes", name)
    mariadb.run(f"SET GLOBAL read_only = 1")
    refused = server.post("slips", {"body": "secret"})
    assert (refused.status, refused.json()["code"]) == (503, "database_read_only")
    is_told("1290 (HY000)", "503 database_read_only", "INSERT")
    mariadb.run(f"SET GLOBAL read_only = 0; REVOKE INSERT ON `sample%`.* FROM roost@localhost")
    for (connection,) in mariadb.run("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'roost'"):
        mariadb.run(f"KILL CONNECTION {connection}")
    eventually(lambda: server.get("slips").status == 200, "there are new connections", 20)
    refused = server.post("slips", {"body": "secret"})
    assert (refused.status, refused.json()["code"], refused.json()["sqlstate"]) == (403, "forbidden", "42000")
    is_told("1142 (42000)", "403 forbidden", "INSERT")
    assert mariadb.value("SELECT COUNT(*) FROM notes", name) == rows


def test_what_is_written_is_told_though_its_client_has_left(start_rest, database):
    route = {"path": "/sub/{channel}", "push_subscribe": {"transports": ["sse"]}}
    server = start_rest(writable("notes", publish="news"), database=database, routes=[route, METRICS], options={"batch": True})
    note = ("POST", "notes", {"text": "left"})
    with server.connect() as stream:
        stream.send(request("/sub/news", fields={"Accept": "text/event-stream"}))
        heard = stream.socket.makefile("rb")
        assert b" 200 " in heard.readline()
        for i in range(60):
            with server.connect() as wire:
                wire.send(as_sent(*(as_batch(note, note) if i % 3 == 0 else note)))
                time.sleep(i % 8 * 0.0003)  # some leave before, some while, some after it is written
        eventually(lambda: number(server, "roost_mysql_connections_in_use") == 0, "all have ended")
        last = server.post("notes", {"text": "last"}, Prefer="return=representation").json()[0]["id"]
        told = []
        while last not in told:
            line = heard.readline()
            assert line, told
            if line.startswith(b"data: "):
                told += [row["id"] for row in json.loads(line[6:])["rows"]]
    assert sorted(told) == [int(row) for (row,) in server.mariadb.run("SELECT id FROM notes ORDER BY id", database)]
