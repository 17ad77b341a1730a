"""PATCH and DELETE: of the rows that conditions choose, and of no others."""

import json

from rest_server import writable

REPRESENT = {"Prefer": "return=representation"}


def test_patch(start_rest, database):
    server = start_rest(writable("products", "stock", "customers"), database=database)
    run = server.mariadb.run
    changed = server.patch("products?id=eq.7", {"price": 9.75, "tags": {"a": [1, 2.50]}})
    assert (changed.status, changed["Content-Range"], changed.body) == (204, "0-0/*", b"")
    (price, tags), = run("SELECT price, tags FROM products WHERE id = 7", database)
    assert (price, json.loads(tags)) == ("9.75", {"a": [1, 2.5]})
    changed = server.patch("products?id=lt.4&select=id,price,active", {"price": 1, "active": False}, Prefer="return=representation,count=exact")
    assert (changed.status, changed["Content-Range"]) == (200, "0-2/3")
    assert changed.json() == [{"id": number, "price": 1.0, "active": False} for number in (1, 2, 3)]
    changed = server.patch("products?id=eq.999", {"price": 1}, **REPRESENT)
    assert (changed.status, changed["Content-Range"], changed.json()) == (200, "*/*", [])
    assert server.patch("products?id=eq.7", {}).status == 204
    # What is set already counts as well; the condition is about the rows as they were.
    changed = server.patch("customers?country=eq.at&select=id,country", {"country": "fr"}, **REPRESENT)
    count = len(changed.json())
    assert count > 60 and {row["country"] for row in changed.json()} == {"fr"}
    assert run("SELECT COUNT(*) FROM customers WHERE country = 'fr'", database) == [(str(count),)]
    changed = server.patch("customers?country=eq.fr", {"country": "fr"}, Prefer="count=exact")
    assert changed["Content-Range"] == f"0-{count - 1}/{count}"
    # A key that changes.
    changed = server.patch("stock?warehouse=eq.north&product_id=in.(1,2,3)", {"warehouse": "harbour"}, **REPRESENT)
    rows = changed.json()
    assert rows and all(row["warehouse"] == "harbour" for row in rows)
    changed = server.patch(f"stock?warehouse=eq.harbour&product_id=eq.{rows[0]['product_id']}", {"warehouse": "h2"}, **REPRESENT)
    assert [row["warehouse"] for row in changed.json()] == ["h2"]
    # The first rows by a unique order.
    changed = server.patch("products?id=gt.10&order=id.desc&limit=2&select=id", {"price": 2}, **REPRESENT)
    assert sorted(row["id"] for row in changed.json()) == [99, 100]
    assert server.patch("products?id=gt.10&order=sku&limit=3", {"price": 3}, Prefer="count=exact")["Content-Range"] == "0-2/3"
    assert run("SELECT id FROM products WHERE price = 3 ORDER BY id", database) == [("11",), ("12",), ("13",)]


def test_delete(start_rest, database):
    server = start_rest(writable("order_lines", "products", "notes"), database=database)
    count = int(server.mariadb.value("SELECT COUNT(*) FROM order_lines", database))
    gone = server.delete("order_lines?order_id=eq.1&line=eq.2")
    assert (gone.status, gone["Content-Range"], gone.body) == (204, "*/*", b"")
    gone = server.delete("order_lines?order_id=eq.1&select=order_id,line", Prefer="return=representation,count=exact")
    assert (gone.status, gone["Content-Range"]) == (200, "*/4")
    assert gone.json() == [{"order_id": 1, "line": line} for line in (1, 3, 4, 5)]
    assert server.delete("order_lines?order_id=eq.1", **REPRESENT).json() == []
    gone = server.delete("order_lines?order_id=gt.100&order=order_id,line&limit=3", **REPRESENT)
    assert [row["line"] for row in gone.json()] == [1, 2, 3]
    gone = server.delete("order_lines?order_id=eq.3&line=eq.1&select=line", Accept="application/vnd.pgrst.object+json", **REPRESENT)
    assert gone.json() == {"line": 1}
    assert int(server.mariadb.value("SELECT COUNT(*) FROM order_lines", database)) == count - 9
    refused = server.delete("products?id=eq.1")
    assert (refused.status, refused.json()["code"], refused.json()["sqlstate"]) == (409, "foreign_key_violation", "23000")


