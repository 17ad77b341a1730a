"""POST: rows are made, one or many, with what the table gives them where they say nothing."""

import json

from rest_server import writable

REPRESENT = {"Prefer": "return=representation"}


def test_one_row(start_rest, database):
    server = start_rest(writable("notes", "stock", "accounts", "odd name"), database=database)
    made = server.post("notes", {"text": "hello \u00fc \U0001f600"})
    assert (made.status, made["Location"], made.body) == (201, "/data/notes?id=eq.1", b"")
    assert server.mariadb.run("SELECT author, text FROM notes", database) == [("anonymous", "hello \u00fc \U0001f600")]
    assert server.get("notes?id=eq.1").json()[0]["text"] == "hello \u00fc \U0001f600"

    made = server.post("notes?select=id,text", {"id": 40, "text": None}, **REPRESENT)
    assert (made.status, made["Location"], made.json()) == (201, "/data/notes?id=eq.40", [{"id": 40, "text": None}])
    assert made["Preference-Applied"] == "return=representation"
    made = server.post("notes?select=id", {"text": "x"}, Accept="application/vnd.pgrst.object+json", **REPRESENT)
    assert (made.status, made["Content-Type"], made.json()) == (201, "application/vnd.pgrst.object+json", {"id": 41})
    made = server.post("notes", {}, Prefer="return=headers-only")
    assert (made.status, made["Location"], made.body) == (201, "/data/notes?id=eq.42", b"")
    # A composite key, one that needs escaping, one that is given.
    made = server.post("stock", {"warehouse": "a&b \u00fc", "product_id": 1, "quantity": 3})
    assert (made.status, made["Location"]) == (201, "/data/stock?warehouse=eq.a%26b%20%C3%BC&product_id=eq.1")
    assert server.get(made["Location"].removeprefix("/data/")).json()[0]["quantity"] == 3
    made = server.post("odd name".replace(" ", "%20"), {"a column": -7, "quo`te": 1})
    assert (made.status, made["Location"]) == (201, "/data/odd name?a%20column=eq.-7".replace("odd name", "odd%20name"))


def test_many_rows(start_rest, database):
    server = start_rest(writable("notes"), database=database, options={"limits": {"max_body_rows": 300}})
    rows = [{"author": f"a{i}", "text": f"t{i}"} for i in range(1, 235)]
    made = server.post("notes?select=id,author", rows, Prefer="return=representation, count=exact")
    assert made.status == 201 and made.get("Location") is None and made["Content-Range"] == "*/234"
    assert made.json() == [{"id": i, "author": f"a{i}"} for i in range(1, 235)]
    # Ragged rows take defaults, or NULL where that is asked for.
    ragged = [{"text": "a"}, {"author": "b"}, {}, {"text": "d", "author": "e"}]
    made = server.post("notes?select=author,text", ragged, **REPRESENT)
    expected = [("anonymous", "a"), ("b", None), ("anonymous", None), ("e", "d")]
    assert [(row["author"], row["text"]) for row in made.json()] == expected
    made = server.post("notes", ragged, Prefer="missing=null")
    assert (made.status, made.json()["code"]) == (400, "not_null_violation")
    # What columns= does not name does not count.
    made = server.post("notes?columns=text&select=author,text", [{"text": "a", "author": "x", "nonsense": [1]}, {}], **REPRESENT)
    assert made.json() == [{"author": "anonymous", "text": "a"}, {"author": "anonymous", "text": None}]
    assert server.post("notes", []).status == 201
    # A body so large that another thread reads it.
    large = [{"text": "x" * 1000}] * 100
    assert server.post("notes", large, Prefer="count=exact")["Content-Range"] == "*/100"
    assert server.post("notes", [*large, {"id": []}]).json()["detail"].startswith("row 101: ")
    count = server.mariadb.value("SELECT COUNT(*) FROM notes", database)
    # All of them or none.
    refused = server.post("notes", [{"text": "a"}, {"author": "b" * 41}])
    assert (refused.status, refused.json()["code"]) == (400, "value_too_long")
    assert '"author"' in refused.json()["detail"]
    refused = server.post("notes", [{}] * 301)
    assert (refused.status, refused.json()["code"]) == (413, "too_many_rows")
    assert server.mariadb.value("SELECT COUNT(*) FROM notes", database) == count


