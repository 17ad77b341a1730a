"""A connection of db/ through a proxy: bytes that come one by one, connections cut anywhere, statements forgotten."""

import random
import socket
import threading

import pytest

from db_probe import Probe

DRIVERS = pytest.mark.parametrize("driver", ["loop", "threads"])
EXECUTE = 23  # COM_STMT_EXECUTE


class Proxy:
    """Forwards connections to a server's socket. to_client and to_server are what a piece of bytes becomes: pieces to send; None: then cut."""

    def __init__(self, server, to_client=lambda data: [data], to_server=lambda data: [data]):
        self.server, self.to_client, self.to_server = server, to_client, to_server
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.server)
            for source, target, change in ((client, server, self.to_server), (server, client, self.to_client)):
                threading.Thread(target=self._forward, args=(source, target, change), daemon=True).start()

    @staticmethod
    def _forward(source, target, change):
        try:
            while data := source.recv(65536):
                pieces = change(data)
                for piece in pieces:
                    if piece is not None:
                        target.sendall(piece)
                if None in pieces:
                    break
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def through(proxy, mariadb, driver):
    return Probe(driver, host="127.0.0.1", port=proxy.port, user=mariadb.user, password=mariadb.password, database="sample")


@DRIVERS
def test_bytes_that_come_in_pieces(driver, mariadb):
    chance = random.Random(4507)

    def pieces(data):
        made = []
        while data:
            size = chance.choice([1, 2, 3, 5, 17, 300])
            made.append(data[:size])
            data = data[size:]
        return made

    texts = ["SELECT seq, REPEAT(?, seq % ?), NULL FROM seq_1_to_300\tsx\ti40", "SELECT * FROM orders WHERE id < ?\ti40", "SELECT ?\ti7"]
    with Proxy(mariadb.socket, to_client=pieces) as proxy, through(proxy, mariadb, driver) as slow, \
            Probe(driver, mariadb, database="sample", user=mariadb.user, password=mariadb.password) as plain:
        for text in texts * 2:
            told = slow(f"run {text}")
            assert told[-1].startswith("result") and told == plain(f"run {text}")


@DRIVERS
def test_connections_cut_anywhere(driver, mariadb):
    chance = random.Random(4508)
    text = "run SELECT seq, REPEAT(?, ?) FROM seq_1_to_100\tsx\ti20"
    left = [0]

    def cut(data):
        allowed = left[0]
        left[0] -= len(data)
        return [data] if len(data) < allowed else [data[:max(allowed, 0)], None]

    with Proxy(mariadb.socket, to_client=cut) as proxy:
        left[0] = 1 << 30
        probe = through(proxy, mariadb, driver)
        with probe:
            for turn in range(25):
                left[0] = chance.choice([1, 4, 5, 9, 60, chance.randrange(200), chance.randrange(3000)])
                told = probe(text)
                assert told[-1].startswith("error lost 20"), told[-1]
                assert probe.last("alive") == "alive 0"
                left[0] = chance.randrange(1, 200)  # somewhere in the handshake, or in setting the session up
                assert probe.last("connect").startswith("failed unavailable")
                left[0] = 1 << 30
                assert probe.last("connect").startswith("connected")
                if turn % 2:
                    assert probe.last(text) == "result 0 0 100 0 0"


@DRIVERS
def test_statements_that_the_server_has_forgotten(driver, mariadb):
    forget = [False]

    def change(data):
        if forget[0] and len(data) > 9 and data[4] == EXECUTE:
            forget[0] = False
            return [data[:5] + (int.from_bytes(data[5:9], "little") + 1000).to_bytes(4, "little") + data[9:]]
        return [data]

    with Proxy(mariadb.socket, to_server=change) as proxy, through(proxy, mariadb, driver) as probe:
        for i in range(3):
            assert probe.rows(f"run SELECT ?\ti{i}") == [str(i)]
        assert probe.last("prepares") == "prepares 1"
        forget[0] = True
        assert probe.rows("run SELECT ?\ti7") == ["7"]
        assert probe.last("prepares") == "prepares 2"
        assert probe.rows("run SELECT ?\ti8") == ["8"]
        assert probe.last("prepares") == "prepares 2"
