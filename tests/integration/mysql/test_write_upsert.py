"""Upserts and PUT: which row is meant is never left to chance."""

import json
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

from rest_server import ALL_METHODS, writable

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
    assert run("SELECT COUNT(*), SUM(boss_id IS NOT NULL) FROM employees", database) == [("139", "138")]


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
        if code == "check_violation" and "checks" not in server.mariadb.has:
            continue
        refused = server.put(target, body)
        assert (refused.status, refused.json()["code"]) == (status, code), (target, body, refused.body)
    assert server.mariadb.run("SELECT login, balance FROM accounts WHERE id = 3", database) == [("login3", "1.00")]


def test_a_default_can_be_met_too(start_rest, database, mariadb):
    mariadb.run(f"CREATE TABLE {database}.falls (id INT PRIMARY KEY, phone VARCHAR(9) DEFAULT '000' UNIQUE, mail VARCHAR(9) UNIQUE, v INT)")
    mariadb.run(f"INSERT INTO {database}.falls VALUES (1, '000', 'm', 1)")
    server = start_rest(writable("falls"), database=database)
    merge = {"Prefer": "resolution=merge-duplicates"}
    refused = server.post("falls", {"id": 2, "v": 2}, **merge)
    assert (refused.status, refused.json()["code"]) == (409, "ambiguous_upsert")
    assert server.post("falls", {"id": 2, "phone": None, "v": 2}, **merge).status == 201
    assert mariadb.run(f"SELECT id, phone, v FROM {database}.falls ORDER BY id") == [("1", "000", "1"), ("2", None, "2")]


def write_at_once(server, method, requests, **fields):
    """(target, status, body) of all requests, each list of them one after the other over a connection of its own, the lists at once.
    What has no body is deleted."""
    def write(targets):
        with server.connect() as wire:
            for target, body in targets:
                reply = server.send(method if body else "DELETE", target, body, wire=wire, **fields, **({"Prefer": "resolution=merge-duplicates"} if method == "POST" else {}))
                yield target, reply.status, reply.body

    with ThreadPoolExecutor(len(requests)) as threads:
        return [answer for answers in threads.map(lambda targets: list(write(targets)), requests) for answer in answers]


def test_writers_of_neighbouring_rows_do_not_wait_for_each_other(start_rest, database):
    tables = writable("employees") + [{"name": "notes", "alias": "mine", "methods": ALL_METHODS, "client_ids": True, "where": "author=eq.me"}]
    server = start_rest(tables, database=database)
    for method, target, body in [("PUT", "employees?id=eq.{}", {"name": "n"}), ("PUT", "mine?id=eq.{}", {"text": "t"}), ("POST", "mine", {"id": 0})]:
        for lap in (0, 1):  # new, and there
            numbers = [[100_000 + thread * 10 + number * 1000 for number in range(60)] for thread in range(4)]
            if method == "POST":
                numbers = [[number + 5 for number in own] for own in numbers]
            requests = [[(target.format(number), {**body, "id": number}) for number in own] for own in numbers]
            answers = write_at_once(server, method, requests)
            assert {status for _, status, _ in answers} == {201 if lap == 0 or method == "POST" else 204}, [answer for answer in answers if answer[1] > 204]
    assert server.mariadb.run("SELECT COUNT(*), COUNT(DISTINCT author) FROM notes", database) == [("480", "1")]


