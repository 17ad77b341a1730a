"""Names and passwords (RFC 7617)."""

import base64
import concurrent.futures
import json
import select
import socket
import subprocess
import time

import pytest

from raw_http import request
from roost_server import eventually, run_server

# Made by htpasswd -nbB -C 4, openssl passwd -5 and -6, and mkpasswd: the password is the name's, turned around.
HASHES = {
    "bcrypt": "$2y$04$qBEU8NxqnQ.vywfMk5LyC.QlzN5FZUAQXUw9isVjSu9sTJgRtgY5O",
    "bcrypt-b": "$2b$04$abcdefghijklmnopqrstuu6EiFh8AxNaRpCf/W/N33zAh0AvyOZeW",
    "sha256": "$5$rounds=1000$saltsalt$.9/aAFJGmIx36sGUGs2q7qxb1wNLa9Atp.ducIDgOY6",
    "sha512": "$6$saltsalt$ZBIr4JfGD9Kh/ZBFpVS3hhAC/1kIeqUlwFzAsvMBAx03ewmApNHrexocK.tQi7B3jNOtGIi4vmeVF6.WlOxDN1",
    "yescrypt": "$y$j75$saltsaltsaltsalt$Ph6zyP9N2/BsWq8naZbFo283.difnatpn3ENBTALl6C",
    "\u00fcser": "$2y$04$yYoa/gowXsfUQlOn4b0U3uXGTagteOqTzFfrMmmiK4SnV/EeHVw3G",
    "colon": "$2y$04$wxWVhVTp0.X7DBGBo9EiBO/iBa.hiqWGqiuj6QX1MAPQ7M4e7tZNS",
}
PASSWORDS = {name: name[::-1] for name in HASHES} | {"\u00fcser": "gr\u00fc\u00dfe", "colon": "a:b:c"}
SLOW = "$2y$12$ShJd8Rsoc/CuobbA5cKHQeI0vCTCXpa8JMo9cqpypO.R97074us3y"  # of cost 12
USERS = "# staff\n\n" + "".join(f"{name}:{hash}\n" for name, hash in HASHES.items())


