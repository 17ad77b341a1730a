"""Upserts and PUT: which row is meant is never left to chance."""

from rest_server import writable

MERGE = {"Prefer": "resolution=merge-duplicates, return=representation"}
IGNORE = {"Prefer": "resolution=ignore-duplicates, return=representation"}


def test_merge(start_rest, database):
    server = start_rest(writable("stock", "accounts", "products", "documents", version="") + writable("employees"), database=database)
    run = server.mariadb.run
    rows = [{"warehouse": "north", "product_id": 3, "quantity": 5}, {"warehouse": "moon", "product_id": 3, "quantity": 6, "shelf": "s"}]
    run("DELETE FROM stock WHERE product_id = 3; INSERT INTO stock VALUES ('north', 3, 1, 'old')", database)
    made = server.post("stock", rows, **MERGE)
    assert (made.status, made["Preference-Applied"]) == (201, "resolution=merge-duplicates, return=representation")
    # A row that does not say what another says gets the default, whether it was there or not.
    assert sorted(made.json(), key=str) == sorted([{**rows[0], "shelf": None}, rows[1]], key=str)
    made = server.post("stock?columns=warehouse,product_id,quantity", {"warehouse": "moon", "product_id": 3, "quantity": 7, "shelf": "t"}, **MERGE)
    assert made.json() == [{"warehouse": "moon", "product_id": 3, "quantity": 7, "shelf": "s"}]
    assert server.post("stock", {"warehouse": "moon", "product_id": 3}, **MERGE).json()[0]["quantity"] == 7
    # By another key than the primary one.
    made = server.post("accounts?on_conflict=login&select=id,balance", [{"login": "login3", "balance": 5}, {"login": "new", "balance": 6}], **MERGE)
    assert made.json()[0] == {"id": 3, "balance": 5.0} and made.json()[1]["balance"] == 6.0
    many = [{"id": number, "name": f"n{number}", "boss_id": 1} for number in range(2, 140)]
    assert [row["name"] for row in server.post("employees", many, **MERGE).json()] == [row["name"] for row in many]
    assert run("SELECT COUNT(*), COUNT(boss_id) FROM employees", database) == [("139", "138")]


def test_ignore(start_rest, database):
    server = start_rest(writable("employees", "accounts"), database=database)
    run = server.mariadb.run
    rows = [{"id": number, "name": "new"} for number in range(10, 100)] + [{"id": 20, "name": "again"}]
    made = server.post("employees?select=id", rows, **IGNORE)
    assert (made.status, [row["id"] for row in made.json()]) == (201, list(range(16, 100)))
    assert run("SELECT COUNT(*) FROM employees WHERE name = 'new'", database) == [("84",)]
    # Rows of a statement that fails behind them come all the same, and are none.
    made = server.post("employees?select=id", [{"id": number, "name": "later"} for number in (600, 601, 602, 3, 603, 20)], **IGNORE)
    assert [row["id"] for row in made.json()] == [600, 601, 602, 603]
    made = server.post("employees", {"id": 3, "name": "x"}, Prefer="resolution=ignore-duplicates, count=exact")
    assert (made.status, made["Content-Range"], made.get("Location")) == (200, "*/0", None)
    made = server.post("accounts?on_conflict=login", {"login": "fresh"}, Prefer="resolution=ignore-duplicates")
    assert (made.status, made["Location"][:21]) == (201, "/data/accounts?id=eq.")
    # What is no duplicate is an error all the same, and takes the others with it.
    refused = server.post("employees", [{"id": 500, "name": "x"}, {"id": 3, "name": "x"}, {"id": 501, "name": "x", "boss_id": 999}], **IGNORE)
    assert (refused.status, refused.json()["code"]) == (409, "foreign_key_violation")
    assert run("SELECT COUNT(*) FROM employees WHERE id IN (500, 501)", database) == [("0",)]


