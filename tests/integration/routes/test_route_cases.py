"""The table of route_cases.py against the real server, and what does not fit into it."""

import json
import shutil
import subprocess

import pytest

from raw_http import request
from roost_server import BINARY, Server
from route_cases import CASES, FILES, SITES
from site_files import write_site


@pytest.fixture(scope="module")
def routed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("routed")
    write_site(folder / "html", FILES)
    server = Server(folder, {"worker_processes": 2, "http": {"sites": SITES}})
    yield server
    server.stop()
    shutil.rmtree(server.html)


def parts_of(host, asked):
    if isinstance(asked, bytes):
        return asked, asked.split(b" ")[0].decode()
    method, target = asked.split(" ", 1)
    return request(target, method, host=host), method


def check(case, response):
    _, asked, status, body, fields = case
    assert response.status == status, (asked, response, response.body[:300])
    for name, value in fields.items():
        assert response.get(name) == value, (asked, name, response)
    if isinstance(body, bytes):
        assert response.body == body, (asked, response.body[:300])
    elif body is not None:
        assert body.encode() in response.body, (asked, response.body[:300])


@pytest.mark.parametrize("case", CASES, ids=[f"{c[0]}: {c[1] if isinstance(c[1], str) else c[1][:60]!r}" for c in CASES])
def test_case(routed, case):
    data, method = parts_of(case[0], case[1])
    with routed.connect() as wire:
        for _ in range(2):  # once more from what was made ready the first time
            wire.send(data)
            response = wire.read_response(method)
            check(case, response)
            if response.closes:
                return
        assert wire.ask("/about", host="routes").body == b"about"


def test_all_cases_of_a_host_over_one_connection(routed):
    for host in {case[0] for case in CASES}:
        cases = [case for case in CASES if case[0] == host and case[2] not in (400,)]
        with routed.connect() as wire:
            wire.send(b"".join(parts_of(case[0], case[1])[0] for case in cases))
            for case in cases:
                check(case, wire.read_response(parts_of(case[0], case[1])[1]))


def test_there_are_many_cases():
    assert len(CASES) > 120


@pytest.mark.rfc("9112 3.2")
def test_a_redirect_to_the_own_host_needs_one(routed):
    """Without Host the default site answers, and "https:///x" would name the host x."""
    with routed.connect() as wire:
        wire.send(b"GET /to-host/ HTTP/1.0\r\n\r\n")
        assert wire.read_response().status == 200


def test_what_is_refused_before_it_has_a_route_has_the_built_in_page(start_server):
    server = start_server(
        {"http": {"max_body_size": 10, "error_pages": {"4xx": "/page"}, "sites": [{"routes": [
            {"path": "/page", "respond": {"body": "a page for {target}"}}]}]}})
    assert server.ask("/none?x").body == b"a page for /none?x"
    for response in (server.ask("/", "POST", body=b"x" * 11), server.ask("/%00"), server.ask("/../x")):
        assert response.status in (400, 413)
        assert str(response.status).encode() in response.body and response.closes


def test_curl_follows_a_chain_of_redirects(start_server):
    server = start_server({"http": {"sites": [{"routes": [
        {"path": "/a/{rest...}", "redirect": {"to": "/b/{rest}", "status": 301, "keep_query": "on"}},
        {"path": "/b/{rest...}", "redirect": {"to": "/c?was={rest}&{query}", "status": 308}},
        {"path": "/c", "respond": {"body": "{method} {query.was} {query.x}"}}]}]}})
    url = "http://%s:%d/a/one%%20two/%%C3%%BC%%26?x=y" % server.address
    done = subprocess.run(["curl", "-sSL", "-X", "POST", "--data", "body", url], capture_output=True, check=True)
    assert done.stdout == "POST one two/ü& y".encode()


BAD = [
    ({"path": "/a/{x}", "respond": {}}, {"path": "/a/{y}", "respond": {}},
     'path "/a/{y}" fits the same requests as "/a/{x}"'),
    ({"path": "/a/", "respond": {}}, {"path": "/a/{rest...}", "respond": {}}, "fits the same requests as"),
    ({"regex": "^/a", "respond": {}}, {"regex": "^/a", "respond": {}}, 'regex "^/a" is routed twice'),
    ({"path": "/", "regex": "^/a", "respond": {}}, None, '"path" and "regex" exclude each other'),
    ({"respond": {}}, None, 'a route needs a "path" or a "regex"'),
    ({"regex": "^/(a", "respond": {}}, None, "is not a regular expression: missing )"),
    ({"path": "/{a}-{b}", "respond": {}}, None, "one segment cannot hold two names"),
    ({"path": "/a", "respond": {"body": "{x}"}}, None, 'there is no variable "{x}"'),
    ({"path": "/a", "redirect": {"to": "/{"}}, None, 'without its "}"'),
    ({"path": "/a", "redirect": {"to": "/", "status": 300}}, None, "status"),
    ({"path": "/a", "redirect": {}}, None, 'has no "to"'),
    ({"path": "/a", "respond": {"status": 204, "body": ""}}, None, "204 has no content"),
    ({"path": "/a", "respond": {}, "rewrite": [{"match": "(", "to": "/"}]}, None, "is not a regular expression"),
    ({"path": "/a", "respond": {}, "rewrite": [{"match": "a", "to": "/{2}"}]}, None, 'there is no variable "{2}"'),
    ({"path": "/a", "respond": {}, "rewrite": [{"match": "a", "to": "b"}]}, None, 'must be a path that begins with "/"'),
    ({"path": "/a", "respond": {}, "rewrite": [{"match": "a", "to": "/b?c"}]}, None, 'belongs into "query"'),
    ({"path": "/a", "respond": {}, "rewrite": [{"match": "a", "to": "/../b"}]}, None, "no request can have this path"),
    ({"path": "/a", "respond": {}, "error_pages": {"200": "/"}}, None, '"200" is not a status'),
    ({"path": "/a", "respond": {}, "error_pages": {"404": "/{x}"}}, None, "a page has no names in its path"),
    ({"path": "/a", "respond": {}, "error_pages": {"404": "e"}}, None, 'must be a path that begins with "/"'),
    ({"path": "/{x}/", "static": {"alias": "html"}}, None, '"alias" needs a route'),
]


@pytest.mark.parametrize("first, second, message", BAD, ids=[message for _, _, message in BAD])
def test_what_cannot_be_is_refused_with_its_place(tmp_path, first, second, message):
    path = tmp_path / "conf.json"
    (tmp_path / "html").mkdir()
    routes = ",\n".join(json.dumps(route) for route in (first, second) if route)
    path.write_text('{"http": {"sites": [{"routes": [\n' + routes + "]}]}}")
    done = subprocess.run([str(BINARY), "-t", "-f", str(path)], capture_output=True, text=True)
    line = 3 if second else 2
    assert done.returncode != 0
    assert message in done.stdout + done.stderr
    assert f"conf.json:{line}:" in done.stdout + done.stderr
