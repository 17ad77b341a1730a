"""What swarm must notice in servers that are wrong."""

import socket

import pytest

from swarm_process import ForeignServer, accept_websocket, errors_of, measure, read_head, text_frame, until_closed

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"


def changed_echo(connection):
    while data := connection.recv(4096):
        connection.sendall(data.swapcase())


def longer_echo(connection):
    while data := connection.recv(4096):
        connection.sendall(data + b"!")


def stale_echo(connection):
    """From the third message on it answers with the one before."""
    messages = []
    while data := connection.recv(4096):
        messages.append(data)
        connection.sendall(messages[-1] if len(messages) < 3 else messages[-2])


def hang_up(connection):
    connection.recv(4096)


def reset(connection):
    connection.recv(4096)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


@pytest.mark.parametrize("serve, kind", [(changed_echo, "body"), (longer_echo, "body"), (stale_echo, "body"),
                                         (hang_up, "closed_early"), (reset, "reset"),
                                         (until_closed, "timeout")])
def test_a_wrong_echo_is_found(serve, kind):
    with ForeignServer(serve) as server:
        report = measure(f"tcp://127.0.0.1:{server.port}", "-c", 3, "--timeout-ms", 250, "--duration-s", 1, code=1)
    assert set(errors_of(report)) == {kind}
    assert report["errors"][kind]["first"].startswith("client ")


def test_a_server_that_never_answers_is_found():
    with ForeignServer(until_closed) as server:
        closed = measure(f"http://127.0.0.1:{server.port}/", "-c", 5, "--drain-s", 0.1, code=1)
        fixed = measure(f"http://127.0.0.1:{server.port}/", "-c", 5, "-r", 100, "--drain-s", 0.1, code=1)
    for report in closed, fixed:
        assert report["unanswered"] == 5 and report["failed"][0] == "not one request was answered"
    assert fixed["unsent"] >= 20 and fixed["latency_at_least"] == fixed["latency"]["count"] >= 25


def test_a_server_that_hangs_up_at_once_is_found_and_not_stormed():
    with ForeignServer(lambda connection: None) as server:
        report = measure(f"http://127.0.0.1:{server.port}/", "-c", 3, "--reconnect-delay-ms", 100, code=1)
    errors = errors_of(report)
    assert errors and set(errors) <= {"closed_early", "reset"}
    assert report["connections_reopened"] == 0 and report["connect_attempts"] < 60


def test_refused_connections_are_counted():
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    report = measure(f"tcp://127.0.0.1:{port}", "-c", 5, "--reconnect", "off", code=1)
    assert errors_of(report) == {"connect_refused": 5}
    assert report["connections_held"] == 0 and report["connect_attempts"] == 5


