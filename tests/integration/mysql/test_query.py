"""mysql_query: statements of the configuration with parameters of requests."""

import re

import pytest

from raw_http import ProtocolError, request
from rest_server import SANITIZED, SlowWire, rss_anon, writable
from roost_server import eventually

QUERIES = {
    "/q/customers/{country}": {
        "sql": "SELECT id, name FROM customers WHERE country = :country AND id > :after ORDER BY id LIMIT :limit",
        "parameters": {
            "country": {"max_length": 2, "min_length": 2},
            "after": {"type": "integer", "default": 0},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 2},
        },
    },
    "/q/customer": {
        "sql": "SELECT id, name, born FROM customers WHERE id = :id",
        "parameters": {"id": {"type": "integer"}},
        "result": "row",
    },
    "/q/total": {"sql": "SELECT SUM(total) FROM orders WHERE status = :status",
                 "parameters": {"status": {"enum": ["open", "paid"]}}, "result": "value", "cache_s": 60, "decimal": "string"},
    "/q/echo": {
        "sql": "SELECT :s AS s, :n AS n, :d AS d, :b AS b, :t AS t, :j AS j",
        "methods": ["GET", "POST"],
        "parameters": {
            "s": {"default": None, "nullable": True}, "n": {"type": "number", "default": None}, "d": {"type": "decimal", "default": None},
            "b": {"type": "boolean", "default": None}, "t": {"type": "datetime", "default": None}, "j": {"type": "json", "default": None},
        },
        "result": "row",
    },
    "/q/born": {"sql": "SELECT id, NULL AS born FROM customers WHERE id = :id", "parameters": {"id": {"type": "integer"}}},
    "/q/large": {"sql": "SELECT seq, REPEAT('x', 1000) AS text FROM seq_1_to_1000000", "max_rows": 0},
    "/q/long": {"sql": "SELECT seq, REPEAT('x', 100) AS text FROM seq_1_to_20000", "max_rows": 20000, "methods": ["GET", "POST"]},
    "/q/cut": {"sql": "SELECT seq, REPEAT('x', 100) AS text FROM seq_1_to_20000", "max_rows": 5000},
    "/q/kept": {"sql": "SELECT seq, REPEAT('x', 100) AS text FROM seq_1_to_20000", "max_rows": 0, "max_answer_bytes": 65536, "cache_s": 5},
    "/q/object": {"sql": "SELECT REPEAT('x', 100000) AS text", "result": "row", "max_answer_bytes": 65536},
    "/q/many": {"sql": "SELECT seq FROM seq_1_to_100", "max_rows": 10},
}
WRITES = {
    "/q/note": {
        "sql": "INSERT INTO notes (author, text) VALUES (:author, :text)",
        "parameters": {"author": {"max_length": 40}, "text": {}},
        "result": "affected",
    },
    "/q/move": {
        "sql": [
            "UPDATE accounts SET balance = balance - :amount WHERE id = :source",
            "UPDATE accounts SET balance = balance + :amount WHERE id = :target",
        ],
        "parameters": {"amount": {"type": "decimal", "minimum": 0.01}, "source": {"type": "integer"}, "target": {"type": "integer"}},
        "result": "none",
    },
    "/q/renamed": {
        "sql": ["UPDATE notes SET text = :text WHERE id = :id", "SELECT id, text FROM notes WHERE id = :id"],
        "methods": ["PUT"],
        "parameters": {"text": {}, "id": {"type": "integer", "from": "query"}},
        "result": "row",
    },
}


def routes(queries):
    return [{"path": path, "mysql_query": query} for path, query in queries.items()]


@pytest.fixture
def query(rest):
    return rest(routes=routes(QUERIES))


def test_values_come_from_path_and_query(query):
    answer = query.get("customers/de", path="/q/")
    assert (answer.status, answer.json()) == (200, [{"id": 3, "name": "Customer 3"}, {"id": 6, "name": "Customer 6"}])
    answer = query.get("customers/ch?after=100&limit=1", path="/q/")
    assert answer.json() == [{"id": 101, "name": "Customer 101"}]
    assert query.get("customers/xx", path="/q/").json() == []


