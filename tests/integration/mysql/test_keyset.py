"""Paging by the last row seen: the pages together are all rows once, in their order; and DISTINCT."""

from urllib.parse import quote

import pytest


def spelt(value):
    if value is None:
        return "null"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


@pytest.mark.parametrize("table,order,keys", [
    ("customers", "id", ["id"]),
    ("customers", "id.desc", ["id"]),
    ("customers", "city,id", ["city", "id"]),
    ("customers", "city.desc", ["city", "id"]),
    ("customers", "city.asc.nullslast,vip.desc,id", ["city", "vip", "id"]),
    ("customers", "city.desc.nullsfirst,id.desc", ["city", "id"]),
    ("customers", "born.desc", ["born", "id"]),
    ("customers", "email", ["email"]),
    ("products", "price.desc", ["price", "id"]),
    ("products", "weight_g.nullslast", ["weight_g", "id"]),
    ("stock", "warehouse.desc", ["warehouse", "product_id"]),
    ("stock", "shelf.desc.nullslast,quantity", ["shelf", "quantity", "warehouse", "product_id"]),
    ("order_lines", "quantity", ["quantity", "order_id", "line"]),
    ("orders", "status", ["status", "id"]),
    ("orders", "placed_at.desc", ["placed_at", "id"]),
])
def test_pages(rest, mariadb, table, order, keys):
    server = rest(options={"bigint": "number"})
    select = f"{table}?select={','.join(keys)}&limit=97&order={order}"
    found, after = [], None
    for _ in range(60):
        page = server.get(select + (f"&after={quote(after)}" if after else "")).json()
        found += [tuple(row[key] for key in keys) for row in page]
        if len(page) < 97:
            break
        after = ",".join(spelt(value) for value in found[-1])
    assert len(found) == len(set(found)) == int(mariadb.value(f"SELECT COUNT(*) FROM {table}", "sample"))
    whole = server.get(f"{table}?select={','.join(keys)}&order={order}&limit=1000").json()
    assert found[:1000] == [tuple(row[key] for key in keys) for row in whole]


def test_distinct(rest):
    server = rest(options={"bigint": "number"})
    assert server.get("customers?distinct&select=country&order=country.desc").json() == [{"country": "de"}, {"country": "ch"}, {"country": "at"}]
    answer = server.get("customers?distinct&select=country,vip", Prefer="count=exact")
    assert len(answer.json()) == 6
    assert answer["Content-Range"] == "0-5/6"
    assert server.get("customers?distinct&select=country&order=id").status == 400


def test_large(rest, million):
    """A page from the middle of a million rows takes what the first one takes."""
    server = rest(["events"], options={"bigint": "number"})
    assert server.get("events?select=id&order=id&after=900000&limit=2").json() == [{"id": 900001}, {"id": 900002}]
    assert server.get("events?select=id&id=gte.999999&order=id").json() == [{"id": 999999}, {"id": 1000000}]
