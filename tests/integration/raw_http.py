"""HTTP over a bare socket: bytes are sent exactly as written, and responses are read by a parser that forgives nothing.

    with Wire(server.address) as wire:
        wire.send(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
        response = wire.read_response()
        assert response.status == 200 and response["Content-Type"] == "text/html; charset=utf-8"
        wire.expect_alive()
"""

import json
import re
import select
import socket
import struct
import time

STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9]{2}) ([\t \x21-\x7e\x80-\xff]*)")
FIELD_LINE = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t \x21-\x7e\x80-\xff]*?)[ \t]*")
IMF_DATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) "
                      r"\d{4} \d\d:\d\d:\d\d GMT")
MAX_HEAD_BYTES = 64 * 1024


class ProtocolError(AssertionError):
    """The server sent what HTTP does not allow, or ended where it must not."""


class Response:
    """A response as it came. Field names match in any case; `response["X"]` demands exactly one such field line."""

    def __init__(self, head):
        lines = head.split(b"\r\n")
        for line in lines:
            if b"\r" in line or b"\n" in line:
                raise ProtocolError(f"bare CR or LF in the head: {line!r}")
        match = STATUS_LINE.fullmatch(lines[0])
        if match is None:
            raise ProtocolError(f"malformed status line: {lines[0]!r}")
        self.version_minor = int(match.group(1))
        self.status = int(match.group(2))
        self.reason = match.group(3).decode("latin-1")
        self.fields = []
        self.body = b""
        self.interim = []  # the 1xx responses that came before
        for line in lines[1:]:
            match = FIELD_LINE.fullmatch(line)
            if match is None:
                raise ProtocolError(f"malformed field line: {line!r}")
            self.fields.append((match.group(1).decode(), match.group(2).decode("latin-1")))

    def all(self, name):
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def get(self, name, default=None):
        values = self.all(name)
        if len(values) > 1:
            raise ProtocolError(f"{len(values)} field lines of {name}: {values}")
        return values[0] if values else default

    def __getitem__(self, name):
        value = self.get(name)
        assert value is not None, f"no field {name} in {self!r}"
        return value

    def __contains__(self, name):
        return bool(self.all(name))

    @property
    def closes(self):
        """Whether the server said that it closes the connection after this."""
        options = [option.strip().lower() for value in self.all("Connection") for option in value.split(",")]
        return "close" in options or (self.version_minor == 0 and "keep-alive" not in options)

    def json(self):
        """The body, as JSON."""
        return json.loads(self.body)

    def content_length(self):
        """The value of Content-Length, None without one (RFC 9110 section 8.6)."""
        value = self.get("Content-Length")
        if value is not None and not re.fullmatch("[0-9]+", value):
            raise ProtocolError(f"malformed Content-Length: {value!r}")
        return None if value is None else int(value)

    def __repr__(self):
        return f"<{self.status} {self.reason}; {'; '.join(f'{k}: {v}' for k, v in self.fields)}; {len(self.body)} B>"


def request(target="/", method="GET", fields=(), body=b"", version="1.1", host="localhost"):
    """The bytes of an ordinary request. `fields` is a dict or pairs; host=None leaves Host out."""
    pairs = list(fields.items()) if isinstance(fields, dict) else list(fields)
    names = {name.lower() for name, _ in pairs}
    if host is not None and "host" not in names:
        pairs.insert(0, ("Host", host))
    if body and not names & {"content-length", "transfer-encoding"}:
        pairs.append(("Content-Length", str(len(body))))
    lines = [f"{method} {target} HTTP/{version}"] + [f"{name}: {value}" for name, value in pairs]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


