"""The document of a route's tables: it is one, it tells the truth, it keeps up with the schema; and the page that tries them."""

import signal
import urllib.parse

import pytest

from openapi_document import Document, matching
from rest_server import TABLES, writable
from roost_server import eventually

COUNT = 6  # requests for each parameter


@pytest.fixture(scope="module")
def server(rest):
    return rest()


@pytest.fixture(scope="module")
def document(server):
    return Document(server.get("").json())


def test_it_is_one(rest, document):
    document.check()
    assert document.parsed["servers"] == [{"url": "/data"}]
    assert len(document.paths) == len(TABLES) + 1
    assert "/odd%20name" in document.paths
    assert all(list(path) == ["get"] for path in document.paths.values())
    strings = Document(rest(writable(*TABLES), options={"bigint": "string", "decimal": "string"}).get("").json())
    strings.check()
    assert set(strings.paths["/orders"]) == {"get", "post", "patch", "put", "delete"}
    assert set(strings.paths["/order_totals"]) == {"get"}  # a view that cannot be written through
    assert set(strings.paths["/paid_orders"]) == {"get", "post", "patch", "delete"}  # one without a key
    try:
        import openapi_spec_validator
    except ImportError:
        return
    openapi_spec_validator.validate(strings.parsed)


def test_what_it_says_of_columns(rest, mariadb):
    schemas = rest(writable(*TABLES)).get("").json()["components"]["schemas"]
    orders = schemas["orders.selected"]["properties"]
    assert orders["id"]["maximum"] == 2**64 - 1
    assert orders["customer_id"]["description"] == "Refers to customers.id."
    assert orders["status"]["enum"] == ["open", "paid", "shipped", "hidden"]
    assert orders["note"]["type"] == ["string", "null"]
    assert schemas["orders.new"]["required"] == ["customer_id"]
    assert "id" in schemas["orders.new"]["properties"] and "id" not in schemas["orders.replacement"]["properties"]
    assert schemas["customers"]["description"] == "who buys"
    assert schemas["customers.selected"]["properties"]["name"]["description"] == "as on the letter"
    types = schemas["every_type.selected"]["properties"]
    assert "t_hidden" not in types
    assert types["t_generated"]["readOnly"] is True
    assert "t_generated" not in schemas["every_type.new"]["properties"]
    assert "type" not in types["t_json"]
    assert types["t_bool"]["type"] == types["t_bit1"]["type"] == ["boolean", "null"]
    assert "t_uuid" in mariadb.absent or types["t_uuid"]["format"] == "uuid"
    assert types["t_binary"] == {"type": ["string", "null"], "contentEncoding": "base64", "maxLength": 8}
    assert types["t_enum"]["enum"] == ["small", "medium", "it's large", None]
    assert types["t_mediumint"]["minimum"] == -2**23
    assert schemas["order_lines.new"]["required"] == ["order_id", "line", "product_id"]


@pytest.mark.parametrize("form", ["number", "string"])
@pytest.mark.parametrize("table", TABLES)
def test_rows_are_as_it_says(rest, table, form):
    server = rest(options={"bigint": form, "decimal": form})
    document = Document(server.get("").json())
    rows = server.get(urllib.parse.quote(table) + "?limit=100").json()
    assert rows or table == "notes"
    document.validate(rows, table.replace(" ", "-"), many=True)


@pytest.mark.parametrize("table", TABLES)
def test_every_filter_it_knows_is_understood(server, document, table):
    path = "/" + urllib.parse.quote(table)
    with server.connect() as wire:
        for name, parameter in document.parameters(path, "get").items():
            schema = parameter["schema"]
            for seed in range(COUNT):
                value = value_of(schema, seed)
                query = urllib.parse.urlencode({name: value})
                answer = server.get(f"{path[1:]}?{query}" + ("" if name == "limit" else "&limit=3"), wire=wire)
                if (table, name) == ("paid_orders", "status") and "views' own collations" not in server.mariadb.has:
                    continue
                assert answer.status in (200, 206, 416), (name, value, answer.status, answer.body)


def value_of(schema, seed):
    if schema["type"] == "array":
        items = schema["items"]
        return items["enum"][seed % len(items["enum"])] if "enum" in items else matching(items["pattern"], seed)
    if schema["type"] == "integer":
        return [0, 1, 7, 1000, 2**53, schema["maximum"]][seed]
    return schema["enum"][seed % len(schema["enum"])] if "enum" in schema else matching(schema["pattern"], seed)


def test_problems_are_as_it_says(server, document):
    for target in ("orders?nothing=eq.1", "orders?id=1", "nowhere", "orders?limit=-1", "orders?select=", "?x"):
        answer = server.get(target)
        assert 400 <= answer.status < 500
        assert answer["content-type"] == "application/problem+json"
        document.validate(answer.json(), "problem")


