"""Whom the server runs as: root opens what takes root, and is given up for good before a thread starts."""

import json
import os
import pathlib
import pwd
import shutil
import signal
import stat
import tempfile

import pytest

from roost_server import Server, eventually, run_server

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
USER = pwd.getpwnam("nobody")
# A process that is not dumpable cannot be traced, which is how leaks are looked for.
NO_LEAK_CHECK = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


@pytest.fixture
def folder():
    """A folder of root's that everybody may look into; those of pytest are closed."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="roost-user-", dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def start(folder):
    servers = []

    def begin(config, **more):
        (folder / "html").mkdir(exist_ok=True)
        (folder / "html" / "a").write_bytes(b"open")
        (folder / "html" / "closed").write_bytes(b"closed")
        (folder / "html" / "closed").chmod(0o600)
        servers.append(Server(folder, config, env=NO_LEAK_CHECK, **more))
        return servers[-1]

    yield begin
    for server in servers:
        if server.process.returncode is None:
            server.stop()


def statuses(server):
    """Of each thread the lines of /proc/PID/status, {name: [words]}."""
    found = []
    for task in pathlib.Path(f"/proc/{server.process.pid}/task").iterdir():
        lines = (line.split(":", 1) for line in (task / "status").read_text().splitlines())
        found.append({name: rest.split() for name, rest in lines})
    return found


def check_rights(server, uid, gid):
    threads = statuses(server)
    assert len(threads) >= 4  # main, log, IO, tasks
    for thread in threads:
        assert thread["Uid"] == [str(uid)] * 4, thread
        assert thread["Gid"] == [str(gid)] * 4, thread
        assert thread["Groups"] == [str(gid)], thread
        for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert int(thread[capabilities][0], 16) == 0, (capabilities, thread)
        assert thread["NoNewPrivs"] == ["1"]


@pytest.mark.parametrize("mode", [{}, {"accept": "reuseport"}, {"accept": "reuseport", "fd_table": "per_thread"}], ids=str)
def test_every_thread_is_the_user(start, folder, mode):
    # A port that takes root, at an address of this test's own.
    listen = [{"address": f"127.77.{os.getpid() % 250}.{len(str(mode))}", "port": 81}, {"unix": "a.sock", "unix_mode": "0660"}]
    server = start({**mode, "user": "nobody", "address": None, "port": None, "listen": listen, "task_processes": 1,
                    "pid_file": "pid"})
    check_rights(server, USER.pw_uid, USER.pw_gid)
    assert os.stat(f"/proc/{server.process.pid}/fd").st_uid == 0  # as of any process that is not dumpable
    assert server.ask("/a").body == b"open"
    assert server.ask("/closed").status == 403
    assert (os.stat(folder / "a.sock").st_uid, os.stat(folder / "a.sock").st_gid) == (USER.pw_uid, USER.pw_gid)
    assert "running as root" not in server.log


def test_the_log_is_the_users_rolls_and_is_reopened(start, folder):
    server = start({"user": "nobody", "http": {"access_log": {"path": "logs/deep/access.log"}}})
    for path in (folder / "logs" / "server.log", folder / "logs" / "deep" / "access.log"):
        info = path.stat()
        assert (info.st_uid, stat.S_IMODE(info.st_mode)) == (USER.pw_uid, 0o640)
        path.rename(path.with_suffix(".old"))
    server.signal(signal.SIGUSR1)
    for path in (folder / "logs" / "server.log", folder / "logs" / "deep" / "access.log"):
        eventually(path.exists, f"a new {path}")
    server.ask("/a")
    server.stop()
    assert "/a" in (folder / "logs" / "deep" / "access.log").read_text()
    assert "stopped" in (folder / "logs" / "server.log").read_text()


def test_a_log_folder_of_roots_is_said_to_keep_files_from_rolling(start, folder):
    (folder / "logs").mkdir()
    server = start({"user": "nobody"})
    eventually(lambda: "cannot be rolled" in server.log, "a warning")


def test_a_pid_file_that_can_no_longer_be_removed_is_emptied(start, folder):
    for _ in range(2):  # what is left behind is no obstacle
        server = start({"user": "nobody", "pid_file": "pid"})
        assert (folder / "pid").read_text() == f"{server.process.pid}\n"
        assert (folder / "pid").stat().st_uid == 0
        server.stop()
        assert (folder / "pid").read_text() == ""


def test_a_group_and_numbers(start):
    server = start({"user": "12345", "group": "54321"})
    check_rights(server, 12345, 54321)


def test_without_a_user_root_stays_root_and_is_warned(start):
    server = start({})
    eventually(lambda: "running as root" in server.log, "a warning")
    threads = statuses(server)
    assert all(thread["Uid"][0] == "0" and thread["NoNewPrivs"] == ["1"] for thread in threads)


def test_who_wants_to_stay_root_says_so(start):
    server = start({"user": "root"})
    assert server.ask("/closed").body == b"closed"
    server.stop()
    assert "WARN" not in server.log


def test_who_is_not_root_stays_what_they_are(start, folder):
    folder.chmod(0o777)
    (folder / "conf").mkdir()

    def become_nobody():
        os.setgroups([])
        os.setgid(USER.pw_gid)
        os.setuid(USER.pw_uid)

    server = start({"user": "daemon"}, before_exec=become_nobody)
    eventually(lambda: "user daemon is ignored" in server.log, "a warning")
    for thread in statuses(server):
        assert thread["Uid"] == [str(USER.pw_uid)] * 4
        assert int(thread["CapEff"][0], 16) == int(thread["CapPrm"][0], 16) == 0
        assert thread["NoNewPrivs"] == ["1"]


def test_files_that_others_may_change_are_named(start, folder):
    config = {"user": "nobody", "http": {"basic_auth": {"users_file": "users"}}}
    users = folder / "users"
    users.write_text("a:$5$rounds=1000$saltsalt$.9/aAFJGmIx36sGUGs2q7qxb1wNLa9Atp.ducIDgOY6\n")
    users.chmod(0o644)
    server = start(config)
    server.stop()
    assert "may be changed by" not in server.log
    users.chmod(0o666)
    (folder / "conf").chmod(0o755)
    (folder / "more.json").write_text("{}")
    os.chown(folder / "more.json", USER.pw_uid, USER.pw_gid)
    server = start({**config, "include": "../more.json"})
    eventually(lambda: "users may be changed by every user" in server.log, "a warning about the password file")
    eventually(lambda: "more.json may be changed by the server's own user" in server.log, "one about the configuration")


@pytest.mark.parametrize("keys, words", [
    ({"user": "no-such-user"}, ["there is no user", "no-such-user"]),
    ({"user": "nobody", "group": "no-such-group"}, ["there is no group", "no-such-group"]),
    ({"user": "987654321"}, ["is in no list", "group"]),
    ({"group": "nogroup"}, ["says nothing without", "user"]),
])
def test_a_user_that_there_is_not(folder, keys, words):
    path = folder / "server.json"
    path.write_text(json.dumps({"http": {"root_path": "."}, **keys}))
    result = run_server("-t", "-f", path)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(f"{path}:1:"), result.stderr
    for word in words:
        assert word in result.stderr
