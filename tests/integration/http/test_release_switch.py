"""A deployment leads the name of the root elsewhere: every loop serves the new release from that moment."""

import os
import threading

import pytest

LOOPS = 4
SWITCHES = 200
PAGE = ("/index.html", "/app.js", "/style.css", "/large.bin", "/deep/er/page.html")


def swap(link, target):
    temporary = link.with_name(link.name + ".tmp")
    temporary.symlink_to(target)
    os.replace(temporary, link)


@pytest.fixture
def site(tmp_path):
    app = tmp_path / "app"
    for release in ("1", "2"):
        for name in PAGE:
            path = app / "releases" / release / name[1:]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(release.encode() * (200_000 if "large" in name else 300))
    (app / "current").symlink_to("releases/1")
    return app


def start(start_server, root, **more):
    # Time does not help, and connections go to the loops in turn.
    return start_server({"worker_processes": LOOPS, "http": {
        "root_path": str(root), "file_cache": {**{"revalidate_ms": 3_600_000, **more}}}})


def release_of(wire, name):
    body = wire.ask(name).body
    assert body == body[:1] * len(body), "one answer has bytes of both releases"
    return int(body[:1])


def test_no_answer_after_the_switch_is_of_the_old_release(start_server, site):
    server = start(start_server, site / "current")
    wires = [server.connect() for _ in range(2 * LOOPS)]
    for wire in wires:
        assert [release_of(wire, name) for name in PAGE] == [1] * len(PAGE)
    old = []
    for turn in range(SWITCHES):
        release = 2 - turn % 2
        swap(site / "current", f"releases/{release}")
        for i, wire in enumerate(wires):
            name = PAGE[(turn + i) % len(PAGE)]
            if release_of(wire, name) != release:
                old.append((turn, i, name))
    for wire in wires:
        wire.close()
    assert not old, f"{len(old)} of {SWITCHES * len(wires)} answers were of the old release"


def test_no_page_mixes_releases_backwards(start_server, site):
    """Clients that load pages all the while: within one, over several connections, nothing old follows anything new."""
    for release in range(3, 43):
        for name in PAGE:
            path = site / "releases" / str(release) / name[1:]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"%03d" % release * 100)
    server = start(start_server, site / "current", revalidate_ms=20)
    swap(site / "current", "releases/3")
    mixed, pages, stop = [], [0], threading.Event()

    def load():
        wires = [server.connect() for _ in range(LOOPS)]
        while not stop.is_set():
            seen = [int(wires[i % LOOPS].ask(name).body[:3]) for i, name in enumerate(PAGE)]
            pages[0] += 1
            if seen != sorted(seen):
                mixed.append(seen)
        for wire in wires:
            wire.close()

    clients = [threading.Thread(target=load) for _ in range(3)]
    for client in clients:
        client.start()
    for release in range(4, 43):
        before = pages[0]
        swap(site / "current", f"releases/{release}")
        while pages[0] < before + 3 and all(client.is_alive() for client in clients):
            pass
    stop.set()
    for client in clients:
        client.join()
    assert pages[0] > 50
    assert not mixed


@pytest.mark.parametrize("how", ["relative", "absolute", "chain", "folder above", "not at once"])
def test_every_link_on_the_way_counts(start_server, site, how):
    far = site.parent / "far"
    far.mkdir()
    link, root, target = site / "current", site / "current", "releases/{}"
    if how == "absolute":
        target = str(site / "releases/{}")
    elif how == "chain":  # root_path -> far/a -> ../app/current, which is the one that is swapped
        (far / "a").symlink_to("../app/current")
        (far / "root").symlink_to(far / "a")
        root = far / "root"
    elif how == "folder above":  # the root is a folder behind the link
        for release in ("1", "2"):
            (site / "releases" / release / "public").mkdir()
            for name in PAGE:
                path = site / "releases" / release / "public" / name[1:]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(release.encode() * 100)
        root = site / "current" / "public"
    server = start(start_server, root)
    wires = [server.connect() for _ in range(LOOPS)]
    assert {release_of(wire, PAGE[0]) for wire in wires} == {1}
    for turn in range(20):
        release = 2 - turn % 2
        if how == "not at once":
            link.unlink()
            assert {release_of(wire, PAGE[0]) for wire in wires} <= {1, 2}  # what was open stays in use
            link.symlink_to(f"releases/{release}")
        else:
            swap(link, target.format(release))
        assert [release_of(wire, PAGE[turn % len(PAGE)]) for wire in wires] == [release] * LOOPS
    for wire in wires:
        wire.close()


def test_a_folder_on_the_way_is_moved(start_server, site):
    root = site / "releases" / "1"
    server = start(start_server, root)
    with server.connect() as wire:
        assert release_of(wire, "/index.html") == 1
        (site / "releases").rename(site / "old")
        (site / "releases" / "1").mkdir(parents=True)
        (site / "releases" / "1" / "index.html").write_bytes(b"3" * 10)
        assert release_of(wire, "/index.html") == 3


def test_without_notices_the_loops_switch_together(start_server, site):
    """Time tells one loop, and that one tells the others before it answers from the new release."""
    server = start_server({"worker_processes": LOOPS, "http": {
        "root_path": str(site / "current"), "file_cache": {"revalidate_ms": 300, "inotify": "off"}}})
    wires = [server.connect() for _ in range(LOOPS)]
    for turn in range(10):
        release = 2 - turn % 2
        swap(site / "current", f"releases/{release}")
        seen_new = False
        while not seen_new:
            seen = [release_of(wire, PAGE[i % len(PAGE)]) for i, wire in enumerate(wires)]
            if release in seen:
                assert seen[seen.index(release):] == [release] * (LOOPS - seen.index(release))
                seen_new = True
        assert [release_of(wire, PAGE[0]) for wire in wires] == [release] * LOOPS
    for wire in wires:
        wire.close()


def test_links_inside_the_root(start_server, site):
    """Within: whatever a link's target looks like, it counts where it leads."""
    release = site / "releases" / "1"
    (release / "absolute").symlink_to(release / "app.js")
    (release / "by_name").symlink_to(site / "current" / "app.js")  # over the root's own link
    (release / "folder").symlink_to(release / "deep" / "er")
    (release / "around").symlink_to("../1/app.js")  # leaves the root on its way
    (release / "itself").symlink_to(release)
    (site / "secret").write_bytes(b"secret")
    (release / "out").symlink_to(site / "secret")
    (release / "out_relative").symlink_to("../../secret")
    (release / "other").symlink_to(site / "releases" / "2" / "app.js")
    (site / "releases" / "10").mkdir()
    (site / "releases" / "10" / "app.js").write_bytes(b"secret")
    (release / "longer_name").symlink_to(site / "releases" / "10" / "app.js")
    server = start(start_server, site / "current")
    with server.connect() as wire:
        for name in ("/absolute", "/by_name", "/folder/page.html", "/around", "/itself/app.js"):
            assert (wire.ask(name).status, release_of(wire, name)) == (200, 1), name
        assert wire.ask("/itself").status == 301
        for name in ("/out", "/out_relative", "/other", "/longer_name"):
            assert wire.ask(name).status == 404, name
        # As fresh as any other file.
        (release / "app.js").write_bytes(b"7" * 9)
        for name in ("/absolute", "/by_name", "/around", "/itself/app.js"):
            assert release_of(wire, name) == 7, name
    server.stop()
    assert "symbolic link leaves the root path=" in server.log
    assert f"target={site}/secret" in server.log
    assert "Invalid cross-device link" not in server.log
