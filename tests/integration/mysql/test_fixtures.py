"""The database that the other tests stand on: it starts, comes back after a kill, and its log is read right."""

import pytest

from general_log import Report, entries
from mariadb_client import SqlError, quoted

LOG = """/usr/sbin/mariadbd, Version: 10.11
Time\t\t    Id Command\tArgument
261120 23:22:34\t     3 Connect\tfixture@localhost on  using Socket
\t\t     3 Query\tCREATE TABLE mine (a INT)
\t\t     4 Connect\troost@localhost on sample using Socket
\t\t     4 Prepare\tSELECT `a` FROM `mine` WHERE `a` = ?
\t\t     4 Execute\tSELECT `a` FROM `mine` WHERE `a` = 'two
lines'
\t\t     4 Close stmt\t
"""


def test_kill_restart_and_pause(own_mariadb):
    mariadb = own_mariadb("--max-connections=50")
    name = mariadb.new_database(lambda client: client.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (NULL)"))
    mariadb.kill()
    with pytest.raises(SqlError) as problem:
        mariadb.client()
    assert problem.value.number == 2002
    mariadb.start()
    assert mariadb.run("SELECT a FROM t ORDER BY a", name) == [(None,), ("1",)]
    mariadb.restart()
    mariadb.pause()
    mariadb.resume()
    assert mariadb.value("SELECT @@max_connections") == "50"


def test_sample(mariadb, database):
    assert mariadb.value("SELECT COUNT(*) FROM orders", database) == "2000"
    assert mariadb.value("SELECT COUNT(*) FROM order_totals", "sample") == "1000"
    text = "it's \\ \"\0\n😀"
    assert mariadb.value(f"SELECT {quoted(text)}") == text
    grants = mariadb.run(f"SHOW GRANTS FOR {mariadb.user}@localhost")
    assert grants[1:] == [("GRANT SELECT, INSERT, UPDATE, DELETE, SHOW VIEW ON `sample%`.* TO `roost`@`localhost`",)]


@pytest.mark.parametrize("line,problem", [
    ("", None),
    ("\t\t     4 Query\tSELECT 1", "Query: SELECT 1"),
    ("\t\t     4 Prepare\tSELECT `a` FROM `mine` WHERE `a` = 'two'", "the literal 'two'"),
    ("\t\t     4 Prepare\tSELECT `a` FROM `mine` WHERE `a` = 17", "the literal 17"),
    ("\t\t     4 Prepare\tSELECT `zebra` FROM `mine`", "the identifier 'zebra'"),
    ("\t\t     4 Prepare\tSELECT `a` FROM `mine` -- ?", "a comment"),
    ("\t\t     4 Prepare\tSELECT 'configured' ; ?", None),
])
def test_general_log(tmp_path, line, problem):
    log = tmp_path / "general.log"
    log.write_text(LOG + line + "\n")
    assert list(entries(LOG))[-2:] == [(4, "Execute", "SELECT `a` FROM `mine` WHERE `a` = 'two\nlines'"), (4, "Close stmt", "")]
    report = Report(log, ["SELECT 'configured' ; ?"])
    assert [text.startswith(problem) for text in report.problems] == [True] if problem else report.problems == []
    assert report.commands["Execute"] == 1