def test_forms_of_rows(query):
    assert query.get("customers/de", path="/q/", Accept="text/csv").body == b"id,name\r\n3,Customer 3\r\n6,Customer 6\r\n"
    lines = query.get("customers/de", path="/q/", Accept="application/x-ndjson").body
    assert lines == b'{"id":3,"name":"Customer 3"}\n{"id":6,"name":"Customer 6"}\n'
    one = query.get("customers/de?limit=1", path="/q/", Accept="application/vnd.pgrst.object+json")
    assert one.json() == {"id": 3, "name": "Customer 3"}
    assert query.get("customers/de", path="/q/", Accept="application/vnd.pgrst.object+json").status == 406
    assert query.get("customers/de", path="/q/", Accept="image/png").status == 406


def test_one_row_or_none(query):
    assert query.get("customer?id=7", path="/q/").json() == {"id": 7, "name": "Customer 7", "born": "1951-11-11"}
    answer = query.get("customer?id=7000", path="/q/")
    assert (answer.status, answer.json()["code"]) == (404, "no_row")


def test_a_value_that_is_kept(query):
    first = query.get("total?status=open", path="/q/")
    assert first.status == 200 and isinstance(first.json(), str)
    assert first["Cache-Control"] == "max-age=60"
    again = query.get("total?status=open", path="/q/", If_None_Match=first["ETag"])
    assert (again.status, again.body) == (304, b"")
    assert query.get("total?status=paid", path="/q/").json() != first.json()


def test_kept_answers_do_not_ask_the_database_again(start_rest, database):
    server = start_rest(routes=routes({"/q/count": {"sql": "SELECT COUNT(*) FROM notes", "result": "value", "cache_s": 3600},
                                       "/q/now": {"sql": "SELECT COUNT(*) FROM notes", "result": "value"}}),
                        database=database, worker_processes=1)
    assert server.get("count", path="/q/").json() == 0
    server.mariadb.run("INSERT INTO notes (text) VALUES ('one')", database)
    assert server.get("now", path="/q/").json() == 1
    assert server.get("count", path="/q/").json() == 0


def test_how_old_a_kept_answer_is(start_rest, database):
    """So that nobody keeps it for longer than it is good."""
    server = start_rest(routes=routes({"/q/count": {"sql": "SELECT COUNT(*) FROM notes", "result": "value", "cache_s": 3600},
                                       "/q/now": {"sql": "SELECT COUNT(*) FROM notes", "result": "value"}}),
                        database=database, worker_processes=1)
    first = server.get("count", path="/q/")
    assert "Age" not in first and "Age" not in server.get("now", path="/q/")

    def ages(**fields):
        answer = server.get("count", path="/q/", **fields)
        assert answer["Cache-Control"] == "max-age=3600"
        return answer.status, int(answer["Age"])

    assert ages()[1] in (0, 1, 2)
    assert eventually(lambda: ages()[1] >= 2, "it grows older")
    status, age = ages(If_None_Match=first["ETag"])
    assert status == 304 and 2 <= age < 3600
    assert server.head("count", path="/q/")["Age"]


@pytest.mark.parametrize("body, expected", [
    ({"s": "größe", "n": 1.5, "b": True}, {"s": "größe", "n": 1.5, "d": None, "b": 1, "t": None, "j": None}),
    (b'{"s": null, "d": 12345678901234567890.50}', {"s": None, "d": "12345678901234567890.50"}),
    ({"j": {"a": [1, None]}}, {"j": '{"a":[1,null]}'}),
    ({"t": "2026-11-20T22:13:05Z"}, {"t": "2026-11-20 22:13:05"}),
])
def test_values_of_a_json_body(query, body, expected):
    answer = query.post("echo", body, path="/q/")
    assert answer.status == 200, answer.body
    said = answer.json()
    assert {key: said[key] for key in expected} == expected


