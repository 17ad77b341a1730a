"""One run of the load generator against one server, and the count of its system calls."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from . import process
from .rows import LARGE_BYTES

PIPELINE_DEPTH = 16
EVENTS = "/sys/kernel/tracing/events/syscalls"
NAMED_CALLS = ("read readv recvfrom recvmsg write writev sendto sendmsg sendfile64 splice pread64 preadv2 openat"
               " openat2 close newfstat newfstatat statx epoll_wait epoll_pwait epoll_ctl accept4 setsockopt getsockopt"
               " shutdown fcntl ioctl futex timerfd_settime clock_gettime mmap munmap").split()


def load_arguments(row, port):
    arguments = [f"http://127.0.0.1:{port}{row.path}", "-c", str(row.connections), "--expect-status", str(row.status),
                 "--expect-bytes", str(row.size)]
    if row.mode == "close":
        arguments += ["-H", "Connection: close"]
    if row.mode == "pipelined":
        arguments += ["--pipeline", str(PIPELINE_DEPTH)]
    if row.accept:
        arguments += ["-H", f"Accept-Encoding: {row.accept}"]
    return arguments


class Generator:
    """swarm (docs/swarm.md), one thread, pinned to its own core; it polls unless told to sleep."""

    def __init__(self, server, core, nice=0, sleeps=False):
        self.program = process.swarm_beside(server)
        self.core, self.nice, self.sleeps = core, nice, sleeps

    def run(self, server, row, seconds, warmup=0.3):
        """One run: requests_per_s, server_cpu_us_per_request, server_busy, errors, ...

        Of large bodies few end inside the measured time, so parts of them count as parts.
        """
        port, pids = server.address(row.name)
        command = [str(self.program), *load_arguments(row, port), "-t", "1", "--source-addresses", "16", "-q", "--json", "-",
                   "-d", str(seconds), "--warmup-s", str(warmup), "--settle-s", "0", "--drain-s", "5",
                   "--spin", "off" if self.sleeps else "on"]
        for pid in pids:
            command += ["--pid", str(pid)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=seconds * 4 + 60,
                              preexec_fn=process.pinned(self.core, self.nice))
        if done.returncode not in (0, 1) or not done.stdout.strip():
            raise RuntimeError(f"the load generator failed ({done.returncode}): {' '.join(command)}")
        report = json.loads(done.stdout)
        requests = report["replies"]
        if row.size >= LARGE_BYTES:
            requests = report["bytes_in"] / (row.size + report["head_bytes"])
        if requests <= 0:
            raise RuntimeError(f"not one good response from {server.name}, {row.name}: {report['errors']}")
        return {"requests": requests, "requests_per_s": requests / report["measured_s"],
                "server_cpu_us_per_request": report["server_cpu_busy"] * report["measured_s"] * 1e6 / requests,
                "server_busy": report["server_cpu_busy"], "server_waiting": report["server_waiting"],
                "client_busy": report["own_cpu_busy"], "client_waiting": report["own_waiting"],
                "errors": report["errors"]["total"], "stalled": report["unanswered"],
                "connects": report["connections_reopened"], "head_bytes": report["head_bytes"],
                "total_responses": report["replies_total"]}


def perf_events():
    """What perf is to count, or None where it cannot count system calls here."""
    if not shutil.which("perf") or not os.path.isdir(EVENTS):
        return None
    named = [f"syscalls:sys_enter_{name}" for name in NAMED_CALLS if os.path.isdir(f"{EVENTS}/sys_enter_{name}")]
    events = ",".join(["raw_syscalls:sys_enter", *named])
    probe = subprocess.run(["perf", "stat", "-x,", "-e", events, "true"], capture_output=True, text=True, check=False)
    return events if probe.returncode == 0 and "<not" not in probe.stderr else None


class SyscallCounter:
    """Counts system calls by name over a short run of its own: by perf (hardly any cost), otherwise by strace -c."""

    def __init__(self, tool="auto"):
        self.events = perf_events() if tool in ("auto", "perf") else None
        strace = tool in ("auto", "strace") and shutil.which("strace")
        self.tool = "perf" if self.events else "strace" if strace else None

    def per_request(self, generator, server, row, seconds):
        """{call: how often per request, "all": their sum}, or {} where nothing can count here."""
        if self.tool is None:
            return {}
        _, pids = server.address(row.name)
        with tempfile.NamedTemporaryFile("r") as output:
            counter = subprocess.Popen(self.command(pids, output.name), stderr=subprocess.DEVNULL)
            time.sleep(1.0 if self.tool == "perf" else 0.3)  # until it is attached
            result = generator.run(server, row, seconds, warmup=0)
            counter.send_signal(signal.SIGINT)
            counter.wait(60)
            counts = self.parse(pathlib.Path(output.name).read_text())
        requests = max(result["total_responses"], result["requests"], 1)
        return {name: count / requests for name, count in sorted(counts.items(), key=lambda item: -item[1])}

    def command(self, pids, output):
        if self.tool == "perf":
            return ["perf", "stat", "-x,", "-o", output, "-e", self.events, "-p", ",".join(map(str, pids))]
        attach = [word for pid in pids for word in ("-p", str(pid))]
        return ["strace", "-c", "-f", "-q", "-o", output, *attach]

    def parse(self, text):
        counts = {}
        for line in text.splitlines():
            perf = re.match(r"(\d+),.*?,(?:raw_syscalls:sys_enter|syscalls:sys_enter_(\w+)),", line)
            strace = re.match(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", line)
            found = perf or strace
            if found and int(found[1]) > 0:
                counts["all" if found[2] in (None, "total") else found[2]] = int(found[1])
        return counts
