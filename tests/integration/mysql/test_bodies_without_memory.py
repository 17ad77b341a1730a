"""Memory runs out while clients send rows and batches: they are refused, the database has none of it, and the server lives."""

import resource

import pytest

from crowd import CLIENTS, MIB, SANITIZED, Crowd, unfinished, virtual_bytes
from rest_server import RestServer, rest_config, stop_servers, writable
from roost_server import eventually


@pytest.mark.skipif(SANITIZED, reason="sanitizers map more than any limit allows")
@pytest.mark.parametrize("target", ["/data/notes", "/data/batch"])
def test_unfinished_bodies(tmp_path, mariadb, database, target):
    config = rest_config(mariadb, writable("notes"), database, options={"batch": True, "max_body_bytes": 2 * MIB}, worker_processes=2)
    probe = RestServer(tmp_path / "probe", mariadb, config)
    limit = virtual_bytes(probe) + 96 * MIB
    stop_servers([probe])
    server = RestServer(tmp_path / "small", mariadb, config, before_exec=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    crowd = Crowd(server, unfinished(target, **{"Content-Type": "application/json"}))
    crowd.run(40, lambda: not any(crowd.left.values()) or len(crowd.statuses()) > CLIENTS // 2)
    crowd.run(1)
    server.check_alive()
    # 408: a body that found room and was never finished.
    assert {503, 507} & set(crowd.statuses()) and set(crowd.statuses()) <= {408, 503, 507}, crowd.statuses()
    crowd.close()

    def written():
        try:
            return server.post("notes", {"text": "x" * 50000}).status == 201
        except (AssertionError, OSError):
            server.check_alive()
            return False
    eventually(written, "a row is taken again", 60)
    assert server.mariadb.value("SELECT COUNT(*) FROM notes", database) == "1"
    stop_servers([server])
