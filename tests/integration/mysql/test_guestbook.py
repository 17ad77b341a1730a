"""conf/guestbook.json as it comes: its tables, its page, and a page that is open while somebody writes."""

import json
import shutil
import sys

import pytest

from rest_server import RestServer, stop_servers
from roost_server import REPOSITORY

SETUP = (REPOSITORY / "conf/guestbook.sql").read_text()
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture
def guestbook(with_mysql, own_mariadb, tmp_path):
    mariadb = own_mariadb()
    mariadb.run(SETUP)
    folder = tmp_path / "guestbook"
    shutil.copytree(REPOSITORY / "html", folder / "html")
    (folder / "logs").mkdir()
    text = (REPOSITORY / "conf/guestbook.json").read_text().replace('"port": 4507', '"port": 0')
    server = RestServer(folder, mariadb, None, text=text, env={"MYSQL_SOCKET": mariadb.socket})
    yield server
    stop_servers([server])


def listen(guestbook):
    """A connection that listens to new entries, once it does."""
    connection = guestbook.connect()
    connection.send(b"GET /live/entries HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
    assert connection.read_head().status == 200
    return connection


def test_entries_are_written_read_and_told(guestbook):
    assert guestbook.get("entries").json() == []
    with listen(guestbook) as live:
        answer = guestbook.post("entries", {"name": "Ada", "text": "größe 😀"})
        assert (answer.status, answer["Location"]) == (201, "/data/entries?id=eq.1")
        chunk = b""
        while b"data: " not in chunk:
            chunk = live.read_line()  # to CRLF, the end of a chunk or of its size
    told = json.loads(chunk.partition(b"data: ")[2])
    read = guestbook.get("entries").json()
    assert (told["table"], told["rows"]) == ("entries", read)
    assert {key: read[0][key] for key in ("id", "name", "text")} == {"id": 1, "name": "Ada", "text": "größe 😀"}


@pytest.mark.parametrize("row, code", [
    ({"name": "", "text": "x"}, "check_violation"),
    ({"name": "Ada"}, "not_null_violation"),
    ({"name": "Ada", "text": "x" * 501}, "value_too_long"),
    ({"name": "Ada", "text": "x", "id": 7}, "read_only_column"),
    ({"name": "Ada", "text": "x", "written_at": "2000-01-01T00:00:00Z"}, "read_only_column"),
])
def test_what_no_entry_is(guestbook, row, code):
    answer = guestbook.post("entries", row)
    assert (answer.status, answer.json()["code"]) == (400, code)
    assert guestbook.get("entries").json() == []


def test_entries_stay_as_they_are(guestbook):
    assert guestbook.patch("entries?id=eq.1", {"text": "x"}).status == 405
    assert guestbook.delete("entries?id=eq.1").status == 405
    with guestbook.connect() as connection:
        assert connection.ask("/live/entries", "POST", body=b"forged").status == 405


def test_page(guestbook):
    page = guestbook.ask("/guestbook/")
    assert page.status == 200 and b"<h1>Guestbook</h1>" in page.body
    if CHROMIUM is None:
        pytest.skip("the rest, for want of Chromium")
    sys.path.insert(0, str(REPOSITORY / "scripts"))
    from browse_push import Tab
    from browse_site import Browser
    guestbook.post("entries", {"name": "Ada", "text": "before"})
    browser = Browser(CHROMIUM, guestbook.folder)
    try:
        one, other = (Tab(browser, "http://{}:{}/guestbook/".format(*guestbook.address)) for _ in range(2))
        for tab in (one, other):
            tab.until("document.getElementById('count').textContent == '1 entry'")
        one.run("name.value = 'Ben', text.value = '<b>after</b>'".replace("name", "document.getElementById('name')", 1)
                .replace("text", "document.getElementById('text')", 1))
        one.run("document.getElementById('write').requestSubmit()")
        for tab in (one, other):
            tab.until("document.getElementById('count').textContent == '2 entries'")
            assert tab.run("[...document.querySelectorAll('#entries li')].map(li => li.firstChild.textContent + ': ' +"
                           " li.children[1].textContent)") == ["Ben: <b>after</b>", "Ada: before"]
        assert other.run("document.getElementById('problem').textContent") == ""
    finally:
        browser.stop()