def test_other_forms(start_rest, database):
    server = start_rest(writable("notes", "products"), database=database)
    lines = 'text,author\r\n"one, ""two""",a\r\n,b\r\nNULL,c\n"NULL",d\n"",e\n'
    made = server.post("notes?select=author,text", lines.encode(), Content_Type="text/csv; charset=utf-8", Accept="text/csv", **REPRESENT)
    assert (made.status, made["Content-Type"]) == (201, "text/csv; charset=utf-8")
    assert made.body == b'author,text\r\na,"one, ""two"""\r\nb,\r\nc,\r\nd,"NULL"\r\ne,""\r\n'
    made = server.post("notes?select=text", b'{"text": "a"}\n\n{"text": "b"}', Content_Type="application/x-ndjson",
                       Accept="application/x-ndjson", **REPRESENT)
    assert (made.status, made.body) == (201, b'{"text":"a"}\n{"text":"b"}\n')
    made = server.post("products?select=price,tags,active", b'sku,name,price,tags,active\nn1,N,1.50,"{""a"":[1]}",false\n',
                       Content_Type="text/csv", **REPRESENT)
    assert made.json() == [{"price": 1.5, "tags": {"a": [1]}, "active": False}]
    for content_type, body, status, code in [
            ("text/plain", b"{}", 415, "unsupported_media_type"), ("text/csv", b"", 400, "bad_body"),
            ("text/csv", b"text,text\na,b\n", 400, "bad_body"), ("text/csv", b"text\na,b\n", 400, "bad_body"),
            ("text/csv", b'text\n"a\n', 400, "bad_body"), ("text/csv", b"text\n\xff\n", 400, "bad_body"),
            ("text/csv", b"nothing\na\n", 400, "unknown_column"), ("application/x-ndjson", b"[1]\n", 400, "bad_body"),
            ("application/json", b'{"text": "a"', 400, "bad_body"), ("application/json", b"3", 400, "bad_body"),
            ("application/json", b"[[]]", 400, "bad_body"), ("application/json", b'{"text": "a", "text": "b"}', 400, "bad_body"),
            ("application/json", b'{"text": "\xff"}', 400, "bad_body"), ("application/json", b"", 400, "bad_body"),
            ("application/json", b'{"nothing": 1}', 400, "unknown_column"), ("application/json", b'{"text": [1]}', 400, "bad_value"),
            ("application/json", b'{"id": 1.5}', 400, "bad_value"), ("application/json", b"[" * 100000, 400, "bad_body"),
            ("application/json", json.dumps({"text": "x" * 1048576}).encode(), 413, "too_large")]:
        refused = server.post("notes", body, Content_Type=content_type)
        assert (refused.status, refused.json()["code"]) == (status, code), (content_type, body[:60], refused.body)
        assert refused["Content-Type"] == "application/problem+json"
    assert server.mariadb.value("SELECT COUNT(*) FROM notes", database) == "7"


def test_refused_by_the_database(start_rest, database):
    server = start_rest(writable("customers", "accounts", "orders", "every_type"), database=database)
    new = {"name": "New", "email": "new@example.org"}
    for table, body, status, code, word in [
            ("customers", {**new, "email": "c7@example.org"}, 409, "unique_violation", '"email"'),
            ("customers", {**new, "id": 7}, 409, "unique_violation", '"PRIMARY"'),
            ("customers", {"name": "New"}, 400, "not_null_violation", '"email"'),
            ("customers", {**new, "name": None}, 400, "not_null_violation", '"name"'),
            ("customers", {**new, "name": "for column 'city' at row 1" * 9}, 400, "value_too_long", '"name"'),
            ("orders", {"customer_id": 999}, 409, "foreign_key_violation", '"orders_customer"'),
            ("orders", {"customer_id": 1, "status": "nothing"}, 400, "bad_value", "status"),
            ("orders", {"customer_id": 1, "total": 12345678901.5}, 400, "value_out_of_range", '"total"'),
            ("accounts", {"login": "x", "balance": -1}, 400, "check_violation", ""),
            ("every_type", {"id": 9, "t_tinyint": 128}, 400, "value_out_of_range", "t_tinyint"),
            ("every_type", {"id": 9, "t_date": "2026-02-30"}, 400, "bad_value", "t_date"),
            ("every_type", {"id": 9, "t_uuid": "nothing"}, 400, "bad_value", '"t_uuid"'),
            ("every_type", {"id": 9, "t_generated": 1}, 400, "read_only_column", "t_generated")]:
        if set(body) & server.mariadb.absent or (code == "check_violation" and "checks" not in server.mariadb.has):
            continue
        refused = server.post(table, body)
        problem = refused.json()
        assert (refused.status, problem["code"]) == (status, code), (body, problem)
        assert word in problem["detail"] or "names of foreign keys" not in server.mariadb.has, problem
        assert not any(word in problem["detail"] for word in ("INSERT", "VALUES", "sample", database)), problem


def test_location_of_a_key_named_as_a_word(start_rest, database, mariadb):
    mariadb.run(f"CREATE TABLE {database}.words (`or` INT NOT NULL PRIMARY KEY)")
    mariadb.run(f"CREATE TABLE {database}.odd (`a.\"b\"` INT NOT NULL PRIMARY KEY)")
    server = start_rest(writable("words", "odd"), database=database)
    for table, row in (("words", {"or": 77}), ("odd", {'a."b"': 5})):
        answer = server.post(table, row)
        assert answer.status == 201
        assert server.get(answer["Location"].removeprefix("/data/")).json() == [row]
