"""What stands between a server and its database, and can be shut.

    with Gate(mariadb.socket) as gate:       # listens on 127.0.0.1:gate.port, passes bytes to that socket
        gate.mute()                          # who is connected loses the connection; who connects is never answered
        gate.fill()                          # and who connects finds a backlog that is full
        gate.open()                          # passes again

    with NameServer() as names:              # answers every question for an IPv4 address with `target`: 127.0.0.1
        subprocess.Popen(..., preexec_fn=names.enter)   # a process that asks nobody else, by a resolv.conf of its own
        names.silent = True                  # answers no more
"""

import ctypes
import os
import pathlib
import selectors
import socket
import struct
import subprocess
import tempfile
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000


class Gate:
    def __init__(self, target, host="127.0.0.1"):
        self.target = str(target)
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((host, 0))
        self.listener.listen(128)
        self.port = self.listener.getsockname()[1]
        self.passes, self.held, self.pairs = True, [], {}
        self.lock = threading.Lock()
        self.selector = selectors.DefaultSelector()
        self.wake, self.woken = socket.socketpair()
        for each in (self.listener, self.woken):
            each.setblocking(False)
            self.selector.register(each, selectors.EVENT_READ)
        self.ended = False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self.lock:
            self.ended = True
        self.wake.send(b"x")
        self.thread.join()
        self._drop()
        for each in (self.listener, self.wake, self.woken):
            each.close()

    def mute(self):
        with self.lock:
            self.passes = False
            self._drop()

    def fill(self):
        """A SYN that finds the backlog full is dropped: connecting takes until whoever connects gives up."""
        with self.lock:
            self.passes = False
            self._unwatch()
            self.listener.listen(0)
            self._drop()
            for _ in range(4):
                filler = socket.socket()
                filler.setblocking(False)
                filler.connect_ex(("127.0.0.1", self.port))
                self.held.append(filler)

    def open(self):
        with self.lock:
            self._drop()
            self.listener.listen(128)
            self._unwatch()
            self.selector.register(self.listener, selectors.EVENT_READ)
            self.passes = True
        self.wake.send(b"x")

    def _unwatch(self):
        if self.listener in self.selector.get_map():
            self.selector.unregister(self.listener)

    def _drop(self):
        for each in [*self.pairs, *self.held]:
            self._close(each)
        self.held.clear()

    def _close(self, each):
        if each in self.pairs:
            self.selector.unregister(each)
            self._close_other(self.pairs.pop(each))
        each.close()

    def _close_other(self, other):
        if other in self.pairs:
            self.selector.unregister(other)
            del self.pairs[other]
        other.close()

    def _run(self):
        while True:
            for key, _ in self.selector.select():
                with self.lock:
                    if self.ended:
                        return
                    if key.fileobj is self.woken:
                        self.woken.recv(100)
                    elif key.fileobj is self.listener:
                        self._accept()
                    elif key.fileobj in self.pairs:
                        self._pass(key.fileobj)

    def _accept(self):
        try:
            client, _ = self.listener.accept()
        except BlockingIOError:
            return
        if not self.passes:
            self.held.append(client)
            return
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self.target)
        except OSError:
            client.close()
            server.close()
            return
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pairs[client], self.pairs[server] = server, client
        for each in (client, server):
            self.selector.register(each, selectors.EVENT_READ)

    def _pass(self, source):
        try:
            data = source.recv(262144)
            if data:
                self.pairs[source].sendall(data)
        except OSError:
            data = b""
        if not data:
            self._close(source)


class NameServer:
    """On an address of 127.0.0.0/8 with port 53, which needs root."""

    address = "127.0.53.53"

    def __init__(self, retry_s=5):
        """`retry_s`: after which who asks asks again; 5 is the C library's default."""
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind((self.address, 53))
        self.socket.settimeout(0.1)
        self.target = "127.0.0.1"
        self.silent, self.asked, self.unanswered, self.ended = False, 0, 0, False
        self.folder = tempfile.TemporaryDirectory(prefix="roost-dns-")
        pathlib.Path(self.folder.name, "resolv.conf").write_text(f"nameserver {self.address}\noptions timeout:{retry_s}\n")
        pathlib.Path(self.folder.name, "nsswitch.conf").write_text("hosts: dns\n")
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    @staticmethod
    def missing():
        """Why there cannot be one here, or None."""
        if os.geteuid() != 0:
            return "needs root, for port 53 and a mount namespace"
        probe = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
        return "unshare -m is refused here" if probe.returncode else None

    def enter(self):
        """In a child before it runs its program: these two files are in /etc's place, in a mount namespace of its own."""
        self._call(LIBC.unshare(CLONE_NEWNS))
        self._call(LIBC.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
        for name in ("resolv.conf", "nsswitch.conf"):
            self._call(LIBC.mount(f"{self.folder.name}/{name}".encode(), f"/etc/{name}".encode(), None, MS_BIND, None))

    @staticmethod
    def _call(result):
        if result != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def _run(self):
        while not self.ended:
            try:
                question, client = self.socket.recvfrom(512)
            except OSError:
                continue
            self.asked += 1
            if self.silent:
                self.unanswered += 1
                continue
            self.socket.sendto(self._answer(question), client)

    def _answer(self, question):
        end = question.index(b"\0", 12) + 5
        is_ipv4 = question[end - 4:end - 2] == b"\0\1"
        record = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + socket.inet_aton(self.target) if is_ipv4 else b""
        return question[:2] + struct.pack(">HHHHH", 0x8180, 1, int(is_ipv4), 0, 0) + question[12:end] + record

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended = True
        self.thread.join()
        self.socket.close()
        self.folder.cleanup()
