"""What the configuration says of a table holds for writes too: rows there are, columns that are only read, versions."""

from rest_server import ALL_METHODS, writable

REPRESENT = {"Prefer": "return=representation"}


def views(*wheres):
    return [{"name": "orders", "alias": f"o{number}", "methods": ALL_METHODS, "client_ids": True, "where": where} for number, where in enumerate(wheres)]


def test_fixed_values(start_rest, database):
    server = start_rest(views("status=eq.open&note=is.null"), database=database)
    run = server.mariadb.run
    made = server.post("o0?select=id,status,note", [{"customer_id": 1}, {"customer_id": 2, "status": "open"}], **REPRESENT)
    assert [(row["status"], row["note"]) for row in made.json()] == [("open", None)] * 2
    ids = [row["id"] for row in made.json()]
    shipped = run("SELECT id FROM orders WHERE status = 'shipped' LIMIT 1", database)[0][0]
    for method, target, body, status, code in [
            ("POST", "o0", {"customer_id": 1, "status": "paid"}, 403, "row_not_allowed"), ("POST", "o0", {"customer_id": 1, "note": "x"}, 403, "row_not_allowed"),
            ("POST", "o0", [{"customer_id": 1}, {"customer_id": 1, "status": "paid"}], 403, "row_not_allowed"),
            ("PATCH", f"o0?id=eq.{ids[0]}", {"status": "paid"}, 403, "row_not_allowed"), ("PATCH", "o0?id=gt.0", {"note": ""}, 403, "row_not_allowed"),
            ("PUT", f"o0?id=eq.{shipped}", {"customer_id": 1}, 403, "row_not_allowed"),
            ("PUT", f"o0?id=eq.{ids[0]}", {"customer_id": 1, "status": "paid"}, 403, "row_not_allowed")]:
        refused = server.send(method, target, body)
        assert (refused.status, refused.json()["code"]) == (status, code), (method, target, body, refused.body)
    assert server.patch(f"o0?id=eq.{shipped}", {"total": 1}, Prefer="count=exact")["Content-Range"] == "*/0"
    assert server.delete(f"o0?id=eq.{shipped}", Prefer="count=exact")["Content-Range"] == "*/0"
    assert server.delete("o0?id=gt.0&or=(status.eq.paid,status.eq.shipped)", Prefer="count=exact")["Content-Range"] == "*/0"
    assert server.patch(f"o0?id=eq.{ids[0]}", {"status": "open", "total": 5}).status == 204
    assert server.put(f"o0?id=eq.{ids[0]}", {"customer_id": 3}, **REPRESENT).json()[0]["status"] == "open"
    # An upsert meets a row that there is not.
    merge = {"Prefer": "resolution=merge-duplicates"}
    refused = server.post("o0", [{"id": ids[0], "customer_id": 4}, {"id": int(shipped), "customer_id": 4}], **merge)
    assert (refused.status, refused.json()["code"]) == (403, "row_not_allowed")
    assert run(f"SELECT customer_id, status FROM orders WHERE id IN ({ids[0]}, {shipped})", database)[1:] == [("3", "open")]
    assert server.post("o0", [{"id": ids[0], "customer_id": 4}, {"id": 9000, "customer_id": 4}], **merge).status == 201
    assert run(f"SELECT customer_id, status FROM orders WHERE id IN ({ids[0]}, 9000)", database) == [("4", "open")] * 2


def test_fixed_conditions(start_rest, database):
    server = start_rest(views("status=neq.hidden&or=(total.lt.100,customer_id.eq.7)"), database=database)
    run = server.mariadb.run
    count = run("SELECT COUNT(*) FROM orders", database)
    for method, target, body in [
            ("POST", "o0", {"customer_id": 1, "status": "hidden"}), ("POST", "o0", [{"customer_id": 1}, {"customer_id": 1, "total": 100}]),
            ("PATCH", "o0?id=eq.1", {"status": "hidden"}), ("PATCH", "o0?id=lt.9", {"total": 1000}), ("PATCH", "o0?id=eq.1", {"total": 1000}),
            ("PUT", "o0?id=eq.8888", {"customer_id": 1, "total": 500}), ("PUT", "o0?id=eq.1", {"customer_id": 1, "total": 500}),
            ("PUT", "o0?id=eq.3", {"customer_id": 7})]:  # which is hidden
        refused = server.send(method, target, body)
        assert (refused.status, refused.json()["code"]) == (403, "row_not_allowed"), (method, target, body, refused.body)
    assert run("SELECT COUNT(*) FROM orders", database) == count
    assert run("SELECT status, total, customer_id FROM orders WHERE id IN (1, 3)", database) == [("paid", "3.50", "8"), ("hidden", "10.50", "22")]
    made = server.post("o0?select=total", [{"customer_id": 7, "total": 1000}, {"customer_id": 1}], **REPRESENT)
    assert [row["total"] for row in made.json()] == [1000.0, 0.0]
    assert server.patch("o0?id=eq.1", {"total": 1000, "customer_id": 7}).status == 204
    assert server.patch("o0?id=eq.1", {"note": "n"}, **REPRESENT).json()[0]["note"] == "n"


