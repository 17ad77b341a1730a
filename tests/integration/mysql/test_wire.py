"""A connection of db/ with a real server: types, sizes, statements that are killed, altered, forgotten."""

import pytest

from db_probe import Probe
from mariadb_server import FIXTURE
from roost_server import eventually

DRIVERS = ["loop", "threads"]
TYPES = [  # column, value, name of the type in db/row.h, what is read
    ("TINYINT", "-128", "int:0", "-128"), ("TINYINT UNSIGNED", "255", "uint:0", "255"), ("BOOLEAN", "TRUE", "int:0", "1"),
    ("SMALLINT", "-32768", "int:0", "-32768"), ("SMALLINT UNSIGNED", "65535", "uint:0", "65535"),
    ("MEDIUMINT", "-8388608", "int:0", "-8388608"), ("MEDIUMINT UNSIGNED", "16777215", "uint:0", "16777215"),
    ("INT", "-2147483648", "int:0", "-2147483648"), ("INT UNSIGNED ZEROFILL", "4294967295", "uint:0", "4294967295"),
    ("BIGINT", "-9223372036854775808", "int:0", "-9223372036854775808"),
    ("BIGINT UNSIGNED", "18446744073709551615", "uint:0", "18446744073709551615"),
    ("YEAR", "2026", "uint:0", "2026"), ("FLOAT", "1.5", "float:31", "1.5"), ("DOUBLE", "-2.5e-300", "double:31", "-2.5e-300"),
    ("DECIMAL(30,10)", "-12345678901234567890.0123456789", "decimal:10", "'-12345678901234567890.0123456789'"),
    ("BIT(1)", "1", "bit:0", "1"), ("BIT(64)", "18446744073709551615", "bit:0", "18446744073709551615"),
    ("DATE", "'9999-12-31'", "date:0", "9999-12-31T00:00:00.000000"),
    ("TIME", "'-838:59:59'", "time:0", "-838:59:59.000000"), ("TIME(6)", "'00:00:00.000001'", "time:6", "00:00:00.000001"),
    ("TIME", "'00:00:00'", "time:0", "00:00:00.000000"),
    ("DATETIME", "'2026-11-20 00:00:00'", "datetime:0", "2026-11-20T00:00:00.000000"),
    ("DATETIME(6)", "'2026-11-20 22:13:05.123456'", "datetime:6", "2026-11-20T22:13:05.123456"),
    ("TIMESTAMP(3) NULL", "'2026-11-20 22:13:05.123'", "timestamp:3", "2026-11-20T22:13:05.123000"),
    ("CHAR(3)", "'abc'", "text:0", "'abc'"), ("VARCHAR(20)", "''", "text:0", "''"), ("TEXT", "'é😀'", "text:0", "'\\xc3\\xa9\\xf0\\x9f\\x98\\x80'"),
    ("ENUM('a','b')", "'b'", "text:0", "'b'"), ("SET('a','b')", "'a,b'", "text:0", "'a,b'"),
    ("BINARY(4)", "'ab'", "bytes:0", "'ab\\x00\\x00'"), ("VARBINARY(4)", "X'00FF'", "bytes:0", "'\\x00\\xff'"),
    ("BLOB", "X'80'", "bytes:0", "'\\x80'"), ("JSON", "'{\"a\": [1]}'", "json:0", "'{\"a\": [1]}'"),
    ("UUID", "'123e4567-e89b-12d3-a456-426655440000'", "text:0", "'123e4567-e89b-12d3-a456-426655440000'"),
    ("INET6", "'::1'", "text:0", "'::1'"), ("POINT", "POINT(0, 0)", "geometry:0", "'" + "\\x00" * 4 + "\\x01\\x01" + "\\x00" * 19 + "'"),
]


@pytest.fixture(params=DRIVERS)
def driver(request):
    return request.param


@pytest.fixture
def probe(driver, mariadb):
    with Probe(driver, mariadb, database="sample") as running:
        yield running


@pytest.fixture
def table(mariadb):
    """An empty database of this test alone."""
    name = mariadb.new_database()
    yield name
    mariadb.run(f"DROP DATABASE {name}")


def test_types(probe, mariadb, table):
    columns = ", ".join(f"c{i} {kind}" for i, (kind, *_) in enumerate(TYPES))
    mariadb.run(f"CREATE TABLE t (id INT, {columns})", table)
    mariadb.run("INSERT INTO t VALUES (1, " + ", ".join(value for _, value, *_ in TYPES) + "), (2" + ", NULL" * len(TYPES) + ")", table)
    lines = probe(f"run SELECT * FROM {table}.t ORDER BY id")
    assert lines[0] == "columns id:int:0 " + " ".join(f"c{i}:{told}" for i, (_, _, told, _) in enumerate(TYPES))
    row = lines[1].split(" ", 2)[2]
    for kind, _, _, read in TYPES:
        assert row.startswith(read), (kind, read, row[:80])
        row = row[len(read) + 1:]
    assert lines[2] == "row 2" + " NULL" * len(TYPES)
    assert lines[3] == "result 0 0 2 0 0"