def test_values_of_a_form(query):
    answer = query.post("echo", b"s=a+b%26c&n=2", path="/q/", Content_Type="application/x-www-form-urlencoded")
    assert answer.json()["s"] == "a b&c" and answer.json()["n"] == 2


@pytest.mark.parametrize("target, code, detail", [
    ("customers/deu", "bad_value", 'parameter "country": has more than 2 characters'),
    ("customers/de?limit=0", "bad_value", 'parameter "limit": is less than 1'),
    ("customers/de?limit=51", "bad_value", 'parameter "limit": is greater than 50'),
    ("customers/de?limit=1&limit=2", "repeated_parameter", 'parameter "limit": stands twice'),
    ("customers/de?nolimit=1", "unknown_parameter", 'there is no parameter "nolimit"'),
    ("customers/de?country=at", "unknown_parameter", 'there is no parameter "country"'),
    ("customers/de?limit=%zz", "bad_encoding", "a '%' without two hexadecimal digits behind it"),
    ("customer", "missing_parameter", 'parameter "id": is missing'),
    ("total?status=hidden", "bad_value", 'parameter "status": is none of open, paid'),
])
def test_what_is_refused(query, target, code, detail):
    answer = query.get(target, path="/q/")
    assert (answer.status, answer.json()["code"], answer.json()["detail"]) == (400, code, detail)


@pytest.mark.parametrize("value", ["x", "1.5", "9223372036854775808", "", "1e3", "0x10", " 1"])
def test_an_integer_is_one(query, value):
    from urllib.parse import quote
    answer = query.get("customer?id=" + quote(value), path="/q/")
    assert answer.status == 400 and answer.json()["detail"].startswith('parameter "id": ')


@pytest.mark.parametrize("body, fields, status", [
    (b"{", {}, 400), (b"[]", {}, 400), (b'[{"s": "a"}]', {}, 400), (b'{"s": "a", "s": "b"}', {}, 400), (b'{"x": 1}', {}, 400),
    (b'{"n": null}', {}, 400), (b'{"n": "x"}', {}, 400), (b"s=a", {"Content_Type": "text/plain"}, 415),
    pytest.param(b'{"s": "' + b"a" * 70000 + b'"}', {}, 413, id="large"),
])
def test_bodies_that_are_refused(query, body, fields, status):
    answer = query.post("echo", body, path="/q/", **fields)
    assert answer.status == status, answer.body
    assert answer["Content-Type"] == "application/problem+json"


def test_too_many_rows_are_the_servers_fault(query):
    answer = query.get("many", path="/q/")
    assert (answer.status, answer.json()["code"]) == (500, "too_many_rows")


def test_methods(query):
    answer = query.send("DELETE", "echo", path="/q/")
    assert (answer.status, answer["Allow"]) == (405, "GET, HEAD, POST, OPTIONS")
    answer = query.send("OPTIONS", "echo", path="/q/")
    assert (answer.status, answer["Allow"]) == (204, "GET, HEAD, POST, OPTIONS")
    answer = query.head("customer?id=7", path="/q/")
    assert answer.status == 200 and answer.body == b"" and int(answer["Content-Length"]) > 10


def test_statements_that_write(start_rest, database):
    server = start_rest(routes=routes(WRITES), database=database)
    answer = server.post("note", {"author": "Ada", "text": "hello"}, path="/q/")
    assert answer.json() == {"affected": 1, "insert_id": 1}
    assert server.mariadb.value("SELECT CONCAT(author, text) FROM notes", database) == "Adahello"
    answer = server.put("renamed?id=1", {"text": "good bye"}, path="/q/")
    assert answer.json() == {"id": 1, "text": "good bye"}
    assert server.get("note", path="/q/").status == 405


