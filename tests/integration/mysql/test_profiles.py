"""Accept-Profile and Content-Profile: of a client that has chosen a schema."""

import pytest

from rest_server import writable

PROFILES = ["Accept_Profile", "Content_Profile"]
ROUTES = [{"path": "/data/rpc/named", "mysql_query": {
    "sql": "SELECT id, name FROM customers WHERE name = :name", "parameters": {"name": {}}, "methods": ["GET", "POST"]}}]
BATCH = [{"method": "POST", "path": "notes", "body": {"text": "of a batch"}}]


@pytest.fixture
def server(start_rest, database):
    return start_rest(writable("customers", "notes"), database=database, routes=ROUTES, options={"batch": True})


def requests(server):
    """What may be asked for, each by its name."""
    return {
        "GET": lambda **fields: server.get("customers?id=eq.3", **fields),
        "HEAD": lambda **fields: server.head("customers?id=eq.3", **fields),
        "POST": lambda **fields: server.post("notes", {"text": "new"}, **fields),
        "PATCH": lambda **fields: server.patch("customers?id=eq.3", {"name": "Changed"}, **fields),
        "PUT": lambda **fields: server.put("notes?id=eq.1000", {"id": 1000, "text": "put"}, **fields),
        "DELETE": lambda **fields: server.delete("notes?id=eq.1000", **fields),
        "batch": lambda **fields: server.post("batch", BATCH, **fields),
        "document": lambda **fields: server.get("", **fields),
        "rpc": lambda **fields: server.post("rpc/named", {"name": "Customer 7"}, **fields),
        "rpc by GET": lambda **fields: server.get("rpc/named?name=Customer+7", **fields),
    }


@pytest.mark.parametrize("profile", PROFILES)
def test_other_schemas_are_refused(server, database, mariadb, profile):
    written = "SELECT COUNT(*) FROM notes UNION ALL SELECT COUNT(*) FROM customers WHERE name = 'Changed'"
    before = mariadb.run(written, database)
    for name, ask in requests(server).items():
        for schema in ("mysql", "information_schema", "otherdb", "PUBLIC", "public, mysql", database + "x", ""):
            answer = ask(**{profile: schema})
            assert answer.status == 406, (name, schema)
            assert answer["Content-Type"] == "application/problem+json"
            if name != "HEAD":
                assert answer.json()["code"] == "PGRST106", (name, schema)
                assert database not in answer.json()["detail"] + answer.json()["hint"]
    assert mariadb.run(written, database) == before


def test_the_only_schema_may_be_named(server, database):
    for schema in ("public", database):
        for name, ask in requests(server).items():
            for profiles in (PROFILES[:1], PROFILES[1:], PROFILES):
                assert 200 <= ask(**dict.fromkeys(profiles, schema)).status < 300, (name, profiles)


def test_any_of_several_fields_counts(server):
    answer = server.send("PATCH", "customers?id=eq.3", {"name": "Changed"}, Content_Profile="public", content_profile="mysql")
    assert answer.status == 406
    answer = server.patch("customers?id=eq.3", {"name": "Changed"}, Content_Profile="public", Accept_Profile="mysql")
    assert answer.status == 406
    assert server.get("customers?id=eq.3").json()[0]["name"] == "Customer 3"
