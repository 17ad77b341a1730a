"""One case of the tables in cases_*.py: bytes to send, the answers that must come, what becomes of the connection.

    Case("9112 6.3", "chunked in capitals", get(b"Transfer-Encoding: CHUNKED") + b"0\\r\\n\\r\\n" + SECOND, OK, OK2)

ETAG in the bytes stands for the strong entity tag of /hello.txt, LATIN1 text for its bytes.
"""

from site_files import SITE, pattern

# How a case ends.
ALIVE = "alive"    # the connection answers another request
CLOSES = "closes"  # the last answer says close, and then the connection ends
CUT = "cut"        # the connection ends although the answer, given before the fault was seen, did not say so

# Files beside SITE. Every file is as old as OLD_S says.
FILES = {
    **SITE,
    "second.txt": b"the second answer\n",
    "probe.txt": b"still here\n",
    "a#b.txt": b"a number sign in its name\n",
    "a?b.txt": b"a question mark in its name\n",
    "100%25.txt": b"an escape in its name\n",
    "back\\slash.txt": b"a backslash in its name\n",
    "\udcff.txt": b"not UTF-8\n",
    "d ir/index.html": b"<title>a folder with a space</title>\n",
    "sub/.git/config": b"secret\n",
    ".well-known/security.txt": b"Contact: nobody\n",
    ".well-known/.hidden": b"secret\n",
    "types/page.HTML": b"<title>capitals</title>\n",
    "types/script.js": b"1\n",
    "types/picture.png": b"\x89PNG\r\n",
    "types/data.json": b"{}\n",
    "types/README": b"no extension\n",
    "types/odd.zzzunknown": b"unknown extension\n",
    "64k.txt": pattern(64 * 1024),
    "64k-and-one.txt": pattern(64 * 1024 + 1),
}
OLD_S = 1_000_000_000
OLD_DATE = "Sun, 09 Sep 2001 01:46:40 GMT"


class Answer:
    """What one answer must be. `fields` has underscores for hyphens; `body` None is not looked at."""

    def __init__(self, status, body=None, head=False, absent=(), **fields):
        self.status, self.body, self.head, self.absent = status, body, head, absent
        self.fields = {name.replace("_", "-"): value for name, value in fields.items()}

    def check(self, response):
        assert response.status == self.status, (self.status, response, response.body[:200])
        for name, value in self.fields.items():
            assert response[name] == value, (name, value, response)
        for name in self.absent:
            assert name not in response, (name, response)
        if self.body is not None:
            assert response.body == self.body
        if self.status >= 400:
            check_error(response, self.head)


def check_error(response, head):
    """An error's body is small, whole, HTML, and says which error it is; RFC 9110 section 15."""
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert 0 < response.content_length() <= 700
    assert head or str(response.status).encode() in response.body
    assert "ETag" not in response and "Last-Modified" not in response


class Case:
    def __init__(self, rfc, name, data, *answers, end=ALIVE):
        self.rfc, self.name, self.data, self.end = rfc, name, data, end
        self.answers = [Answer(answer) if isinstance(answer, int) else answer for answer in answers]
        self.id = f"RFC {rfc}: {name}"

    def bytes(self, etag):
        return self.data.replace(b"ETAG", etag)

    def read(self, wire):
        """Reads and checks what must come on a connection on which the bytes have been sent."""
        responses = [wire.read_response("HEAD" if answer.head else "GET") for answer in self.answers]
        for answer, response in zip(self.answers, responses):
            answer.check(response)
        assert not any(response.closes for response in responses[:-1])
        assert responses[-1].closes == (self.end == CLOSES), responses[-1]
        return responses

    def read_end(self, wire):
        if self.end == ALIVE:
            assert wire.expect_alive("/probe.txt").body == FILES["probe.txt"]
        else:
            wire.expect_close()


def refused(rfc, name, data, status=400):
    """A case whose request is refused and whose connection then ends, whatever else was sent."""
    return Case(rfc, name, data, status, end=CLOSES)


def get(*lines, target=b"/hello.txt", method=b"GET", version=b"1.1", host=b"Host: a"):
    """A request head; `lines` are field lines without CRLF. host=None leaves Host out."""
    first = method + b" " + target + b" HTTP/" + version
    return b"\r\n".join([first, *([host] if host is not None else []), *lines]) + b"\r\n\r\n"


OK = Answer(200, FILES["hello.txt"])
OK2 = Answer(200, FILES["second.txt"])
INDEX = Answer(200, FILES["index.html"])
HEAD_OK = Answer(200, b"", head=True, Content_Length="612")
SECOND = get(target=b"/second.txt")
