"""A subscriber that may change its transport at any message, and minds every message it gets.

Each message of a channel is b"<channel> <number> <filler>", numbered from 0 in the order of publication. A follower
demands the next one each time: one that is lost, comes twice or out of order is an AssertionError, unless a gap was told
that leads exactly to it.
"""

import collections
import email.utils
import functools
import json
import struct

from push_wire import Peer, read_chunk, read_head

POLL, SSE, META, PLAIN = "poll", "sse", "ws+meta", "ws"
RESUMING = (POLL, SSE, META)  # transports that tell ids
WS_KEY, WS_ACCEPT = "dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


@functools.lru_cache(4096)
def unix_time(date):
    return int(email.utils.parsedate_to_datetime(date).timestamp())


@functools.lru_cache(4096)
def http_date(seconds):
    return email.utils.formatdate(seconds, usegmt=True)


def payload(channel, number, filler=b""):
    return b"%s %d %s" % (channel.encode(), number, filler)


def opaque(tag):
    return tag.removeprefix("W/").strip('"')


class Subscriber:
    """Reads one transport at a time. Calls `on_message(id, body, event)`, `on_gap(after, missed)` (missed None: unknown),
    `on_open()` when the server has said that it is subscribed (not for polls), `on_idle()` when a poll ran into its timeout,
    and `on_end(why)` when the server ended it: "eof", "410", "close 1000"."""

    def __init__(self, reactor, address, path, transport=SSE, last_id=None, fields=(), **peer):
        self.reactor, self.address, self.path, self.peer_options = reactor, address, path, peer
        self.transport, self.last_id, self.fields = transport, last_id, list(fields)
        self.peer = self.answer = None
        self.opened = False
        self.close_code = None
        self.story = collections.deque(maxlen=12)  # what has happened to it, for errors
        self.chooser = None  # of the form in which to send the id back: random.Random

    # what is overridden

    def on_message(self, message_id, body, event):
        pass

    def on_gap(self, after, missed):
        raise AssertionError(f"{self.path}: a gap after {after} of {missed}, last {self.last_id}")

    def on_open(self):
        pass

    def on_idle(self):
        self.open()

    def on_end(self, why):
        raise AssertionError(f"{self.path} over {self.transport}, last id {self.last_id}: ended by the server: {why}")

    # opening

    def open(self, transport=None):
        """Subscribes, from the last id on if there is one. A poll goes over the connection of the poll before it."""
        before, self.transport = self.transport, transport or self.transport
        if before != POLL or self.transport != POLL or self.peer is None or self.peer.fd < 0 or self.peer.buffer:
            self.leave()
            self.peer = Peer(self.reactor, self.address, self._bytes, self._ended, **self.peer_options)
        self.answer, self.opened, self.close_code = None, False, None
        self.text = bytearray()
        self.story.append(f"asks over {self.transport} behind {self.last_id}")
        self.peer.send(self._request())

    def leave(self, reset=False):
        self.answer = None  # what has come already is not read
        if self.peer:
            self.peer.close(reset)

    def _request(self):
        path, lines = self.path, []
        if self.transport == POLL:
            if self.last_id:
                path, lines = self._poll_position(path)
        elif self.transport == SSE:
            lines = ["Accept: text/event-stream"] + ([f"Last-Event-ID: {self.last_id}"] if self.last_id else [])
        else:
            lines = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {WS_KEY}"]
            if self.transport == META:
                lines.append("Sec-WebSocket-Protocol: ws+meta.nchan, position")
            if self.last_id:
                path += f"?last_event_id={self.last_id}"
        return "\r\n".join([f"GET {path} HTTP/1.1", "Host: x", *lines, *self.fields, "", ""]).encode()

    def _poll_position(self, path):
        time, _, tag = self.last_id.partition(":")
        form = self.chooser.randrange(4) if self.chooser else 0
        if form == 3:
            return path + f"?last_event_id={self.last_id}", []
        tag = (f'"{tag}"', tag, f'W/"{tag}"')[form]
        return path, [f"If-Modified-Since: {http_date(int(time))}", f"If-None-Match: {tag}"]

    # reading

    def _bytes(self, peer):
        if self.answer is None:
            self.answer = read_head(peer.buffer)
            if self.answer is None or not self._head(peer):
                return
        if self.answer.status != 101 and self.transport != SSE or self.answer.status not in (101, 200):
            self._body(peer)
        elif self.transport == SSE:
            self._stream(peer)
        else:
            self._frames(peer)

    def _head(self, peer):
        status, fields = self.answer.status, self.answer.fields
        if self.transport in (META, PLAIN) and status == 101:
            assert fields["sec-websocket-accept"] == WS_ACCEPT
            assert (fields.get("sec-websocket-protocol") == "ws+meta.nchan") == (self.transport == META)
            self._opened()
        elif self.transport == SSE and status == 200:
            assert fields["content-type"].startswith("text/event-stream"), self.answer
            if "transfer-encoding" not in fields:
                self.chunked = False
            else:
                self.chunked = True
            self._opened()
        return self.peer is peer and peer.fd >= 0

    def _opened(self):
        self.story.append("is in")
        self.opened = True
        self.on_open()

    def _body(self, peer):
        """An answer with a length: what a poll is for, or a refusal."""
        answer = self.answer
        size = 0 if answer.status in (204, 304) else int(answer.fields.get("content-length", 0))
        if len(peer.buffer) < size:
            return
        body = bytes(peer.buffer[:size])
        del peer.buffer[:size]
        if answer.fields.get("connection", "").lower() == "close":
            peer.close()
        if self.transport == POLL and answer.status == 200:
            assert not peer.buffer, f"{self.path}: bytes behind an answer: {bytes(peer.buffer[:200])!r}"
            if gap := answer.fields.get("push-gap"):
                self.on_gap(self.last_id, None if gap == "unknown" else int(gap))
            message_id = f"{unix_time(answer.fields['last-modified'])}:{opaque(answer.fields['etag'])}"
            self._message(message_id, body, answer.fields.get("x-eventsource-event"))
            if self.peer is peer and self.answer is answer and self.transport == POLL:
                self.open()
        elif self.transport == POLL and answer.status in (408, 304):
            self.on_idle()
        else:
            answer.body = body
            self.on_end(str(answer.status))

    def _message(self, message_id, body, event):
        self.story.append(f"{message_id} {bytes(body[:30])!r}")
        if message_id:
            self.last_id = message_id
        self.on_message(message_id, body, event)

    def _stream(self, peer):
        answer, text = self.answer, self.text
        if self.chunked:
            while (chunk := read_chunk(peer.buffer)) is not None:
                if not chunk:
                    peer.close()
                    self._events(text, peer, answer)
                    if self.answer is answer:
                        self.on_end("end")
                    return
                text += chunk
        else:
            text += peer.buffer
            peer.buffer.clear()
        self._events(text, peer, answer)

    def _events(self, text, peer, answer):
        begin = 0
        while (end := text.find(b"\n\n", begin)) >= 0:
            event = text[begin:end]
            begin = end + 2
            self._event(event)
            if self.answer is not answer:
                return
        del text[:begin]

    def _event(self, text):
        message_id = event = None
        data = []
        for line in text.decode().split("\n"):
            name, _, value = line.partition(": ")
            if name == "data" or name == "data:":
                data.append(value)
            elif name == "id":
                message_id = value
            elif name == "event":
                event = value
            elif name:
                assert name in ("retry", "") or line.startswith(":"), f"a line of an event: {line!r}"
        if event == "gap":
            self._gap(message_id, "\n".join(data))
        elif data:
            assert message_id, f"an event without an id: {bytes(text)!r}"
            self._message(message_id, "\n".join(data).encode(), event)

    def _gap(self, message_id, data):
        gap = json.loads(data)
        self.on_gap(gap["after"], gap["missed"])
        if message_id:
            self.last_id = message_id

    def _frames(self, peer):
        answer, buffer = self.answer, peer.buffer
        at = 0
        while self.answer is answer and len(buffer) >= at + 2:
            first, size = buffer[at], buffer[at + 1]
            assert first & 0x70 == 0 and size < 128, f"{self.path}: a frame that begins with {bytes(buffer[at:at + 4])!r}"
            begin = at + 2
            if size == 126:
                begin += 2
            elif size == 127:
                begin += 8
            if len(buffer) < begin:
                break
            if size >= 126:
                size = int.from_bytes(buffer[at + 2:begin], "big")
            if len(buffer) < begin + size:
                break
            body = bytes(buffer[begin:begin + size])
            at = begin + size
            assert first & 0x80, "the server's messages are one frame each"
            self._frame(peer, first & 15, body)
        if self.answer is answer:
            del buffer[:at]

    def _frame(self, peer, opcode, body):
        if opcode == 9:
            peer.send(bytes([0x8a, 0x80 | len(body)]) + bytes(4) + body)
        elif opcode == 8:
            self.close_code = struct.unpack("!H", body[:2])[0] if body else None
            peer.send(bytes([0x88, 0x80 | len(body)]) + bytes(4) + body)
            peer.close()
            self.on_end(f"close {self.close_code}")
        elif self.transport == PLAIN:
            if body.startswith(b'{"event":"gap"'):
                self._gap(None, body)
            else:
                self._message(None, body, None)
        elif opcode in (1, 2):
            head, _, body = body.partition(b"\n\n")
            fields = dict(line.split(": ", 1) for line in head.decode().split("\n"))
            if "position" in fields:
                assert not self.last_id and not body
            elif fields.get("event") == "gap":
                self._gap(fields["id"], body)
            else:
                self._message(fields["id"], body, fields.get("event"))

    def _ended(self, peer, why):
        if self.peer is peer:
            self.on_end(why)