def test_several_statements_happen_all_or_not_at_all(start_rest, database):
    server = start_rest(routes=routes(WRITES), database=database)
    balance = "SELECT GROUP_CONCAT(balance ORDER BY id) FROM accounts WHERE id < 3"
    assert server.post("move", {"amount": 4, "source": 1, "target": 2}, path="/q/").status == 204
    assert server.mariadb.value(balance, database) == "6.00,24.00"
    if "checks" in server.mariadb.has:
        answer = server.post("move", {"amount": 25, "source": 2, "target": 1}, path="/q/")  # would leave less than nothing
        assert (answer.status, answer.json()["code"]) == (400, "check_violation")
    answer = server.post("move", {"amount": 99999995, "source": 3, "target": 1}, path="/q/")  # more than the column holds
    assert answer.status == 400
    assert server.mariadb.value(balance, database) == "6.00,24.00"


def test_a_mistake_in_the_statement_is_the_servers_fault_and_told_in_its_log(start_rest):
    mistakes = {"wrong": ("SELECT FROM WHERE", "1064 (42000)", "SQL syntax"),
                "gone": ("SELECT * FROM nowhere WHERE id = :id", "1146 (42S02)", "nowhere' doesn't exist"),
                "column": ("SELECT colour FROM customers WHERE id = :id", "1054 (42S22)", "Unknown column")}
    server = start_rest(routes=routes({f"/q/{name}": {"sql": sql, "parameters": {"id": {}} if ":id" in sql else {}}
                                       for name, (sql, _, _) in mistakes.items()}))
    for name, (sql, number, message) in mistakes.items():
        for _ in range(3):
            answer = server.get(name + ("?id=4711" if ":id" in sql else ""), path="/q/")
            assert (answer.status, answer.json()["code"], answer.get("Retry-After")) == (500, "database_error", None)
            assert b"SELECT" not in answer.body and b"nowhere" not in answer.body
        begins = f"mysql_query /q/{name}: the database refuses with {number}, answered 500 database_error: "
        eventually(lambda begins=begins: begins in server.log, "it is told")
        (line,) = [line for line in server.log.splitlines() if begins in line]
        assert message in line and "; the statement: " + sql.replace(":id", "?") in line and "4711" not in line


def test_nobody_knows_what_became_of_a_write_that_hangs(start_rest, own_mariadb):
    mariadb = own_mariadb()
    name = mariadb.new_database(lambda client: client.run("CREATE TABLE notes (id INT, text TEXT)"))
    insert = {"parameters": {"id": {"type": "integer"}}, "result": "affected"}
    server = start_rest(["notes"], server=mariadb, database=name, mysql={"query_timeout_ms": 500, "max_connections": 2}, wait=False, routes=routes({
        "/q/one": {"sql": "INSERT INTO notes (id) VALUES (:id)", **insert},
        "/q/two": {"sql": ["INSERT INTO notes (id) VALUES (:id)", "UPDATE notes SET text = 'x' WHERE id = :id"], **insert},
    }))
    for path in ("one", "two"):
        assert server.post(path, {"id": 1}, path="/q/").status == 200
    mariadb.pause()
    one = server.post("one", {"id": 2}, path="/q/")
    two = server.post("two", {"id": 3}, path="/q/")
    mariadb.resume()
    assert (one.status, one.json()["code"]) == (503, "outcome_unknown")
    assert "Retry-After" not in one
    assert two.json()["code"] in ("query_timeout", "pool_timeout", "database_unavailable")  # its transaction had not begun


def test_who_leaves_ends_what_runs(start_rest, database):
    server = start_rest(routes=routes({"/q/sleep": {"sql": "SELECT SLEEP(:s)", "methods": ["GET", "POST"],
                                                    "parameters": {"s": {"type": "integer"}}}}), database=database)
    sleeping = f"SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = '{database}' AND INFO LIKE 'SELECT SLEEP%'"
    for method in ("GET", "HEAD", "POST"):
        body = b'{"s": 20}'
        head = f"{method} /q/sleep{'' if method == 'POST' else '?s=20'} HTTP/1.1\r\nHost: localhost\r\n"
        if method == "POST":
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        with server.connect() as connection:
            connection.send(head.encode() + b"\r\n" + (body if method == "POST" else b""))
            eventually(lambda: server.mariadb.value(sleeping, database) in (1, "1"), "it sleeps")
        eventually(lambda: server.mariadb.value(sleeping, database) in (0, "0"), f"nobody sleeps any more ({method})")