@pytest.mark.parametrize("answer, kind", [
    (b"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nhi", "status"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi!", "length"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nHI", "body"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi hi", "protocol"),
    (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", "protocol"),
])
def test_a_wrong_http_answer_is_found(answer, kind):
    def serve(connection):
        answers = [ANSWER + b"hi"] * 3
        while read_head(connection):
            connection.sendall(answers.pop() if answers else answer)

    with ForeignServer(serve) as server:
        report = measure(f"http://127.0.0.1:{server.port}/", "-c", 1, "--expect-body", "same", code=1)
    assert set(errors_of(report)) == {kind}
    assert report["replies_total"] >= 3


def sse(numbers):
    def serve(connection):
        read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\n")
        for number in numbers:
            connection.sendall(f"id: {number}\r\ndata: {number}\r\ndata: more\r\n\r\n".encode())
        until_closed(connection)
    return serve


def poll(numbers):
    """A message a poll; who asks must say where the last answer was."""
    def serve(connection):
        asked = read_head(connection)
        assert b"If-None-Match" not in asked
        for at, number in enumerate(numbers):
            body = f"{number} and more".encode()
            connection.sendall(b"HTTP/1.1 200 OK\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
                               + f"Etag: {at}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            if f"If-None-Match: {at}\r\n".encode() not in read_head(connection):
                return
        until_closed(connection)
    return serve


def websocket(numbers):
    def serve(connection):
        accept_websocket(connection)
        for number in numbers:
            connection.sendall(b"\x89\x02hi" + text_frame(f"{number} and more"))
        until_closed(connection)
    return serve


@pytest.mark.parametrize("scheme, options, serve", [("http", ("--kind", "sse"), sse), ("http", ("--kind", "poll"), poll),
                                                    ("ws", ("--ws-mode", "listen"), websocket)])
@pytest.mark.parametrize("numbers, found", [
    ([5, 6, 7, 8], {}),
    ([5, 6, 8, 9], {"lost": 1}),
    ([5, 6, 6, 7], {"duplicate": 1}),
    ([5, 7, 6, 8], {"reordered": 1}),
    ([5, 9, 7, 7], {"lost": 2, "reordered": 1, "duplicate": 1}),
    ([5, "x", 6, 7], {"no_number": 1}),
])
def test_lost_repeated_and_reordered_messages_are_found(scheme, options, serve, numbers, found):
    with ForeignServer(serve(numbers)) as server:
        report = measure(f"{scheme}://127.0.0.1:{server.port}/{{client}}", *options, "-c", 3, "--expect-sequence", "on",
                         code=1 if found else 0)
    assert errors_of(report) == {kind: 3 * count for kind, count in found.items()}
    assert report["messages_total"] == 3 * len(numbers)


def told_gap_sse(connection):
    read_head(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 5\n\nid: 1:2\nevent: gap\n"
                       b'data: {"after":"1:1","missed":2}\n\ndata: 8\n\n')
    until_closed(connection)


def told_gap_websocket(connection):
    accept_websocket(connection)
    connection.sendall(text_frame("5") + text_frame('{"event":"gap","after":"1:1","missed":2}') + text_frame("8"))
    until_closed(connection)


@pytest.mark.parametrize("scheme, options, serve", [("http", ("--kind", "sse"), told_gap_sse),
                                                    ("ws", ("--ws-mode", "listen"), told_gap_websocket)])
def test_a_gap_that_is_told_is_no_message(scheme, options, serve):
    with ForeignServer(serve) as server:
        report = measure(f"{scheme}://127.0.0.1:{server.port}/", *options, "-c", 2, "--expect-sequence", "on", code=1)
    assert errors_of(report) == {"gap": 2, "lost": 4} and report["messages_total"] == 4
    assert '"missed":2' in report["errors"]["gap"]["first"]


def test_messages_missing_at_the_end_are_found():
    with ForeignServer(sse([1, 2, 3])) as server:
        url = f"http://127.0.0.1:{server.port}/"
        report = measure(url, "--kind", "sse", "-c", 4, "--expect-messages", 5, code=1)
        complete = measure(url, "--kind", "sse", "-c", 4, "--expect-messages", 3, "--duration-s", 20)
    assert errors_of(report) == {"lost": 8}
    assert complete["measured_s"] < 5  # it ends when all have what they should


def test_a_run_that_requires_all_clients_ends_without_them():
    def serve(connection):
        if not granted:
            granted.append(True)
            accept_websocket(connection)
        until_closed(connection)

    granted = []
    with ForeignServer(serve) as server:
        report = measure(f"ws://127.0.0.1:{server.port}/", "--ws-mode", "listen", "-c", 3, "--connect-timeout-ms", 300, "--require-all", "on",
                         "--duration-s", 50, code=1)
    assert report["connections_held"] == 1 and report["measured_s"] < 10
    assert report["failed"] == ["only 1 of 3 clients were connected, and all are required (require_all)"]


def test_an_answer_too_early_is_found():
    def serve(connection):
        while read_head(connection):
            connection.sendall(ANSWER + b"hi")

    with ForeignServer(serve) as server:
        report = measure(f"http://127.0.0.1:{server.port}/", "--kind", "hold", "-c", 2, "--requests-per-client", 3,
                         "--expect-min-ms", 200, code=1)
    assert errors_of(report) == {"too_early": 6}


def test_a_handshake_that_is_not_granted_is_found():
    def serve(connection):
        read_head(connection)
        connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                           b"Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n")
        until_closed(connection)

    with ForeignServer(serve) as server:
        report = measure(f"ws://127.0.0.1:{server.port}/", "-c", 2, "--reconnect", "off", code=1)
    assert errors_of(report) == {"handshake": 2}


def test_a_websocket_that_no_longer_answers_is_found():
    def serve(connection):
        accept_websocket(connection)
        until_closed(connection)

    with ForeignServer(serve) as server:
        report = measure(f"ws://127.0.0.1:{server.port}/", "-c", 2, "--ws-mode", "quiet", "--drain-s", 0.2, code=1)
    assert errors_of(report) == {"timeout": 2}


META = ("--ws-mode", "listen", "--ws-subprotocol", "ws+meta.nchan")
GRANTED = b"Sec-WebSocket-Protocol: ws+meta.nchan\r\n"


def meta_socket(connection):
    def send(number):
        connection.sendall(text_frame(f"id: {number}:0\ncontent-type: text/plain\n\n{number} and more"))
    return accept_websocket(connection, GRANTED), send


def event_stream(connection):
    def send(number):
        connection.sendall(f"id: {number}:0\ndata: {number}\n\n".encode())
    head = read_head(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    return head, send


@pytest.mark.parametrize("scheme, options, accept", [("ws", META, meta_socket), ("http", ("--kind", "sse"), event_stream)])
def test_a_lost_connection_is_resumed_by_the_last_id(scheme, options, accept):
    asked = []

    def serve(connection):
        head, send = accept(connection)
        asked.append(head)
        numbers = [7, 8] if len(asked) == 1 else [9, 10]
        for number in numbers:
            send(number)
        if len(asked) > 1:
            until_closed(connection)

    with ForeignServer(serve) as server:
        report = measure(f"{scheme}://127.0.0.1:{server.port}/", *options, "-c", 1, "--expect-sequence", "on",
                         "--expect-messages", 4, "--reconnect-delay-ms", 10, "--duration-s", 20, code=1)
    assert errors_of(report) == {"closed_early": 1} and report["messages_total"] == 4
    assert b"Last-Event-ID" not in asked[0] and b"Last-Event-ID: 8:0\r\n" in asked[1]


def test_a_subprotocol_that_is_not_granted_is_found():
    with ForeignServer(accept_websocket) as server:
        report = measure(f"ws://127.0.0.1:{server.port}/", *META, "-c", 1, "--reconnect", "off", code=1)
    assert errors_of(report) == {"handshake": 1}
