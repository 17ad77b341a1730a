"""Runs db_probe, which lies beside the server's binary: one connection of db/, told line by line what to do."""

import subprocess

from mariadb_server import FIXTURE
from roost_server import BINARY

PROBE = BINARY.resolve().parent / "db_probe"


class Probe:
    """with Probe("loop", mariadb) as probe: probe("run SELECT 1") -> the lines of the answer, the last without its dot."""

    def __init__(self, driver, mariadb=None, **options):
        if mariadb is not None:
            options = {"socket": mariadb.socket, "user": FIXTURE, "password": ""} | options
        self.process = subprocess.Popen([PROBE, driver, *(f"{name}={value}" for name, value in options.items())],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)

    def __call__(self, command):
        self.process.stdin.write(command + "\n")
        lines = []
        while not lines or not lines[-1].startswith("."):
            line = self.process.stdout.readline()
            assert line, f"the probe has ended at {command!r}: {self.process.stderr.read()}"
            lines.append(line.rstrip("\n"))
        lines[-1] = lines[-1][1:]
        return lines

    def rows(self, command):
        """The rows' texts; the statement must succeed."""
        lines = self(command)
        assert lines[-1].startswith("result"), lines[-1]
        return [line[4:] for line in lines if line.startswith("row ")]

    def last(self, command):
        return self(command)[-1]

    def __enter__(self):
        connected = self.last("connect")
        assert connected.startswith("connected "), connected
        self.thread_id = int(connected.split()[1])
        return self

    def __exit__(self, kind, *_):
        self.process.stdin.close()
        try:
            code = self.process.wait(20)
        finally:
            self.process.kill()
        errors = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        assert kind or (code == 0 and not errors), f"the probe ended with {code}: {errors}"
