"""The files that the shared servers of the tests serve."""


def pattern(size):
    """Bytes that tell their own place: a missing, doubled or moved piece shows."""
    block = b"".join(b"%015d\n" % (offset * 16) for offset in range((size + 15) // 16))
    return block[:size]


# The files of the shared servers, by path below html/.
SITE = {
    "index.html": b"<!doctype html><title>site</title><p>hello\n",
    "hello.txt": pattern(612),
    "empty.txt": b"",
    "10k.bin": pattern(10 * 1024),
    "1m.bin": pattern(1024 * 1024),
    "sub/index.html": b"<!doctype html><title>sub</title>\n",
    "sub/page.html": b"<!doctype html><title>page</title>\n",
    "no-index/file.txt": b"no index here\n",
    "with space.txt": b"a space in its name\n",
    "\u00fcml\u00e4ut.txt": b"beyond ASCII\n",
    ".hidden": b"not for everyone\n",
}


def write_site(html, files=None):
    """Writes files (default: SITE) below a server's html/."""
    for path, content in (SITE if files is None else files).items():
        file = html / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
