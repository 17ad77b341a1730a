"""Listings: names from the file system stand in a page and in JSON without meaning anything there."""

import json
import os
from html.parser import HTMLParser
from urllib.parse import unquote_to_bytes, urlsplit

import pytest

NASTY = [b"<script>alert(1)<", b"a&amp;b.txt", b"quote\"'.txt", b"javascript:alert(1)", b"//evil.example", b"?x=1", b"#f",
         b"100%41.txt", b"back\\slash", b"\xff\xfe.txt", "\u202etxt.exe".encode(), "\u00fc.txt".encode(), b" lead", b"a:b", b"~", b"{x}"]


class Page(HTMLParser):
    """Collects what a browser would make of the page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.texts, self.open = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in ("meta", "link"):
            self.open.append(tag)
        if tag == "a":
            self.links.append(dict(attributes)["href"])
        assert not any(name.startswith("on") for name, _ in attributes)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture
def nasty(start_server):
    server = start_server({"http": {"sites": [{"host": ["*"], "routes": [
        {"path": "/", "static": {"listing": {"limit": 40}}}]}]}})
    folder = os.fsencode(server.html)
    for name in NASTY:
        name = name.replace(b"/", b"")
        with open(os.path.join(folder, name), "wb") as file:
            file.write(name)
    os.makedirs(os.path.join(folder, b"sub", b"deep"))
    for name in (b"new\nline", b"bell\x07", b".hidden"):
        open(os.path.join(folder, name), "wb").close()
    os.symlink("/etc/passwd", os.path.join(folder, b"outside"))
    os.symlink("sub", os.path.join(folder, b"inside"))
    os.mkfifo(os.path.join(folder, b"pipe"))
    return server


NAMES = {name.replace(b"/", b"") for name in NASTY}


def test_a_page_means_only_what_it_says(nasty):
    page = Page(nasty.ask("/").body.decode())
    assert not {"script", "img", "iframe"} & set(page.tags) and page.open == []
    entries = [link for link in page.links if link.startswith("./")]
    assert {unquote_to_bytes(link[2:]) for link in entries} == NAMES | {b"sub/", b"inside/"}
    assert all(urlsplit(link).scheme == urlsplit(link).netloc == "" for link in page.links)
    for link in entries:
        if not link.endswith("/"):
            assert nasty.ask("/" + link[2:]).body == unquote_to_bytes(link[2:])
    assert "<script>alert(1)<" in page.texts and "a&amp;b.txt" in page.texts
    assert page.texts[-2:] == ["2 folders, 16 files.", "\n"] or "2 folders, 16 files." in page.texts


def test_json_says_the_same(nasty):
    listing = json.loads(nasty.ask("/", fields={"Accept": "application/json"}).body)
    assert listing["path"] == "/" and listing["truncated"] is False
    assert [entry["name"] for entry in listing["entries"]][:2] == ["inside", "sub"]
    files = {unquote_to_bytes(entry["href"][2:]): entry for entry in listing["entries"] if entry["type"] == "file"}
    assert set(files) == NAMES
    assert all(entry["size"] == len(name) for name, entry in files.items())
    assert all(set(entry) == {"name", "href", "type", "modified"} for entry in listing["entries"][:2])


def test_sorting_and_bounds(nasty):
    for index in range(1, 13):
        (nasty.html / "sub" / f"f{index}").write_bytes(b"x" * (100 - index))
        os.utime(nasty.html / "sub" / f"f{index}", (index, index))

    def names(query):
        return [entry["name"] for entry in json.loads(nasty.ask("/sub/?format=json&" + query).body)["entries"]]
    counted = [f"f{index}" for index in range(1, 13)]
    assert names("") == ["deep", *counted]
    assert names("order=desc") == ["deep", *reversed(counted)]
    assert names("sort=size") == ["deep", *reversed(counted)]
    assert names("sort=modified&order=asc") == ["deep", *counted]
    for index in range(60):
        (nasty.html / "sub" / "deep" / f"many{index}").touch()
    answer = nasty.ask("/sub/deep/")
    page = Page(answer.body.decode())
    assert "There is more here" in "".join(page.texts) and "0 folders, 40 files" in "".join(page.texts)
    assert page.links[:2] == ["../../", "../"]


def test_a_listing_changes_with_what_is_there(nasty):
    first = nasty.ask("/sub/")
    unchanged = nasty.ask("/sub/", fields={"If-None-Match": first["ETag"]})
    assert unchanged.status == 304 and unchanged["ETag"] == first["ETag"] and unchanged["Vary"] == "Accept"
    (nasty.html / "sub" / "new.txt").write_bytes(b"1")
    second = nasty.ask("/sub/", fields={"If-None-Match": first["ETag"]})
    assert second.status == 200 and b"new.txt" in second.body
    (nasty.html / "sub" / "new.txt").write_bytes(b"12")
    assert nasty.ask("/sub/")["ETag"] != second["ETag"]
    (nasty.html / "sub" / "index.html").write_bytes(b"index\n")
    assert nasty.ask("/sub/").body == b"index\n"
