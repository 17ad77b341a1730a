"""The site of the compression tests, and what turns coded bodies back."""

import gzip
import os
import subprocess

OLD_S = 1_000_000_000
PAGE = b"".join(b"<p>line %d of a page that is worth coding\n" % line for line in range(400))
STYLE = b"".join(b".c%d { color: #%06x }\n" % (number, number * 77) for number in range(300))
SCRIPT = b"".join(b"f(%d);\n" % number for number in range(500))
TEXT = b"".join(b"text %d, and more of it\n" % line for line in range(600))
LARGE = b"".join(b"%d: a long file, of which a piece at a time is coded\n" % line for line in range(30000))
NOISE = os.urandom(6000)
SUFFIX = {"br": ".br", "zstd": ".zst", "gzip": ".gz"}
TOOL = {"br": ["brotli", "-c"], "zstd": ["zstd", "-q", "-c"], "gzip": ["gzip", "-n", "-c"]}

FILES = {
    "page.html": PAGE, "style.css": STYLE, "script.js": SCRIPT, "text.txt": TEXT, "large.txt": LARGE, "noise.txt": NOISE,
    "image.png": b"\x89PNG\r\n" + b"\0" * 5000, "small.txt": b"too short\n", "empty.html": b"", "docs/index.html": PAGE,
    "folder.txt": TEXT, "events.unknown": TEXT,
}
# file: the codings it has sidecars of. Those of STALE are older than their file.
SIDECARS = {"page.html": ["br", "zstd", "gzip"], "style.css": ["gzip"], "docs/index.html": ["br"], "image.png": ["gzip"]}
STALE = {"script.js": ["gzip"]}


def encode(coding, body):
    return subprocess.run(TOOL[coding], input=body, capture_output=True, check=True).stdout


def decode(coding, body):
    if not coding:
        return body
    if coding == "gzip":
        return gzip.decompress(body)
    return subprocess.run([*TOOL[coding], "-d"], input=body, capture_output=True, check=True).stdout


def write(path, body, time_s=OLD_S):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    os.utime(path, (time_s, time_s))


def write_coded_site(html):
    for name, body in FILES.items():
        write(html / name, body)
    for codings, time_s in ((SIDECARS, OLD_S), (STALE, OLD_S - 1)):
        for name, each in codings.items():
            for coding in each:
                write(html / (name + SUFFIX[coding]), encode(coding, FILES[name]), time_s)
    write(html / "orphan.txt.gz", encode("gzip", TEXT))
    (html / "folder.txt.gz").mkdir()


def route(path, compress=None, **static):
    made = {"path": path, "static": {"alias": "html/", **static}}
    if compress is not None:
        made["compress"] = compress
    return made


ROUTES = [
    {"path": "/", "static": {"precompressed": True}},
    route("/plain/"),
    route("/only-gz/", precompressed=["gz"]),
    route("/gz-first/", precompressed=["gz", "zst", "br"]),
    route("/made/", {}),
    route("/made-gz-first/", {"encodings": ["gzip", "br"]}),
    route("/made-html/", {"types": ["text/html"], "min_bytes": 1}),
    route("/both/", {}, precompressed="on"),
    route("/streamed/", {"max_kept_bytes": 0}),
    route("/no-transform/", {}, cache_control="public, no-transform"),
]
CONFIG = {"worker_processes": 1, "http": {"sites": [{"host": ["*"], "routes": ROUTES}]}}
