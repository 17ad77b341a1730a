"""Rows by GET: forms, heads, ranges, counts, tags, and problems."""

import csv
import io
import json
import threading

import pytest

from roost_server import eventually

PROBLEM = "application/problem+json"
NO_ROWS = "The result contains 0 rows"


def problem(response, status, code):
    """The members of an answer that says what is wrong."""
    assert (response.status, response["Content-Type"]) == (status, PROBLEM), response.body
    told = response.json()
    assert (told["type"], told["status"], told["code"]) == ("about:blank", status, code)
    assert told["title"] == response.reason and told["message"] and {"details", "hint"} <= told.keys()
    return told


def test_rows_as_json(rest):
    answer = rest().get("orders?limit=10&order=id")
    assert (answer.status, answer["Content-Type"], answer["Content-Range"]) == (200, "application/json", "0-9/*")
    assert answer["Content-Location"] == "/data/orders?limit=10&order=id"
    assert "Accept" in answer["Vary"] and answer["Cache-Control"] == "no-cache"
    rows = answer.json()
    assert [row["id"] for row in rows] == list(range(1, 11))
    assert rows[2] == {"id": 3, "customer_id": 22, "status": "hidden", "total": 10.5, "placed_at": "2026-01-01T01:51:00+00:00",
                       "note": 'note, "3"'}
    assert b'"total":10.50' in answer.body


def test_no_rows(rest):
    answer = rest().get("orders?id=eq.0")
    assert (answer.status, answer.body, answer["Content-Range"]) == (200, b"[]", "*/*")
    assert rest().get("orders?id=eq.0&select=id,status", Accept="text/csv").body == b"id,status\r\n"
    assert rest().get("orders?id=eq.0", Accept="application/x-ndjson").body == b""


@pytest.mark.parametrize("accept,content_type", [
    ("application/json", "application/json"), ("*/*", "application/json"), ("application/*", "application/json"),
    ("text/csv", "text/csv; charset=utf-8"), ("text/*", "text/csv; charset=utf-8"), ("application/x-ndjson", "application/x-ndjson"),
    ("application/ndjson", "application/ndjson"), ("text/csv;q=0.5, application/json", "application/json"),
    ("application/vnd.pgrst.object+json", "application/vnd.pgrst.object+json"), ("text/html, */*;q=0.1", "application/json")])
def test_accept(rest, accept, content_type):
    answer = rest().get("orders?id=eq.7", Accept=accept)
    assert (answer.status, answer["Content-Type"]) == (200, content_type)


@pytest.mark.parametrize("accept", ["text/html", "application/json;q=0", "image/*", "application/json;nulls=stripped"])
def test_not_acceptable(rest, accept):
    problem(rest().get("orders?id=eq.7", Accept=accept), 406, "not_acceptable")


def test_csv_is_read_by_who_knows_csv(rest):
    answer = rest().get("orders?select=id,note,status&order=id&limit=30", Accept="text/csv")
    rows = list(csv.reader(io.StringIO(answer.body.decode(), newline=""), strict=True))
    assert rows[0] == ["id", "note", "status"]
    assert rows[3] == ["3", 'note, "3"', "hidden"] and rows[1] == ["1", "", "paid"]
    assert len(rows) == 31


def test_lines(rest):
    lines = rest().get("products?select=id,tags&limit=20&order=id", Accept="application/x-ndjson").body.split(b"\n")
    assert lines[-1] == b"" and [json.loads(line)["id"] for line in lines[:-1]] == list(range(1, 21))
    assert json.loads(lines[0])["tags"] == {"colour": "green", "sizes": [1, 2]}


def test_single_object(rest):
    single = {"Accept": "application/vnd.pgrst.object+json"}
    assert rest().get("orders?id=eq.7&select=id", **single).body == b'{"id":7}'
    told = problem(rest().get("orders?id=eq.0", **single), 406, "PGRST116")
    assert told["details"] == NO_ROWS
    told = problem(rest().get("orders?id=lt.5", **single), 406, "PGRST116")
    assert "several" in told["details"]