def test_rows_without_their_nulls(query):
    answer = query.get("echo?n=1", path="/q/", Accept="application/json")
    assert answer.json()["s"] is None
    rows = query.get("customers/de?after=20", path="/q/", Accept="application/vnd.pgrst.array+json;nulls=stripped")
    assert rows.status == 200 and "nulls=stripped" in rows["Content-Type"]
    stripped = query.get("born?id=1", path="/q/", Accept="application/vnd.pgrst.array+json;nulls=stripped").json()
    assert stripped == [{"id": 1}]


@pytest.mark.parametrize("result, accept, status, body", [
    ("row", "*/*", 200, rb'{"seq":\d+}'), ("value", "*/*", 200, rb"\d+"), ("rows", "application/vnd.pgrst.object+json", 406, b".*PGRST116.*")])
def test_who_wants_one_row_does_not_wait_for_the_others(start_rest, result, accept, status, body):
    endless = {"sql": "SELECT a.seq FROM seq_1_to_1000000 a, seq_1_to_1000000 b", "result": result}
    server = start_rest(routes=routes({"/q/endless": endless, "/q/one": {"sql": "SELECT 1", "result": "value"}}),
                        mysql={"max_connections": 1}, worker_processes=1)
    for _ in range(3):
        answer = server.get("endless", path="/q/", Accept=accept)
        assert answer.status == status and re.fullmatch(body, answer.body)
        assert server.get("one", path="/q/").body == b"1"


@pytest.mark.parametrize("target", ["kept", "object", "many"])
def test_large_answers_are_refused(query, target):
    answer = query.get(target, path="/q/")
    assert (answer.status, answer.json()["code"]) == (500, "too_many_rows")
    assert query.get("customer?id=7", path="/q/").status == 200


def test_rows_go_out_as_they_come(query):
    answer = query.get("long", path="/q/")
    assert (answer.status, answer["Transfer-Encoding"], "ETag" in answer) == (200, "chunked", False)
    rows = answer.json()
    assert [row["seq"] for row in rows] == list(range(1, 20001)) and rows[-1]["text"] == "x" * 100
    assert query.post("long", {}, path="/q/").body == answer.body
    lines = query.get("long", path="/q/", Accept="text/csv").body.split(b"\r\n")
    assert (lines[0], lines[-2][:6], lines[-1], len(lines)) == (b"seq,text", b"20000,", b"", 20002)
    assert query.head("long", path="/q/").status == 200
    one = query.get("long", path="/q/", Accept="application/vnd.pgrst.object+json")
    assert one.json()["code"] == "PGRST116"


def test_too_many_rows_cut_an_answer_off_that_has_begun(query):
    with query.connect() as wire:
        wire.send(request("/q/cut"))
        assert wire.read_head().status == 200
        with pytest.raises((ProtocolError, ConnectionResetError)):
            wire._read_chunked()
    eventually(lambda: "mysql_query /q/cut: more than max_rows, 5000: the answer is cut off" in query.log, "a line in the log")


def test_many_slow_readers_take_little_memory(start_rest, mariadb):
    """Of an answer of a gigabyte each."""
    server = start_rest(routes=routes({"/q/large": QUERIES["/q/large"]}), worker_processes=1, http={"send_timeout_ms": 600000},
                        mysql={"max_connections": 40, "slow_reader_ms": 0})  # however busy the machine is
    wires = []
    try:
        for count in range(40):
            wires.append(SlowWire(server.address))
            wires[-1].send(request("/q/large"))
            assert wires[-1].read_head().status == 200
            if count == 3:
                before = rss_anon(server)
        for _ in range(10):
            for wire in wires:
                wire.socket.recv(4096)
        taken = rss_anon(server) - before
    finally:
        for wire in wires:
            wire.close()
    assert SANITIZED or taken < 36 * 256 * 1024, f"{taken} bytes more than for 4"