def test_columns(start_rest, database):
    tables = [{"name": "customers", "columns": ["id", "name", "email", "city", "vip"], "read_only": ["id", "vip"], "methods": ALL_METHODS}]
    server = start_rest(tables, database=database)
    for method, target, body, code in [
            ("POST", "customers", {"name": "n", "email": "e", "vip": True}, "read_only_column"), ("POST", "customers", {"name": "n", "email": "e", "id": 5000}, "read_only_column"),
            ("PATCH", "customers?id=eq.1", {"vip": True}, "read_only_column"), ("PATCH", "customers?id=eq.1", {"born": "2000-01-01"}, "unknown_column"),
            ("POST", "customers?columns=name,born", {"name": "n"}, "unknown_column"), ("PATCH", "customers?born=gt.2000-01-01", {"name": "n"}, "unknown_column"),
            ("POST", "customers?on_conflict=born", {"name": "n"}, "unknown_column")]:
        refused = server.send(method, target, body, **({"Prefer": "resolution=merge-duplicates"} if "conflict" in target else {}))
        assert (refused.status, refused.json()["code"]) == (400, code), (target, body, refused.body)
    refused = server.put("customers?id=eq.9999", {"name": "n", "email": "e"})
    assert (refused.status, refused.json()["code"]) == (404, "no_row")
    assert server.put("customers?id=eq.10", {"name": "n", "email": "e"}).status == 204
    # What is not shown or not written stays as it is, the rest is replaced.
    assert server.mariadb.run("SELECT name, email, city, vip, born IS NULL FROM customers WHERE id = 10", database) == [("n", "e", None, "1", "0")]


def test_if_match(start_rest, database):
    documents = {"name": "documents", "methods": ALL_METHODS, "version": "version"}
    server = start_rest([documents, *writable("stock")], database=database)
    for target, change in [("documents?id=eq.3", {"title": "new"}), ("stock?warehouse=eq.north&product_id=eq.1", {"shelf": "new"})]:
        tag = server.get(target)["ETag"]
        changed = server.patch(target, change, If_Match=f'"other", {tag}', **REPRESENT)
        assert changed.status == 200, (target, changed.body)
        for method, body in [("PATCH", change), ("DELETE", None), ("PUT", {**changed.json()[0], **change})]:
            refused = server.send(method, target if method != "PUT" else f"{target}", body, If_Match=tag)
            assert (refused.status, refused.json()["code"]) == (412, "precondition_failed"), (method, refused.body)
        single = server.get(target, Accept="application/vnd.pgrst.object+json")["ETag"]
        assert single != tag and server.delete(target, If_Match=single).status in (204, 409)
        gone = server.get(target).json() == []
        assert server.patch(target, change, If_Match="*").status == (412 if gone else 204)
    assert server.mariadb.value("SELECT version FROM documents WHERE id = 4", database) == "1"
    assert server.patch("documents?id=eq.4", {"title": "t"}, **REPRESENT).json()[0]["version"] == 2
    target = "stock?warehouse=eq.dock&product_id=eq.1"
    assert server.put(target, {}, If_Match="*").status == 412
    assert server.put(target, {}, If_None_Match="*").status == 201
    assert server.put(target, {}, If_None_Match="*").status == 412
    for method, target, fields, code in [("PATCH", "stock?warehouse=eq.north", {"If_Match": '"x"'}, "condition_needs_key"),
                                         ("DELETE", "stock?warehouse=eq.north", {"If_Match": "*"}, "condition_needs_key"),
                                         ("POST", "stock", {"If_Match": '"x"'}, "unsupported_condition"),
                                         ("PUT", "stock?warehouse=eq.dock&product_id=eq.1", {"If_None_Match": '"x"'}, "unsupported_condition")]:
        refused = server.send(method, target, {"quantity": 1}, **fields)
        assert (refused.status, refused.json()["code"]) == (400, code), (method, refused.body)


def test_the_largest_id_cannot_be_taken_by_a_client(start_rest, database):
    """One row with it, and the table would take no other for good."""
    server = start_rest([{"name": name, "methods": ALL_METHODS} for name in ("customers", "documents")], database=database)
    new = {"name": "New", "email": "new@example.org"}
    for method, target, body in [("POST", "customers", {**new, "id": 4294967295}), ("POST", "customers", [new, {**new, "id": 4294967295}]),
                                 ("PATCH", "customers?id=eq.7", {"id": 4294967295})]:
        refused = server.send(method, target, body)
        assert (refused.status, refused.json()["code"]) == (400, "read_only_column"), (method, target, refused.body)
    refused = server.put("documents?id=eq.2147483647", {"id": 2147483647, "title": "t", "body": {}})
    assert (refused.status, refused.json()["code"]) == (404, "no_row")
    refused = server.post("documents", [{"id": 2147483647, "title": "t", "body": {}, "version": 1}], Prefer="resolution=merge-duplicates")
    assert (refused.status, refused.json()["code"]) == (404, "no_row")
    assert server.post("customers", new).status == 201
    # Whose row is there may be named by its id as ever.
    assert server.put("documents?id=eq.3", {"id": 3, "title": "put", "body": {}}).status == 204
    made = server.post("documents?select=id,title", [{"id": 4, "title": "merged", "body": {}, "version": 2}],
                       Prefer="resolution=merge-duplicates, return=representation")
    assert (made.status, made.json()) == (201, [{"id": 4, "title": "merged"}])
    assert server.mariadb.run("SELECT MAX(id), COUNT(*) FROM documents", database) == [("20", "20")]
    assert "id" not in server.get("").json()["components"]["schemas"]["customers.new"]["properties"]
