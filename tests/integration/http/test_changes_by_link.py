"""Changes behind symbolic links, and of the root itself."""

import os
import shutil

import pytest

from roost_server import eventually

FOLLOW = {"sites": [{"host": ["*"], "routes": [{"path": "/", "static": {"symlinks": "follow"}}]}]}
NOT_BY_TIME = {"revalidate_ms": 3_600_000}


def swap(link, target):
    """As deployments do: the new link is renamed over the old one."""
    temporary = link.with_name(link.name + ".new")
    temporary.symlink_to(target)
    os.replace(temporary, link)


@pytest.fixture
def releases(start_server):
    server = start_server({"worker_processes": 1, "http": {**FOLLOW, "file_cache": NOT_BY_TIME}}, files={
        "releases/1/file.txt": b"1", "releases/2/file.txt": b"2"})
    (server.html / "current").symlink_to("releases/1")
    (server.html / "link.txt").symlink_to("releases/1/file.txt")
    with server.connect() as wire:
        assert wire.ask("/current/file.txt").body == wire.ask("/link.txt").body == b"1"
        yield server, wire


def test_a_link_to_a_folder_is_swapped(releases):
    server, wire = releases
    for round in (2, 1, 2):
        swap(server.html / "current", f"releases/{round}")
        assert wire.ask("/current/file.txt").body == b"%d" % round


def test_a_link_to_a_file_is_swapped(releases):
    server, wire = releases
    for round in (2, 1, 2):
        swap(server.html / "link.txt", f"releases/{round}/file.txt")
        assert wire.ask("/link.txt").body == b"%d" % round


def test_the_file_behind_a_link_changes(releases):
    server, wire = releases
    for content in (b"rewritten", b"again"):
        (server.html / "releases/1/file.txt").write_bytes(content)
        assert wire.ask("/link.txt").body == content
        assert wire.ask("/current/file.txt").body == content


def test_the_file_behind_a_link_is_replaced(releases):
    server, wire = releases
    for content in (b"replaced", b"again"):
        (server.folder / "new").write_bytes(content)
        os.replace(server.folder / "new", server.html / "releases/1/file.txt")
        assert wire.ask("/current/file.txt").body == content
        assert wire.ask("/link.txt").body == content


def test_the_file_behind_a_link_goes_and_comes(releases):
    server, wire = releases
    (server.html / "releases/1/file.txt").unlink()
    assert wire.ask("/current/file.txt").status == 404
    assert wire.ask("/link.txt").status == 404
    (server.html / "releases/1/file.txt").write_bytes(b"back")
    assert wire.ask("/current/file.txt").body == b"back"


def test_a_file_outside_the_root_changes(releases):
    server, wire = releases
    outside = server.folder / "outside.txt"
    outside.write_bytes(b"1")
    (server.html / "out.txt").symlink_to(outside)
    assert wire.ask("/out.txt").body == b"1"
    outside.write_bytes(b"22")
    assert wire.ask("/out.txt").body == b"22"
    outside.unlink()
    assert wire.ask("/out.txt").status == 404


@pytest.mark.parametrize("inotify", ["on", "off"])
def test_the_root_is_swapped(start_server, tmp_path, inotify):
    """Nobody tells of this one; it is noticed in time."""
    for round in (1, 2):
        (tmp_path / f"release{round}").mkdir()
        (tmp_path / f"release{round}" / "file.txt").write_bytes(b"%d" % round)
    (tmp_path / "root").symlink_to("release1")
    server = start_server({"worker_processes": 1, "http": {
        "root_path": str(tmp_path / "root"), "file_cache": {"revalidate_ms": 100, "inotify": inotify}}})
    with server.connect() as wire:
        for round in (1, 2, 1):
            swap(tmp_path / "root", f"release{round}")
            eventually(lambda: wire.ask("/file.txt").body == b"%d" % round, "the other root is served", 5)
    shutil.rmtree(tmp_path / "release2")


def test_without_notices_time_tells(start_server):
    server = start_server({"http": {"file_cache": {"revalidate_ms": 50, "inotify": "off"}}}, files={"file.txt": b"1"})
    with server.connect() as wire:
        assert wire.ask("/file.txt").body == b"1"
        (server.html / "file.txt").write_bytes(b"2")
        eventually(lambda: wire.ask("/file.txt").body == b"2", "the change is noticed", 5)
        (server.html / "file.txt").unlink()
        eventually(lambda: wire.ask("/file.txt").status == 404, "the end is noticed", 5)
        (server.html / "file.txt").write_bytes(b"3")
        eventually(lambda: wire.ask("/file.txt").status == 200, "the file is noticed", 5)


@pytest.mark.parametrize("cache", [{"max_bytes": 0}, {"revalidate_ms": 0}, {"max_entries": 0}, {"max_file_bytes": 0}])
def test_without_a_cache_every_change_shows(start_server, cache):
    server = start_server({"http": {"file_cache": cache}}, files={"file.txt": b"0"})
    with server.connect() as wire:
        for round in range(20):
            content = b"%d" % round * 50
            (server.html / "file.txt").write_bytes(content)
            assert wire.ask("/file.txt").body == content