def test_refused(start_rest, database):
    server = start_rest(writable("accounts", "customers", "notes", "products"), database=database)
    before = server.get("accounts").body
    for target, body, prefer, status, code in [
            ("accounts", {"id": 1, "login": "login2"}, "merge-duplicates", 409, "ambiguous_upsert"),
            ("accounts", {"id": 99, "login": "unique"}, "merge-duplicates", 409, "ambiguous_upsert"),
            ("accounts", {"id": 1, "balance": 1}, "merge-duplicates", 409, "ambiguous_upsert"),  # login could be '' in both
            ("accounts?on_conflict=login", {"id": 1, "login": "login2"}, "merge-duplicates", 409, "ambiguous_upsert"),
            ("accounts?on_conflict=login", [{"login": "a"}, {"login": "b", "phone": "+49 1"}], "ignore-duplicates", 409, "ambiguous_upsert"),
            ("accounts?on_conflict=balance", {"login": "a"}, "merge-duplicates", 400, "no_unique_key"),
            ("accounts?on_conflict=nothing", {"login": "a"}, "merge-duplicates", 400, "unknown_column"),
            ("accounts?on_conflict=login", {"login": "a"}, None, 400, "resolution_missing"),
            ("customers", {"id": 1, "email": "c2@example.org", "name": "x"}, "merge-duplicates", 409, "ambiguous_upsert")]:
        refused = server.post(target, body, **({"Prefer": f"resolution={prefer}"} if prefer else {}))
        assert (refused.status, refused.json()["code"]) == (status, code), (target, body, refused.body)
    assert server.get("accounts").body == before
    made = server.post("accounts?on_conflict=login", {"login": "login2", "phone": None, "balance": 1}, Prefer="resolution=merge-duplicates")
    assert made.status == 201
    assert server.mariadb.run("SELECT id, phone, balance FROM accounts WHERE login = 'login2'", database) == [("2", None, "1.00")]


def test_put(start_rest, database):
    server = start_rest(writable("stock", "accounts", "products"), database=database)
    target = "stock?warehouse=eq.sea&product_id=eq.5"
    made = server.put(target, {"warehouse": "sea", "product_id": 5, "quantity": 4, "shelf": "s"}, Prefer="return=representation")
    assert (made.status, made["Location"]) == (201, "/data/stock?warehouse=eq.sea&product_id=eq.5")
    assert made.json() == [{"warehouse": "sea", "product_id": 5, "quantity": 4, "shelf": "s"}]
    # The whole row is what the body says; the key may be left to the address.
    made = server.put(target, {"quantity": 9}, Prefer="return=representation")
    assert (made.status, made.json()) == (200, [{"warehouse": "sea", "product_id": 5, "quantity": 9, "shelf": None}])
    assert server.put(target, {"shelf": "x"}).status == 204
    assert server.mariadb.run("SELECT quantity, shelf FROM stock WHERE warehouse = 'sea'", database) == [("0", "x")]
    made = server.put("accounts?id=eq.3", {"id": 3, "login": "login3", "phone": None, "balance": 1})
    assert made.status == 204
    for target, body, status, code in [
            ("stock?warehouse=eq.sea", {"quantity": 1}, 400, "put_needs_key"), ("stock", {"quantity": 1}, 400, "put_needs_key"),
            ("stock?warehouse=eq.sea&product_id=gt.5", {}, 400, "put_needs_key"),
            ("stock?warehouse=eq.sea&product_id=eq.5&quantity=eq.1", {}, 400, "put_needs_key"),
            ("stock?warehouse=eq.sea&product_id=eq.5", {"product_id": 6}, 400, "key_mismatch"),
            ("stock?warehouse=eq.sea&product_id=eq.5", [{}, {}], 400, "bad_body"), ("stock?warehouse=eq.sea&product_id=eq.x", {}, 400, "put_needs_key"),
            ("accounts?id=eq.3", {"login": "login4"}, 409, "unique_violation"), ("accounts?id=eq.77", {"login": "login4"}, 409, "unique_violation"),
            ("accounts?id=eq.3", {"balance": 4}, 400, "not_null_violation"), ("accounts?id=eq.78", {"login": "a", "balance": -4}, 400, "check_violation"),
            ("stock?warehouse=eq.sea&product_id=eq.999", {}, 409, "foreign_key_violation")]:
        refused = server.put(target, body)
        assert (refused.status, refused.json()["code"]) == (status, code), (target, body, refused.body)
    assert server.mariadb.run("SELECT login, balance FROM accounts WHERE id = 3", database) == [("login3", "1.00")]
