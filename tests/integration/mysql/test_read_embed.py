"""Rows within rows: along foreign keys, either way."""


def test_one_within_each(rest):
    rows = rest().get("orders?select=id,customers(id,name)&id=lt.4&order=id").json()
    assert rows == [{"id": id, "customers": {"id": 1 + id * 7 % 200, "name": f"Customer {1 + id * 7 % 200}"}} for id in (1, 2, 3)]
    single = rest().get("orders?select=id,buyer:customers(name)&id=eq.1", Accept="application/vnd.pgrst.object+json")
    assert single.body == b'{"id":1,"buyer":{"name":"Customer 8"}}'


def test_many_within_each(rest):
    rows = rest().get("orders?select=id,order_lines(line)&id=lt.4&order=id&order_lines.order=line").json()
    assert rows[0] == {"id": 1, "order_lines": [{"line": line} for line in range(1, 6)]}
    assert rows[1] == {"id": 2, "order_lines": []}


def test_none_within(rest):
    rows = rest().get("employees?select=id,employees!boss_id(name)&id=lte.2&order=id")
    assert rows.status == 200, rows.body
    assert rest().get("orders?select=id,customers(id)&id=eq.0").body == b"[]"


def test_lines_and_several(rest):
    answer = rest().get("order_lines?select=line,orders(id),products(sku)&order_id=eq.1&order=line", Accept="application/x-ndjson")
    assert answer.body.startswith(b'{"line":1,"orders":{"id":1},"products":{"sku":"SKU-0014"}}\n{"line":2,')
    assert answer.body.count(b"\n") == 5 and answer.body.endswith(b"}\n")


def test_csv_has_no_form_for_it(rest):
    answer = rest().get("orders?select=id,customers(id)&limit=1", Accept="text/csv")
    assert (answer.status, answer.json()["code"]) == (406, "not_acceptable")


def test_bounded(rest):
    server = rest(options={"limits": {"max_embed_rows": 4}})
    answer = server.get("orders?select=id,customers(id)")
    assert (len(answer.json()), answer["Content-Range"]) == (4, "0-3/*")
    answer = server.get("products?select=id,order_lines(line)&limit=2")
    assert (answer.status, answer.json()["code"]) == (400, "too_many_rows")


def test_max_rows_holds_for_rows_within_rows(rest):
    server = rest(["customers", {"name": "orders", "max_rows": 3}])
    for inner in ("orders(id)", "orders(id)&orders.limit=100", "orders(id)&orders.limit=3&orders.order=id"):
        rows = server.get(f"customers?select=id,{inner}&limit=4").json()
        assert [len(row["orders"]) for row in rows] == [3, 3, 3, 3]
    assert [len(row["orders"]) for row in server.get("customers?select=id,orders(id)&orders.limit=2&limit=2").json()] == [2, 2]
