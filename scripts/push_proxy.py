"""A TCP proxy that hinders: it cuts connections on command, swallows WebSocket handshakes, keeps event streams to itself."""

import re
import socket
import threading


class Proxy:
    """Passes bytes between its own port on 127.0.0.1 and `target`.

    deafen()         what is open now stays open, but nothing goes either way any more, as where a router has forgotten it
    cut()            resets nothing, but ends every connection, as a server that stops does
    swallow          requests whose head has this text are never answered ("Upgrade: websocket")
    hold             what answers requests whose head has this text does not go on to the client
    heads            the heads of all requests that began a connection
    """

    def __init__(self, target):
        self.target = target
        self.swallow = self.hold = None
        self.heads = []
        self.open = set()
        self.deaf = set()
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        server = None
        try:
            server = socket.create_connection(self.target, 10)
            server.settimeout(None)
            with self.lock:
                self.open |= {client, server}
            held = threading.Event()
            back = threading.Thread(target=self._back, args=(server, client, held), daemon=True)
            back.start()
            while data := client.recv(65536):
                if client in self.deaf:
                    continue
                if re.match(rb"[A-Z]+ [^\r\n]+ HTTP/1", data):
                    head = data.split(b"\r\n\r\n")[0].decode("latin-1")
                    self.heads.append(head)
                    if self.swallow and self.swallow in head:
                        continue
                    if self.hold and self.hold in head:
                        held.set()
                server.sendall(data)
        except OSError:
            pass
        finally:
            self._end(client, server)

    def _back(self, server, client, held):
        try:
            while data := server.recv(65536):
                if not held.is_set() and client not in self.deaf:
                    client.sendall(data)
        except OSError:
            pass
        finally:
            self._end(client, server)

    def _end(self, *sockets):
        with self.lock:
            self.open -= set(sockets)
        for one in filter(None, sockets):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()

    def deafen(self):
        with self.lock:
            self.deaf |= self.open

    def cut(self):
        """Ends what is open; returns how many connections of clients that were."""
        with self.lock:
            ended, self.open = self.open, set()
        for one in ended:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        return len(ended) // 2

    def stop(self):
        self.listener.close()
        self.cut()
