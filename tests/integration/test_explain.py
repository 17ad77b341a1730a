"""--explain: one request, answered without a server, and what is said of its way."""

import json
import os
import re
import socket

import pytest

from roost_server import BASE_CONFIG, HAS_MYSQL, merged, run_server

CONFIG = {"http": {"sites": [
    {"host": ["example.org", "*.example.org"], "routes": [
        {"path": "/", "static": {}}, {"path": "/docs/", "static": {"alias": "docs/"}},
        {"path": "/docs/one.txt", "static": {"root": "html/", "cache_control": "max-age=1"}}]},
    {"host": ["*"], "routes": [{"path": "/only/", "static": {}}]}]}}


@pytest.fixture
def explain(tmp_path):
    """explain(request, *arguments, config=CONFIG) -> the finished process."""
    for name, content in {"html/index.html": "<p>home</p>\n", "html/docs/one.txt": "root", "docs/two.txt": "two\n" * 9,
                          "html/large.bin": "x" * 5_000_000, "html/full/none": ""}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    file = tmp_path / "conf" / "server.json"
    file.parent.mkdir()

    def run(request, *arguments, config=None):
        file.write_text(json.dumps(merged(BASE_CONFIG, config or CONFIG)))
        return run_server("-f", file, "--explain", request, *arguments, cwd=tmp_path)

    return run


def said(result):
    """Its lines, with runs of blanks made one."""
    assert (result.returncode, result.stderr) == (0, ""), result
    return [re.sub(r"\s+", " ", line).strip() for line in result.stdout.splitlines()]


def test_the_whole_way_of_a_request(explain, tmp_path):
    lines = said(explain("GET http://www.example.org/docs/two.txt"))
    assert lines[0] == "request GET http://www.example.org/docs/two.txt from 127.0.0.1"
    assert lines[1] == 'site example.org, *.example.org ("*.example.org" fits www.example.org)'
    assert lines[2] == "route /docs/ (for /docs/two.txt)"
    assert lines[3] == "- would fit too: /"
    assert lines[4] == "handler static"
    assert lines[5] == f"- file {tmp_path}/docs/two.txt, 36 bytes, text/plain; charset=utf-8"
    assert "answer 200 OK" in lines and "content 36 bytes" in lines and "| two" in lines


@pytest.mark.parametrize("request_text, arguments, expected", [
    ("GET http://EXAMPLE.org./", [], ["site example.org, *.example.org (the name itself)", "| <p>home</p>"]),
    ("http://other.net/only/x", [], ['site * (no site is named "other.net", this one answers for all others)', "answer 404 Not Found"]),
    ("http://other.net/no", [], ["route none fits /no", "handler none: 404", "answer 404 Not Found"]),
    ("http://other.net/only", [], ["- with a slash at its end it would be route /only/"]),
    ("http://example.org/docs/one.txt", [], ["route /docs/one.txt (for /docs/one.txt)", "- would fit too: /, /docs/",
                                             "Cache-Control: max-age=1"]),
    ("http://example.org/docs/two.txt", ["-H", "If-None-Match: *"], ["answer 304 Not Modified"]),
    ("http://example.org/docs/two.txt", ["-H", "Range: bytes=1-2"], ["answer 206 Partial Content", "content 2 bytes", "| wo"]),
    ("HEAD http://example.org/docs/two.txt", [], ["answer 200 OK", "Content-Length: 36", "content 0 bytes"]),
    ("http://example.org/large.bin", [], ["- sent from the file system", "content 5000000 bytes"]),
    ("http://example.org/.secret", [], ["- 404: a name that begins with a dot (dot_files is off)"]),
    ("http://example.org/full", [], ["answer 301 Moved Permanently", "Location: /full/"]),
    ("http://example.org/%00", [], ["protocol the request is refused before a route is looked for", "- malformed path"]),
    ("http://exa mple/", ["--from", "192.0.2.9"], None),
    ("POST http://example.org/", [], ["answer 405 Method Not Allowed", "Allow: GET, HEAD, OPTIONS"]),
    ("http://a/", ["--from", "2001:db8::7"], ["request GET http://a/ from 2001:db8::7"]),
])
def test_what_is_said(explain, request_text, arguments, expected):
    result = explain(request_text, *arguments)
    if expected is None:
        assert result.returncode == 2
        return
    lines = said(result)
    for line in expected:
        assert line in lines, result.stdout


