"""Memory of a server, its clients and the kernel while a bench runs, once a second, and an end before there is none left."""

import threading
import time

from . import memory

PSS_EVERY = 5  # samples: it costs a walk over the page tables


def sample(pids, with_pss=False):
    """{"at_ns", a name's RssAnon for each process of `pids`, "slab", "tcp_buffers", "stacks_and_tables", "room", "available"}, bytes, and
    "sockets", TCP's of the whole machine."""
    info = memory.meminfo()
    taken = {"at_ns": time.monotonic_ns(), "slab": info["Slab"], "tcp_buffers": memory.tcp_buffer_bytes(),
             "stacks_and_tables": info["KernelStack"] + info["PageTables"], "room": memory.room_bytes(info),
             "available": info["MemAvailable"], "sockets": memory.sockstat("inuse")}
    taken |= {name: memory.anonymous_bytes(pid) for name, pid in pids.items()}
    if with_pss:
        try:
            taken |= {f"{name}_pss": memory.own_bytes([pid])["pss"] for name, pid in pids.items()}
        except OSError:
            pass  # one of them has ended
    return taken


class Watch(threading.Thread):
    """Collects samples until stop(). Calls on_low() once when less than `guard_bytes` of memory are left."""

    def __init__(self, pids, guard_bytes, on_low):
        super().__init__(daemon=True)
        self.pids, self.guard_bytes, self.on_low = pids, guard_bytes, on_low
        self.samples, self.low = [], None
        self.ended = threading.Event()

    def run(self):
        while not self.ended.is_set():
            taken = sample(self.pids, len(self.samples) % PSS_EVERY == 0)
            self.samples.append(taken)
            if taken["room"] < self.guard_bytes and self.low is None:
                self.low = taken["room"]
                self.on_low()
            self.ended.wait(1)

    def stop(self):
        self.ended.set()
        self.join()

    def at(self, ns):
        """The last sample by then, with the last sizes that were not taken with every sample."""
        merged = {}
        for taken in self.samples:
            if merged and taken["at_ns"] > ns:
                break
            merged |= taken
        return merged

    def most(self, key):
        return max((taken[key] for taken in self.samples if key in taken), default=0)
