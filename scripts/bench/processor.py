"""Processor time by the scheduler's own account, and whether a process has come to rest."""

import os
import pathlib
import time


def _schedstat(folder):
    try:
        ran, waited, _ = (folder / "schedstat").read_text().split()
    except (OSError, ValueError):
        return 0, 0
    return int(ran), int(waited)


def use(pids):
    """(nanoseconds run, nanoseconds ready while something else ran) of all threads of these processes."""
    ran = waited = 0
    for pid in pids:
        for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
            more_ran, more_waited = _schedstat(thread)
            ran, waited = ran + more_ran, waited + more_waited
    return ran, waited


def of_process(pid):
    """Nanoseconds that a process has run, those of its threads that have ended included."""
    return time.clock_gettime_ns((~pid << 3) | 2)  # clock_getcpuclockid(3)


def softirq_thread(core):
    """The kernel's thread that takes over a core's network work when there is too much of it, or None."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                if pathlib.Path(f"/proc/{entry}/comm").read_text().strip() == f"ksoftirqd/{core}":
                    return int(entry)
            except OSError:
                continue
    return None


def wait_until_quiet(pids, quiet_s=0.12, longest_s=20, step_s=0.02, busy=0.02):
    """Returns once they have used less than `busy` of a processor for `quiet_s`, or after `longest_s`."""
    deadline = time.monotonic() + longest_s
    since, at_since = time.monotonic(), use(pids)[0]
    while time.monotonic() < deadline:
        time.sleep(step_s)
        now, ran = time.monotonic(), use(pids)[0]
        if ran - at_since > busy * quiet_s * 1e9:
            since, at_since = now, ran
        elif now - since >= quiet_s:
            return True
    return False