DATABASE = {"mysql": {"mysql_started": "on", "address": "192.0.2.1", "user": "shop", "database_name": "shop"},
            "http": {"sites": [{"host": ["*"], "routes": [
                {"path": "/data/", "mysql_rest": {"tables": [{"name": "orders", "alias": "sold", "where": "status=neq.x", "methods": ["GET", "PATCH"]}],
                                                  "batch": True}},
                {"path": "/spent/{city}", "mysql_query": {"sql": "SELECT * FROM t WHERE city = :city AND n > :n",
                                                          "parameters": {"city": {}, "n": {"type": "integer"}}}},
                {"path": "/add", "mysql_query": {"sql": ["INSERT INTO t VALUES (:n)", "DELETE FROM u"],
                                                 "parameters": {"n": {"from": "query"}}}}]}]}}
LEFT = ["- the answer is the database's, which is not asked here", "answer not here: the handler says what it depends on"]


@pytest.mark.skipif(not HAS_MYSQL, reason="this build lacks some of its keys")
@pytest.mark.parametrize("request_text, expected", [
    ("/data/sold?id=eq.1", ["route /data/ (for /data/sold)", "handler mysql_rest", "- only rows with status=neq.x",
                            '- reads the table orders as "sold"', *LEFT]),
    ("PATCH /data/sold?id=eq.1", ['- changes rows of the table orders as "sold"', *LEFT]),
    ("OPTIONS /data/sold", ['- tells what may be done with orders as "sold"', *LEFT]),
    ("/data/", ["- describes the tables of this route: an OpenAPI document, or a page", *LEFT]),
    ("POST /data/batch", ["- carries out operations in one transaction", *LEFT]),
    ("/data/batch", ["answer 405 Method Not Allowed", "Allow: OPTIONS, POST"]),
    ("/data/orders", ['- answers 404 unknown_table: there is no "orders" here', "answer 404 Not Found"]),
    ("POST /data/sold", ["answer 405 Method Not Allowed", "Allow: OPTIONS, GET, HEAD, PATCH"]),
    ("/data/sold?id=1", ["answer 400 Bad Request"]),
    ("/spent/Bonn?n=3", ["handler mysql_query", "- executes with 2 values: SELECT * FROM t WHERE city = ? AND n > ?", "- in no transaction", *LEFT]),
    ("/spent/Bonn?n=x", ["answer 400 Bad Request"]),
    ("POST /add?n=1", ["- executes with 1 values: INSERT INTO t VALUES (?)", "- executes with 0 values: DELETE FROM u",
                       "- all of it in one transaction", *LEFT]),
])
def test_what_a_database_would_be_asked(explain, request_text, expected):
    """There is none, and nothing waits for it."""
    lines = said(explain(request_text, config=DATABASE))
    for line in expected:
        assert line in lines, lines


def test_nothing_is_opened_or_written(explain, tmp_path):
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said(explain("/", config=merged(CONFIG, {"port": taken.getsockname()[1], "pid_file": "run.pid"})))
    assert sorted(str(path) for path in tmp_path.rglob("*")) == sorted([*before, str(tmp_path / "conf/server.json")])


def test_a_file_that_is_read_by_a_task_thread(explain, tmp_path):
    """Whether it is still in memory is the system's to say; the answer is the same."""
    with open(tmp_path / "html/large.bin", "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    config = merged(CONFIG, {"task_processes": 1})
    config["http"]["file_cache"] = {"max_file_bytes": 16777216}
    assert "content 5000000 bytes" in said(explain("http://example.org/large.bin", config=config))


@pytest.mark.parametrize("arguments, word", [
    (["--explain", "nonsense"], "no URL"), (["--explain", "GET https://a/"], "https"), (["--explain", "/", "-H", "x"], "Name: value"),
    (["--explain", "/", "--from", "nowhere"], "--from"), (["-H", "A: b"], "--explain"), (["--explain"], "needs a value"),
])
def test_a_wrong_command_line(arguments, word):
    result = run_server(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1 and word in result.stderr


def test_a_wrong_configuration(explain):
    result = explain("/", config={"prot": 1})
    assert result.returncode == 1 and "prot" in result.stderr
