"""`server --check-system` looks at the machine it runs on and needs nothing else."""

import subprocess

from roost_server import BINARY


def check(*arguments, **options):
    return subprocess.run([str(BINARY), *arguments], capture_output=True, text=True, timeout=30, **options)


def test_a_table_for_four_numbers(tmp_path):
    done = check("--check-system", cwd=tmp_path)  # no conf/server.json there
    assert done.returncode == 0
    assert done.stderr == ""
    for word in ("10 k", "100 k", "1 M", "2 M", "LimitNOFILE", "net.core.somaxconn", "net.ipv4.tcp_mem"):
        assert word in done.stdout
    assert "\x1b" not in done.stdout  # not a terminal


def test_the_exit_code_says_whether_a_number_fits():
    assert check("--check-system=1").returncode == 0
    # More descriptors than any kernel allows a process.
    short = check("--check-system=99M")
    assert short.returncode == 1
    assert "What is short for 99 M clients" in short.stdout


def test_a_wrong_number_is_told():
    done = check("--check-system=many")
    assert done.returncode == 2
    assert "not a number of clients" in done.stderr


def test_a_configuration_says_how_many_tables_there_are(tmp_path):
    (tmp_path / "html").mkdir()
    file = tmp_path / "server.json"
    file.write_text('{"worker_processes": 4, "accept": "reuseport", "fd_table": "per_thread"}')
    assert "descriptors of an IO thread" in check("--check-system=60000", "-f", str(file)).stdout
    file.write_text('{"worker_processes": 4}')
    assert "descriptors of the process" in check("--check-system=60000", "-f", str(file)).stdout
    file.write_text('{"worker_processes": 4, "listen": [{"port": 0}, {"port": 0, "backlog": 200}]}')
    capped = check("--check-system=1M", "-f", str(file))
    assert '"backlog": 15625 in the configuration' in capped.stdout and 'The configuration\'s "backlog" is 200' in capped.stdout
    assert "backlog " not in check("--check-system=1M").stdout.replace("_backlog ", "")  # no file, no row
    file.write_text('{"worker_processes": 0}')
    wrong = check("--check-system", "-f", str(file))
    assert wrong.returncode == 1
    assert "server.json:1:" in wrong.stderr