def test_the_same_new_row_is_made_once(start_rest, database):
    tables = writable("employees") + [{"name": "notes", "alias": "mine", "methods": ALL_METHODS, "client_ids": True, "where": "author=eq.me"}]
    server = start_rest(tables, database=database)
    for number, (method, target, key, fields, others) in enumerate([
            ("PUT", "employees?id=eq.{}", "name", {}, 204), ("PUT", "employees?id=eq.{}", "name", {"If-None-Match": "*"}, 412),
            ("PUT", "mine?id=eq.{}", "text", {}, 204), ("PUT", "mine?id=eq.{}", "text", {"If-None-Match": "*"}, 412), ("POST", "mine", "text", {}, 201)]):
        first = 1000 * (number + 1)
        requests = [[(target.format(id), {"id": id, key: f"w{writer}"}) for id in range(first, first + 60)] for writer in range(6)]
        answers = write_at_once(server, method, requests, **fields)
        may = {409} if "few deadlocks" not in server.mariadb.has else set()
        assert {status for _, status, _ in answers} - may == {201, others}, [answer for answer in answers if answer[1] not in (201, others)]
        made = [target for target, status, _ in answers if status == 201]
        assert method == "POST" or len(made) == len(set(made)) == 60
    assert server.mariadb.run("SELECT COUNT(*), COUNT(DISTINCT author) FROM notes WHERE id >= 1000", database) == [("180", "1")]


def test_a_row_that_comes_and_goes_is_put(start_rest, database):
    tables = writable("employees") + [{"name": "notes", "alias": "mine", "methods": ALL_METHODS, "client_ids": True, "where": "author=eq.me"}]
    server = start_rest(tables, database=database)
    for target, body in [("employees?id=eq.1000", {"name": "n"}), ("mine?id=eq.1000", {"text": "t"})]:
        answers = write_at_once(server, "PUT", [[(target, body)] * 300, [(target, body)] * 300, [(target, None)] * 600])
        told = {(status, json.loads(text)["code"] if status > 204 else "") for _, status, text in answers}
        assert told <= {(201, ""), (204, ""), (409, "deadlock")}


def test_a_key_is_not_rounded(start_rest, database, mariadb):
    run = mariadb.run
    run(f"CREATE TABLE {database}.dec_key (k DECIMAL(10,2) PRIMARY KEY, v INT, code DECIMAL(6,1) UNIQUE, free DECIMAL(6,1),"
        f" at DATETIME UNIQUE, owner DECIMAL(4,1) DEFAULT 7)")
    run(f"INSERT INTO {database}.dec_key VALUES (8.41, 1, 1.5, NULL, '2026-11-20 12:00:00', 1)")
    tables = writable("dec_key") + [{"name": "dec_key", "alias": "mine", "methods": ALL_METHODS, "client_ids": True, "where": "owner=eq.7"}]
    server = start_rest(tables, database=database)
    represent = {"Prefer": "return=representation"}
    made = server.put("dec_key?k=eq.7.110&select=k,v", {"k": "7.11", "v": 2}, **represent)
    assert (made.status, made["Location"], made.json()) == (201, "/data/dec_key?k=eq.7.11", [{"k": 7.11, "v": 2}])
    assert server.put("dec_key?k=eq.7.11&select=k,v", {"k": 7.1100, "v": 3}, **represent).status == 200
    # What does not decide which row it is, is rounded as the database does.
    assert server.patch("dec_key?k=eq.7.11&select=free", {"free": 1.25}, **represent).json() == [{"free": 1.3}]
    assert server.get("dec_key?k=gt.7.105&k=lt.7.115&select=k").json() == [{"k": 7.11}]
    assert server.patch("dec_key?k=eq.7.1149", {"v": 1}, Prefer="count=exact")["Content-Range"] == "*/0"
    merge = {"Prefer": "resolution=merge-duplicates"}
    before = server.get("dec_key").body
    for method, target, body, fields in [
            ("PUT", "dec_key?k=eq.7.115", {"v": 2}, {}), ("PATCH", "dec_key?k=eq.8.41", {"k": "8.505"}, {}), ("POST", "dec_key", {"k": 1.001}, {}),
            ("POST", "dec_key", [{"k": 1}, {"k": 2, "code": 0.15}], {}), ("POST", "dec_key", {"k": 1, "at": "2026-11-20T12:00:00.5Z"}, {}),
            ("PATCH", "dec_key?k=eq.8.41", {"code": "1e-2"}, {}), ("POST", "mine?on_conflict=code", {"k": 1, "code": 1.49}, merge),
            ("POST", "mine?on_conflict=at", {"k": 1, "at": "2026-11-20T12:00:00.4Z"}, merge)]:
        refused = server.send(method, target, body, **fields)
        assert (refused.status, refused.json()["code"]) == (400, "value_out_of_range"), (method, target, body, refused.body)
    assert server.get("dec_key").body == before
    assert server.post("mine", {"k": 3, "owner": "7.00"}).status == 201