def test_refused(start_rest, database):
    server = start_rest(writable("products", "notes"), database=database)
    cases = [
        ("PATCH", "products", {"price": 1}, {}, 400, "filter_required"), ("DELETE", "products", None, {}, 400, "filter_required"),
        ("DELETE", "products?limit=1&order=id", None, {}, 400, "filter_required"),
        ("PATCH", "products?id=gt.0&limit=1", {"price": 1}, {}, 400, "limit_needs_order"),
        ("DELETE", "products?id=gt.0&limit=1&order=name", None, {}, 400, "limit_needs_order"),
        ("PATCH", "products?id=gt.0&order=id", {"price": 1}, {}, 400, "order_without_limit"),
        ("DELETE", "products?id=gt.0&order=id&limit=1&offset=1", None, {}, 400, "unsupported_parameter"),
        ("PATCH", "products?id=eq.1", [{"price": 1}, {"price": 2}], {}, 400, "bad_body"), ("PATCH", "products?id=eq.1", 17, {}, 400, "bad_body"),
        ("PATCH", "products?id=eq.1", {"nothing": 1}, {}, 400, "unknown_column"), ("PATCH", "products?nothing=eq.1", {"price": 1}, {}, 400, "unknown_column"),
        ("POST", "products?id=eq.1", {"price": 1}, {}, 400, "unsupported_parameter"), ("POST", "products?limit=1", {"price": 1}, {}, 400, "unsupported_parameter"),
        ("PATCH", "products?id=lt.9", {"price": 1}, {"Prefer": "handling=strict, max-affected=7"}, 400, "max_affected_exceeded"),
        ("DELETE", "notes?id=lt.9", None, {"Prefer": "handling=strict, max-affected=3"}, 400, "max_affected_exceeded"),
        ("DELETE", "notes?id=lt.9", None, {"Prefer": "handling=strict, max-affected=3, return=representation"}, 400, "max_affected_exceeded"),
        ("PATCH", "products?id=lt.9", {"price": 1}, {"Prefer": "handling=strict, something=else"}, 400, "unknown_preference"),
        ("PATCH", "products?id=lt.9", {"price": 1}, {"Accept": "application/vnd.pgrst.object+json", **REPRESENT}, 406, "PGRST116"),
        ("DELETE", "notes?id=lt.9", None, {"Accept": "application/vnd.pgrst.object+json", **REPRESENT}, 406, "PGRST116"),
        ("PATCH", "products?id=eq.999", {"price": 1}, {"Accept": "application/vnd.pgrst.object+json", **REPRESENT}, 406, "PGRST116"),
        ("POST", "notes", [{}, {}], {"Accept": "application/vnd.pgrst.object+json", **REPRESENT}, 406, "PGRST116"),
        ("PATCH", "products?id=eq.1", {"sku": "SKU-0002"}, {}, 409, "unique_violation"), ("PATCH", "products?id=eq.1", {"price": None}, {}, 400, "not_null_violation"),
    ]
    server.post("notes", [{"text": str(number)} for number in range(10)])
    before = server.get("products").body + server.get("notes").body
    for method, target, body, fields, status, code in cases:
        refused = server.send(method, target, body, **fields)
        assert (refused.status, refused.json()["code"]) == (status, code), (method, target, refused.body)
    assert server.get("products").body + server.get("notes").body == before
    assert server.patch("products?id=eq.999", {"price": 1}, Accept="application/vnd.pgrst.object+json", **REPRESENT).json()["details"] == \
        "The result contains 0 rows"
    allowed = server.patch("products?id=lt.9", {"price": 1}, Prefer="handling=strict, max-affected=8")
    assert (allowed.status, allowed["Preference-Applied"]) == (204, "handling=strict, max-affected=8")