@pytest.mark.parametrize("accept,media_type", [
    ("", "application/json"),
    ("*/*", "application/json"),
    ("application/openapi+json", "application/openapi+json"),
    ("application/vnd.oai.openapi+json, */*;q=0.1", "application/vnd.oai.openapi+json"),
    ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html; charset=utf-8"),
    ("text/html;q=0.5, application/json", "application/json"),
])
def test_forms_and_tags(server, accept, media_type):
    fields = {"Accept": accept} if accept else {}
    answer = server.get("", **fields)
    assert (answer.status, answer["content-type"]) == (200, media_type)
    assert answer["vary"] == "Accept"
    tag = answer["etag"]
    again = server.get("", If_None_Match=tag, **fields)
    assert (again.status, again.body) == (304, b"")
    assert again["etag"] == tag
    head = server.head("", **fields)
    assert (head.status, head["content-length"]) == (200, str(len(answer.body)))


def test_the_page_stands_alone(server):
    page = server.get("", Accept="text/html")
    assert page["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'; ")
    text = page.body.decode()
    assert "//" not in text.replace("<!DOCTYPE", "") and " style=" not in text and "<script>" not in text and " onclick" not in text
    for query, media_type in (("?page.js", "text/javascript"), ("?page.css", "text/css")):
        assert f'"{query}"' in text
        part = server.get(query)
        assert (part.status, part["content-type"]) == (200, media_type + "; charset=utf-8")
        assert b"http:" not in part.body and b"https:" not in part.body and b"innerHTML" not in part.body


def test_other_methods(rest, server):
    assert server.get("", Accept="image/png").status == 406
    refused = server.post("", {})
    assert (refused.status, refused["allow"]) == (405, "OPTIONS, GET, HEAD")
    assert server.send("OPTIONS", "").status == 204
    assert rest(options={"openapi": "off"}).get("").status == 404


def test_it_keeps_up_with_the_schema(start_rest, mariadb, database):
    server = start_rest(["notes"], database=database, mysql={"schema_poll_s": 1})
    before = server.get("")["etag"]

    def columns():
        return list(server.get("").json()["components"]["schemas"]["notes.selected"]["properties"])

    assert columns() == ["id", "author", "text", "created_at"]
    mariadb.run("ALTER TABLE notes ADD COLUMN mood VARCHAR(10) COMMENT 'good or bad'", database)
    eventually(lambda: "mood" in columns(), "the column is known")
    assert server.get("notes?select=mood&mood=is.null").status == 200
    assert server.get("")["etag"] != before
    mariadb.run("ALTER TABLE notes DROP COLUMN mood", database)
    eventually(lambda: server.get("")["etag"] == before, "the column is gone")


def test_it_is_read_anew_on_a_signal(start_rest, mariadb, database):
    server = start_rest(["notes"], database=database, mysql={"schema_poll_s": 0})
    mariadb.run("ALTER TABLE notes COMMENT 'what people say'", database)
    server.signal(signal.SIGHUP)
    eventually(lambda: server.get("").json()["paths"]["/notes"]["get"].get("description") == "what people say", "it is read")


def test_the_last_schema_stays(own_mariadb, start_rest):
    mariadb = own_mariadb()
    server = start_rest(["orders"], server=mariadb, mysql={"schema_poll_s": 1})
    tag = server.get("")["etag"]
    mariadb.kill()
    eventually(lambda: "cannot be read, the last one is kept" in server.log, "the keeper complains")
    assert server.get("")["etag"] == tag
    mariadb.start()
    eventually(lambda: "it can be read again" in server.log, "the keeper is content")
    assert server.get("orders?id=eq.7").json()[0]["customer_id"] == 50


def test_nothing_is_served_before_the_schema_is_there(own_mariadb, start_rest):
    mariadb = own_mariadb()
    mariadb.kill()
    server = start_rest(["orders"], server=mariadb, wait=False)
    for target in ("", "orders?id=eq.7"):
        refused = server.get(target)
        assert (refused.status, refused.json()["code"]) == (503, "schema_unavailable")
        assert int(refused["retry-after"]) >= 1
    mariadb.start()
    eventually(lambda: server.get("orders?id=eq.7").status == 200, "the tables are there")


def test_what_does_not_fit_is_told(start_rest):
    server = start_rest(["orders", "parrots", {"name": "notes", "columns": ["id", "colour"]},
                         {"name": "stock", "where": "shop=eq.1"}])
    assert set(server.get("").json()["paths"]) == {"/", "/orders", "/notes"}
    for line in ("parrots: there is no such table or view", 'notes: there is no column "colour"',
                 'stock: there is no column "shop" for "where": it is not served'):
        eventually(lambda line=line: line in server.log, "it is told")
    assert server.get("stock").status == 404


def test_the_server_stops_while_the_database_hangs(own_mariadb, start_rest):
    mariadb = own_mariadb()
    server = start_rest(["orders"], server=mariadb, mysql={"schema_poll_s": 1, "connect_timeout_ms": 1500})
    mariadb.pause()
    try:
        assert server.get("orders?id=eq.7").status == 503  # by then the keeper has asked as well, and hears nothing
        server.stop()
    finally:
        mariadb.resume()
