"""The pool: who gets a connection, what becomes of statements that last, and of a database that goes away."""

import json
import re
import signal
import threading
import time

import pytest

from pool_watch import METRICS, SLEEP, number, sleeping
from rest_server import writable
from roost_server import eventually, run_server

@pytest.fixture
def start(start_rest):
    def begin(mysql=None, routes=(), more_tables=(), **more):
        return start_rest(["products", *more_tables], mysql=mysql, routes=[SLEEP, METRICS, *routes], **more)
    return begin


@pytest.fixture(params=["loop", "threads"])
def driver(request):
    return {"driver": request.param}


class Asking(threading.Thread):
    """Asks in a thread; `answer` afterwards."""

    def __init__(self, server, target):
        super().__init__(daemon=True)
        self.server, self.target, self.answer = server, target, None
        self.start()

    def run(self):
        try:
            self.answer = self.server.ask(self.target)
        except AssertionError:  # cut off
            pass


def problem(answer, status, code):
    assert (answer.status, answer.json()["code"]) == (status, code), answer
    return answer


def test_a_statement_that_lasts_too_long_is_ended(start, mariadb, driver):
    server = start({**driver, "query_timeout_ms": 300, "max_connections": 1}, worker_processes=1)
    problem(server.ask("/sleep/30"), 504, "query_timeout")
    assert server.get("products?limit=1").status == 200  # by the same connection
    assert sleeping(mariadb) == 0
    assert number(server, "roost_mysql_killed_total") == 1
    assert number(server, "roost_mysql_connects_total") == 1


def test_who_waits_and_how_long(start, mariadb, driver):
    server = start({**driver, "max_connections": 1, "max_waiting": 1, "queue_timeout_ms": 700})
    running = Asking(server, "/sleep/1.5")
    eventually(lambda: sleeping(mariadb) == 1, "the statement runs")
    waiting = Asking(server, "/data/products?limit=1")
    eventually(lambda: number(server, "roost_mysql_waiting") == 1, "one waits")
    assert problem(server.get("products?limit=1"), 503, "pool_full")["Retry-After"]
    waiting.join()
    problem(waiting.answer, 504, "pool_timeout")
    running.join()
    assert running.answer.status == 200
    assert number(server, "roost_mysql_connections_in_use") == 0


def test_connections_are_used_again_and_never_more_than_the_cap(start, mariadb, driver):
    server = start({**driver, "max_connections": 3}, worker_processes=2)
    asking = [Asking(server, "/sleep/0.05") for _ in range(20)]
    for each in asking:
        each.join()
    assert [each.answer.status for each in asking] == [200] * 20
    assert number(server, "roost_mysql_connections") <= 3
    assert number(server, "roost_mysql_connect_failures_total") == 0


def test_a_database_that_goes_and_comes_back(start, own_mariadb, driver):
    mariadb = own_mariadb()
    server = start(driver, server=mariadb)
    assert server.get("products?limit=1").status == 200
    mariadb.kill()
    eventually(lambda: server.get("products?limit=1").status == 503, "it is missed")
    answer = problem(server.get("products?limit=1"), 503, "database_unavailable")
    assert 1 <= int(answer["Retry-After"]) <= 32
    mariadb.start()
    eventually(lambda: server.get("products?limit=1").status == 200, "it is found again", 40)


def test_connections_that_the_database_has_closed_are_not_used(start, mariadb, driver):
    server = start(driver)
    for _ in range(3):
        assert server.get("products?limit=1").status == 200
        for (thread,) in mariadb.run("SELECT id FROM information_schema.processlist WHERE user = 'roost' AND command = 'Sleep'"):
            mariadb.run(f"KILL {thread}")
    assert server.get("products?limit=1").status == 200


def test_it_ends_in_time_while_the_database_says_nothing(start, own_mariadb, driver):
    mariadb = own_mariadb()
    server = start(driver, server=mariadb)
    asking = Asking(server, "/sleep/20")
    eventually(lambda: sleeping(mariadb) == 1, "the statement runs")
    mariadb.pause()
    try:
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 12  # 2 s on a machine with nothing else to do
    finally:
        mariadb.resume()
    asking.join()


def test_a_database_that_hangs_holds_nobody_up_for_ever(start, own_mariadb, driver):
    mariadb = own_mariadb()
    server = start({**driver, "query_timeout_ms": 200, "max_connections": 2, "connect_timeout_ms": 300,
                    "queue_timeout_ms": 500}, server=mariadb)
    assert server.get("products?limit=1").status == 200
    mariadb.pause()
    try:
        began = time.monotonic()
        statuses = [server.get("products?limit=1").status for _ in range(3)]
        assert set(statuses) <= {503, 504} and time.monotonic() - began < 15
    finally:
        mariadb.resume()
    eventually(lambda: server.get("products?limit=1").status == 200, "it goes on", 40)


def test_tables_of_descriptors_per_thread(start, mariadb):
    server = start({"max_connections": 2}, accept="reuseport", fd_table="per_thread", worker_processes=2)
    assert {server.get("products?limit=1").status for _ in range(10)} == {200}
    eventually(lambda: "by threads, since fd_table is per_thread" in server.log, "it says so")