def test_without_nulls(rest):
    answer = rest().get("orders?id=in.(2,3)&select=id,note&order=id", Accept="application/vnd.pgrst.array+json;nulls=stripped")
    assert answer.body == b'[{"id":2},{"id":3,"note":"note, \\"3\\""}]'
    single = rest().get("orders?id=eq.2&select=id,note", Accept="application/vnd.pgrst.object+json;nulls=stripped")
    assert (single["Content-Type"], single.body) == ("application/vnd.pgrst.object+json;nulls=stripped", b'{"id":2}')


def test_types(rest, mariadb):
    rows = rest().get("every_type?order=id").json()
    expected = {
        "id": 1, "t_tinyint": -5, "t_utinyint": 200, "t_bool": True, "t_smallint": -300, "t_mediumint": 70000, "t_int": -100000,
        "t_uint": 4000000000, "t_bigint": 9007199254740993, "t_ubigint": 9007199254740993, "t_float": 1.5, "t_double": 0.1,
        "t_decimal": 12345678901234567890.0123456789, "t_bit1": True, "t_bit": 1099511627775, "t_char": "char",
        "t_varchar": 'größe "quoted" \\ 😀', "t_text": "line\nnext\ttab", "t_latin": "größe", "t_binary": "AP8AgA==",
        "t_varbinary": "3q2+7w==", "t_blob": "AAEC//4=", "t_date": "2026-11-20", "t_time": "12:34:56", "t_time3": "12:34:56.789",
        "t_datetime": "2026-11-20T22:13:05+00:00", "t_datetime6": "2026-11-20T22:13:05.123456+00:00",
        "t_timestamp": rows[0]["t_timestamp"], "t_timestamp3": rows[0]["t_timestamp3"], "t_year": 2026, "t_enum": "it's large",
        "t_set": "a,c", "t_json": {"a": [1, 2.5, None], "b": {"c": "d"}}, "t_uuid": "123e4567-e89b-12d3-a456-426655440000",
        "t_inet6": "2001:db8::1", "t_point": "AQEAAAAAAAAAAADwPwAAAAAAAABA", "t_generated": -99999}
    assert rows[0] == {column: value for column, value in expected.items() if column not in mariadb.absent}
    assert rows[1]["t_bigint"] == -9223372036854775808 and rows[1]["t_ubigint"] == 18446744073709551615
    assert rows[1]["t_time3"].startswith("-838:59:59.") and rows[1]["t_date"] == "0001-01-01" and rows[1]["t_double"] == 1.7976931348623157e308
    assert rows[1]["t_json"] is None and rows[1]["t_set"] == "" and rows[1]["t_bool"] is False and rows[1]["t_bit1"] is False
    assert {name for name, value in rows[2].items() if value is not None} == {"id"}


def test_big_numbers_as_strings(rest):
    server = rest(["every_type"], options={"bigint": "string", "decimal": "string"}, mysql={"time_zone": "+05:30"})
    row = server.get("every_type?id=eq.1").json()[0]
    assert (row["t_bigint"], row["t_decimal"], row["t_int"]) == ("9007199254740993", "12345678901234567890.0123456789", -100000)
    assert row["t_datetime"] == "2026-11-20T22:13:05+05:30" and row["t_timestamp"].endswith("+05:30")


@pytest.mark.parametrize("fields,status,content_range,count", [
    ({"Range": "0-9"}, 200, "0-9/*", 10), ({"Range": "5-"}, 200, "5-199/*", 195), ({"Range": "items=190-250"}, 200, "190-199/*", 10),
    ({"Range": "0-9", "Prefer": "count=exact"}, 206, "0-9/200", 10), ({"Prefer": "count=exact"}, 200, "0-199/200", 200),
    ({"Range": "199-", "Prefer": "count=exact"}, 206, "199-199/200", 1), ({"Range": "bytes=0-9"}, 200, "0-199/*", 200),
    ({"Range": "0-9", "Range-Unit": "rows"}, 200, "0-199/*", 200), ({"Range": "nonsense"}, 200, "0-199/*", 200),
    ({"Range": "300-", "Prefer": "count=exact"}, 416, "*/200", None), ({"Range": "9-3"}, 416, None, None)])
