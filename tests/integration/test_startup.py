"""The command line, and everything that keeps the server from starting: one clear line, exit code 1, no abort."""

import json
import os
import pathlib
import re
import socket
import subprocess

import pytest

from roost_server import BASE_CONFIG, HAS_MYSQL, REPOSITORY, merged, run_server


@pytest.fixture
def configured(tmp_path):
    """configured(changes or text, *arguments) -> the finished process, run on a configuration file of this test."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "html").mkdir()
    path = tmp_path / "conf" / "server.json"

    def run(config, *arguments):
        path.write_text(config if isinstance(config, str) else json.dumps(merged(BASE_CONFIG, config), indent=1))
        return run_server(*arguments, "-f", path, cwd=tmp_path)

    return run


def check_refused(result, *words, lines=1):
    """One clear line on stderr that holds the words, nothing else, exit code 1."""
    assert (result.returncode, result.stdout) == (1, ""), result
    assert len(result.stderr.splitlines()) == lines, result.stderr
    for word in words:
        assert word in result.stderr, result.stderr


def test_t_accepts_what_comes_with_it():
    for name in ("server.json", *(["full.json"] if HAS_MYSQL else []), "family.json"):
        result = run_server("-t", "-f", f"conf/{name}")
        assert (result.returncode, result.stderr) == (0, ""), result
        assert result.stdout == f"roost: conf/{name} is good\n"


def test_t_opens_no_port_and_writes_no_file(configured, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = configured({"port": taken.getsockname()[1], "pid_file": "pid"}, "-t")
    assert result.returncode == 0, result
    assert sorted(path.name for path in tmp_path.iterdir()) == ["conf", "html"]


def test_t_says_what_a_start_would_fail_at(configured, tmp_path):
    """Each of these was good once, and the start failed."""
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "folder" / "server.log").symlink_to(tmp_path / "file")
    for config, *words in (
            ({"address": "192.0.2.1", "port": 0}, "192.0.2.1", "no interface has this address"),
            ({"address": None, "port": None, "listen": [{"unix": "file"}]}, "file", "it exists and is not a socket"),
            ({"address": None, "port": None, "listen": [{"unix": "none/a.sock"}]}, "none/a.sock", "No such file"),
            ({"pid_file": "none/run.pid"}, "none/run.pid", "No such file"),
            ({"pid_file": "folder"}, "folder", "is no plain file"),
            ({"pid_file": "link"}, "link", "is no plain file"),
            ({"log": {"path": "file/logs/"}}, "file/logs", "Not a directory"),
            ({"log": {"path": "folder"}}, "folder/server.log", "symbolic link"),
            ({"http": {"access_log": {"path": "link"}}}, "link", "symbolic link")):
        before = sorted(tmp_path.iterdir())
        check_refused(configured(config, "-t"), *words)
        assert sorted(tmp_path.iterdir()) == before
        assert configured(config).returncode == 1, config


def test_t_notes_an_address_in_use(configured):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = configured({"port": taken.getsockname()[1]}, "-t")
    assert result.returncode == 0 and "is good" in result.stdout
    assert result.stderr.startswith("roost: note: ") and "a start needs it to be free" in result.stderr


@pytest.mark.parametrize("arguments", [[], ["-t"], ["--dump"]])
def test_alone_it_says_what_to_do(tmp_path, arguments):
    result = run_server(*arguments, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    lines = result.stderr.splitlines()
    assert len(lines) == 3, lines
    assert "conf/server.json" in lines[0] and lines[1].startswith("usage: server -f FILE")
    command = lines[2].split(": ", 1)[1]
    made, _, started = command.partition(" && ")
    assert subprocess.run(made, shell=True, cwd=tmp_path).returncode == 0
    assert started == "server -f roost.json"
    assert "is good" in run_server("-t", "-f", "roost.json", cwd=tmp_path).stdout
    dumped = json.loads(run_server("--dump", "-f", "roost.json", cwd=tmp_path).stdout)
    assert pathlib.Path(dumped["http"]["root_path"]) == tmp_path


def test_a_comment_behind_a_hash(configured):
    check_refused(configured('{\n  # the port\n  "port": 80\n}', "-t"), "server.json:2:3:", "comments begin with //", lines=3)


def test_dump_is_a_configuration_that_dumps_the_same(configured, tmp_path):
    first = configured({"mysql": {"password": "hidden-word"}}, "--dump")
    assert first.returncode == 0, first
    assert "hidden-word" not in first.stdout
    dumped = json.loads(first.stdout)
    assert dumped["http"]["root_path"] == str(tmp_path / "html")
    assert dumped["listen"][0]["address"] == "127.0.0.1"
    assert configured(first.stdout, "--dump").stdout == first.stdout


@pytest.mark.skipif(not HAS_MYSQL, reason="this build lacks some of its keys")
def test_the_schema_is_the_file_that_editors_use():
    assert run_server("--print-schema").stdout == (REPOSITORY / "conf/server.schema.json").read_text()


def test_the_pid_file_of_a_server_that_lives_is_respected(start_server, configured, tmp_path):
    path = tmp_path / "run.pid"
    server = start_server({"pid_file": str(path)})
    check_refused(configured({"pid_file": str(path)}), "run.pid", f"locked by process {server.process.pid}", "is running")
    assert path.read_text() == f"{server.process.pid}\n"
    assert configured({"pid_file": str(path)}, "-t").returncode == 0


@pytest.mark.parametrize("left", ["", "nonsense", "-1", "99999999999999999999", "{alive}"])
def test_a_pid_file_that_was_left_behind_is_replaced(start_server, tmp_path, left):
    path = tmp_path / "run.pid"
    path.write_text(left.format(alive=os.getpid()))  # a number that some other process has by now
    server = start_server({"pid_file": str(path)})
    assert path.read_text() == f"{server.process.pid}\n"


def test_a_failure_is_told_once_where_the_log_is_standard_error(configured):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        check_refused(configured({"port": port, "log": {"path": ""}}), f"127.0.0.1:{port}", "another process listens")


def test_a_listener_named_twice(configured):
    text = '{"listen": [{"port": 4801},\n  {"port": 4801}]}'
    check_refused(configured(text, "-t"), "server.json:2:3:", "listens twice on 0.0.0.0:4801")


def test_a_route_path_with_an_escape(configured):
    text = '{"http": {"sites": [{"routes": [\n{"path": "/a%20b/", "static": {}}]}]}}'
    check_refused(configured(text, "-t"), "server.json:2:10:", 'write "/a b/"')


def test_help_and_version():
    text = run_server("-h")
    assert text.returncode == 0 and text.stdout.startswith("usage: server ")
    for option in ("-f", "-t", "--dump", "--print-schema", "-V", "-h"):
        assert f" {option}" in text.stdout
    for name in ("TERM", "INT", "QUIT", "USR1", "HUP", "USR2"):
        assert name in text.stdout
    assert re.search(r"\n  HUP  .*schema", text.stdout)
    assert run_server("--version").stdout == run_server("-V").stdout != ""


@pytest.mark.parametrize("arguments", [["--bogus"], ["-x"], ["-f"], ["stray"]])
def test_a_wrong_command_line_is_exit_code_2(arguments):
    result = run_server(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1 and result.stderr.startswith("roost: "), result.stderr


def test_a_missing_file(tmp_path):
    check_refused(run_server("-f", tmp_path / "none.json"), "none.json", "No such file or directory")


def test_a_folder_in_place_of_a_file(tmp_path):
    check_refused(run_server("-f", tmp_path), str(tmp_path), "directory")


@pytest.mark.parametrize("text", ["", " \n", "// nothing here\n/* nor here */\n"])
def test_an_empty_file(configured, text):
    check_refused(configured(text), "server.json", "empty")


def test_an_invalid_file(configured):
    result = configured('{\n  "port": 45,\n  "prot": 46\n}', "-t")
    check_refused(result, "server.json:3:3:", '"prot"', 'did you mean "port"', lines=len(result.stderr.splitlines()))


def test_a_root_that_is_missing_or_no_folder(configured, tmp_path):
    check_refused(configured({"http": {"root_path": "nowhere/"}}), "server.json:", "nowhere", "http.root_path",
                  "No such file")
    text = '{"http": {"root_path": ".", "sites": [{"routes": [{"path": "/", "static": {"%s": "none/"}}]}]}}'
    for key in ("root", "alias"):
        check_refused(configured(text % key), "server.json:", "none", f"({key})", "No such file")
    check_refused(configured({"http": {"root_path": "conf/server.json"}}), "server.json:", "Not a directory")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_root_that_may_not_be_read(configured, tmp_path):
    (tmp_path / "closed").mkdir(mode=0)
    check_refused(configured({"http": {"root_path": "closed/"}}), "closed", "Permission denied")


def test_a_port_in_use(configured):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        check_refused(configured({"port": port}), f"127.0.0.1:{port}", "another process listens there")


def test_a_file_in_place_of_a_unix_socket(configured, tmp_path):
    path = tmp_path / "a.sock"
    path.write_text("kept")
    result = configured({"address": None, "port": None, "listen": [{"unix": str(path)}]})
    check_refused(result, str(path), "it exists and is not a socket")
    assert path.read_text() == "kept"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may use every port")
def test_a_privileged_port(configured):
    check_refused(configured({"port": 1}), "127.0.0.1:1", "ports below 1024 need root")


def test_an_address_of_no_interface(configured):
    check_refused(configured({"address": "192.0.2.1", "port": 0}), "192.0.2.1", "no interface has this address")


def test_values_the_schema_cannot_judge_are_told_with_their_place(configured):
    result = configured('{"port": 0,\n "blocks_ip": ["10.0.0.0/33"],\n "address": "localhost"}')
    check_refused(result, "server.json:2:16: ", "10.0.0.0/33", "server.json:3:13: ", "localhost", lines=2)


def test_a_log_folder_that_cannot_be_made(configured, tmp_path):
    (tmp_path / "file").write_text("")
    check_refused(configured({"log": {"path": "file/logs/"}}), "file")
