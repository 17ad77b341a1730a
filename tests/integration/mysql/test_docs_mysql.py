"""docs/mysql.md: every example is run (manual.py), against a database with the tables that stand at its beginning."""

import re

import pytest

from manual import FENCE, Page, Reader
from rest_server import RestServer, configured_statements, stop_servers

PAGE = Page("mysql.md")
TABLES = next(text for language, text in FENCE.findall(PAGE.text) if language == "sql")


class DatabaseReader(Reader):
    """Each section has the tables as the page makes them."""

    BEFORE_CONFIG = ("jsonc", "sql")

    def __init__(self, folder, mariadb, configured):
        super().__init__(PAGE, folder)
        self.mariadb = mariadb
        self.configured = configured
        self.database = mariadb.new_database(lambda client: client.run(TABLES))

    def start(self, folder, config):
        mysql = {**self.mariadb.config(self.database), **config["mysql"]}
        for key in ("unix_socket", "user", "password", "database_name"):
            mysql.pop(key, None)
        self.configured.update(configured_statements(config))
        return RestServer(folder, self.mariadb, {**config, "mysql": {**self.mariadb.config(self.database), **mysql}}, "/data/")

    def sql(self, text, *_):
        if text == TABLES:  # which each section has already
            return
        user = f"shop_{self.database}"[:32]
        for statement in text.replace("'shop'@", f"'{user}'@").replace(" shop.", f" {self.database}.").strip().split(";\n"):
            self.mariadb.run(statement.rstrip(";"))
        password = re.search("BY '(.*)'", text).group(1)
        try:
            with self.mariadb.client(self.database, user, password) as client:
                client.run("UPDATE customers SET city = 'Bonn' WHERE id = 1")
                assert client.value("SELECT COUNT(*) FROM orders") == "3"
        finally:
            self.mariadb.run(f"DROP USER '{user}'@'localhost'")

    def stop(self):
        if self.server is not None:
            stop_servers([self.server])
            self.server = None


@pytest.fixture
def reader(with_mysql, mariadb, configured_texts, tmp_path):
    made = DatabaseReader(tmp_path, mariadb, configured_texts)
    yield made
    made.stop()
    mariadb.run(f"DROP DATABASE {made.database}")


@pytest.mark.parametrize("blocks", [blocks for _, blocks in PAGE.sections], ids=[title for title, _ in PAGE.sections])
def test_section(blocks, reader):
    reader.work_through(blocks)


def test_there_are_examples():
    assert len(PAGE.sections) >= 6
    PAGE.check_languages()


def test_metrics_are_there(reader):
    reader.configure('{ "path": "/metrics", "metrics": {} }')
    said = reader.server.send("GET", "metrics", path="/").body.decode()
    named = re.findall(r"`(roost_mysql_\w+)`", PAGE.text)
    types = re.findall(r"^# TYPE (roost_mysql_\w+) ", said, re.MULTILINE)
    assert set(named) == set(types)
