"""The rows of bench_compression.py, the site they are measured on, and what turns coded bodies back."""

import gzip
import http.client
import os
import pathlib
import random
import subprocess

from .coded_servers import LEVELS
from .rows import Row

SUFFIX = {"br": ".br", "zstd": ".zst", "gzip": ".gz"}
TOOLS = {"br": ["brotli", "-c", "-q", str(LEVELS['br'])], "zstd": ["zstd", "-q", "-c", f"-{LEVELS['zstd']}"],
         "gzip": ["gzip", "-n", "-c", f"-{LEVELS['gzip']}"]}
SIZES = {"10k": 10 << 10, "100k": 100 << 10}


def row(kind, coding, size):
    what = "sidecar" if kind == "side" else "coded by the server"
    return Row(f"{kind}-{coding}-{size}", f"{size} of text, {coding}, {what}", f"/{kind}/{size}.html", accept=coding)


ROWS = {each.name: each for each in (
    row("side", "gzip", "10k"), row("side", "br", "10k"), row("side", "zstd", "10k"), row("side", "gzip", "100k"),
    row("made", "gzip", "10k"), row("made", "br", "10k"), row("made", "zstd", "10k"), row("made", "gzip", "100k"))}


def text_of(size):
    """Words as a page has them: the same every time, and they shrink as HTML does, to a quarter or so."""
    source = random.Random(4507)
    words = ["".join(source.choices("etaoinshrdlucmfw", k=source.randint(2, 9))) for _ in range(600)]
    tags = ["<p>", "</p>\n", "<a href=\"/docs/", "\">", "</a>", "<code>", "</code>"]
    text = ""
    while len(text) < size:
        text += source.choice(tags) if source.random() < 0.2 else words[int(source.paretovariate(0.7)) % 600] + " "
    return text[:size].encode()


def make_site(folder):
    site = pathlib.Path(folder) / "site"
    for kind in ("side", "made"):
        (site / kind).mkdir(parents=True)
        for size, number in SIZES.items():
            page = site / kind / f"{size}.html"
            page.write_bytes(text_of(number))
            for coding in SUFFIX if kind == "side" else ():
                page.with_name(page.name + SUFFIX[coding]).write_bytes(encode(coding, text_of(number)))
    for path in [site, *site.rglob("*")]:
        os.utime(path, (1767225600, 1767225600))
        path.chmod(0o755)
    pathlib.Path(folder).chmod(0o755)
    return site


def encode(coding, body):
    return subprocess.run(TOOLS[coding], input=body, capture_output=True, check=True).stdout


def decode(coding, body):
    if coding == "gzip":
        return gzip.decompress(body)
    return subprocess.run([TOOLS[coding][0], "-d", "-c"], input=body, capture_output=True, check=True).stdout


def verify(server, row_, site):
    """Two requests: the coding asked for, and every byte once it is decoded. Returns the coded size."""
    port, _ = server.address(row_.name)
    for _ in range(2):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", row_.path, headers={"Accept-Encoding": row_.accept})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        coding = response.getheader("Content-Encoding")
        if response.status != 200 or coding != row_.accept:
            raise RuntimeError(f"{server.name}, {row_.name}: status {response.status}, Content-Encoding {coding}")
        if decode(coding, body) != (site / row_.path.lstrip("/")).read_bytes():
            raise RuntimeError(f"{server.name}, {row_.name}: the body is not the file's")
    return len(body)
