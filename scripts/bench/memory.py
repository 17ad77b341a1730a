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


def kernel_bytes():
    """Slab and TCP buffer memory of the whole machine, in bytes: both ends of every loopback connection are in it."""
    meminfo = pathlib.Path("/proc/meminfo").read_text()
    slab = int(re.search(r"^Slab:\s+(\d+) kB", meminfo, re.M)[1]) * 1024
    sockets = int(re.search(r"^TCP: .* mem (\d+)", pathlib.Path("/proc/net/sockstat").read_text(), re.M)[1])
    return slab + sockets * 4096


def descriptors(pids):
    return sum(len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir())) for pid in pids)
