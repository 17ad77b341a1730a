"""Filters find the rows that the same condition, written in SQL by hand, finds."""

from urllib.parse import quote

import pytest

CASES = [
    ("orders", "id=eq.17", "id = 17"),
    ("orders", "id=neq.17", "id <> 17"),
    ("orders", "id=gt.1990&id=not.eq.1995", "id > 1990 AND id <> 1995"),
    ("orders", "id=in.(3,5,9999,1)", "id IN (3, 5, 9999, 1)"),
    ("orders", "id=in.()", "FALSE"),
    ("orders", "id=not.in.(1,2)&id=lte.5", "id IN (3, 4, 5)"),
    ("orders", "id=eq(any).{3,4,5}", "id IN (3, 4, 5)"),
    ("orders", "id=gt(all).{5,1990}", "id > 1990"),
    ("orders", "total=eq.3.50", "total = 3.5"),
    ("orders", "total=gte.6999.999", "total >= 6999.999"),
    ("orders", "total=in.(3.5,7,7.001)", "total IN (3.5, 7)"),
    ("orders", "status=eq.paid&id=lt.20", "status = 'paid' AND id < 20"),
    ("orders", "status=gt.paid&id=lt.20", "status IN ('shipped', 'hidden') AND id < 20"),
    ("orders", "placed_at=gte.2026-02-20T00:00:00Z", "placed_at >= '2026-02-20'"),
    ("orders", "placed_at=lt.2026-01-01T03:00:00%2B02:00", "placed_at < '2026-01-01 01:00:00'"),
    ("orders", "placed_at=lt.2026-01-02", "placed_at < '2026-01-02'"),
    ("orders", "note=is.null&id=lt.10", "note IS NULL AND id < 10"),
    ("orders", "note=not.is.null&id=lt.10", "note IS NOT NULL AND id < 10"),
    ("orders", 'note=eq.note, "12"', "id = 12"),
    ("orders", 'note=in.("note, \\"12\\"","note, \\"15\\"")', "id IN (12, 15)"),
    ("orders", 'or=(note.eq."note, \\"12\\"",and(id.gt.3,id.lt.6))', "id IN (4, 5, 12)"),
    ("orders", "not.or=(id.gt.3,id.eq.1)", "id IN (2, 3)"),
    ("orders", "and=(or(id.eq.1,id.eq.2),not.and(status.eq.paid,id.eq.1))", "id = 2"),
    ("customers", "vip=is.true", "vip"),
    ("customers", "vip=eq.false&id=lt.30", "NOT vip AND id < 30"),
    ("customers", "city=eq.Köln", "city = 'Köln'"),
    ("customers", "city=isdistinct.Bonn", "city IS NULL OR city <> 'Bonn'"),
    ("customers", "city=neq.Bonn", "city <> 'Bonn'"),
    ("customers", "not.and=(city.eq.Bonn,vip.is.false)", "NOT (city <=> 'Bonn' AND NOT vip) AND (city IS NOT NULL OR vip)"),
    ("customers", "name=like.Customer 1*", "name LIKE 'Customer 1%'"),
    ("customers", "name=like.customer 1*", "FALSE"),
    ("customers", "name=ilike.customer 1_", "name LIKE 'Customer 1_'"),
    ("customers", "name=like(any).{*11,*22}", "id IN (11, 111, 22, 122)"),
    ("customers", "name=match.^Cust.*[12]0$", "id % 100 IN (10, 20)"),
    ("customers", "name=match.^cust", "FALSE"),
    ("customers", "name=imatch.^cust.*1$", "id % 10 = 1"),
    ("customers", "born=gte.1990-01-01", "born >= '1990-01-01'"),
    ("customers", "name=eq.' OR 1=1 -- ", "FALSE"),
    ("products", "tags=is.null", "id % 4 = 0"),
    ("products", "tags->>colour=eq.red", "id % 3 = 0 AND id % 4 <> 0"),
    ("products", 'tags->colour=eq."red"', "id % 3 = 0 AND id % 4 <> 0"),
    ("products", "tags->sizes->0=gt.9", "id > 9 AND id % 4 <> 0"),
    ("products", "tags->sizes->-1=lte.10", "id < 10 AND id % 4 <> 0"),
    ("products", "tags->sizes=eq.[1, 2]", "id = 1"),
    ("products", "tags->sizes->>0=in.(7,9)", "id IN (7, 9)"),
    ("products", "tags->nothing=is.null&id=lt.3", "id < 3"),
    ("products", "tags->colour=neq.\"red\"", "id % 3 <> 0 AND id % 4 <> 0"),
    ("documents", "body->deep->list->2=eq.null", "TRUE"),
    ("documents", "body->deep->list->>2=is.null", "TRUE"),
    ("documents", "body->n=in.(3,5)", "id IN (3, 5)"),
    ("articles", "body=plfts.heron nest", "body LIKE '%heron%nest%'"),
    ("articles", "body=fts.heron | magpie", "body LIKE '%heron%' OR body LIKE '%magpie%'"),
    ("articles", "body=fts.heron %26 !nest", "body LIKE '%heron%' AND body NOT LIKE '%nest%'"),
    ("articles", "body=fts.her:*", "body LIKE '%heron%'"),
    ("articles", "body=phfts.home to roost", "body LIKE '%home to roost%'"),
    ("articles", "body=wfts.heron or magpie -nest", "(body LIKE '%heron%' OR body LIKE '%magpie%') AND body NOT LIKE '%nest%'"),
    ("articles", "body=not.fts.heron", "body NOT LIKE '%heron%'"),
    ("articles", "title_body=plfts.news pigeon", "title LIKE '%Pigeon%'"),
    ("every_type", "t_float=eq.1.5", "id = 1"),
    ("every_type", "t_float=eq.-3.4e38", "id = 2"),
    ("every_type", "t_double=eq.0.1", "id = 1"),
    ("every_type", "t_decimal=eq.12345678901234567890.0123456789", "id = 1"),
    ("every_type", "t_bigint=eq.9007199254740993", "id = 1"),
    ("every_type", "t_ubigint=eq.18446744073709551615", "id = 2"),
    ("every_type", "t_bit1=is.true", "id = 1"),
    ("every_type", "t_bit=eq.1099511627775", "id = 1"),
    ("every_type", "t_latin=eq.größe", "id = 1"),
    ("every_type", "t_latin=like.gr*", "id = 1"),
    ("every_type", "t_latin=eq.😀", None),
    ("every_type", "t_varbinary=eq.3q2+7w==", "id = 1"),
    ("every_type", "t_blob=in.(AAECA,AAECAg==,AAEC//4=)", None),
    ("every_type", "t_binary=eq.AP8AgA==", "id = 1"),
    ("every_type", "t_date=eq.2026-11-20", "id = 1"),
    ("every_type", "t_time=eq.12:34:56", "id = 1"),
    ("every_type", "t_time=lt.00:00", "id = 2"),
    ("every_type", "t_time3=eq.12:34:56.789", "id = 1"),
    ("every_type", "t_datetime6=eq.2026-11-20T22:13:05.123456Z", "id = 1"),
    ("every_type", "t_timestamp=eq.2026-11-20T23:13:05%2B01:00", "id = 1"),
    ("every_type", "t_timestamp3=gt.2030-01-01T00:00:00Z", "id = 2"),
    ("every_type", "t_year=eq.2026", "id = 1"),
    ("every_type", "t_enum=eq.it's large", "id = 1"),
    ("every_type", "t_set=eq.a,c", "id = 1"),
    ("every_type", "t_point=is.null", "id = 3"),
    ("every_type", "t_bool=not.is.true", "id IN (2, 3)"),
    ("every_type", "t_uuid=eq.123e4567-e89b-12d3-a456-426655440000", "id = 1"),
    ("every_type", "t_inet6=eq.2001:db8::1", "id = 1"),
]


