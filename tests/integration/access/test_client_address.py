"""Who asked, as trusted proxies tell it. The site "who" lets in 192.0.2.7 and 2001:db8::7 alone."""

import pytest

from access_sites import CONFIG, site
from raw_http import request

XFF = "X-Forwarded-For"
LIST_CASES = [
    # The last address that is no trusted proxy's is the client.
    (["192.0.2.7"], True), (["192.0.2.8"], False), (["2001:db8::7"], True), (["[2001:db8::7]"], True),
    (["192.0.2.7:4321"], True), (["[2001:db8::7]:4321"], True), (["192.0.2.7, 10.9.1.1"], True),
    (["192.0.2.7,10.9.1.1,10.9.2.2"], True), (["192.0.2.7, 192.0.2.8"], False), (["192.0.2.8, 192.0.2.7"], True),
    (["1.1.1.1, 192.0.2.7, 10.9.1.1"], True), (["192.0.2.7, 10.8.1.1"], False), (["  192.0.2.7\t,\t10.9.1.1 "], True),
    (["192.0.2.7,,10.9.1.1,"], True), (["192.0.2.7", "10.9.1.1"], True), (["192.0.2.8", "192.0.2.7"], True),
    (["192.0.2.7", "192.0.2.8"], False), (["192.0.2.7", ""], True), (["::ffff:192.0.2.7"], True),
    # What cannot be read ends the walk: what stands before it is nobody's word.
    (["192.0.2.7, unknown"], False), (["192.0.2.7, x"], False), (["192.0.2.7, 10.9.1.1.1"], False),
    (["192.0.2.7, unknown, 10.9.1.1"], False), (["192.0.2.7:"], False), (["192.0.2.7:99999"], False),
    (["192.0.2.7:x"], False), (["192.0.2.7/32"], False), (["192.0.2.007"], False), (['"192.0.2.7"'], False),
    (["[192.0.2.7]"], False), (["[2001:db8::7"], False), (["2001:db8::7]"], False), (["2001:db8::7%lo"], False),
    (["192.0.2.7 10.9.1.1"], False), ([""], False), ([], False), (["192.0.2.7" + ", 10.9.0.1" * 31], True),
    (["192.0.2.7" + ", 10.9.0.1" * 32], False), (["192.0.2.7," + "," * 1000], True),
]
FORWARDED_CASES = [
    (["for=192.0.2.7"], True), (["For=192.0.2.7"], True), (["for=192.0.2.8"], False), (['for="192.0.2.7"'], True),
    (['for="192.0.2.7:80"'], True), (['for="[2001:db8::7]"'], True), (['for="[2001:db8::7]:80"'], True),
    (['for="[2001:DB8::7]"'], True), (["for=192.0.2.7;proto=https;by=203.0.113.1"], True),
    (["proto=http; for=192.0.2.7 ;host=a"], True), (["by=_x;host=\"a,b;c\";for=192.0.2.7"], True),
    (["for=192.0.2.7, for=10.9.1.1"], True), (["for=192.0.2.7,for=192.0.2.8"], False),
    (["for=192.0.2.7", "for=10.9.1.1;by=_edge"], True), (["for=192.0.2.7", "for=192.0.2.8"], False),
    (['for="\\192.0.2.7"'], True), (["for=192.0.2.7;;proto=http"], True), (["for=192.0.2.7;ext=\"\\\"\""], True),
    # A client's unbalanced quote does not swallow what the proxy appends.
    (['for="x, for=192.0.2.7'], True), (['for=1.1.1.1;host=", for=192.0.2.7'], True), (['for="\\", for=192.0.2.7'], True),
    (["for=192.0.2.7, for=unknown"], False), (["for=192.0.2.7, for=_hidden"], False), (["for=192.0.2.7, for=\"_p:80\""], False),
    (["for=192.0.2.7, nonsense"], False), (["for=192.0.2.7, for="], False), (["for=192.0.2.7, =x"], False),
    (["for=192.0.2.7;for=192.0.2.7"], False), (["for=192.0.2.7 x"], False), (["by=192.0.2.7"], False),
    (["for = 192.0.2.7"], False), (['for="192.0.2.7'], False), (["for=2001:db8::7"], True), ([""], False), ([], False),
    (['for="' + "1" * 200 + '"'], False),
]


@pytest.mark.parametrize("values, is_client", LIST_CASES)
def test_lists(ask, values, is_client):
    assert ask("who", fields=[(XFF, value) for value in values]) == (200 if is_client else 403)


@pytest.fixture
def forwarded(shared_server, tmp_path_factory):
    rules = {**CONFIG["http"]["client_address"], "header": "Forwarded"}
    return shared_server({"http": {"client_address": rules, "sites": [site("who", {"allow": ["192.0.2.7", "2001:db8::7"]})]}})


@pytest.mark.rfc("7239 4")
@pytest.mark.parametrize("values, is_client", FORWARDED_CASES)
def test_forwarded(forwarded, values, is_client):
    response = forwarded.ask(host="who", fields=[("Forwarded", value) for value in values])
    assert response.status == (200 if is_client else 403)


@pytest.mark.parametrize("source, status", [("127.0.0.1", 200), ("127.0.0.9", 200), ("127.0.0.2", 403), ("127.0.0.8", 403)])
def test_only_trusted_peers_are_believed(ask, source, status):
    assert ask("who", fields={XFF: "192.0.2.7"}, source=source) == status


def test_another_header_says_nothing(ask):
    assert ask("who", fields={"X-Real-IP": "192.0.2.7", "Forwarded": "for=192.0.2.7"}) == 403


def test_without_a_word_the_proxy_is_the_client(ask):
    assert ask("proxy-itself") == 200
    assert ask("proxy-itself", fields={XFF: "unknown"}) == 200
    assert ask("proxy-itself", fields={XFF: "192.0.2.7"}) == 403


def test_each_request_of_a_connection_has_its_own_client(gate):
    with gate.connect() as wire:
        for client, status in [("192.0.2.7", 200), ("192.0.2.8", 403), (None, 403), ("2001:db8::7", 200)]:
            wire.send(request(host="who", fields={XFF: client} if client else ()))
            assert wire.read_response().status == status


@pytest.mark.parametrize("fields, status", [
    ({"X-Real-IP": "192.0.2.7"}, 200), ({"x-real-ip": "192.0.2.7"}, 200), ({"X-Real-IP": "192.0.2.8"}, 403),
    ({"X-Forwarded-For": "192.0.2.7"}, 403)])
def test_any_header_may_be_chosen(shared_server, fields, status):
    rules = {"trusted_proxies": ["127.0.0.0/8"], "header": "X-Real-IP"}
    server = shared_server({"http": {"client_address": rules, "sites": [site("who", {"allow": ["192.0.2.7"]})]}})
    assert server.ask(host="who", fields=fields).status == status


def test_without_configuration_nobody_is_believed(shared_server):
    server = shared_server({"http": {"sites": [site("who", {"allow": ["192.0.2.7"]})]}})
    assert server.ask(host="who", fields={XFF: "192.0.2.7"}).status == 403