def basic(user, password, scheme="Basic"):
    return {"Authorization": f"{scheme} {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}


def raw(value):
    return {"Authorization": value}


def site(**options):
    return {"http": {"basic_auth": {"users_file": "users", **options}}}


@pytest.fixture(scope="module")
def shared_door(tmp_path_factory):
    from roost_server import Server
    from site_files import write_site
    folder = tmp_path_factory.mktemp("door")
    write_site(folder / "html")
    (folder / "users").write_text(USERS)
    routes = [{"path": "/", "static": {}}, {"path": "/sub/", "basic_auth": None, "static": {}}]
    config = {"http": {"sites": [{"basic_auth": {"users_file": "users", "realm": 'a "b" \\c'}, "routes": routes}]}}
    server = Server(folder, config)
    yield server
    server.stop()


@pytest.fixture
def door(shared_door):
    yield shared_door
    shared_door.check_alive()


@pytest.mark.parametrize("user", HASHES)
def test_every_kind_of_hash(door, user):
    with door.connect() as wire:
        for password, status in [(PASSWORDS[user], 200), ("x" + PASSWORDS[user], 401), (PASSWORDS[user], 200), ("", 401)]:
            assert wire.ask("/hello.txt", fields=basic(user, password)).status == status


B64 = base64.b64encode(b"bcrypt:tpyrcb").decode()
VALUES = [
    (f"Basic {B64}", 200), (f"basic {B64}", 200), (f"BASIC {B64}", 200), (f"Basic    {B64}", 200),
    ("Basic", 401), ("Basic ", 401), (B64, 401), (f"Basic{B64}", 401), (f"Bearer {B64}", 401), (f"Basic\t{B64}", 401),
    (f"Basic {B64} x", 401), (f"Basic {B64},", 401), (f"Basic {B64[:-1]}", 401), (f"Basic {B64.rstrip('=')}=====", 401),
    (f"Basic {B64[:4]} {B64[4:]}", 401), (f"Basic realm={B64}", 401), ("Basic ====", 401), ("Basic A===", 401),
    ("Basic " + base64.b64encode(b"bcrypt").decode(), 401), ("Basic " + base64.b64encode(b":").decode(), 401),
    ("Basic " + base64.b64encode(b"bcrypt:tpyrcb\n").decode(), 401), ("Basic " + base64.b64encode(b"bcrypt:tpyrcb\0").decode(), 401),
    ("Basic " + base64.b64encode(b"bcrypt:" + b"x" * 511).decode(), 401), ("Basic " + base64.b64encode(b"bcrypt:" + b"x" * 512).decode(), 401),
    ("Basic " + "QUFB" * 1000, 401), ("Basic " + B64.replace("Y", "-"), 401), ("", 401),
    ("Basic " + base64.b64encode(b"Bcrypt:tpyrcb").decode(), 401), ("Basic " + base64.b64encode(b" bcrypt:tpyrcb").decode(), 401),
]


@pytest.mark.rfc("7617 2")
@pytest.mark.parametrize("value, status", VALUES)
def test_authorization(door, value, status):
    response = door.ask("/hello.txt", fields=raw(value))
    assert response.status == status
    if status == 401:
        assert response["WWW-Authenticate"] == 'Basic realm="a \\"b\\" \\\\c", charset="UTF-8"'


@pytest.mark.rfc("9110 11.6.2")
def test_two_fields_are_none(door):
    assert door.ask("/hello.txt", fields=[*basic("bcrypt", "tpyrcb").items()] * 2).status == 401


def test_bits_that_mean_nothing_are_refused(door):
    value = base64.b64encode(b"sha256:652ahs").decode()
    assert value.endswith("cw==")
    assert door.ask("/hello.txt", fields=raw("Basic " + value)).status == 200
    assert door.ask("/hello.txt", fields=raw("Basic " + value[:-4] + "cx==")).status == 401


def test_everything_below_is_closed_but_what_is_opened(door):
    assert [door.ask(path).status for path in ("/", "/hello.txt", "/nothing", "/sub/index.html")] == [401, 401, 401, 200]
    assert door.ask("/nothing", fields=basic("bcrypt", "tpyrcb")).status == 404


def test_methods_and_bodies(door):
    good = basic("bcrypt", "tpyrcb")
    with door.connect() as wire:
        assert wire.ask("/hello.txt", "HEAD").status == 401
        assert wire.ask("/hello.txt", "POST", body=b"x" * 1000).status == 401
        assert wire.ask("/hello.txt", "POST", body=b"x" * 1000, fields=good).status == 405
        assert wire.ask("/hello.txt", "HEAD", fields=good).status == 200


def test_pipelined_requests_are_answered_in_order(door):
    users = [("bcrypt", "tpyrcb"), ("nobody", "x"), ("sha512", "215ahs"), ("bcrypt", "wrong"), ("bcrypt-b", "b-tpyrcb")] * 3
    with door.connect() as wire:
        wire.send(b"".join(request("/hello.txt", fields=basic(*user)) for user in users))
        assert [wire.read_response().status for _ in users] == [200, 401, 200, 401, 200] * 3


def test_a_client_that_leaves_meanwhile(door):
    for number in range(20):
        with door.connect() as wire:
            wire.send(request("/hello.txt", fields=basic("sha512", f"wrong {number}")))
    assert door.ask("/hello.txt", fields=basic("sha512", "215ahs")).status == 200


def test_many_at_once(door):
    def one(number):
        user = list(HASHES)[number % len(HASHES)]
        return door.ask("/hello.txt", fields=basic(user, PASSWORDS[user])).status
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert set(pool.map(one, range(100))) == {200}


def test_curl(door):
    host, port = door.address

    def curl(*more):
        command = ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", *more, f"http://{host}:{port}/hello.txt"]
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout
    assert curl() == "401"
    assert curl("-u", "bcrypt:tpyrcb") == "200"
    assert curl("--anyauth", "-u", "\u00fcser:gr\u00fc\u00dfe") == "200"
    assert curl("-u", "bcrypt:wrong") == "401"


def test_passwords_are_not_logged(door):
    assert door.ask("/hello.txt", fields=basic("bcrypt", "a-secret-word")).status == 401
    assert "a-secret-word" not in door.log and B64 not in door.log


def start(start_server, tmp_path, users, **options):
    (tmp_path / "users").write_text(users)
    return start_server(site(users_file=str(tmp_path / "users"), **options.pop("auth", {})) | options, files={"hello.txt": b"hello\n"})


def test_a_changed_file_counts_without_a_restart(start_server, tmp_path):
    server = start(start_server, tmp_path, f"a:{HASHES['bcrypt']}\n")
    good = basic("a", "tpyrcb")
    assert server.ask("/hello.txt", fields=good).status == 200
    assert server.ask("/hello.txt", fields=basic("b", "tpyrcb")).status == 401
    (tmp_path / "users").write_text(f"b:{HASHES['bcrypt']}\n")
    eventually(lambda: server.ask("/hello.txt", fields=good).status == 401, "the old user is out")
    eventually(lambda: server.ask("/hello.txt", fields=basic("b", "tpyrcb")).status == 200, "the new one is in")
    (tmp_path / "users").write_text("b:plain\n")
    eventually(lambda: server.ask("/hello.txt", fields=good).status == 401 and "the users stay as they were" in server.log, "the log tells")
    assert f"{tmp_path}/users:1: user \"b\": a plain password" in server.log
    assert server.ask("/hello.txt", fields=basic("b", "tpyrcb")).status == 200
    (tmp_path / "users").unlink()
    eventually(lambda: server.ask("/hello.txt", fields=good).status == 401 and server.log.count("No such file") == 1, "the log tells")
    assert server.ask("/hello.txt", fields=basic("b", "tpyrcb")).status == 200


@pytest.mark.parametrize("tasks", (0, 2))
def test_after_a_pause_a_changed_file_counts_at_once(start_server, tmp_path, tasks):
    server = start(start_server, tmp_path, USERS, task_processes=tasks)
    for user in ("sha256", "bcrypt"):
        assert server.ask("/hello.txt", fields=basic(user, PASSWORDS[user])).status == 200
    time.sleep(2.1)  # longer than what is known of the file counts
    assert server.ask("/hello.txt", fields=basic("sha256", PASSWORDS["sha256"])).status == 200
    (tmp_path / "users").write_text(f"sha256:{HASHES['sha256']}\n")
    time.sleep(2.1)
    assert server.ask("/hello.txt", fields=basic("bcrypt", PASSWORDS["bcrypt"])).status == 401
    assert server.ask("/hello.txt", fields=basic("sha256", PASSWORDS["sha256"])).status == 200


def test_preflights_need_no_password(start_server, tmp_path):
    (tmp_path / "users").write_text(USERS)
    routes = [{"path": "/", "static": {}, "cors": {"origins": ["https://a.example"], "headers": ["Authorization"]}}]
    door = {"users_file": str(tmp_path / "users")}
    server = start_server({"http": {"sites": [{"basic_auth": door, "routes": routes}]}}, files={"hello.txt": b"hello\n"})
    origin = {"Origin": "https://a.example"}
    asks = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"}
    preflight = server.ask("/hello.txt", "OPTIONS", fields={**origin, **asks})
    assert preflight.status == 204 and preflight["Access-Control-Allow-Origin"] == "https://a.example"
    assert server.ask("/hello.txt", "OPTIONS", fields=origin).status == 401
    refused = server.ask("/hello.txt", fields=origin)
    assert refused.status == 401 and refused["Access-Control-Allow-Origin"] == "https://a.example"
    assert server.ask("/hello.txt", fields={**origin, **basic("bcrypt", "tpyrcb")}).status == 200


@pytest.mark.parametrize("tasks, cache_s", [(0, 300), (1, 300), (2, 0), (4, 1)])
def test_with_any_number_of_task_threads(start_server, tmp_path, tasks, cache_s):
    server = start(start_server, tmp_path, USERS, task_processes=tasks, auth={"cache_s": cache_s})
    with server.connect() as wire:
        for user in list(HASHES) * 2:
            assert wire.ask("/hello.txt", fields=basic(user, PASSWORDS[user])).status == 200
            assert wire.ask("/hello.txt", fields=basic(user, "wrong")).status == 401
            assert wire.ask("/hello.txt", fields=basic("no" + user, PASSWORDS[user])).status == 401


def test_more_guesses_than_can_wait(start_server, tmp_path):
    server = start(start_server, tmp_path, f"a:{SLOW}\n", worker_processes=1, task_processes=1)
    wires = [server.connect() for _ in range(300)]
    try:
        for number, wire in enumerate(wires):
            wire.send(request("/hello.txt", fields=basic("a", str(number))))
        waiting, answers = list(wires), []

        def some_are_turned_away():
            ready = select.select([wire.socket for wire in waiting], [], [], 1)[0]
            answered = [wire for wire in waiting if wire.socket in ready]
            answers.extend(wire.read_response() for wire in answered)
            waiting[:] = [wire for wire in waiting if wire not in answered]
            return any(answer.status == 503 for answer in answers)

        eventually(some_are_turned_away, "some are turned away")
        assert {answer.status for answer in answers} <= {401, 503}
        assert {answer["Retry-After"] for answer in answers if answer.status == 503} == {"1"}
    finally:
        for wire in wires:
            wire.close()
    server.stop()


def test_a_flood_of_wrong_passwords_does_not_delay_a_right_one(start_server, tmp_path):
    server = start(start_server, tmp_path, f"a:{SLOW}\nb:{HASHES['bcrypt']}\n", worker_processes=1, task_processes=1)
    flood = [socket.create_connection(server.address, 30, ("127.0.0.2", 0)) for _ in range(30)]
    for number, guess in enumerate(flood):
        guess.sendall(request("/hello.txt", fields=basic("a", str(number))))
    assert select.select(flood, [], [], 30)[0], "the guesses are under way"
    assert server.ask("/hello.txt", fields=basic("b", PASSWORDS["bcrypt"])).status == 200
    answered = select.select(flood, [], [], 0)[0]
    for guess in flood:
        guess.close()
    # Who knows the password has waited for a guess or two, and not for all of them.
    assert len(answered) < 10
    server.stop()


BAD_FILES = [
    ("a:$apr1$abcdefgh$0123456789012345678901\n", 1, "Apache's MD5"), ("# x\na:{SHA}qUqP5cyxm6YcTAhz05Hph5gvu9M=\n", 2, "SHA-1"),
    ("a:secret\n", 1, "a plain password"), ("a:abcdefghijklm\n", 1, "DES"), ("a:$1$abc$0123456789012345678901\n", 1, "MD5"),
    ("a:\n", 1, "there is no hash"), ("a\n", 1, "no colon"), (":x\n", 1, "no name"), (USERS + "sha512:" + HASHES["sha512"] + "\n", 10, "twice"),
    ("a:" + HASHES["bcrypt"][:-1] + "\n", 1, "cut off"), ("a:" + HASHES["sha512"][:-1] + "\n", 1, "cut off"),
    ("a:$2y$31$" + HASHES["bcrypt"][7:] + "\n", 1, "cost above 16"), ("a:$9$x\n", 1, "not a kind of hash"),
]


@pytest.mark.parametrize("text, line, message", BAD_FILES)
def test_files_that_are_refused(tmp_path, text, line, message):
    (tmp_path / "users").write_text(text)
    config = tmp_path / "server.json"
    config.write_text(json.dumps({"http": {"root_path": "/tmp", "basic_auth": {"users_file": "users"}}}))
    result = run_server("-t", "-f", config)
    assert result.returncode != 0 and f"{tmp_path}/users:{line}: " in result.stderr and message in result.stderr, result.stderr
    assert "secret" not in result.stderr and HASHES["sha512"][:20] not in result.stderr