def test_members_of_keys_are_in_their_column_s_order(start_rest, database, mariadb):
    mariadb.run(f"CREATE TABLE {database}.tagged (k SET('sea','air','Öl') PRIMARY KEY, v INT, kind ENUM('a','b') UNIQUE) CHARACTER SET utf8mb4")
    server = start_rest(writable("tagged"), database=database)
    represent = {"Prefer": "return=representation"}
    for given, kept, status in [("air,sea", "sea,air", 201), ("sea,air", "sea,air", 200), ("AIR,sea,air", "sea,air", 200), ("Öl,air", "air,Öl", 201), ("öl", "Öl", 201)]:
        made = server.put(f"tagged?k=eq.{quote(given)}&select=k,v", {"k": given, "v": 2}, **represent)
        assert (made.status, made.json()) == (status, [{"k": kept, "v": 2}]), (given, made.body)
        if status == 201:
            assert server.get(made["Location"].removeprefix("/data/")).json()[0]["k"] == kept
    # What only the database knows to be a member has no place among others.
    refused = server.put(f"tagged?k=eq.{quote('öl,air')}", {"v": 2})
    assert (refused.status, refused.json()["code"]) == (400, "bad_value"), refused.body
    changed = server.patch("tagged?k=eq.sea,air&select=k,kind", {"k": "sea", "kind": "B"}, **represent)
    assert changed.json() == [{"k": "sea", "kind": "b"}]


def test_rows_of_others_are_met_by_what_they_are(start_rest, database, mariadb):
    mariadb.run(f"CREATE TABLE {database}.met (id INT AUTO_INCREMENT PRIMARY KEY, v INT, code DECIMAL(6,1) UNIQUE, b BINARY(4) UNIQUE, at DATETIME UNIQUE,"
                f" c CHAR(5) COLLATE utf8mb4_nopad_bin UNIQUE, owner INT DEFAULT 7)")
    mariadb.run(f"CREATE TABLE {database}.falls_back (d INT NOT NULL DEFAULT 5 PRIMARY KEY, v INT, owner INT DEFAULT 1)")
    mariadb.run(f"INSERT INTO {database}.falls_back VALUES (5, 1, 1)")
    mariadb.run(f"INSERT INTO {database}.met VALUES (1, 1, 1.5, x'61620000', '2026-11-20 12:00:00', 'ab', 1)")
    server = start_rest(writable("met", "falls_back", where="owner=eq.7"), database=database)
    for target, body, status, code in [
            ("met?on_conflict=code", {"code": "1.50"}, 403, "row_not_allowed"), ("met?on_conflict=code", {"code": 1.49}, 400, "value_out_of_range"),
            ("met?on_conflict=b", {"b": "YWI="}, 403, "row_not_allowed"), ("met?on_conflict=at", {"at": "2026-11-20T13:00:00+01:00"}, 403, "row_not_allowed"),
            ("met?on_conflict=at", {"at": "2026-11-20T12:00:00.4Z"}, 400, "value_out_of_range"), ("met?on_conflict=c", {"c": "ab "}, 403, "row_not_allowed"),
            ("met?on_conflict=c", {"c": "ab      "}, 403, "row_not_allowed"), ("falls_back", {}, 400, "no_key")]:
        refused = server.post(target, {**body, "v": 9}, Prefer="resolution=merge-duplicates")
        assert (refused.status, refused.json()["code"]) == (status, code), (target, body, refused.body)
    assert mariadb.run(f"SELECT id, v, owner FROM {database}.met") == [("1", "1", "1")]
    assert mariadb.run(f"SELECT d, v, owner FROM {database}.falls_back") == [("5", "1", "1")]