def spelt(query):
    return quote(query, safe="=&%.,():{}*-")


@pytest.mark.parametrize("table,query,condition", CASES, ids=[f"{case[0]}-{case[1].split('=')[0]}-{index}" for index, case in enumerate(CASES)])
def test_filter(rest, mariadb, table, query, condition):
    if query.split("=")[0] in mariadb.absent:
        pytest.skip("a type of MariaDB's")
    answer = rest(options={"bigint": "number"}).get(f"{table}?select=id&order=id&" + spelt(query))
    if condition is None:
        assert answer.status == 400
        return
    assert answer.status == 200, answer.body
    wanted = [int(row[0]) for row in mariadb.run(f"SELECT id FROM {table} WHERE {condition} ORDER BY id", "sample")]
    assert [row["id"] for row in answer.json()] == wanted[:1000]


@pytest.mark.parametrize("target,status,code", [
    ("orders?id=x", 400, "bad_operator"),
    ("orders?id=eq.x", 400, "bad_value"),
    ("orders?id=eq.99999999999999999999", 400, "value_out_of_range"),
    ("orders?nothing=eq.1", 400, "unknown_column"),
    ("orders?status=eq.gone", 400, "bad_value"),
    ("orders?order=nothing", 400, "unknown_column"),
    ("orders?select=nothing", 400, "unknown_column"),
    ("orders?id=cs.{1}", 400, "unsupported"),
    ("orders?id=like.1*", 400, "bad_operator"),
    ("articles?title=fts.heron", 400, "no_fulltext_key"),
    ("customers?name=match.(", 400, None),
    ("orders?limit=-1", 400, "bad_value"),
    ("orders?foo.id=eq.1", 400, "unknown_embedding"),
])
def test_refused(rest, target, status, code):
    answer = rest(options={"bigint": "number"}).get(target)
    assert answer.status == status, answer.body
    assert code is None or answer.json()["code"] == code
    assert "SELECT" not in answer.body.decode()


