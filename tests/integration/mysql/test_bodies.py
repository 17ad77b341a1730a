"""Bodies that wait for a database that hangs: bounded in bytes, over all loops."""

import json
import re
import threading

from rest_server import SANITIZED, rss_anon, writable
from roost_server import eventually

COUNT, BUDGET = 60, 16 << 20
# 1000 rows in 792 KB, as 519 MB were once taken by 60 of them.
ROWS = json.dumps([{"author": "a", "text": "x" * 760} for _ in range(1000)]).encode()
NARROW = b"author,text\n" + b",\n" * 1000


def metric(server, name):
    return int(re.search(rf"^{name} (\d+)", server.get("metrics", path="/").body.decode(), re.MULTILINE).group(1))


def test_bodies_that_wait_for_a_hung_database_are_bounded(start_rest, own_mariadb):
    mariadb = own_mariadb()
    name = mariadb.new_database(lambda client: client.run("CREATE TABLE notes (id INT AUTO_INCREMENT PRIMARY KEY, author TEXT, text MEDIUMTEXT)"))
    query = {"path": "/q/note", "mysql_query": {"sql": "INSERT INTO notes (text) VALUES (:text)", "parameters": {"text": {"max_length": 900000}},
                                                "max_body_bytes": 1000000}}
    server = start_rest(writable("notes"), server=mariadb, database=name, options={"batch": True}, worker_processes=2,
                        routes=[query, {"path": "/metrics", "metrics": {}}],
                        mysql={"max_body_memory": BUDGET, "query_timeout_ms": 60000, "queue_timeout_ms": 60000, "connect_timeout_ms": 60000})
    assert server.post("notes", {"text": "first"}).status == 201
    before = rss_anon(server)
    mariadb.pause()
    answers = []
    batch = json.dumps([{"method": "POST", "path": "notes", "body": {"text": "x" * 760}}] * 100).encode()
    bodies = [("notes", ROWS, {}), ("notes", NARROW, {"Content_Type": "text/csv"}), ("batch", batch, {}),
              ("note", json.dumps({"text": "x" * 790000}).encode(), {"path": "/q/"})]
    def post(target, body, fields):
        answers.append(server.post(target, body, **fields))
    threads = [threading.Thread(target=post, args=bodies[at % len(bodies)]) for at in range(COUNT)]
    try:
        for thread in threads:
            thread.start()
        eventually(lambda: metric(server, "roost_mysql_bodies_refused_total") > COUNT // 4, "most are refused")
        assert metric(server, "roost_mysql_body_bytes") <= BUDGET
        taken = rss_anon(server) - before
    finally:
        mariadb.resume()
        for thread in threads:
            thread.join()
    assert SANITIZED or taken < 2 * BUDGET, f"{taken} bytes"
    refused = [answer for answer in answers if answer.status == 503]
    assert refused and all(answer.json()["code"] == "bodies_full" and int(answer["Retry-After"]) > 0 for answer in refused)
    others = [answer for answer in answers if answer.status not in (200, 201, 503)]
    assert not others and len(refused) < COUNT, others and others[0].body
    eventually(lambda: metric(server, "roost_mysql_body_bytes") == 0, "all is given back")
    assert server.post("notes", ROWS).status == 201
