"""Several operations in one transaction, and what is told of writes that have come to stay."""

import pytest

from rest_server import writable

BATCH = {"options": {"batch": True}}


def test_batch(start_rest, database):
    server = start_rest(writable("customers", "orders", "order_lines", "notes"), database=database, **BATCH)
    represent = {"Prefer": "return=representation", "Accept": "application/vnd.pgrst.object+json"}
    answer = server.post("batch", [
        {"method": "POST", "path": "customers?select=id,vip", "headers": represent, "body": {"id": 700, "name": "New", "email": "new@example.org"}},
        {"method": "POST", "path": "/data/orders", "body": {"id": 9007199254740993, "customer_id": 700, "total": 12345678.90}},
        {"method": "PATCH", "path": "orders", "query": "customer_id=eq.700", "prefer": "count=exact", "body": {"note": "\u00fc"}},
        {"method": "GET", "path": "orders", "query": "customer_id=eq.700&select=id,total,note,customers(name)"},
        {"method": "DELETE", "path": "order_lines?order_id=eq.1"}, {"method": "PUT", "path": "notes?id=eq.3", "body": {"text": "t"}},
        {"method": "GET", "path": "customers?select=id&order=id.desc&limit=1", "prefer": "count=exact"}])
    assert (answer.status, answer["Content-Type"]) == (200, "application/json"), answer.body
    assert b"9007199254740993" in answer.body
    assert answer.json() == [
        {"status": 201, "headers": {"Location": "/data/customers?id=eq.700", "Content-Range": "*/*"}, "body": {"id": 700, "vip": False}},
        {"status": 201, "headers": {"Location": "/data/orders?id=eq.9007199254740993", "Content-Range": "*/*"}},
        {"status": 204, "headers": {"Content-Range": "0-0/1"}},
        {"status": 200, "headers": {"Content-Range": "0-0/*"},
         "body": [{"id": 9007199254740993, "total": 12345678.90, "note": "\u00fc", "customers": {"name": "New"}}]},
        {"status": 204, "headers": {"Content-Range": "*/*"}},
        {"status": 201, "headers": {"Location": "/data/notes?id=eq.3", "Content-Range": "*/*"}},
        {"status": 206, "headers": {"Content-Range": "0-0/201"}, "body": [{"id": 700}]}]
    assert server.mariadb.value("SELECT note FROM orders WHERE customer_id = 700", database) == "\u00fc"
    assert server.post("batch", []).json() == []
    answer = server.post("batch", [{"method": "POST", "path": "notes", "body": {"text": "gone"}}, {"method": "GET", "path": "notes?select=text"}],
                         Prefer="tx=rollback")
    assert [row["text"] for row in answer.json()[1]["body"]] == ["t", "gone"] and len(server.get("notes").json()) == 1


@pytest.mark.parametrize("operations", [
    [{"method": "POST", "path": "notes", "body": {"text": "a"}}, {"method": "GET", "path": "orders?limit=100"}],
    [{"method": "GET", "path": "orders?limit=60"}, {"method": "DELETE", "path": "notes?id=gt.0"}, {"method": "GET", "path": "orders?limit=60"}],
    [{"method": "POST", "path": "notes", "prefer": "return=representation", "body": [{"text": "x" * 1000}] * 20}],
    [{"method": "PATCH", "path": "customers?id=lte.150", "prefer": "return=representation", "body": {"name": "y" * 80}}],
    [{"method": "PATCH", "path": "customers?id=lte.20&select=id,orders(*)", "prefer": "return=representation", "body": {"name": "y" * 80}}]])
def test_of_answers_that_are_too_large_nothing_is_done(start_rest, database, operations):
    server = start_rest(writable("customers", "notes", "orders"), database=database,
                        options={"batch": True, "limits": {"max_batch_bytes": 10000}})
    count = "SELECT CONCAT((SELECT COUNT(*) FROM notes), ' ', (SELECT COUNT(*) FROM customers WHERE name LIKE 'yy%'))"
    answer = server.post("batch", operations)
    assert (answer.status, answer.json()["code"]) == (400, "too_many_rows"), answer.body[:200]
    assert "the answers are more than 10000 bytes" in answer.json()["detail"]
    assert server.mariadb.value(count, database) == "0 0"
    assert server.post("batch", [{"method": "GET", "path": "orders?limit=10"}] * 3).status == 200