@pytest.mark.parametrize("driver", ["auto", "threads"])
def test_a_statement_that_fails_behind_its_first_rows_cuts_the_answer_off(start_rest, driver):
    server = start_rest(routes=routes({"/q/large": QUERIES["/q/large"], "/q/one": {"sql": "SELECT 1", "result": "value"}}), worker_processes=1,
                        mysql={"max_connections": 1, "stream_timeout_ms": 700, "driver": driver})
    with SlowWire(server.address) as wire:
        wire.send(request("/q/large"))
        assert wire.read_head().status == 200
        assert server.get("one", path="/q/").json() == 1  # once the other has lost its statement
        with pytest.raises((ProtocolError, ConnectionResetError)):
            wire._read_chunked()


def test_rows_that_a_write_returns_are_all_told_or_nothing_is_done(start_rest, database):
    sql = ["INSERT INTO notes (text) VALUES ('one'), ('two'), ('three')", "SELECT text FROM notes"]
    server = start_rest(routes=routes({"/q/add": {"sql": sql, "max_rows": 5}}), database=database)
    assert len(server.post("add", {}, path="/q/").json()) == 3
    answer = server.post("add", {}, path="/q/")
    assert (answer.status, answer.json()["code"]) == (500, "too_many_rows")
    assert server.mariadb.value("SELECT COUNT(*) FROM notes", database) in (3, "3")


OBJECT = {"Accept": "application/vnd.pgrst.object+json"}
ADD_TWO = "INSERT INTO notes (text) VALUES ('one'), ('two')"
ADDED = "SELECT text FROM notes"
NOTHING = "SELECT text FROM notes WHERE text = ''"
LONG = "REPEAT('x', 2000)"
SEVERAL, NO_ROW, TOO_MANY = (406, "PGRST116"), (404, "no_row"), (500, "too_many_rows")
# What is asked for, by which fields, and what is answered.
REFUSED = {
    "several": ({"sql": [ADD_TWO, ADDED]}, OBJECT, SEVERAL),
    "none": ({"sql": [ADD_TWO, NOTHING]}, OBJECT, SEVERAL),
    "no rows": ({"sql": [ADD_TWO, "UPDATE notes SET text = 'three'"]}, OBJECT, SEVERAL),
    "many": ({"sql": [ADD_TWO, ADDED], "max_rows": 1}, {}, TOO_MANY),
    "long": ({"sql": [ADD_TWO, f"SELECT {LONG} AS l"], "max_answer_bytes": 1024}, {}, TOO_MANY),
    "long row": ({"sql": [ADD_TWO, f"SELECT {LONG} AS l"], "max_answer_bytes": 1024, "result": "row"}, {}, TOO_MANY),
    "no row": ({"sql": [ADD_TWO, NOTHING], "result": "row"}, {}, NO_ROW),
    "no value": ({"sql": [ADD_TWO, NOTHING], "result": "value"}, {}, NO_ROW),
    "one statement": ({"sql": ADD_TWO}, OBJECT, SEVERAL),
    "one statement, no row": ({"sql": ADD_TWO, "result": "row"}, {}, NO_ROW),
    "a function": ({"sql": "SELECT noted(n) AS n FROM (SELECT 1 AS n UNION SELECT 2) two", "methods": ["POST"]}, OBJECT, SEVERAL),
    "a function, many": ({"sql": "SELECT noted(n) AS n FROM (SELECT 1 AS n UNION SELECT 2) two", "methods": ["POST"], "max_rows": 1}, {}, TOO_MANY),
    "a procedure": ({"sql": "CALL note_two()", "max_rows": 1}, {}, TOO_MANY),
}
REFUSED_RETURNING = {
    "several": ({"sql": ADD_TWO + " RETURNING text"}, OBJECT, SEVERAL),
    "many": ({"sql": ADD_TWO + " RETURNING text", "max_rows": 1}, {}, TOO_MANY),
    "long": ({"sql": ADD_TWO + f" RETURNING {LONG}", "max_answer_bytes": 1024, "result": "value"}, {}, TOO_MANY),
}
BOTH = b'[{"text":"one"},{"text":"two"}]'
DONE = {
    "an object": ({"sql": [ADD_TWO, "SELECT COUNT(*) AS notes FROM notes"]}, OBJECT, (200, b'{"notes":2}')),
    "no rows": ({"sql": ADD_TWO}, {}, (200, b"[]")),
    "a function": ({"sql": "SELECT noted(n) AS n FROM (SELECT 1 AS n UNION SELECT 2) two", "methods": ["POST"]}, {}, (200, b'[{"n":1},{"n":2}]')),
    "a procedure": ({"sql": "CALL note_two()"}, {}, (200, BOTH)),
    "rows that nobody asks for": ({"sql": [ADD_TWO, ADDED], "result": "none", "max_rows": 1}, OBJECT, (204, b"")),
    "without a transaction": ({"sql": [ADD_TWO, ADDED], "transaction": "off"}, OBJECT, SEVERAL),
}
DONE_RETURNING = {
    "rows": ({"sql": ADD_TWO + " RETURNING text"}, {}, (200, BOTH)),
    "a row": ({"sql": ADD_TWO + " RETURNING text", "result": "row"}, {}, (200, b'{"text":"one"}')),
    "without a transaction": ({"sql": ADD_TWO + " RETURNING text", "transaction": "off"}, OBJECT, SEVERAL),
}