def test_zero_dates_and_expressions(probe, mariadb, table):
    with mariadb.client(table) as client:
        client.run("SET sql_mode = ''; CREATE TABLE t (d DATE, dt DATETIME(2), ts TIMESTAMP NULL); INSERT INTO t VALUES (0, 0, 0)")
    assert probe.rows(f"run SELECT * FROM {table}.t") == [" ".join(["0000-00-00T00:00:00.000000"] * 3)]
    lines = probe("run SELECT TIMESTAMP('2026-01-01 00:00:01.5') AS t, 1 = 1 AS b, NULL AS n, CONCAT('a', NULL) AS c, JSON_OBJECT('a', 1) AS j, COUNT(*) AS k")
    assert [column.split(":")[1] for column in lines[0].split()[1:]] == ["datetime", "int", "null", "text", "json", "int"]
    assert lines[1] == "row 2026-01-01T00:00:01.500000 1 NULL NULL '{\"a\": 1}' 1"


def test_parameters(probe, mariadb, table):
    mariadb.run("CREATE TABLE t (i BIGINT, u BIGINT UNSIGNED, d DOUBLE, s VARCHAR(50), n INT, m DECIMAL(20,3), at DATETIME(3), j JSON)", table)
    insert = f"run INSERT INTO {table}.t VALUES (?,?,?,?,?,?,?,?)\t"
    assert probe.last(insert + "\t".join(["i-9223372036854775808", "u18446744073709551615", "d-0.1", "sit's \\ \"é\"", "n", "s12345678901234567.891",
                                          "s2026-11-20 22:13:05.678", 's{"a":null}'])) == "result 1 0 0 0 0"
    assert probe.rows(f"run SELECT * FROM {table}.t") == [
        "-9223372036854775808 18446744073709551615 -0.1 'it's \\x5c \"\\xc3\\xa9\"' NULL '12345678901234567.891' "
        "2026-11-20T22:13:05.678000 '{\"a\":null}'"]
    assert probe.last("run SELECT ?") == "error statement 2034 HY000"
    assert probe.rows("run SELECT 1") == ["1"]


def test_the_session_is_strict_and_ours(probe):
    assert probe.rows("run SELECT @@time_zone, @@character_set_client, @@character_set_results, @@autocommit") == ["'+00:00' 'utf8mb4' 'utf8mb4' 1"]
    [modes] = probe.rows("run SELECT @@sql_mode")
    assert "STRICT_ALL_TABLES" in modes and "NO_ZERO_DATE" in modes


def test_results_without_rows_and_outcomes(probe, mariadb, table):
    mariadb.run("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)", table)
    assert probe(f"run SELECT * FROM {table}.t") == ["columns id:int:0 v:int:0", "result 0 0 0 0 0"]
    assert probe.last(f"run INSERT INTO {table}.t (v) VALUES (1), (1), (2)") == "result 3 1 0 0 0"
    assert probe.last(f"run UPDATE {table}.t SET v = 1 WHERE v = 1") == "result 2 0 0 0 0"  # matched, not changed
    assert probe.last(f"run INSERT INTO {table}.t (v) VALUES (7) RETURNING id") == "result 0 0 1 0 0"
    assert probe.last("run START TRANSACTION") == "result 0 0 0 0 1"
    assert probe.last(f"run SELECT * FROM {table}.t WHERE id = 1") == "result 0 0 1 0 1"
    assert probe.last(f"run DELETE FROM {table}.t") == "result 4 0 0 0 1"
    assert probe.last("run ROLLBACK") == "result 0 0 0 0 0"
    assert probe.last(f"run SELECT COUNT(*) FROM {table}.t") == "result 0 0 1 0 0"


def test_refused_statements_leave_the_connection_as_it_was(probe):
    for text, number in (("SELEC 1", "1064 42000"), ("SELECT nothing", "1054 42S22"), ("SELECT * FROM missing_table", "1146 42S02"),
                         ("SELECT 1; SELECT 2", "1064 42000"), ("SELECT (SELECT id FROM orders)", "1242 21000")):
        assert probe.last(f"run {text}") == f"error statement {number}", text
        assert probe.rows("run SELECT 1") == ["1"]
    assert probe.last("idle 20").startswith("idle")