class Follower(Subscriber):
    """Demands the channel's messages one after the other, from `first` on (None: whichever comes first)."""

    def __init__(self, reactor, address, channel, transport=SSE, first=0, ids=None, under="/sub", **more):
        super().__init__(reactor, address, f"{under}/{channel}", transport, **more)
        self.channel, self.next, self.ids = channel, first, ids
        self.gaps_allowed = False
        self.gaps = []  # (number of the message that would have been next, missed)
        self.told = None  # the gap that was told last, if nothing has come behind it
        self.told_behind = None  # the id that it was told to
        self.anything = first is None  # nobody can say which is next
        self.received = 0

    def open(self, transport=None):
        if self.last_id != self.told_behind:
            self._account()  # its id is the one behind the gap
        self.told = None  # or it will be told again
        super().open(transport)

    def on_message(self, message_id, body, event):
        name, number, *_ = body.split(b" ", 2)
        number = int(number)
        assert name.decode() == self.channel, f"{self.channel} got a message of {name}"
        self._account()
        if self.anything and number >= (self.next or 0):
            self.next, self.anything = number, False
        assert number == self.next, (f"{self.channel} over {self.transport}: message {number} came where {self.next} was "
                                     f"to come, id {message_id}; {list(self.story)}")
        if self.ids is not None and message_id:
            known = self.ids.setdefault(number, message_id)
            assert known == message_id, f"message {number} has the ids {known} and {message_id}"
        self.next = number + 1
        self.received += 1
        self.step(number)

    def on_gap(self, after, missed):
        self.story.append(f"gap of {missed} behind {after}")
        assert self.gaps_allowed, f"{self.channel} over {self.transport}: a gap at {self.next}; {list(self.story)}"
        assert missed is None or missed > 0
        if missed is not None and self.told is None:
            assert after.partition(":")[2] == self.last_id.partition(":")[2], f"{self.channel}: {list(self.story)}"
        self._account()
        self.told, self.told_behind = (self.next, missed), self.last_id

    def _account(self):
        """The gap that was told leads to what comes now."""
        if self.told is None:
            return
        self.gaps.append(self.told)
        missed = self.told[1]
        self.told = None
        if missed is None:
            self.anything = True
        elif self.next is not None:
            self.next += missed

    def step(self, number):
        """After each message: to change the transport, to leave, ..."""