@pytest.mark.parametrize("select,row", [
    ("id,status", {"id": 7, "status": "hidden"}),
    ("number:id", {"number": 7}),
    ("id::text,total::float8,placed_at::date", {"id": "7", "total": 24.5, "placed_at": "2026-01-01"}),
    ("total::int,when:placed_at::text", {"total": 25, "when": "2026-01-01 04:19:00"}),
])
def test_select(rest, select, row):
    assert rest(options={"bigint": "number"}).get(f"orders?id=eq.7&select={select}").json() == [row]


@pytest.mark.parametrize("select,row", [
    ("tags->>colour", {"colour": "green"}),
    ("tags->colour", {"colour": "green"}),
    ("tags->sizes", {"sizes": [1, 2]}),
    ("first:tags->sizes->0,last:tags->sizes->>-1", {"first": 1, "last": "2"}),
    ("tags->nothing,no:tags->>nothing", {"nothing": None, "no": None}),
    ("active::text,active::int", None),
    ("a:active::text,b:active::int,c:price::text", {"a": "true", "b": 1, "c": "1.25"}),
])
def test_select_json(rest, select, row):
    answer = rest(options={"bigint": "number"}).get(f"products?id=eq.1&select={select}")
    assert answer.json() == [row] if row else answer.status == 400


@pytest.mark.parametrize("target,sql", [
    ("customers?order=city,id", "customers ORDER BY city, id"),
    ("customers?order=city.desc.nullslast,id.desc", "customers ORDER BY city IS NULL, city DESC, id DESC"),
    ("customers?order=city.desc.nullsfirst,id.desc", "customers ORDER BY city IS NOT NULL, city DESC, id DESC"),
    ("customers?order=city.asc.nullslast,id", "customers ORDER BY city IS NULL, city, id"),
    ("orders?order=status.desc,id&limit=5&offset=3", "orders ORDER BY status DESC, id LIMIT 5 OFFSET 3"),
    ("products?order=tags->sizes->0.desc.nullslast,id", "products ORDER BY id % 4 = 0, IF(id % 4 = 0, id, -id)"),
    ("products?order=tags->>colour.nullsfirst,id",
     "products ORDER BY id % 4 <> 0, IF(id % 4 = 0, '', JSON_UNQUOTE(JSON_EXTRACT(tags, '$.colour'))), id"),
])
def test_order(rest, mariadb, target, sql):
    wanted = [int(row[0]) for row in mariadb.run(f"SELECT id FROM {sql}", "sample")]
    answer = rest(options={"bigint": "number"}).get(target + "&select=id")
    assert [row["id"] for row in answer.json()] == wanted[:1000]


def test_names_that_need_quoting(rest):
    server = rest(options={"bigint": "number"})
    wanted = [{"sélect": "value 3", "quo`te": 6}]
    select = "select=s%C3%A9lect,%22quo%60te%22"
    assert server.get(f"odd%20name?{select}&a%20column=eq.3").json() == wanted
    assert server.get(f"odd%20name?{select}&or=(%22quo%60te%22.eq.6)&order=a+column.desc,%22quo%60te%22").json() == wanted
    assert server.get(f"odd%20name?{select}&order=%22quo%60te%22&after=4&limit=1").status == 400
    assert server.get(f"odd%20name?{select}&order=%22quo%60te%22&after=4,2&limit=1").json() == wanted
    assert server.get("odd%20name?quo%60te=eq.6").status == 400


def test_zone(rest):
    """Moments are compared as the same points in time, whatever the session's zone and the client's."""
    server = rest(["every_type"], options={"bigint": "number"}, mysql={"time_zone": "+02:00"})
    row, = server.get("every_type?id=eq.1&select=t_timestamp,t_timestamp3,t_datetime").json()
    assert row == {"t_timestamp": "2026-11-21T00:13:05+02:00", "t_timestamp3": "2026-11-21T00:13:05.123+02:00",
                   "t_datetime": "2026-11-20T22:13:05+02:00"}
    for value in ("2026-11-20T22:13:05Z", "2026-11-21T00:13:05%2B02:00", "2026-11-21T00:13:05", "2026-11-20T17:13:05-05:00"):
        assert server.get(f"every_type?select=id&t_timestamp=eq.{value}").json() == [{"id": 1}], value
    assert server.get("every_type?select=id&t_datetime=eq.2026-11-20T20:13:05Z").json() == [{"id": 1}]


@pytest.mark.parametrize("operator", ["match", "imatch", "not.match", "match(any)"])
def test_regular_expressions_are_off_by_default(rest, operator):
    """(a+)+$ and the like keep the database busy."""
    value = "{^A}" if "any" in operator else "^A"
    server = rest(options={"regex": False})
    refused = server.get(f"customers?name={operator}.{value}")
    assert (refused.status, refused.json()["code"]) == (400, "bad_operator")
    assert "\"regex\": \"on\"" in refused.json()["hint"]
    own = rest([{"name": "customers", "where": "name=match.7$"}], options={"regex": False})  # the configuration's own
    assert len(own.get("customers").json()) == 20