def test_a_thousand_columns(probe):
    lines = probe("run SELECT " + ", ".join(f"{i} AS c{i}" for i in range(1000)))
    assert lines[0].count(":int:0") == 1000 and lines[1] == "row " + " ".join(map(str, range(1000)))


def test_giant_rows_and_what_the_server_does_not_take(driver, own_mariadb):
    mariadb = own_mariadb("--max-allowed-packet=24M")
    with Probe(driver, mariadb) as probe:
        for size in (16_380, 65_536, (1 << 24) - 20, (1 << 24) + 5):  # around the protocol's packets of 16 MiB
            assert probe(f"quiet SELECT REPEAT('x', ?), 'y' UNION ALL SELECT 'z', 'zz'\ti{size}") == [f"bytes {size + 4}", "result 0 0 2 0 0"]
        assert probe.rows("run SELECT LENGTH(?)\tz17000000") == ["17000000"]
        assert probe.last("run SELECT LENGTH(?)\tz26000000") == "error too_large 1153 08S01"
        assert probe.rows("run SELECT 1") == ["1"]
        assert probe.last("alive") == f"alive {int(driver == 'threads')}"  # not kept: its buffer is as large as the row was


def test_altered_tables(probe, mariadb, table):
    mariadb.run("CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 2)", table)
    every, one = f"run SELECT * FROM {table}.t", f"run SELECT a FROM {table}.t"
    assert probe(every)[0] == "columns a:int:0 b:int:0" and probe.rows(one) == ["1"]
    for change, columns, row, a in (
            ("MODIFY a VARCHAR(10)", "a:text:0 b:int:0", "'1' 2", "'1'"), ("CHANGE b c BIGINT UNSIGNED", "a:text:0 c:uint:0", "'1' 2", "'1'"),
            ("ADD d DATE DEFAULT '2026-01-02'", "a:text:0 c:uint:0 d:date:0", "'1' 2 2026-01-02T00:00:00.000000", "'1'"),
            ("DROP c, DROP d", "a:text:0", "'1'", "'1'"), ("MODIFY a INT NOT NULL", "a:int:0", "1", "1")):
        mariadb.run(f"ALTER TABLE t {change}", table)
        lines = probe(every)
        assert lines[0] == "columns " + columns and lines[1] == "row " + row, change
        assert probe.rows(one) == [a]
    mariadb.run("ALTER TABLE t CHANGE a z INT", table)
    assert probe.last(one) == "error statement 1054 42S22"
    assert probe.rows(every) == ["1"]


def test_procedures_with_several_results(probe, mariadb, table):
    mariadb.run("CREATE PROCEDURE p(IN n INT) BEGIN SELECT n, 'a'; SELECT seq, seq, seq FROM seq_1_to_50000; SELECT 3; END", table)
    mariadb.run("CREATE PROCEDURE broken() BEGIN SELECT 1; SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 30001; END", table)
    for n in range(3):
        assert probe(f"run CALL {table}.p(?)\ti{n}")[1:] == [f"row {n} 'a'", "result 0 0 1 0 0"]
        assert probe.rows("run SELECT 5") == ["5"]
        assert probe.last(f"run CALL {table}.broken()") == "error statement 30001 45000"
        assert probe.rows("run SELECT 5") == ["5"]


def test_statements_are_kept_up_to_a_bound(driver, mariadb):
    with Probe(driver, mariadb, statements=3) as probe:
        for turn in range(2):
            for i in range(3):
                assert probe.rows(f"run SELECT {i}") == [str(i)]
        assert probe.last("prepares") == "prepares 3"
        probe("run SELECT 0")
        probe("run SELECT 3")  # 1 goes
        probe("run SELECT 0")
        assert probe.last("prepares") == "prepares 4"
        probe("run SELECT 1")
        assert probe.last("prepares") == "prepares 5"
        for i in range(20):
            probe(f"run SELECT {i}")
        assert int(probe.rows("run SHOW SESSION STATUS LIKE 'Com_stmt_prepare'")[0].split("'")[3]) - int(
            probe.rows("run SHOW SESSION STATUS LIKE 'Com_stmt_close'")[0].split("'")[3]) <= 4


def test_a_server_that_keeps_few_statements(driver, own_mariadb):
    mariadb = own_mariadb("--max-prepared-stmt-count=4")
    with Probe(driver, mariadb) as probe:
        for i in range(12):
            assert probe.rows(f"run SELECT {i}") == [str(i)]
        mariadb.run("SET GLOBAL max_prepared_stmt_count = 0")
        assert probe.last("run SELECT 99").startswith("error statement 1461")
        assert probe.last("run SELECT 11").startswith("error statement 1461")  # given up for the other
        mariadb.run("SET GLOBAL max_prepared_stmt_count = 4")
        assert probe.rows("run SELECT 99") == ["99"]


