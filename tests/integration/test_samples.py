"""The sample configurations that listen on loopback alone answer by its names alone: a page whose own name leads here (DNS
rebinding) would otherwise count as theirs."""

import json
import re

import pytest

from roost_server import REPOSITORY

SAMPLES = ["server", "push"]


def sample(name):
    """Its text, on a port of the system's choice and with a folder that is there."""
    text = (REPOSITORY / f"conf/{name}.json").read_text()
    text = text.replace('"port": 4507', '"port": 0').replace('"root_path": "html/"', f'"root_path": {json.dumps(str(REPOSITORY / "html"))}')
    return re.sub(r'"\$schema": "[^"]*",', "", text)


@pytest.mark.parametrize("name", SAMPLES)
def test_names(start_server, name):
    server = start_server(text=sample(name))
    port = server.address[1]
    for host in ("localhost", "127.0.0.1", "LOCALHOST", "app.localhost", "[::1]", "localhost."):
        for authority in (host, f"{host}:{port}"):
            assert server.ask("/", host=authority).status == 200, authority
            channel = "/demo/names"
            assert server.ask(channel, "POST", host=authority, body=b"x", fields={"Origin": f"http://{authority}"}).status in (201, 202)
    for host in ("rebound.example", f"rebound.example:{port}", "127.0.0.2", "localhost.example", "xlocalhost", "0.0.0.0", "10.0.0.1"):
        for method, target in (("GET", "/"), ("GET", "/demo/names"), ("POST", "/demo/names"), ("POST", "/pub/names"), ("GET", "/metrics")):
            answer = server.ask(target, method, host=host, body=b"x" if method == "POST" else b"", fields={"Origin": f"http://{host}"})
            assert answer.status == 421 and b"no site has this name" in answer.body, (host, target)


def test_all_of_them_name_loopback():
    for path in (REPOSITORY / "conf").glob("*.json"):
        text = path.read_text()
        if path.name in ("full.json", "server.schema.json") or not re.search("push_pubsub|push_publish|mysql_rest|mysql_query", text):
            continue
        first = re.search(r'"host": (\[.*\])', text)
        assert json.loads(first.group(1)) == ["localhost", "*.localhost", "127.0.0.1", "[::1]"], path.name