def test_ranges(rest, fields, status, content_range, count):
    answer = rest().send("GET", "customers?order=id&select=id", **fields)
    assert (answer.status, answer.get("Content-Range")) == (status, content_range)
    if status == 416:
        problem(answer, 416, "range_not_satisfiable")
        return
    first = int(content_range.split("-")[0])
    assert [row["id"] for row in answer.json()] == list(range(first + 1, first + 1 + count))
    assert answer.get("Preference-Applied") == fields.get("Prefer")


def test_counts(rest, mariadb):
    mariadb.run("ANALYZE TABLE orders", "sample")  # the optimizer's guess comes from its statistics
    answer = rest().get("orders?limit=1&status=eq.paid", Prefer="count=exact")
    assert (answer.status, answer["Content-Range"]) == (206, "0-0/500")
    for how in ("planned", "estimated"):
        answer = rest().get("orders?limit=1", Prefer=f"count={how}")
        assert answer["Preference-Applied"] == f"count={how}"
        total = int(answer["Content-Range"].split("/")[1])
        assert total == 2000 if how == "estimated" else 500 < total < 8000


def test_a_count_is_of_the_same_moment_as_the_rows(start_rest, database):
    server = start_rest(["notes"], database=database, worker_processes=1)
    server.mariadb.run("INSERT INTO notes (text) SELECT 'x' FROM seq_1_to_20", database)
    ends = threading.Event()

    def write():
        with server.mariadb.client(database) as client:
            while not ends.is_set():
                client.run("DELETE FROM notes ORDER BY id LIMIT 5")
                client.run("INSERT INTO notes (text) SELECT 'x' FROM seq_1_to_5")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        told = set()
        with server.connect() as wire:
            for count in ("exact", "estimated") * 100:
                answer = server.get("notes?order=id", Prefer=f"count={count}", wire=wire)
                rows = len(answer.json())
                told.add(rows)
                assert (answer.status, answer["Content-Range"]) == (200, f"0-{rows - 1}/{rows}")
    finally:
        ends.set()
        writer.join()
    assert told == {15, 20}


def test_head(rest):
    whole = rest().get("orders?limit=10")
    head = rest().head("orders?limit=10")
    assert (head.status, head.body) == (200, b"")
    assert [(name, head[name]) for name in ("Content-Length", "ETag", "Content-Range")] == \
        [(name, whole[name]) for name in ("Content-Length", "ETag", "Content-Range")]
    assert rest().head("orders?limit=1", Prefer="count=exact")["Content-Range"] == "0-0/2000"
    assert rest().head("nothing").status == 404


def test_tags(rest):
    first = rest().get("orders?id=eq.7")
    tag = first["ETag"]
    again = rest().get("orders?id=eq.7", If_None_Match=tag)
    assert (again.status, again.body, again["ETag"]) == (304, b"", tag) and "Content-Type" not in again
    assert rest().get("orders?id=eq.7", If_None_Match=f'"other", W/{tag}').status == 304
    assert rest().get("orders?id=eq.8", If_None_Match=tag).status == 200
    assert rest().head("orders?id=eq.7", If_None_Match="*").status == 304
    problem(rest().get("orders?id=eq.7", If_Match='"other"'), 412, "precondition_failed")
    assert rest().get("orders?id=eq.7", If_Match=tag).status == 200
    forms = {rest().get("orders?id=eq.7", Accept=accept)["ETag"]
             for accept in ("application/json", "application/vnd.pgrst.object+json", "text/csv", "application/x-ndjson")}
    assert len(forms) == 4


def test_tag_of_the_version(start_rest, database, mariadb):
    server = start_rest([{"name": "documents", "version": "version"}], database=database)
    tag = server.get("documents?id=eq.3")["ETag"]
    assert tag.startswith('"v')
    mariadb.run("UPDATE documents SET title = 'other' WHERE id = 3", database)
    assert server.get("documents?id=eq.3", If_None_Match=tag).status == 200
    assert server.get("documents?id=eq.3")["ETag"] != tag
    assert not server.get("documents?id=lt.3")["ETag"].startswith('"v')