class Wire:
    """One connection to the server. Every wait ends with an error after `timeout` seconds."""

    def __init__(self, address, timeout=10):
        """`address`: (host, port), or the path of a Unix-domain socket."""
        self.timeout = timeout
        self.buffer = bytearray()
        if isinstance(address, str):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            self.socket.connect(address)
        else:
            self.socket = socket.create_connection(address, timeout)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def reset(self):
        """Ends the connection with a RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def shutdown_write(self):
        """Says that nothing more will be sent (FIN); reading goes on."""
        self.socket.shutdown(socket.SHUT_WR)

    # sending

    def send(self, data):
        self.socket.sendall(data)

    def send_pieces(self, *pieces):
        """Sends each piece once the server has read the one before, so that it meets every boundary."""
        for index, piece in enumerate(pieces):
            if piece:
                self.send(piece)
                if index + 1 < len(pieces):
                    self.wait_until_read()

    def ask(self, target="/", method="GET", **more):
        """Sends an ordinary request (see `request`) and reads its response."""
        self.send(request(target, method, **more))
        return self.read_response(method)

    def wait_until_read(self):
        """Waits until the server has taken everything sent so far out of its receive queue (TCP over IPv4)."""
        mine = "%08X:%04X" % (struct.unpack("=I", socket.inet_aton(self.socket.getsockname()[0]))[0],
                              self.socket.getsockname()[1])
        deadline = time.monotonic() + self.timeout
        while time.monotonic() < deadline:
            with open("/proc/net/tcp") as table:
                # Fields: number, local address, remote address, state, tx_queue:rx_queue, ...
                rows = [row.split() for row in table if mine in row]
            theirs = [row for row in rows if row[2] == mine]
            ours = [row for row in rows if row[1] == mine]
            sent = all(row[4].startswith("00000000:") for row in ours)
            if sent and all(row[4].endswith(":00000000") for row in theirs):
                return
            time.sleep(0.0002)
        raise ProtocolError("the server does not read what it was sent")

    # receiving

    def _fill(self):
        """Reads once; False at the end of the stream."""
        try:
            data = self.socket.recv(1 << 18)
        except socket.timeout:
            raise ProtocolError(f"nothing came for {self.timeout} s; so far: {bytes(self.buffer[:200])!r}") from None
        self.buffer += data
        return bool(data)

    def _take(self, size):
        taken = bytes(self.buffer[:size])
        del self.buffer[:size]
        return taken

    def read_exactly(self, size):
        while len(self.buffer) < size:
            if not self._fill():
                raise ProtocolError(f"closed after {len(self.buffer)} of {size} bytes")
        return self._take(size)

    def read_line(self):
        """A line without its CRLF."""
        while (end := self.buffer.find(b"\r\n")) < 0:
            if len(self.buffer) > MAX_HEAD_BYTES or not self._fill():
                raise ProtocolError(f"no CRLF in {bytes(self.buffer[:200])!r}")
        return self._take(end + 2)[:-2]

    def read_until_close(self):
        while self._fill():
            pass
        return self._take(len(self.buffer))

    def read_head(self):
        """The next status line and fields, interim ones included, as a Response without body."""
        while (end := self.buffer.find(b"\r\n\r\n")) < 0:
            if len(self.buffer) > MAX_HEAD_BYTES or not self._fill():
                raise ProtocolError(f"closed, or no end, within a head: {bytes(self.buffer[:200])!r}")
        return Response(self._take(end + 4)[:-4])

    def read_response(self, method="GET"):
        """The next final response, body and all, checked against what RFC 9110 and 9112 demand of every response."""
        interim = []
        while (response := self.read_head()).status < 200:
            if response.status == 101:
                return response
            check_framing_absent(response)
            interim.append(response)
        response.interim = interim
        check_response(response)
        response.body = self._read_body(response, method)
        return response

    def _read_body(self, response, method):
        """RFC 9112 section 6.3."""
        length, coding = response.content_length(), response.get("Transfer-Encoding")
        if method == "HEAD" or response.status in (204, 304):
            return b""
        if coding is not None:
            if coding.lower() != "chunked" or length is not None:
                raise ProtocolError(f"ambiguous framing: {response!r}")
            return self._read_chunked()
        if length is not None:
            return self.read_exactly(length)
        if not response.closes:
            raise ProtocolError(f"neither length nor close: {response!r}")
        return self.read_until_close()

    def _read_chunked(self):
        body = bytearray()
        while True:
            line = self.read_line()
            if not re.fullmatch(rb"[0-9A-Fa-f]+", line):
                raise ProtocolError(f"malformed chunk size: {line!r}")
            size = int(line, 16)
            if size == 0:
                break
            body += self.read_exactly(size)
            if self.read_exactly(2) != b"\r\n":
                raise ProtocolError("a chunk is longer than it said")
        if self.read_line() != b"":
            raise ProtocolError("trailer fields where none were expected")
        return bytes(body)

    # the state of the connection

    def expect_close(self):
        """The server closes the connection, and sends nothing before it does."""
        try:
            rest = self.read_until_close()
        except ConnectionResetError:
            rest = bytes(self.buffer)
        assert rest == b"", f"more came before the close: {rest[:200]!r}"

    def expect_alive(self, target="/"):
        """Nothing is left over, and the connection answers another request."""
        assert not self.buffer, f"left over: {bytes(self.buffer[:200])!r}"
        response = self.ask(target)
        assert response.status == 200, response
        return response

    def expect_silence(self, seconds=0.05):
        """Nothing comes, and the connection stays open, for a short while. Weak evidence: prefer expect_alive."""
        assert not self.buffer, f"left over: {bytes(self.buffer[:200])!r}"
        readable, _, _ = select.select([self.socket], [], [], seconds)
        if readable:
            assert False, f"came unasked: {self.socket.recv(200)!r}"


def check_framing_absent(response):
    """RFC 9110 section 8.6 and RFC 9112 section 6.1: 1xx and 204 carry neither field."""
    for name in ("Content-Length", "Transfer-Encoding"):
        if name in response:
            raise ProtocolError(f"{name} on a {response.status}")


def check_response(response):
    """What must hold for every final response of an origin server."""
    date = response.get("Date")
    if response.status < 500 or date is not None:  # RFC 9110 section 6.6.1
        if date is None or not IMF_DATE.fullmatch(date):
            raise ProtocolError(f"no or malformed Date: {response!r}")
    if response.status == 204:
        check_framing_absent(response)
    if response.status == 405 and "Allow" not in response:  # RFC 9110 section 15.5.6
        raise ProtocolError(f"405 without Allow: {response!r}")
    if response.status == 206 and "Content-Range" not in response:  # RFC 9110 section 15.3.7
        if not response.get("Content-Type", "").startswith("multipart/byteranges"):
            raise ProtocolError(f"206 without Content-Range: {response!r}")
    if response.status in (301, 302, 303, 307, 308) and "Location" not in response:
        raise ProtocolError(f"{response.status} without Location: {response!r}")
