"""A change of the files shows in the very next answer, whatever was remembered of them."""

import os
import shutil

import pytest

SMALL, LARGE = 100, 300_000  # bytes: from memory, and from the file
CONFIG = {"worker_processes": 1, "http": {"file_cache": {"revalidate_ms": 3_600_000}}}  # so that time does not help


@pytest.fixture
def site(start_server):
    """A site with one folder in another, and one connection to its server."""
    server = start_server(CONFIG, files={
        "a/b/file.txt": b"1" * SMALL, "a/b/large.txt": b"1" * LARGE, "index.html": b"root"})
    with server.connect() as wire:
        site = Site(server, wire)
        assert site.ask("/a/b/file.txt") == (200, b"1" * SMALL)
        assert site.ask("/a/b/large.txt") == (200, b"1" * LARGE)
        yield site


class Site:
    def __init__(self, server, wire):
        self.server, self.html, self.wire = server, server.html, wire

    def ask(self, target):
        response = self.wire.ask(target)
        return response.status, response.body if response.status == 200 else response.get("Location")


BOTH = pytest.mark.parametrize("name, size", [("file.txt", SMALL), ("large.txt", LARGE)])
MISSING = (404, None)


@BOTH
def test_written_over(site, name, size):
    for round in b"23456789":
        content = bytes([round]) * size
        with open(site.html / "a/b" / name, "r+b") as file:
            file.write(content)
            file.flush()
            assert site.ask(f"/a/b/{name}") == (200, content)  # before it is closed, too
        assert site.ask(f"/a/b/{name}") == (200, content)


@BOTH
def test_rewritten_longer_shorter_and_empty(site, name, size):
    for factor in (2, 1, 0, 3):
        (site.html / "a/b" / name).write_bytes(b"2" * size * factor)
        assert site.ask(f"/a/b/{name}") == (200, b"2" * size * factor)


@BOTH
def test_replaced_by_rename(site, name, size):
    for round in b"2345":
        (site.server.folder / "new").write_bytes(bytes([round]) * size)
        os.replace(site.server.folder / "new", site.html / "a/b" / name)
        assert site.ask(f"/a/b/{name}") == (200, bytes([round]) * size)


@BOTH
def test_deleted_and_made_again(site, name, size):
    path = site.html / "a/b" / name
    for round in b"234":
        path.unlink()
        assert site.ask(f"/a/b/{name}") == MISSING
        path.write_bytes(bytes([round]) * size)
        assert site.ask(f"/a/b/{name}") == (200, bytes([round]) * size)


@BOTH
def test_moved_away_and_back(site, name, size):
    path = site.html / "a/b" / name
    path.rename(site.html / name)
    assert site.ask(f"/a/b/{name}") == MISSING
    assert site.ask(f"/{name}") == (200, b"1" * size)
    (site.html / name).rename(path)
    assert site.ask(f"/{name}") == MISSING
    assert site.ask(f"/a/b/{name}") == (200, b"1" * size)


def test_the_validators_change_with_it(site):
    before = site.wire.ask("/a/b/file.txt")
    (site.html / "a/b/file.txt").write_bytes(b"2" * SMALL)
    after = site.wire.ask("/a/b/file.txt", fields={"If-None-Match": before["ETag"]})
    assert after.status == 200 and after["ETag"] != before["ETag"]


def test_a_time_set_back(site):
    os.utime(site.html / "a/b/file.txt", (10 ** 9, 10 ** 9))
    assert site.wire.ask("/a/b/file.txt")["Last-Modified"] == "Sun, 09 Sep 2001 01:46:40 GMT"


@pytest.mark.parametrize("folder", ["a", "a/b"])
def test_a_folder_above_is_renamed(site, folder):
    assert site.ask("/a/b/no") == MISSING
    (site.html / folder).rename(site.html / "away")
    for name in ("file.txt", "large.txt", "no", ""):
        assert site.ask(f"/a/b/{name}") == MISSING
    assert site.ask("/" + ("away/b" if folder == "a" else "away") + "/file.txt") == (200, b"1" * SMALL)
    (site.html / "away").rename(site.html / folder)
    assert site.ask("/a/b/file.txt") == (200, b"1" * SMALL)
    assert site.ask("/a/b/large.txt") == (200, b"1" * LARGE)


def test_a_folder_is_exchanged_for_another(site):
    (site.html / "other/b").mkdir(parents=True)
    (site.html / "other/b/file.txt").write_bytes(b"other")
    assert site.ask("/other/b/file.txt") == (200, b"other")
    (site.html / "a").rename(site.html / "old")
    (site.html / "other").rename(site.html / "a")
    assert site.ask("/a/b/file.txt") == (200, b"other")
    assert site.ask("/a/b/large.txt") == MISSING
    assert site.ask("/old/b/file.txt") == (200, b"1" * SMALL)
    assert site.ask("/other/b/file.txt") == MISSING


def test_a_folder_is_deleted_and_made_again(site):
    for round in b"23":
        shutil.rmtree(site.html / "a")
        assert site.ask("/a/b/file.txt") == MISSING
        (site.html / "a/b").mkdir(parents=True)
        assert site.ask("/a/b/file.txt") == MISSING
        (site.html / "a/b/file.txt").write_bytes(bytes([round]))
        assert site.ask("/a/b/file.txt") == (200, bytes([round]))


def test_an_index_comes_changes_and_goes(site):
    assert site.ask("/a/") == (403, None)
    (site.html / "a/index.html").write_bytes(b"here")
    assert site.ask("/a/") == (200, b"here")
    (site.html / "a/index.html").write_bytes(b"changed")
    assert site.ask("/a/") == (200, b"changed")
    (site.html / "a/index.html").unlink()
    assert site.ask("/a/") == (403, None)
    shutil.rmtree(site.html / "a")
    assert site.ask("/a/") == MISSING


def test_the_index_of_the_root(site):
    assert site.ask("/") == (200, b"root")
    (site.html / "index.html").write_bytes(b"changed")
    assert site.ask("/") == (200, b"changed")
    (site.html / "index.html").unlink()
    assert site.ask("/") == (403, None)


def test_a_file_becomes_a_folder_and_back(site):
    path = site.html / "a/b/file.txt"
    path.unlink()
    path.mkdir()
    assert site.ask("/a/b/file.txt") == (301, "/a/b/file.txt/")
    path.rmdir()
    assert site.ask("/a/b/file.txt") == MISSING
    path.write_bytes(b"again")
    assert site.ask("/a/b/file.txt") == (200, b"again")