def answers(start_rest, mariadb, database, cases):
    """What each of the cases is answered, and how many notes it has left."""
    if cases in (REFUSED_RETURNING, DONE_RETURNING) and "RETURNING" not in mariadb.has:
        pytest.skip("there is no RETURNING")
    mariadb.run("CREATE FUNCTION noted(n INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO notes (text) VALUES ('n'); RETURN n; END", database)
    mariadb.run(f"CREATE PROCEDURE note_two() BEGIN {ADD_TWO}; {ADDED}; END", database)
    for routine in ("FUNCTION noted", "PROCEDURE note_two"):
        mariadb.run(f"GRANT EXECUTE ON {routine} TO {mariadb.user}@localhost", database)
    server = start_rest(routes=routes({f"/q/{at}": query for at, (query, *_) in enumerate(cases.values())}), database=database)
    for at, (name, (_, fields, expected)) in enumerate(cases.items()):
        mariadb.run("DELETE FROM notes", database)
        answer = server.post(str(at), {}, path="/q/", **fields)
        body = answer.body if answer.status < 300 else answer.json()["code"]
        yield name, (answer.status, body), expected, int(mariadb.value("SELECT COUNT(*) FROM notes", database))


@pytest.mark.parametrize("cases", [REFUSED, REFUSED_RETURNING], ids=["several", "returning"])
def test_what_is_refused_is_not_done(start_rest, mariadb, database, cases):
    """Whoever is told an error does it again."""
    for name, answer, expected, notes in answers(start_rest, mariadb, database, cases):
        assert (answer, notes) == (expected, 0), name


@pytest.mark.parametrize("cases", [DONE, DONE_RETURNING], ids=["several", "returning"])
def test_what_is_answered_is_done(start_rest, mariadb, database, cases):
    for name, answer, expected, notes in answers(start_rest, mariadb, database, cases):
        assert (answer, notes) == (expected, 2), name


def test_a_limit_is_not_negative(start_rest):
    server = start_rest(routes=routes({"/q/some": {"sql": "SELECT id FROM customers ORDER BY id LIMIT :from, :count",
                                                   "parameters": {"from": {"type": "integer", "default": 0}, "count": {"type": "integer"}}}}))
    assert server.get("some?count=2", path="/q/").json() == [{"id": 1}, {"id": 2}]
    for query in ("count=-1", "count=2&from=-1"):
        refused = server.get(f"some?{query}", path="/q/")
        assert (refused.status, refused.json()["code"]) == (400, "bad_value"), refused.body


