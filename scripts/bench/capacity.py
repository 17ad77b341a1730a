"""What very many connections on one machine need: IO threads, source addresses, memory, system settings.

Both ends are here. The server's IO threads have descriptor tables of their own ("fd_table": "per_thread"), and so have the load
generator's threads, so the limit of descriptors counts per thread. docs/tuning.md gives the reasons.
"""

import os
import pathlib
import resource

from . import memory

RESERVE = 200           # descriptors of a thread that are no connections
MOST_THREADS = 1024     # that the server's configuration allows
CLIENT_BYTES = 8800     # of memory for a quiet connection: the kernel's for both ends, the server's own, the generator's
GUARD_BYTES = 1536 << 20  # that have to stay free
CAP_SYS_ADMIN = 21      # exempts from fs.file-max


def descriptor_limit():
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return 1 << 30 if limit == resource.RLIM_INFINITY else limit


def io_threads(connections, limit=None):
    """As many as hold the connections with a descriptor table each, and a quarter more, as they are not dealt out evenly."""
    return max(4, -(-connections * 5 // 4 // max((limit or descriptor_limit()) - RESERVE, 1)))


def fits(connections, threads, limit):
    """Whether so many threads' tables hold them, dealt out by chance."""
    share = connections / threads
    return share + 5 * share ** 0.5 <= limit - RESERVE


def number(path, default=None):
    try:
        return int(pathlib.Path(path).read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return default


def port_range():
    first, last = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    return int(first), int(last)


def source_addresses(connections, ports=None):
    """For connections to one address and port: connect() finds half of an address's ports quickly; a quarter of these stays free."""
    first, last = ports or port_range()
    quick = (last - first) // 2 + 1
    return -(-connections // max(quick // 4 * 3, 1))


def has_capability(bit):
    status = pathlib.Path("/proc/self/status").read_text()
    effective = next(line for line in status.splitlines() if line.startswith("CapEff:"))
    return int(effective.split()[1], 16) >> bit & 1 == 1


def machine():
    """The facts that lacking() looks at; None: this kernel has no such setting."""
    sys = "/proc/sys/"
    open_files = number(sys + "fs/file-nr", 0)
    return {"room": memory.room_bytes(), "descriptors": descriptor_limit(), "ports": port_range(), "open_files": open_files,
            "file_max": None if has_capability(CAP_SYS_ADMIN) else number(sys + "fs/file-max"),
            "epoll_watches": number(sys + "fs/epoll/max_user_watches"), "somaxconn": number(sys + "net/core/somaxconn"),
            "conntrack_max": conntrack_max(), "threads_max": number(sys + "kernel/threads-max"),
            "pids_max": number("/sys/fs/cgroup/pids.max"), "tcp_mem": pages_before_pressure(), "load": os.getloadavg()[0]}


def conntrack_max():
    """None where the firewall tracks nothing."""
    folder = "/proc/sys/net/netfilter/"
    return number(folder + "nf_conntrack_max") if number(folder + "nf_conntrack_count", 0) > 0 else None


def pages_before_pressure():
    try:
        return int(pathlib.Path("/proc/sys/net/ipv4/tcp_mem").read_text().split()[1])
    except (OSError, IndexError):
        return None


def lacking(clients, facts, threads=None):
    """What keeps `clients` connections, both ends, from being held here: one line each, with what would help."""
    enough = io_threads(clients, facts["descriptors"])
    threads = threads or enough
    least = {
        "file_max": ("fs.file-max", facts["open_files"] + 2 * clients + 10_000),
        "epoll_watches": ("fs.epoll.max_user_watches", 2 * clients + 10_000),
        "somaxconn": ("net.core.somaxconn", 1024),
        "conntrack_max": ("net.netfilter.nf_conntrack_max", clients * 12 // 10),
        "threads_max": ("kernel.threads-max", 2 * threads + 1000),
        "pids_max": ("the control group's pids.max", 2 * threads + 100),
    }
    lines = [f"{name} is {facts[key]:,}, {needed:,} are needed" + ("" if " " in name else f": sysctl -w {name}={needed}")
             for key, (name, needed) in least.items() if facts[key] is not None and facts[key] < needed]
    wanted = clients * CLIENT_BYTES + GUARD_BYTES
    if facts["room"] < wanted:
        lines.append(f"memory: {facts['room'] / 1e9:.1f} GB are free, {wanted / 1e9:.1f} GB are needed: at most"
                     f" {max(facts['room'] - GUARD_BYTES, 0) // CLIENT_BYTES:,} clients fit")
    if threads < enough and not fits(clients, threads, facts["descriptors"]):
        lines.append(f"{threads} IO threads with {facts['descriptors']:,} descriptors each do not hold them: --threads {enough}")
    if threads > MOST_THREADS:
        lines.append(f"{facts['descriptors']:,} descriptors per thread: {threads:,} IO threads would be needed, and {MOST_THREADS}"
                     f" are the most: ulimit -n {clients * 5 // 4 // MOST_THREADS + RESERVE + 1}")
    first, last = facts["ports"]
    addresses = source_addresses(clients, facts["ports"])
    if addresses > 65536:
        lines.append(f"net.ipv4.ip_local_port_range is {first} to {last}: {addresses:,} source addresses would be needed, and 65,536 are"
                     " the most: sysctl -w net.ipv4.ip_local_port_range='32768 60999'")
    return lines


def disturbing(clients, facts):
    """What does not keep them away, but makes figures worse: one line each."""
    lines = []
    if facts["tcp_mem"] is not None and facts["tcp_mem"] < clients:
        lines.append(f"net.ipv4.tcp_mem: above {facts['tcp_mem']:,} pages the kernel squeezes TCP buffers, and a message to everybody may"
                     f" take {clients:,}: it may arrive later")
    if facts["load"] > 0.5:
        lines.append(f"the load average is {facts['load']:.1f}: other work takes processor time from both ends")
    return lines
