"""The set of texts that the database is told is finite: other values, lists of other lengths and other pages bring no new ones."""

import time

from general_log import Report
from rest_server import writable


def texts(mariadb):
    """What was prepared so far, but for what reads the schema."""
    time.sleep(0.05)  # the log is written behind the answer
    return {text for text in Report(mariadb.general_log).texts if "information_schema" not in text}


def ask(server, numbers, word):
    for number in numbers:
        assert server.get(f"orders?id=eq.{number}&total=lt.{number}.5").status == 200
        assert server.get(f"customers?name=like.*{word}{number}*&limit={number}&offset={number}").status == 200
        assert server.get("orders?id=in.(" + ",".join(map(str, range(number))) + ")&select=id,customers(name)").status == 200
        assert server.post("notes", [{"author": word, "text": f"{word} {i}"} for i in range(number)]).status == 201
        assert server.patch(f"notes?id=eq.{number}", {"text": word}).status == 204
        assert server.delete(f"notes?author=eq.{word}{number}").status == 204


def test_values_make_no_texts(own_mariadb, start_rest):
    mariadb = own_mariadb()
    server = start_rest(["orders", "customers", *writable("notes")], server=mariadb, mysql={"max_statements": 8})
    ask(server, [1, 2, 3, 5, 9, 17, 33, 63], "first")
    before = texts(mariadb)
    ask(server, [4, 6, 7, 8, 10, 15, 16, 18, 31, 32, 34, 50, 62], "second")
    after = texts(mariadb)
    assert len(before) < 50, "\n".join(sorted(before))
    assert after == before, "\n".join(sorted(after - before))
