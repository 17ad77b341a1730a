"""Subscribers that others have written: Python's websockets and httpx, and curl.

Each function of CLIENTS is a generator of (id, data) of one connection, or one series of polls: data is text or bytes as the client gives
it. Run as a program it drives those that are installed against a channel: real_clients.py URL-OF-PUSH_PUBSUB.
"""

import asyncio
import email.utils
import importlib.metadata
import json
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import urllib.request

try:
    import websockets
except ImportError:
    websockets = None
try:
    import httpx
except ImportError:
    httpx = None

TIMEOUT_S = 20


def with_id(url, last_id):
    return f"{url}?last_event_id={last_id}" if last_id else url


def fields_of(head):
    return {name.lower(): value for name, _, value in (line.partition(": ") for line in head)}


def id_of(fields):
    """"time:tag" out of the fields of a long-poll answer."""
    time = int(email.utils.parsedate_to_datetime(fields["last-modified"]).timestamp())
    return "{}:{}".format(time, fields["etag"].removeprefix("W/").strip('"'))


def events_of(lines):
    """(id, data) of each event of a stream."""
    last_id, data = None, []
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            last_id = value
        elif name == "data":
            data.append(value)
        elif not line and data:
            yield last_id, "\n".join(data)
            data = []


# WebSocket

def websocket(url, last_id):
    """websockets with subprotocol ws+meta.nchan; its loop has a thread of its own."""
    came, ended = queue.Queue(), threading.Event()

    async def listen():
        try:
            async with websockets.connect(with_id(url, last_id).replace("http", "ws", 1), subprotocols=["ws+meta.nchan"]) as socket:
                while not ended.is_set():
                    try:
                        came.put(await asyncio.wait_for(socket.recv(), 0.2))
                    except asyncio.TimeoutError:
                        pass
        except Exception as problem:  # told to the one who reads
            came.put(problem)

    thread = threading.Thread(target=lambda: asyncio.run(listen()), daemon=True)
    thread.start()
    try:
        while True:
            message = came.get(timeout=TIMEOUT_S)
            if isinstance(message, Exception):
                raise message
            blank = "\n\n" if isinstance(message, str) else b"\n\n"
            head, _, data = message.partition(blank)
            yield fields_of((head if isinstance(head, str) else head.decode()).split("\n"))["id"], data
    finally:
        ended.set()
        thread.join(TIMEOUT_S)


# Server-sent events

def httpx_stream(url, last_id):
    headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last_id} if last_id else {})}
    with httpx.Client(timeout=TIMEOUT_S) as client, client.stream("GET", url, headers=headers) as answer:
        assert answer.status_code == 200, answer.status_code
        yield from events_of(answer.iter_lines() if httpx.__version__ >= "0.25" else (line.rstrip("\r\n") for line in answer.iter_lines()))


def curl_stream(url, last_id):
    fields = ["-H", "Accept: text/event-stream", *(["-H", f"Last-Event-ID: {last_id}"] if last_id else [])]
    process = subprocess.Popen(["curl", "-sSN", "--max-time", str(TIMEOUT_S), *fields, url], stdout=subprocess.PIPE, text=True)
    try:
        yield from events_of(line.rstrip("\n") for line in process.stdout)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


# Long-poll

def httpx_poll(url, last_id):
    """Echoes Last-Modified and Etag, as they came, over one connection."""
    with httpx.Client(timeout=TIMEOUT_S) as client:
        fields = {}
        while True:
            answer = client.get(url if fields else with_id(url, last_id), headers=fields)
            assert answer.status_code == 200, answer.status_code
            fields = {"If-Modified-Since": answer.headers["Last-Modified"], "If-None-Match": answer.headers["Etag"]}
            yield id_of(answer.headers), answer.text


def curl_poll(url, last_id):
    """Echoes the fields, too. Not with -z: then curl leaves out the message where it is of the same second as the last."""
    with tempfile.TemporaryDirectory() as name:
        body, head = pathlib.Path(name, "body"), pathlib.Path(name, "head")
        known = []
        while True:
            subprocess.run(["curl", "-sS", "--fail", "--max-time", str(TIMEOUT_S), "-D", head, "-o", body, *known,
                            url if known else with_id(url, last_id)], check=True)
            fields = fields_of(head.read_text().splitlines())
            known = ["-H", f"If-Modified-Since: {fields['last-modified']}", "-H", f"If-None-Match: {fields['etag']}"]
            yield id_of(fields), body.read_text()


CLIENTS = {"websockets, WebSocket": websocket, "httpx, event stream": httpx_stream, "httpx, long-poll": httpx_poll,
           "curl, event stream": curl_stream, "curl, long-poll": curl_poll}


def publish(url, *messages):
    for message in messages:
        request = urllib.request.Request(url, str(message).encode(), {"Content-Type": "text/plain"})
        urllib.request.urlopen(request, timeout=TIMEOUT_S).close()


def drive(client, url, rounds=5):
    """Publishes while the client listens, and while it is away; it must have had everything once, in order. Returns how many."""
    last_id, expected = None, 0
    for _ in range(rounds):
        publish(url, expected + 1, expected + 2)  # nobody listens
        listening = client(url, last_id)
        for step in range(4):
            if step >= 2:
                publish(url, expected + 1)
            last_id, data = next(listening)
            expected += 1
            assert data == str(expected), f"{data!r} instead of {expected}"
        listening.close()
    return expected


def version_of(name):
    if name.startswith("curl"):
        return subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    module = websockets if name.startswith("websockets") else httpx
    return module and importlib.metadata.version(module.__name__)


def main(base):
    for number, (name, client) in enumerate(CLIENTS.items()):
        version = version_of(name)
        if version is None:
            continue
        try:
            what, good = f"{drive(client, f'{base}-{number}')} messages, 4 reconnects", True
        except Exception as problem:  # the others have their turn all the same
            what, good = f"{type(problem).__name__}: {problem}", False
        print(json.dumps({"client": name, "version": version, "what": what, "good": good}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
