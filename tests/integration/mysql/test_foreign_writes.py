"""A web page of another origin writes no rows, whatever it can send without a preflight, and with whose password it may be."""

import json

import pytest

from raw_http import request
from rest_server import writable

APP, EVIL = "https://app.example", "https://evil.example"
CROSS = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
# htpasswd -nbB -C 4 bcrypt tpyrcb
USERS = "bcrypt:$2y$04$qBEU8NxqnQ.vywfMk5LyC.QlzN5FZUAQXUw9isVjSu9sTJgRtgY5O\n"
NOTE = {"sql": "INSERT INTO notes (text) VALUES (:text)", "parameters": {"text": {}}, "result": "affected"}
READ = {"sql": "SELECT COUNT(*) FROM notes", "methods": ["GET", "POST"], "result": "value"}


@pytest.fixture
def server(start_rest, database, tmp_path):
    (tmp_path / "users").write_text(USERS)
    routes = [{"path": "/note", "mysql_query": NOTE, "basic_auth": {"users_file": str(tmp_path / "users")}},
              {"path": "/count", "mysql_query": READ},
              {"path": "/named/", "mysql_rest": {"tables": writable("notes")}, "cors": {"origins": [APP]}}]
    return start_rest(writable("notes", "customers"), database=database, routes=routes, options={"batch": True})


def ask(server, method, target, body=b"", **fields):
    with server.connect() as wire:
        wire.send(request(target, method, fields={name.replace("_", "-"): text for name, text in fields.items()}, body=body))
        return wire.read_response(method)


def notes(server, database):
    return int(server.mariadb.value("SELECT COUNT(*) FROM notes", database))


def test_cross_site_rows(server, database):
    customers = int(server.mariadb.value("SELECT COUNT(*) FROM customers", database))
    for said in ({"Origin": EVIL}, {"Origin": "null"}, {"Origin": EVIL, **CROSS}, CROSS):
        for kind in ({"Content-Type": "text/plain"}, {"Content-Type": FORM}, {}, {"Content-Type": JSON}):
            for method in ("POST", "PATCH", "PUT"):
                answer = ask(server, method, "/data/notes?id=eq.1", b'{"id": 1, "text": "x"}', **said, **kind)
                assert (answer.status, answer.json()["code"]) == (403, "foreign_origin"), answer.body
                assert "may not write here" in answer.json()["detail"]
        assert ask(server, "DELETE", "/data/customers?id=gt.0", **said).status == 403
        assert ask(server, "GET", "/data/customers?limit=1", **said).status == 200
    assert notes(server, database) == 0
    assert int(server.mariadb.value("SELECT COUNT(*) FROM customers", database)) == customers


def test_cross_site_batch(server, database):
    """It would carry what a preflight asks about past it."""
    body = json.dumps([{"method": "PATCH", "path": "customers?id=gt.0", "body": {"city": "x"}},
                       {"method": "DELETE", "path": "customers?id=gt.0"}]).encode()
    for fields, status in (({"Origin": EVIL}, 403), (CROSS, 403), ({"Origin": EVIL, "Content_Type": JSON}, 403),
                           ({"Content_Type": "text/plain"}, 415), ({}, 415), ({"Content_Type": FORM}, 415)):
        assert ask(server, "POST", "/data/batch", body, **fields).status == status, fields
    assert server.mariadb.value("SELECT COUNT(*) FROM customers WHERE city = 'x'", database) == "0"


def test_a_body_without_a_type(server, database):
    for method in ("POST", "PUT", "PATCH"):
        answer = ask(server, method, "/data/notes?id=eq.1", b'{"id": 1, "text": "x"}')
        assert (answer.status, answer.json()["code"]) == (415, "unsupported_media_type")
        assert "has no Content-Type" in answer.json()["detail"] and "application/json" in answer.json()["hint"]
    assert notes(server, database) == 0


def test_a_form_with_the_users_password(server, database):
    """The browser adds what it knows for the site, whoever's page the form is on."""
    password = {"Authorization": "Basic YmNyeXB0OnRweXJjYg==", "Content_Type": FORM}
    for said in ({"Origin": EVIL}, {"Origin": "null"}, {"Origin": EVIL, "Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}):
        answer = ask(server, "POST", "/note", b"text=x", **said, **password)
        assert (answer.status, answer.json()["code"]) == (403, "foreign_origin")
        assert ask(server, "POST", "/count", **said).status == 403
        assert ask(server, "GET", "/count", **said).status == 200
    assert notes(server, database) == 0
    for said in ({}, {"Origin": "http://localhost"}, {"Origin": "https://public.example", "Sec_Fetch_Site": "same-origin"}):
        assert ask(server, "POST", "/note", b"text=x", **said, **password).status == 200
    assert notes(server, database) == 3


def test_the_origins_of_cors(server, database):
    told = {"Origin": APP, "Sec_Fetch_Site": "cross-site", "Content_Type": JSON}
    assert ask(server, "POST", "/named/notes", b'{"text": "x"}', **told).status == 201
    assert ask(server, "POST", "/data/notes", b'{"text": "x"}', **told).status == 403
    assert notes(server, database) == 1