@pytest.mark.parametrize("method,target,status,code,allow", [
    ("GET", "nothing", 404, "unknown_table", None), ("GET", "orders/7", 404, "unknown_table", None),
    ("DELETE", "orders?id=eq.1", 405, "method_not_allowed", "OPTIONS, GET, HEAD"),
    ("TRACE", "orders", 405, "method_not_allowed", "OPTIONS, GET, HEAD"), ("GET", "orders?nothing=eq.1", 400, None, None),
    ("GET", "orders?id=xx.1", 400, None, None), ("GET", "orders?select=nothing", 400, None, None)])
def test_problems(rest, method, target, status, code, allow):
    answer = rest().send(method, target)
    told = problem(answer, status, code or answer.json()["code"])
    assert answer.get("Allow") == allow and "SELECT" not in json.dumps(told)


def test_options(rest):
    server = rest([{"name": "notes", "methods": ["GET", "POST", "DELETE"]}])
    answer = server.send("OPTIONS", "notes")
    assert (answer.status, answer["Allow"]) == (204, "OPTIONS, GET, HEAD, POST, DELETE")


def test_prefer_that_is_not_known(rest):
    told = problem(rest().get("orders?limit=1", Prefer="handling=strict, anything"), 400, "unknown_preference")
    assert "anything" in told["detail"]
    assert rest().get("orders?limit=1", Prefer="handling=lenient, anything").status == 200


def test_compressed(rest):
    server = rest(http={"compress": {"min_bytes": 100}})
    plain = server.get("orders?limit=50")
    coded = server.get("orders?limit=50", Accept_Encoding="gzip")
    assert coded["Content-Encoding"] == "gzip" and len(coded.body) < len(plain.body)
    assert coded["ETag"] == f'W/{plain["ETag"]}'
    assert server.get("orders?limit=50", Accept_Encoding="gzip", If_None_Match=coded["ETag"]).status == 304


def test_no_schema_yet(start_rest, own_mariadb):
    mariadb = own_mariadb()
    mariadb.kill()
    server = start_rest(server=mariadb, wait=False)
    answer = server.get("orders")
    problem(answer, 503, "schema_unavailable")
    assert int(answer["Retry-After"]) > 0


@pytest.mark.parametrize("mysql, why", [
    ({"password": "wrong"}, "the database does not let the server's account in (error 1045)"),
    ({"database_name": "sample_of_nothing"}, "the database server has no database of the configured name (error 1049)"),
    ({"unix_socket": "/nowhere/mysqld.sock"}, "the database cannot be reached (error 2002)")])
def test_why_there_is_no_schema(start_rest, mysql, why):
    server = start_rest(wait=False, mysql=mysql)
    eventually(lambda: server.get("orders").json()["detail"] == f"the schema cannot be read: {why}", "the reason is told")
    refused = problem(server.get("orders"), 503, "schema_unavailable")
    assert not any(word in str(refused) for word in ("roost", "/nowhere", "sample_of_nothing"))


def test_a_date_that_is_none_is_null(start_rest, database, mariadb):
    """What servers kept that were not strict: no client reads 0000-00-00."""
    mariadb.run(f"CREATE TABLE {database}.zeros (id INT PRIMARY KEY, d DATE, t DATETIME(3), s TIMESTAMP NULL)")
    with mariadb.client(database) as client:
        client.run("SET sql_mode = ''")
        client.run("INSERT INTO zeros VALUES (1, '0000-00-00', '0000-00-00', '0000-00-00'), (2, '2026-00-01', '2026-01-00 12:00:00', NULL)")
    server = start_rest(["zeros"], database=database)
    nothing = {"d": None, "t": None, "s": None}
    assert server.get("zeros?order=id").json() == [{"id": 1, **nothing}, {"id": 2, **nothing}]
    assert server.get("zeros?id=eq.1", Accept="text/csv").body == b"id,d,t,s\r\n1,,,\r\n"
    assert server.get("zeros?id=eq.1&select=d::text").json() == [{"d": "0000-00-00"}]