def test_all_or_nothing(start_rest, database):
    server = start_rest(writable("customers", "notes") + ["orders"], database=database, options={"batch": True, "limits": {"max_batch": 4}})
    first = {"method": "POST", "path": "notes", "body": {"text": "first"}}
    cases = [
        ({"method": "POST", "path": "customers", "body": {"name": "x", "email": "c1@example.org"}}, 409, "unique_violation"),
        ({"method": "PATCH", "path": "notes", "body": {"text": "x"}}, 400, "filter_required"),
        ({"method": "DELETE", "path": "orders?id=eq.1"}, 400, "method_not_allowed"), ({"method": "FETCH", "path": "orders"}, 400, "method_not_allowed"),
        ({"method": "GET", "path": "nothing"}, 404, "unknown_table"), ({"method": "GET", "path": "notes?nothing=eq.1"}, 400, "unknown_column"),
        ({"method": "GET", "path": "notes?id=eq.77", "headers": {"accept": "application/vnd.pgrst.object+json"}}, 406, "PGRST116"),
        ({"method": "PATCH", "path": "notes?id=gt.0", "prefer": "handling=strict,max-affected=0", "body": {"text": "x"}}, 400, "max_affected_exceeded"),
        ({"method": "PATCH", "path": "notes?id=eq.1", "headers": {"If-Match": '"other"'}, "body": {"text": "x"}}, 412, "precondition_failed"),
        ({"method": "POST", "path": "notes"}, 400, "bad_body"), ({"method": "GET"}, 400, "bad_batch"), ({"path": "notes"}, 400, "bad_batch"), ("text", 400, "bad_batch"),
        ({"method": "GET", "path": "notes", "something": "else"}, 400, "bad_batch"), ({"method": "GET", "path": "notes", "headers": {"Cookie": "a"}}, 400, "bad_batch"),
        ({"method": "GET", "path": "notes", "headers": 3}, 400, "bad_batch"), ({"method": "GET", "path": "notes?a=1", "query": "a=1"}, 400, "bad_batch")]
    for operation, status, code in cases:
        refused = server.post("batch", [first, operation, first])
        assert (refused.status, refused.json()["code"]) == (status, code), (operation, refused.body)
        assert refused.json()["detail"].startswith("operation 2: ") or operation == "text", refused.body
    for body, status, code in [(b"{}", 400, "bad_batch"), (b"[[]]", 400, "bad_batch"), (b"[", 400, "bad_body"), (b'[{"method":"GET","method":"GET"}]', 400, "bad_batch"),
                               ([first] * 5, 413, "too_many_operations"), (None, 400, "bad_body")]:
        refused = server.post("batch", body)
        assert (refused.status, refused.json()["code"]) == (status, code), refused.body
    large = {**first, "body": {"text": "x" * 40000}}
    refused = server.post("batch", [large, large, {"method": "GET", "path": "nothing"}])
    assert (refused.status, refused.json()["code"]) == (404, "unknown_table")
    assert server.get("notes").json() == []
    assert server.post("batch", [large, large, {"method": "DELETE", "path": "notes?id=gt.0"}]).status == 200
    assert (server.get("batch").status, server.get("batch")["Allow"]) == (405, "OPTIONS, POST")


def test_told_by_push(start_rest, database):
    route = {"path": "/sub/{channel}", "push_subscribe": {"transports": ["long_poll"], "first_message": "oldest"}}
    server = start_rest(writable("notes", publish="news") + writable("stock"), database=database, routes=[route], **BATCH)
    server.post("notes", {"text": "a"})
    server.post("notes", {"nothing": "a"})
    server.post("notes", {"text": "rolled back"}, Prefer="tx=rollback")
    server.delete("notes?id=eq.99")
    server.post("stock", {"warehouse": "x", "product_id": 1})
    server.patch("notes?id=eq.1", {"text": "b"})
    server.post("batch", [{"method": "POST", "path": "notes", "body": [{"text": "b"}, {"text": "c"}]}, {"method": "DELETE", "path": "notes?id=gt.0"}])
    told, fields = [], {}
    for _ in range(4):
        message = server.send("GET", "news", path="/sub/", **fields)
        assert message.status == 200
        told.append(message.json())
        fields = {"If_Modified_Since": message["Last-Modified"], "If_None_Match": message["Etag"]}
    assert [(message["table"], message["method"], message["count"], [(row["id"], row.get("text")) for row in message["rows"]]) for message in told] == [
        ("notes", "POST", 1, [(1, "a")]), ("notes", "PATCH", 1, [(1, "b")]), ("notes", "POST", 2, [(3, "b"), (4, "c")]),
        ("notes", "DELETE", 3, [(1, None), (3, None), (4, None)])]
    assert set(told[0]["rows"][0]) == {"id", "author", "text", "created_at"} and set(told[3]["rows"][0]) == {"id"}


def test_many_rows_are_not_told_one_by_one(start_rest, database):
    route = {"path": "/sub/{channel}", "push_subscribe": {"transports": ["long_poll"], "first_message": "oldest"}}
    server = start_rest(writable("notes", publish="news"), database=database, routes=[route])
    assert server.post("notes", [{"text": str(i)} for i in range(101)]).status == 201
    assert server.send("GET", "news", path="/sub/").json() == {"table": "notes", "method": "POST", "count": 101}


@pytest.mark.parametrize("headers, method", [
    ({"Prefer": "tx=rollback"}, "PATCH"), ({"Prefer": "tx=rollback, handling=strict"}, "PATCH"), ({"Accept": "text/csv"}, "PATCH"),
    ({"If-None-Match": '"x"'}, "PATCH"), ({"If-None-Match": "*"}, "GET"), ({"If-Match": '"x"'}, "GET"),
])
def test_what_is_the_batchs_own(start_rest, database, headers, method):
    server = start_rest(writable("customers"), database=database, **BATCH)
    operation = {"method": method, "path": "customers?id=eq.1", "headers": headers}
    answer = server.post("batch", [operation if method == "GET" else {**operation, "body": {"city": "Ulm"}}])
    assert (answer.status, answer.json()["code"]) == (400, "bad_batch")
    assert server.mariadb.value("SELECT city FROM customers WHERE id = 1", database) != "Ulm"
