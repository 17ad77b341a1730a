"""A page for an error comes from another route; filters and logs stay those of the route that was asked."""

import json

from roost_server import eventually

CONFIG = {"http": {
    "error_pages": {"404": "/pages/404.html"},
    "headers": {"set": {"X-Site": "all"}},
    "access_log": {"path": "logs/site.json", "format": "json"},
    "sites": [{"routes": [
        {"path": "/", "static": {}},
        {"path": "/own/", "static": {}, "headers": {"set": {"X-Route": "own"}}, "cors": {"origins": ["*"]},
         "access_log": {"path": "logs/own.json", "format": "json"}},
        {"path": "/quiet/", "static": {}, "access_log": None},
        {"path": "/pages/", "static": {}, "access_log": None, "headers": {"set": {"X-Route": "pages"}}},
    ]}],
}}


def targets(server, name):
    file = server.folder / "logs" / name
    return [json.loads(line)["target"] for line in file.read_text().splitlines()] if file.exists() else []


def test_they_stay_with_the_route_that_was_asked(start_server):
    server = start_server(CONFIG, files={"pages/404.html": b"<p>gone"})
    own = server.ask("/own/none", fields={"Origin": "https://a.example"})
    assert own.status == 404 and own.body == b"<p>gone"
    assert own.get("X-Route") == "own" and own.get("X-Site") is None
    assert own.get("Access-Control-Allow-Origin") == "*"
    assert server.ask("/quiet/none").status == 404
    site = server.ask("/none")
    assert site.status == 404 and site.body == b"<p>gone" and site.get("X-Site") == "all"
    assert server.ask("/pages/404.html").get("X-Route") == "pages"
    eventually(lambda: targets(server, "site.json"), "the site's line")
    eventually(lambda: targets(server, "own.json"), "the route's line")
    assert targets(server, "site.json") == ["/none"]
    assert targets(server, "own.json") == ["/own/none"]
