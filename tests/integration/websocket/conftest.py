"""One server for all tests of WebSockets."""

import pytest

MEGABYTE = 1 << 20
ROUTES = [
    {"path": "/plain", "ws_echo": {"max_message_bytes": 17 * MEGABYTE, "max_queued_bytes": 64 * MEGABYTE}},
    {"path": "/small", "ws_echo": {"max_message_bytes": 1000, "compression": {"min_message_bytes": 0}}},
    {"path": "/deflate", "ws_echo": {"max_message_bytes": MEGABYTE, "compression": {"min_message_bytes": 0}}},
    {"path": "/context", "ws_echo": {
        "max_message_bytes": MEGABYTE,
        "compression": {"min_message_bytes": 0, "server_context_takeover": True, "client_context_takeover": True}}},
    {"path": "/window", "ws_echo": {
        "compression": {"min_message_bytes": 0, "server_max_window_bits": 10, "client_max_window_bits": 9}}},
    {"path": "/chat", "ws_echo": {"subprotocols": ["chat", "superchat"], "origins": ["https://pages.example"]}},
    {"path": "/times", "ws_echo": {"ping_interval_ms": 300, "pong_timeout_ms": 300}},
]


@pytest.fixture
def ws_server(shared_server):
    server = shared_server({"http": {"sites": [{"host": ["*"], "routes": ROUTES}]}})
    yield server
    server.check_alive()