def test_taken_back(start_rest, database):
    server = start_rest(writable("notes"), database=database)
    made = server.post("notes?select=id,text", {"text": "a"}, Prefer="return=representation, tx=rollback")
    assert (made.status, made.json(), made["Preference-Applied"]) == (201, [{"id": 1, "text": "a"}], "return=representation, tx=rollback")
    assert server.get("notes").json() == []
    server.post("notes", [{"text": "a"}, {"text": "b"}])
    assert server.delete("notes?id=gt.0", Prefer="tx=rollback, return=representation, count=exact")["Content-Range"] == "*/2"
    assert server.patch("notes?id=gt.0", {"text": "c"}, Prefer="tx=rollback").status == 204
    assert [row["text"] for row in server.get("notes").json()] == ["a", "b"]


def test_too_many_to_return(start_rest, database):
    server = start_rest(writable("customers", "notes", max_rows=50), database=database)
    refused = server.patch("customers?id=gt.0", {"vip": True}, **REPRESENT)
    assert (refused.status, refused.json()["code"]) == (400, "too_many_rows")
    server.post("notes", [{}] * 51)
    refused = server.delete("notes?id=gt.0", **REPRESENT)
    assert (refused.status, refused.json()["code"]) == (400, "too_many_rows")
    assert server.delete("notes?id=gt.0", Prefer="count=exact")["Content-Range"] == "*/51"
    assert server.patch("customers?id=gt.0", {"vip": True}, Prefer="count=exact")["Content-Range"] == "0-199/200"


def test_rows_within_rows_returned(start_rest, database):
    server = start_rest(writable("orders", "customers", "order_lines", "products", "notes"), database=database, options={"batch": True})
    select = "select=id,customers(name),order_lines(line)"
    made = server.post(f"orders?{select}", [{"id": 5001, "customer_id": 3}, {"id": 5002, "customer_id": 4}], **REPRESENT)
    assert made.status == 201, made.body
    assert made.json() == [{"id": 5001, "customers": {"name": "Customer 3"}, "order_lines": []}, {"id": 5002, "customers": {"name": "Customer 4"}, "order_lines": []}]
    single = {"Accept": "application/vnd.pgrst.object+json", **REPRESENT}
    made = server.post("order_lines?select=price,products(sku)", {"order_id": 5001, "line": 1, "product_id": 7}, **single)
    assert (made.status, made["Location"], made.json()) == (201, "/data/order_lines?order_id=eq.5001&line=eq.1", {"price": 0.0, "products": {"sku": "SKU-0007"}})
    changed = server.patch("order_lines?order_id=in.(1,3)&line=lt.3&select=line,orders(id)", {"price": 2}, **REPRESENT)
    assert changed["Content-Range"] == "0-3/*"
    assert changed.json() == [{"line": line, "orders": {"id": order}} for order in (1, 3) for line in (1, 2)]
    assert server.patch(f"orders?id=eq.77777&{select}", {"note": "n"}, **REPRESENT).json() == []
    assert server.put(f"orders?id=eq.5001&{select}", {"customer_id": 9}, **single).json()["order_lines"] == [{"line": 1}]
    answer = server.post("batch", [{"method": "POST", "path": "orders?select=customers(id)", "prefer": "return=representation", "body": {"customer_id": 5}}])
    assert answer.json()[0]["body"] == [{"customers": {"id": 5}}]
    count = server.mariadb.value("SELECT COUNT(*) FROM orders", database)
    for method, target, body in [("DELETE", f"orders?id=eq.5002&{select}", None), ("POST", "orders?select=id,notes(id)", {"customer_id": 1})]:
        assert server.send(method, target, body, **REPRESENT).status == 400
    assert server.mariadb.value("SELECT COUNT(*) FROM orders", database) == count


def test_a_tag_that_was_weakened_on_its_way(start_rest, database):
    server = start_rest(writable("customers"), database=database)
    tag = server.get("customers?id=eq.1")["ETag"]
    assert server.patch("customers?id=eq.1", {"city": "Ulm"}, If_Match="W/" + tag).status == 204
    assert server.patch("customers?id=eq.1", {"city": "Bonn"}, If_Match="W/" + tag).status == 412
