"""Which addresses may ask: the longest prefix decides. The client is named by a trusted proxy, which the test is."""

import pytest

from raw_http import Wire, request
from roost_server import run_server

CASES = [
    ("allow", "10.0.0.0", 200), ("allow", "10.255.255.255", 200), ("allow", "9.255.255.255", 403),
    ("allow", "11.0.0.0", 403), ("allow", "192.0.2.7", 200), ("allow", "192.0.2.8", 403),
    ("allow", "2001:db8:ffff::1", 200), ("allow", "2001:db9::", 403), ("allow", "::ffff:10.0.0.1", 200),
    ("allow", "::10.0.0.1", 403), ("allow", None, 403),
    ("deny", "10.0.0.1", 403), ("deny", "11.0.0.1", 200), ("deny", "2001:db8::", 403), ("deny", "2001:db7::", 200),
    ("deny", "::ffff:10.0.0.1", 403), ("deny", "192.0.2.7", 403), ("deny", None, 200),
    ("longest", "10.0.0.1", 200), ("longest", "10.1.0.1", 403), ("longest", "10.1.2.1", 200),
    ("longest", "10.1.2.3", 403), ("longest", "10.1.2.4", 200), ("longest", "10.1.2.130", 200),
    ("longest", "10.1.2.192", 403), ("longest", "10.1.3.0", 403), ("longest", "10.2.0.0", 200),
    ("longest", "11.0.0.0", 403), ("longest", "::1", 403),
    ("equal", "10.0.0.1", 200), ("equal", "10.1.0.1", 403), ("equal", "11.0.0.1", 403),
    ("default-allow", "10.0.0.1", 403), ("default-allow", "10.1.0.1", 200), ("default-allow", "11.0.0.1", 200),
    ("default-deny", "10.0.0.1", 200), ("default-deny", "10.1.0.1", 403), ("default-deny", "11.0.0.1", 403),
    ("nobody", "10.0.0.1", 403), ("nobody", None, 403),
    ("all-but", "10.0.0.1", 403), ("all-but", "11.0.0.1", 200), ("all-but", "::1", 200),
    ("none-but", "10.0.0.1", 200), ("none-but", "11.0.0.1", 403), ("none-but", "::1", 403),
    ("files", "10.0.0.1", 200), ("files", "10.1.0.1", 403), ("files", "2001:db8::1", 200), ("files", "192.0.2.7", 200),
    ("files", "192.0.2.8", 403), ("files", "198.51.100.9", 200),
    ("elsewhere", "10.0.0.1", 200),
]


@pytest.mark.parametrize("host, client, status", CASES)
def test_addresses(ask, host, client, status):
    assert ask(host, fields={"X-Forwarded-For": client} if client else ()) == status


@pytest.mark.parametrize("target, client, status", [
    ("/", "10.0.0.1", 403), ("/open/", "10.0.0.1", 200), ("/open/", "11.0.0.1", 200), ("/inner/", "10.0.0.1", 200),
    ("/inner/", "11.0.0.1", 403), ("/nothing", "11.0.0.1", 403), ("/open/nothing", "11.0.0.1", 404)])
def test_the_innermost_rules_count_as_a_whole(ask, target, client, status):
    assert ask("layers", target, {"X-Forwarded-For": client}) == status


@pytest.mark.parametrize("host, status", [("all-but", 403), ("none-but", 200), ("allow", 403), ("deny", 200)])
def test_clients_on_a_unix_socket(gate, host, status):
    with Wire(str(gate.folder / "run.sock")) as wire:
        wire.send(request(host=host))
        assert wire.read_response().status == status


def test_a_denied_request_leaves_the_connection_usable(gate):
    with gate.connect() as wire:
        wire.send(request(host="nobody") + request(host="elsewhere"))
        assert [wire.read_response().status, wire.read_response().status] == [403, 200]


WRONG = [
    ({"allow": ["10.0.0.1/8"]}, 'allow[0] (line 1): "10.0.0.1/8" names an address and not a network: write "10.0.0.0/8"'),
    ({"deny": ["10.0.0.0/8", "nonsense"]}, 'deny[1] (line 1): "nonsense" is not an IP address'),
    ({}, 'neither "allow" nor "deny"'),
    ({"allow_file": "conf/missing.txt"}, "conf/missing.txt: No such file"),
    ({"allow_file": "conf/bad.txt"}, 'conf/bad.txt:3: "10.0.0.0/33" is not an IP address'),
    ({"alow": []}, 'unknown key "alow"'),
]


@pytest.mark.parametrize("access, message", WRONG)
def test_configuration_errors(tmp_path, access, message):
    import json
    (tmp_path / "conf").mkdir()
    (tmp_path / "html").mkdir()
    (tmp_path / "conf" / "bad.txt").write_text("10.0.0.0/8\n# next\n10.0.0.0/33\n")
    file = tmp_path / "conf" / "server.json"
    file.write_text(json.dumps({"http": {"access": access}}))
    result = run_server("-t", "-f", file)
    assert result.returncode != 0 and message in result.stderr, result.stderr
    assert f"{file}:1:" in result.stderr


def test_blocked_addresses_have_no_bits_right_of_the_prefix(tmp_path):
    file = tmp_path / "server.json"
    file.write_text('{\n"blocks_ip": ["192.0.2.0/24",\n "192.0.2.7/24"], "http": {"root_path": "/tmp"}}')
    result = run_server("-t", "-f", file)
    assert result.returncode != 0 and f"{file}:3:2: error: " in result.stderr and '"192.0.2.0/24"' in result.stderr
