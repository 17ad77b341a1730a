"""What lies in the folder is not always a file: links, FIFOs, sockets, what may not be read, odd names."""

import os
import re
import socket
import time

import pytest

from privileges import without_file_privileges
from raw_http import request
from roost_server import eventually

OUTSIDE = b"not below the root\n"


def policy(name):
    return {"http": {"sites": [{"host": ["*"], "routes": [{"path": "/", "static": {"symlinks": name}}]}]}}


def furnish(server):
    """Links of every kind, below and out of the root."""
    html = server.html
    (server.folder / "outside").mkdir()
    (server.folder / "outside" / "file.txt").write_bytes(OUTSIDE)
    links = {
        "link.txt": "file.txt", "sub/up.txt": "../file.txt", "folder": "sub", "chain.txt": "link.txt",
        "absolute.txt": str(html / "file.txt"), "out.txt": "../outside/file.txt", "out": "../outside",
        "out-absolute.txt": str(server.folder / "outside" / "file.txt"), "out-and-in.txt": "../html/file.txt",
        "passwd": "/etc/passwd", "loop": "loop", "ping": "pong", "pong": "ping", "nowhere.txt": "no",
        "zero": "/dev/zero", "self": ".", "magic": "/proc/self/cwd/html/file.txt",
        "sub/out.txt": "../../outside/file.txt",
    }
    for name, target in links.items():
        (html / name).symlink_to(target)


FILES = {"file.txt": b"a file\n", "sub/index.html": b"sub\n", "sub/page.html": b"page\n"}
INSIDE = {"/file.txt": b"a file\n", "/sub/": b"sub\n"}
BY_LINK = {"/link.txt": b"a file\n", "/sub/up.txt": b"a file\n", "/folder/": b"sub\n", "/folder/page.html": b"page\n",
           "/chain.txt": b"a file\n", "/self/file.txt": b"a file\n", "/self/self/folder/up.txt": b"a file\n"}
BACK_INSIDE = {"/absolute.txt": b"a file\n", "/out-and-in.txt": b"a file\n"}
LEADING_OUT = {"/out.txt": OUTSIDE, "/out/file.txt": OUTSIDE, "/out-absolute.txt": OUTSIDE,
               "/sub/out.txt": OUTSIDE, "/folder/out.txt": OUTSIDE}
NEVER = ["/loop", "/loop/", "/ping", "/nowhere.txt", "/zero", "/magic", "/magic/", "/passwd/"]
WITHIN = {**INSIDE, **BY_LINK, **BACK_INSIDE}
SERVED = {"none": INSIDE, "within": WITHIN, "follow": {**WITHIN, **LEADING_OUT}}


@pytest.mark.rfc("9110 17.3")
@pytest.mark.parametrize("name", SERVED)
def test_symlinks(start_server, name):
    server = start_server(policy(name), files=FILES)
    furnish(server)
    with server.connect() as wire:
        for _ in range(2):  # the second time from what is remembered
            for target in [*WITHIN, *LEADING_OUT]:
                response = wire.ask(target)
                body = response.body if response.status == 200 else None
                assert body == SERVED[name].get(target) and response.status in (200, 404), (target, response)
            for target in NEVER:
                assert wire.ask(target).status == 404, target
            assert wire.ask("/folder").status == (404 if name == "none" else 301)
            assert (wire.ask("/passwd").status == 200) == (name == "follow")


@pytest.mark.rfc("9110 15.5.5")
def test_only_regular_files_are_served(start_server):
    server = start_server({"worker_processes": 1}, files=FILES)
    os.mkfifo(server.html / "fifo")
    os.mkfifo(server.html / "sub2.html")
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(server.html)  # the path of a socket must be short
    try:
        listener.bind("socket")
    finally:
        os.chdir(here)
    (server.html / "dir").mkdir()
    os.mkfifo(server.html / "dir" / "index.html")
    (server.html / "dir2" / "index.html").mkdir(parents=True)
    targets = ["/fifo", "/socket", "/sub2.html", "/fifo/", "/fifo/x", "/socket/"]
    try:
        os.mknod(server.html / "device", 0o020666, os.makedev(1, 5))  # /dev/zero
        targets.append("/device")
    except PermissionError:
        pass
    with server.connect() as wire, listener:
        began = time.monotonic()
        for target in targets:
            for method in ("GET", "HEAD"):
                assert wire.ask(target, method).status == 404, target
        assert wire.ask("/dir/").status in (403, 404)
        assert wire.ask("/dir2/").status in (403, 404)
        assert wire.ask("/file.txt").body == b"a file\n"
        assert time.monotonic() - began < 5


@pytest.mark.rfc("9110 15.5.4")
def test_what_may_not_be_read(start_server):
    server = start_server(files={**FILES, "secret.txt": b"no", "closed/file.txt": b"no", "closed/index.html": b"no",
                                 "blind/index.html": b"yes"}, before_exec=without_file_privileges)
    (server.html / "secret.txt").chmod(0)
    (server.html / "closed").chmod(0)
    (server.html / "blind").chmod(0o111)  # may be walked through, not listed
    with server.connect() as wire:
        for target in ("/secret.txt", "/closed/file.txt", "/closed/"):
            assert wire.ask(target).status == 403, target
        assert wire.ask("/blind/").body == b"yes"
        (server.html / "secret.txt").chmod(0o644)
        assert wire.ask("/secret.txt").body == b"no"
        (server.html / "secret.txt").chmod(0)
        assert wire.ask("/secret.txt").status == 403
    (server.html / "closed").chmod(0o755)


@pytest.mark.rfc("3986 2.1")
def test_names_of_every_byte(start_server):
    names = [f"a{chr(byte)}b" if byte < 0x80 else os.fsdecode(b"a" + bytes([byte]) + b"b")
             for byte in range(0x20, 0x100) if byte not in (0x2f, 0x7f)]
    names += ["x" * 255, "\u65e5\u672c\u8a9e.html", "-", "~", "a" * 200 + "/" + "b" * 200, "%41", "CON", "a.b.c.d", "x."]
    server = start_server(files={name: os.fsencode(name) for name in names})
    with server.connect() as wire:
        for name in names:
            target = "/" + "".join(chr(byte) if byte in b"/" else f"%{byte:02x}" for byte in os.fsencode(name))
            assert wire.ask(target).body == os.fsencode(name), target


@pytest.mark.rfc("9110 15.5.5")
def test_dot_files_by_configuration(start_server):
    shown = {"path": "/", "static": {"dot_files": "on"}}
    server = start_server({"http": {"sites": [{"host": ["*"], "routes": [shown]}]}},
                          files={".hidden": b"shown", ".git/config": b"shown"})
    with server.connect() as wire:
        assert wire.ask("/.hidden").body == b"shown"
        assert wire.ask("/.git/config").body == b"shown"
        assert wire.ask("/../.hidden").status == 400


def test_a_file_that_shrinks_while_it_is_sent_is_logged(start_server):
    size = 64 << 20
    server = start_server(files={"big.bin": bytes(size)})
    with server.connect() as wire:
        wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        wire.send(request("/big.bin"))
        wire.read_exactly(1000)
        os.truncate(server.html / "big.bin", 1000)
        with pytest.raises(Exception):
            wire.read_exactly(size)
    line = eventually(lambda: re.search(r"WARN .*file shrank .*", server.log), "a warning").group(0)
    assert f"file={server.html}/big.bin" in line and "peer=127.0.0.1:" in line
    sent, missing = (int(re.search(rf"{name}=(\d+)", line).group(1)) for name in ("sent_to", "missing"))
    assert 0 < sent < size and 0 < missing <= size - sent
