"""Child processes of a bench: pinned to a core, watched, and ended by their own pid."""

import ctypes
import os
import pathlib
import resource
import signal
import socket
import subprocess
import time

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
CXX_FLAGS = ["-std=c++17", "-O2", "-g1", "-DNDEBUG", "-fno-omit-frame-pointer", "-fstack-protector-strong"]


def build_helper(name, folder):
    """Compiles tests/bench/<name>.cc with the Release flags of the project and returns the program's path."""
    source = REPOSITORY / "tests" / "bench" / f"{name}.cc"
    program = pathlib.Path(folder) / name
    subprocess.run([os.environ.get("CXX", "c++"), *CXX_FLAGS, str(source), "-o", str(program)], check=True)
    return program


def swarm_beside(server):
    """The load generator that was built with a server's program."""
    program = pathlib.Path(server).resolve().parent / "swarm"
    if not program.exists():
        raise SystemExit(f"there is no {program}: ./build.sh builds it")
    return program


def most_descriptors(wanted):
    """`wanted`, or what the hard limit of this process leaves of it."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def raise_descriptor_limit(wanted):
    """Lets this process and its children open up to `wanted` descriptors, as far as allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most_descriptors(wanted), hard))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ends_with_parent():
    """A preexec_fn: the child ends with this process, however that ends."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def pinned(core, nice=0, fifo=0):
    """A preexec_fn: the child and all it starts run on one core, with this priority.

    Where the scheduler groups tasks by session, a nice value only counts inside the session; hence the group's. `fifo`: a
    real-time priority, before all that have none. The child ends with this process, however that ends.
    """

    def prepare():
        ends_with_parent()
        os.sched_setaffinity(0, {core})
        if fifo:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(fifo))
        if nice:
            os.setsid()
            os.setpriority(os.PRIO_PROCESS, 0, nice)
            group = pathlib.Path("/proc/self/autogroup")
            if group.exists():
                group.write_text(str(nice))

    return prepare


def descendants(pid):
    """The process and every process below it, by /proc."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = pathlib.Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            parents[int(entry)] = int(stat.rpartition(")")[2].split()[1])
    family, grown = {pid}, True
    while grown:
        more = {child for child, parent in parents.items() if parent in family} - family
        family |= more
        grown = bool(more)
    return sorted(family)


def wait_until_listening(port, process, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args[0]} ended with {process.returncode} before it listened")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError(f"{process.args[0]} does not listen on port {port}")


def start_time(pid):
    """Ticks since boot at which the process started, or None: tells a process from a later one with its pid."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return None


def stop(process):
    """SIGTERM, then SIGKILL for what is left of the process and its children."""
    family = {pid: start_time(pid) for pid in descendants(process.pid)} if process.poll() is None else {}
    if family:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            pass
    for pid, started in family.items():
        if started is not None and start_time(pid) == started:
            os.kill(pid, signal.SIGKILL)
    process.wait()
