"""The tables of the torture: every row carries a sum over itself, and says which request it belongs to.

    facts     3000 rows that nobody changes, in 30 shards; parts hang on them (two each)
    fleeting  like facts, 100 rows; dropped and made anew
    ledger    what writers insert: token says by which request
    cells     one row for each writer, whose value is replaced
    locks     four rows that transactions take in any order
"""

import hashlib

FACTS, SHARDS, FLEETING = 3000, 30, 100
SUM = "MD5(CONCAT_WS(':', id, shard, n, body))"
ROW = f"seq AS id, seq MOD {SHARDS} AS shard, seq * 7919 MOD 100003 AS n, REPEAT(MD5(seq), 1 + seq MOD 17) AS body"
LAYOUT = ("id INT UNSIGNED NOT NULL PRIMARY KEY, shard INT NOT NULL, n INT NOT NULL, body VARCHAR(800) NOT NULL, sum CHAR(32) NOT NULL,"
          " KEY (shard)")


def filled(table, count):
    return (f"INSERT INTO {table} (id, shard, n, body, sum) SELECT t.*, {SUM} FROM (SELECT {ROW} FROM seq_1_to_{count}) t")


def fill(client):
    for statement in [
            f"CREATE TABLE facts ({LAYOUT})", filled("facts", FACTS), f"CREATE TABLE fleeting ({LAYOUT})", filled("fleeting", FLEETING),
            "CREATE TABLE parts (fact_id INT UNSIGNED NOT NULL, k INT NOT NULL, sum CHAR(32) NOT NULL, PRIMARY KEY (fact_id, k),"
            " CONSTRAINT part_fact FOREIGN KEY (fact_id) REFERENCES facts (id))",
            "INSERT INTO parts SELECT f.id, k.seq, MD5(CONCAT_WS(':', f.id, k.seq)) FROM facts f JOIN seq_1_to_2 k",
            "CREATE TABLE ledger (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, token VARCHAR(60) NOT NULL, n INT NOT NULL,"
            " note VARCHAR(200), sum CHAR(32) NOT NULL, KEY (token))",
            "CREATE TABLE cells (id INT NOT NULL PRIMARY KEY, value VARCHAR(60) NOT NULL)",
            "INSERT INTO cells SELECT seq, 'none' FROM seq_1_to_20",
            "CREATE TABLE locks (id INT NOT NULL PRIMARY KEY, value VARCHAR(60) NOT NULL)",
            "INSERT INTO locks SELECT seq, 'none' FROM seq_1_to_4"]:
        client.run(statement)


def md5(*parts):
    return hashlib.md5(":".join(map(str, parts)).encode()).hexdigest()


def whole_number(number):
    """A whole number, whatever type its column has just now: 7, "7", 7.0, 7e+00."""
    assert float(number) == int(float(number)), number
    return int(float(number))


def ledger_row(token, n, note):
    return {"token": token, "n": n, "note": note, "sum": md5(token, n, note)}


def check_fact(row):
    """A row of facts or fleeting, whatever the columns' names and types are just now."""
    body = row["body"] if "body" in row else row["renamed"]
    assert md5(row["id"], row["shard"], whole_number(row["n"]), body) == row["sum"], f"a mixed row: {row}"
    assert set(row) <= {"id", "shard", "n", "body", "renamed", "sum", "extra", "parts"}, f"columns that nobody asked for: {row}"
    if "extra" in row:
        assert row["extra"] == 5, row
    for part in row.get("parts", ()):
        assert md5(row["id"], part["k"]) == part["sum"], f"parts of another row: {row}"
    if "parts" in row:
        assert sorted(part["k"] for part in row["parts"]) == [1, 2], row


def shard_ids(shard, count=FACTS):
    return [i for i in range(1, count + 1) if i % SHARDS == shard]