def test_killed_statements(probe, mariadb):
    probe("start SELECT SLEEP(20), 1")
    eventually(lambda: probe("idle 20") and mariadb.run("SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO = 'SELECT SLEEP(20), 1'"), "it runs")
    assert probe.last("kill") == "killed 1"
    lines = probe("wait")
    assert lines[-1] == "error statement 1317 70100" or lines[-2:] == ["row 1 1", "result 0 0 1 0 0"], lines
    assert probe.rows("run SELECT 1") == ["1"]
    assert probe.last("pause 10 SELECT seq, REPEAT('x', 60) FROM seq_1_to_500000") == "paused"
    assert probe.last("kill") == "killed 1"
    assert probe.last("resume") == "error statement 1317 70100"
    assert probe.rows("run SELECT 1") == ["1"]
    assert probe.last("kill") == "killed 1"  # nothing runs: the next one is none of its
    assert probe.rows("run SELECT 2") == ["2"]


def test_paused_and_given_up_streams(probe):
    assert probe.last("pause 3 SELECT seq, REPEAT('x', 60) FROM seq_1_to_500000") == "paused"
    turns, cpu_ms = map(int, probe.last("idle 300").split()[1:])
    assert turns < 50 and cpu_ms < 100
    lines = probe("resume")
    assert lines[-1] == "result 0 0 500000 0 0"
    assert probe.last("pause 3 SELECT seq, REPEAT('x', 60) FROM seq_1_to_500000") == "paused"
    assert probe.last("drop") == "dropped"
    assert probe.last("connect").startswith("connected")
    assert probe.rows("run SELECT 1") == ["1"]
    probe("start SELECT seq, REPEAT('x', 60) FROM seq_1_to_500000")
    assert probe.last("drop") == "dropped"
    assert probe.last("connect").startswith("connected")


def test_a_connection_that_the_server_ends_while_idle(probe, mariadb):
    assert probe.last("alive") == "alive 1"
    mariadb.run(f"KILL CONNECTION {probe.thread_id}")
    lines = probe("idle 200")
    assert lines[0] == "closed" and len(lines) == 2
    turns, cpu_ms = map(int, lines[-1].split()[1:])
    assert turns < 10 and cpu_ms < 100
    assert probe.last("alive") == "alive 0"
    assert probe.last("run SELECT 1") == "error lost 2013 HY000"


def test_the_server_killed_in_the_midst_of_everything(driver, own_mariadb):
    mariadb = own_mariadb()
    rows = "SELECT seq, REPEAT('x', 100) FROM sample.seq_1_to_1000000"
    with Probe(driver, mariadb) as paused, Probe(driver, mariadb) as idle, Probe(driver, mariadb) as busy:
        assert paused.last(f"pause 10 {rows}") == "paused"
        busy("start SELECT SLEEP(30)")
        mariadb.kill()
        assert busy.last("wait").startswith("error lost 20")
        assert idle("idle 200")[0] == "closed"
        turns, cpu_ms = map(int, paused.last("idle 300").split()[1:])
        assert turns < 50 and cpu_ms < 100
        assert paused.last("resume").startswith("error lost 20")
        for probe in (paused, idle, busy):
            assert probe.last("alive") == "alive 0"
            assert probe.last("run SELECT 1").startswith("error lost 20")
            assert probe.last("connect").startswith("failed unavailable 2002")
        mariadb.start()
        assert paused.last("connect").startswith("connected")
        assert paused.rows("run SELECT 1") == ["1"]
        mariadb.shut_down()
        assert paused("idle 300")[0] == "closed"
        mariadb.start()


def test_a_hung_server(driver, own_mariadb):
    mariadb = own_mariadb()
    with Probe(driver, mariadb, connect_ms=700) as probe:
        mariadb.pause()
        probe("start SELECT 1")
        assert probe.last("idle 100").startswith("idle")
        assert probe.last("kill") == "killed 0"
        assert probe.last("drop") == "dropped"
        assert probe.last("connect").startswith("failed unavailable")
        mariadb.resume()
        assert probe.last("connect").startswith("connected")
        assert probe.rows("run SELECT 1") == ["1"]


def test_refused_connections(driver, mariadb):
    for options, said in (({"user": "nobody_here", "password": "x"}, "failed unavailable 1045"), ({"database": "no_such"}, "failed unavailable 1049"),
                          ({"socket": "/tmp/no/such/socket"}, "failed unavailable 2002")):
        with pytest.raises(AssertionError, match=said), Probe(driver, mariadb, **options):
            pass
    with Probe(driver, host="127.0.0.1", port=mariadb.port, user=mariadb.user, password=mariadb.password) as probe:
        assert FIXTURE not in probe.rows("run SELECT CURRENT_USER()")[0]