def test_what_is_off_costs_nothing(start_server, mariadb):
    server = start_server({"mysql": mariadb.config(mysql_started="off")})
    assert "mysql" not in server.log


def test_a_route_that_needs_what_is_off_is_refused(tmp_path, with_mysql):
    route = {"path": "/data/", "mysql_rest": {"tables": ["products"]}}
    path = tmp_path / "server.json"
    path.write_text(json.dumps({"http": {"sites": [{"host": ["*"], "routes": [route]}]}}))
    done = run_server("-t", "-f", path)
    assert done.returncode == 1
    assert "\"mysql_rest\" needs the database, and \"mysql.mysql_started\" is off" in done.stderr


@pytest.mark.parametrize("where, says", [("status=nex.hidden", "status"), ("status", "status"), ("status=eq.open&limit=1", "only conditions"),
                                         ("select=id", "only conditions")])
def test_a_where_that_no_schema_can_make_right_is_refused(tmp_path, with_mysql, where, says):
    route = {"path": "/data/", "mysql_rest": {"tables": ["products", {"name": "orders", "where": where}]}}
    path = tmp_path / "server.json"
    path.write_text(json.dumps({"mysql": {"mysql_started": "on"}, "http": {"sites": [{"host": ["*"], "routes": [route]}]}}))
    done = run_server("-t", "-f", path)
    assert done.returncode == 1
    assert "server.json:1:" in done.stderr and "tables[1].where: " in done.stderr and says in done.stderr.split(".where: ")[1]


def test_what_statements_mean_is_not_the_server_s_configuration(start, own_mariadb, driver):
    mariadb = own_mariadb()
    globally = {"sql_select_limit": 5, "sql_safe_updates": 1, "tx_isolation": "'READ-COMMITTED'", "completion_type": 2, "sql_auto_is_null": 1,
                "foreign_key_checks": 0, "unique_checks": 0, "check_constraint_checks": 0, "autocommit": 0, "sql_mode": "'ANSI,PAD_CHAR_TO_FULL_LENGTH'", "time_zone": "'+05:00'"}
    mariadb.run("; ".join(f"SET GLOBAL {name} = {value}" for name, value in globally.items()))
    asked = {"sql": f"SELECT {', '.join(f'@@{name} AS {name}' for name in globally)}", "result": "row"}
    server = start(driver, [{"path": "/session", "mysql_query": asked}], server=mariadb, more_tables=writable("notes"))
    ours = server.ask("/session").json()
    assert "STRICT_ALL_TABLES" in ours["sql_mode"] and "ANSI" not in ours["sql_mode"]
    assert ours == {"sql_select_limit": 2**64 - 1, "sql_safe_updates": 0, "tx_isolation": "REPEATABLE-READ", "completion_type": "NO_CHAIN",
                    "sql_auto_is_null": 0, "foreign_key_checks": 1, "unique_checks": 1, "check_constraint_checks": 1, "autocommit": 1, "sql_mode": ours["sql_mode"], "time_zone": "+00:00"}
    # The session that reads the schema, too.
    assert len(server.get("products?limit=20").json()) == 20
    assert server.patch("notes?text=eq.nobody", {"text": "n"}, Prefer="count=exact")["Content-Range"] == "*/0"


def test_sighup_makes_it_look_at_the_tables_again(start_rest, mariadb, database):
    server = start_rest(["customers"], database=database, mysql={"schema_poll_s": 0})
    mariadb.run(f"ALTER TABLE {database}.customers ADD COLUMN fresh INT NOT NULL DEFAULT 7")
    server.signal(signal.SIGHUP)
    eventually(lambda: "fresh" in server.get("customers?limit=1").json()[0], "the new column is there")
    eventually(lambda: re.search(r"SIGHUP: .* configuration is not loaded.*; a database's schema is read anew", server.log), "it says what it does")


def test_reads_go_to_the_replica_while_there_is_one(start_rest, own_mariadb, mariadb, database):
    replica = own_mariadb()
    replica.run(f"CREATE DATABASE {database}")
    replica.run("CREATE TABLE notes (id INT PRIMARY KEY, text TEXT)", database)
    replica.run("INSERT INTO notes VALUES (1, 'of the replica')", database)
    server = start_rest([{"name": "notes", "methods": ["GET", "POST"]}], database=database,
                        mysql={"replicas": [{"unix_socket": replica.socket}]})
    assert server.get("notes?select=text").json() == [{"text": "of the replica"}]
    assert server.post("notes", {"text": "of the primary"}).status == 201
    assert mariadb.value("SELECT text FROM notes", database) == "of the primary"
    assert server.get("notes?select=text").json() == [{"text": "of the replica"}]
    replica.kill()
    eventually(lambda: server.get("notes?select=text").body == b'[{"text":"of the primary"}]', "the primary reads")
    assert {server.get("notes").status for _ in range(20)} == {200}