def test_rpc_by_post_reads(query):
    """As postgrest-js calls a function by itself."""
    assert query.post("customer", {"id": 7}, path="/q/").json()["name"] == "Customer 7"
    assert query.get("customer?id=7", path="/q/").json() == query.post("customer", {"id": 7}, path="/q/").json()


def test_variables_stay_with_their_request(start_rest, mariadb, database):
    """What a trigger, a function or a statement sets is nothing to the next request on the connection."""
    mariadb.run("CREATE TRIGGER keeps BEFORE INSERT ON notes FOR EACH ROW SET @secret = NEW.text", database)
    mariadb.run("CREATE FUNCTION remembers(n INT) RETURNS INT NO SQL BEGIN SET @secret = n; RETURN n; END", database)
    mariadb.run("CREATE FUNCTION recalls() RETURNS TEXT NO SQL RETURN @secret", database)
    for name in ("remembers", "recalls"):
        mariadb.run(f"GRANT EXECUTE ON FUNCTION {name} TO {mariadb.user}@localhost", database)
    server = start_rest(writable("notes", "employees"), database=database, worker_processes=1, mysql={"max_connections": 1}, routes=routes({
        "/q/sets": {"sql": "SELECT @secret := :text AS text", "parameters": {"text": {}}},
        "/q/remembers": {"sql": "SELECT remembers(:n) AS n", "parameters": {"n": {"type": "integer"}}},
        "/q/writes": {"sql": "INSERT INTO notes (text) VALUES (:text)", "parameters": {"text": {}}},
        "/q/recalls": {"sql": "SELECT recalls() AS text", "result": "value"},
        "/q/me": {"sql": "SELECT CONNECTION_ID()", "result": "value"}}))
    for path, target, body in [("/data/", "notes", {"text": "by a trigger"}), ("/data/", "notes", [{"text": "one"}, {"text": "two"}]),
                               ("/q/", "writes", {"text": "by a trigger"}), ("/q/", "sets", {"text": "by itself"}), ("/q/", "remembers", {"n": 7})]:
        assert server.post(target, body, path=path, Prefer="return=representation").status in (200, 201), target
        assert server.get("recalls", path="/q/").json() is None, target
    # A connection that nothing is left in is kept.
    first = server.get("me", path="/q/").json()
    assert server.post("employees", {"id": 900, "name": "n"}).status == 201
    assert server.patch("employees?id=eq.900", {"name": "m"}).status == 204
    assert server.put("employees?id=eq.900", {"name": "p"}).status == 204
    assert server.delete("employees?id=eq.900").status == 204
    assert server.get("employees?select=id,employees!boss_id(name)&limit=3", Prefer="count=exact").status in (200, 206)
    assert server.get("me", path="/q/").json() == first


def test_slow_statements_are_told(start_rest):
    server = start_rest(mysql={"slow_statement_ms": 50}, routes=routes({
        "/q/slow": {"sql": "SELECT SLEEP(0.2), :secret AS s", "parameters": {"secret": {}}}}) + [{"path": "/metrics", "metrics": {}}])
    assert server.get("slow?secret=hush", path="/q/").status == 200
    eventually(lambda: "mysql: a slow statement, ms=" in server.log, "a line in the log")
    assert "SELECT SLEEP(0.2), ? AS s" in server.log and "hush" not in server.log
    assert "roost_mysql_slow_statements_total 1" in server.get("metrics", path="/").body.decode()


def test_a_slow_reader_is_no_slow_statement(start_rest):
    server = start_rest(mysql={"slow_statement_ms": 300, "max_connections": 1, "slow_reader_ms": 400}, worker_processes=1, routes=routes({
        "/q/large": QUERIES["/q/large"], "/q/one": {"sql": "SELECT 1", "result": "value"}}) + [{"path": "/metrics", "metrics": {}}])
    with SlowWire(server.address) as wire:
        wire.send(request("/q/large"))
        assert wire.read_head().status == 200
        assert server.get("one", path="/q/").json() == 1  # once the other has lost its statement
    assert "roost_mysql_slow_readers_total 1" in server.get("metrics", path="/").body.decode()
    assert "a slow statement" not in server.log
