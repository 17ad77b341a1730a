"""What the connections a server holds cost: the server's own memory and the kernel's."""

import pathlib
import re


def own_bytes(pids):
    """{"private", "pss", "rss"} of all the processes together, in bytes.

    Private is what they have written and share with nobody. Pages of libraries are left out: they are private or shared
    as other programs come and go, the load generator among them.
    """
    total = {"private": 0, "pss": 0, "rss": 0}
    fields = {"Private_Dirty": "private", "Pss": "pss", "Rss": "rss"}
    for pid in pids:
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name in fields:
                total[fields[name]] += int(rest.split()[0]) * 1024
    return total


def meminfo():
    """/proc/meminfo as {name: bytes}."""
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    return {name: int(rest.split()[0]) * 1024 for name, _, rest in (line.partition(":") for line in lines)}


def sockstat(name):
    """A number of the line of TCP in /proc/net/sockstat: "inuse", "tw", "mem" (pages), ..."""
    return int(re.search(rf"^TCP: .*\b{name} (\d+)", pathlib.Path("/proc/net/sockstat").read_text(), re.M)[1])


def tcp_buffer_bytes():
    return sockstat("mem") * 4096


def kernel_bytes():
    """Slab and TCP buffer memory of the whole machine, in bytes: both ends of every loopback connection are in it."""
    return meminfo()["Slab"] + tcp_buffer_bytes()


def room_bytes(info=None):
    """What is free, page cache included. Not MemAvailable: that counts the inodes and dentries of open sockets as reclaimable."""
    info = info or meminfo()
    return info["MemFree"] + info["Active(file)"] + info["Inactive(file)"]


def anonymous_bytes(pid):
    """RssAnon of a process: heap and stacks; 0 when it is gone."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"^RssAnon:\s+(\d+) kB", status, re.M)
    return int(found[1]) * 1024 if found else 0


def descriptors(pids):
    return sum(len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir())) for pid in pids)
