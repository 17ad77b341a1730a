"""Mistakes in the configuration of these modules are told with their place and what would be right."""

import json

import pytest

from roost_server import run_server

MISTAKES = [
    ({"headers": {"set": {"X Y": "1"}}}, '"X Y" is not the name of a field'),
    ({"headers": {"set": {"X": "a\r\nY: b"}}}, "control character"),
    ({"headers": {"set": {"X": " a"}}}, "begins or ends with a space"),
    ({"headers": {"set": {"X": "{nobody}"}}}, "nobody"),
    ({"headers": {"append": {"Content-Length": "1"}}}, "the server's own business"),
    ({"headers": {"remove": ["date"]}}, "the server's own business"),
    ({"headers": {"remove": ["Server"]}}, '"server_header": ""'),
    ({"headers": {"rules": [{"set": {"transfer-encoding": "x"}}]}}, "rules[0]"),
    ({"headers": {"rules": [{"status": ["6xx"], "set": {"X": "1"}}]}}, "a class such as"),
    ({"cache_control": [{"types": ["text/html"]}]}, "nothing is said"),
    ({"cache_control": [{"value": "no-cache", "max_age_s": 1}]}, "exclude each other"),
    ({"cache_control": [{"value": "no-cache", "expires": "on"}]}, '"expires" needs "max_age_s"'),
    ({"cache_control": [{"value": "a", "immutable": "on"}]}, '"immutable" goes with "max_age_s"'),
    ({"cache_control": [{"extensions": ["min.js"], "value": "a"}]}, "what follows the last dot"),
    ({"security_headers": "strong"}, '"basic" or "strict"'),
    ({"security_headers": {"hsts": {"preload": "on"}}}, "include_subdomains"),
    ({"cors": {"origins": ["*"], "credentials": "on"}}, '"credentials" with the origin "*"'),
    ({"cors": {"origins": ["https://a.org/"]}}, "it has no path"),
    ({"cors": {"origins": ["https://a.org:443"]}}, "leave out the scheme's own port"),
    ({"cors": {"origins": ["https://a.org"], "methods": ["GE T"]}}, "is not a name"),
    ({"cors": {"origins": ["https://a.org"], "credentials": "on", "expose": ["*"]}}, "list the fields"),
    ({"early_hints": {"link": ["/style.css"]}}, "is not a link"),
    ({"static": {"try_files": ["{path}", "../x"]}}, "is not a path"),
    ({"static": {"try_files": ["{path}", "{host}"]}}, "{path} is the only variable"),
    ({"static": {"try_files": ["{path}", "@app"]}}, "no named routes"),
    ({"static": {"try_files": [404, "{path}"]}}, "a status ends the list"),
    ({"static": {"try_files": [404]}}, "no path in the list"),
    ({"static": {"try_files": ["/x"], "fallback": "/y"}}, "exclude each other"),
]


@pytest.mark.parametrize("keys, message", MISTAKES, ids=lambda value: json.dumps(value) if isinstance(value, dict) else "")
def test_a_mistake_is_told(tmp_path, keys, message):
    (tmp_path / "html").mkdir()
    file = tmp_path / "server.json"
    file.write_text(json.dumps({"http": {"root_path": "html/", "sites": [{"routes": [
        {"path": "/", "static": {}, **keys}]}]}}, indent=1))
    told = run_server("-t", "-f", file)
    assert told.returncode != 0
    assert message in told.stdout + told.stderr
    assert "server.json:" in told.stdout + told.stderr
