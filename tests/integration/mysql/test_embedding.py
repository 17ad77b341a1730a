"""Rows of another table within rows, along foreign keys in both directions."""

import pytest


@pytest.fixture
def server(rest):
    return rest(options={"bigint": "number"})


def test_one(server):
    row, = server.get("orders?id=eq.7&select=id,customers(name,vip)").json()
    assert row == {"id": 7, "customers": {"name": "Customer 50", "vip": True}}


def test_many(server, mariadb):
    rows = server.get("customers?id=lte.3&select=id,orders(id,status)&order=id&orders.order=id.desc").json()
    assert [row["id"] for row in rows] == [1, 2, 3]
    for row in rows:
        wanted = mariadb.run(f"SELECT id, status FROM orders WHERE customer_id = {row['id']} ORDER BY id DESC", "sample")
        assert [(str(each["id"]), each["status"]) for each in row["orders"]] == wanted


def test_filters_orders_and_limits_of_what_is_embedded(server):
    rows = server.get("orders?id=in.(1,2,3)&select=id,lines:order_lines(line)&lines.order=line.desc&lines.limit=2&lines.offset=1&order=id").json()
    assert rows == [{"id": 1, "lines": [{"line": 4}, {"line": 3}]}, {"id": 2, "lines": []}, {"id": 3, "lines": [{"line": 4}, {"line": 3}]}]
    rows = server.get("customers?id=in.(1,10)&select=id,orders(status)&orders.status=eq.nothing&order=id")
    assert rows.status == 400
    rows = server.get("orders?id=in.(7,8)&select=id,customers(name)&customers.id=eq.50&order=id").json()
    assert rows == [{"id": 7, "customers": {"name": "Customer 50"}}, {"id": 8, "customers": None}]


def test_inner_and_existence(server, mariadb):
    rows = server.get("orders?select=id,customers!inner(city)&customers.city=eq.Bonn&order=id&limit=5").json()
    wanted = mariadb.run("SELECT o.id FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.city = 'Bonn' ORDER BY o.id LIMIT 5", "sample")
    assert [str(row["id"]) for row in rows] == [row[0] for row in wanted]
    assert {row["customers"]["city"] for row in rows} == {"Bonn"}
    alone = server.get("orders?select=id,customers!inner()&customers.city=eq.Bonn&order=id&limit=5").json()
    assert alone == [{"id": row["id"]} for row in rows]
    without = server.get("orders?select=id,order_lines()&order_lines=is.null&order=id&limit=3").json()
    assert without == [{"id": 2}, {"id": 4}, {"id": 6}]
    with_lines = server.get("orders?select=id,order_lines()&order_lines=not.is.null&order=id&limit=2").json()
    assert with_lines == [{"id": 1}, {"id": 3}]


def test_order_by_what_is_embedded(server, mariadb):
    rows = server.get("orders?select=id,customers(name)&order=customers(name).desc,id&limit=4").json()
    wanted = mariadb.run("SELECT o.id, c.name FROM orders o JOIN customers c ON c.id = o.customer_id ORDER BY c.name DESC, o.id LIMIT 4", "sample")
    assert [(str(row["id"]), row["customers"]["name"]) for row in rows] == wanted


def test_to_itself(server):
    answer = server.get("employees?select=name,employees(name)")
    assert answer.status == 400
    assert answer.json()["code"] == "ambiguous_relationship"
    assert "employees!boss_id" in answer.json()["hint"]
    row, = server.get("employees?id=eq.3&select=name,boss:employees!boss_id(name),team:employees!id(id)&team.order=id").json()
    assert row == {"name": "Employee 3", "boss": {"name": "Employee 1"}, "team": [{"id": 6}, {"id": 7}]}
    row, = server.get("employees?id=eq.1&select=name,boss:employees!boss_id(name)").json()
    assert row == {"name": "Employee 1", "boss": None}


def test_several_and_by_hint(server):
    row, = server.get("order_lines?order_id=eq.1&line=eq.1&select=line,orders(id),products!line_product(sku)").json()
    assert row["line"] == 1 and row["orders"] == {"id": 1} and row["products"]["sku"].startswith("SKU-")
    row, = server.get("order_lines?order_id=eq.1&line=eq.1&select=product_id,product:product_id(id)").json()
    assert row["product"]["id"] == row["product_id"]


@pytest.mark.parametrize("target,status,code", [
    ("orders?select=id,nothing(id)", 400, "no_relationship"),
    ("orders?select=id,products(id)", 400, "no_relationship"),
    ("orders?select=id,customers!nothing(id)", 400, "no_relationship"),
    ("orders?select=id,customers(nothing)", 400, "unknown_column"),
    ("orders?select=id,customers(id,orders(id))", 400, "unsupported"),
    ("orders?select=id,...customers(name)", 400, "unsupported"),
    ("orders?select=id&customers.city=eq.Bonn", 400, "unknown_embedding"),
])
def test_refused(server, target, status, code):
    answer = server.get(target)
    assert (answer.status, answer.json()["code"]) == (status, code)


def test_hidden_columns_join_nothing(rest):
    server = rest([{"name": "orders", "columns": ["id", "status"]}, "customers"], options={"bigint": "number"})
    assert server.get("orders?select=id,customers(name)").json()["code"] == "no_relationship"
