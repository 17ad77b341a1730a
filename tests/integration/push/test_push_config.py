"""What a configuration of push may not say, and where it says so."""

import json
import re

import pytest

from roost_server import run_server

# The value of the route's key stands in line 5 from column 2 on.
FRAME = '{"port": 0,\n "http": {"sites": [{"host": ["*"], "routes": [\n {"path": "%s",\n  "%s":\n %s\n }]}]}}\n'

ROUTES = [
    ("/p/{channel}", "push_publish", '{"channel": "{chanel}"}', "5:2", "channel: .*chanel"),
    ("/p/{room}", "push_publish", "{}", "5:2", "channel: .*channel"),
    ("/p", "push_publish", "{}", "5:2", "channel: "),
    ("/p/{channel}", "push_publish", '{"channel": "{channel"}', "5:2", "channel: "),
    ("/p/{channel}", "push_publish", '{"channel": ""}', "5:14", "empty"),
    ("/p/{channel}", "push_publish", '{"channel": 1}', "5:14", "string"),
    ("/p/{channel}", "push_publish", '{"max_message_bytes": -1}', "5:24", "0"),
    ("/p/{channel}", "push_publish", '{"max_message_bytes": 1073741825}', "5:24", "1073741824"),
    ("/p/{channel}", "push_publish", '{"max_message_byte": 1}', "5:3", "max_message_bytes"),
    ("/p/{channel}", "push_publish", '{"history": {"messages": 1000001}}', "5:27", "1000000"),
    ("/p/{channel}", "push_publish", '{"history": {"second": 1}}', "5:15", "seconds"),
    ("/p/{channel}", "push_publish", '{"history": null}', "5:14", "object"),
    ("/p/{channel}", "push_publish", '{"messages_per_second": "1"}', "5:26", "integer"),
    ("/p/{channel}", "push_publish", '{"max_wait_ms": 600001}', "5:18", "600000"),
    ("/p/{channel}", "push_publish", '{"batch": true}', "5:12", "object or null"),
    ("/p/{channel}", "push_publish", '{"batch": {"max_messages": 0}}', "5:29", "1"),
    ("/p/{channel}", "push_publish", '{"batch": {"channels": [""]}}', "5:26", "empty"),
    ("/p/{channel}", "push_pubsub", '{"publish": {"channel": "x"}}', "5:15", "channel"),
    ("/p/{channel}", "push_pubsub", '{"publish": {"batch": {}}}', "5:15", "batch"),
    ("/p/{channel}", "push_pubsub", '{"channel": "{room}"}', "5:2", "channel: .*room"),
    ("/p/{channel}", "push_pubsub", '{"subscribe": {"publish": {}}}', "5:17", "publish"),
    ("/p/{channel}", "push_subscribe", '{"publish": {"max_message_bytes": "x"}}', "5:36", "integer"),
    ("/p/{channel}", "push_subscribe", '{"channel": "{room}"}', "5:2", "room"),
    ("/p/{channel}", "push_subscribe", '{"transports": ["smoke"]}', "5:18", "smoke|long_poll"),
    ("/p/{channel}", "push_subscribe", '{"transports": []}', "5:17", "empty"),
    ("/p", "metrics", '{"path": "x"}', "5:3", "path"),
    ("/p", "metrics", "true", "5:2", "object"),
]


@pytest.mark.parametrize("path, key, value, place, why", ROUTES, ids=lambda value: str(value)[:50])
def test_routes(tmp_path, path, key, value, place, why):
    file = tmp_path / "server.json"
    file.write_text(FRAME % (path, key, value))
    result = run_server("-t", "-f", file)
    assert result.returncode != 0
    where, _, message = (result.stdout + result.stderr).strip().partition(": error: ")
    assert where.endswith(f"server.json:{place}"), result.stdout + result.stderr
    assert re.search(why, message), message


HUB = [("max_history_bytes", -1, "0"), ("max_channels", 4294967296, "4294967295"), ("max_subscribers", "many", "integer"),
       ("max_subscribers_per_channel", 1.5, "integer"), ("max_subscribers_per_address", -1, "0"),
       ("max_backlog_messages", 0, "1"), ("max_backlog_bytes", 1, "1024"), ("slow_window_messages", 0, "1"),
       ("slow_window_bytes", 0, "1024"), ("max_idempotency_keys", 65537, "65536"), ("max_chanels", 1, "max_channels")]


@pytest.mark.parametrize("key, value, why", HUB)
def test_hub(tmp_path, key, value, why):
    file = tmp_path / "server.json"
    file.write_text(f'{{"push": {{\n  "{key}": {json.dumps(value)}}}}}')
    result = run_server("-t", "-f", file)
    assert result.returncode != 0
    assert re.search(rf"server\.json:2:\d+: error: .*{why}", result.stdout + result.stderr)


def test_two_handlers(tmp_path):
    file = tmp_path / "server.json"
    file.write_text(FRAME % ("/p/{channel}", "push_publish", '{}, "push_subscribe": {}'))
    result = run_server("-t", "-f", file)
    assert result.returncode != 0 and "push_subscribe" in result.stdout + result.stderr
