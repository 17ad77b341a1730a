"""The folder that both servers serve, and the URLs in it."""

import gzip
import hashlib
import os
import pathlib
import shutil
import subprocess
import urllib.parse

# The documentation of Debian packages: where it lies and what installs it.
DEBIAN_DOCS = {
    "python": ("/usr/share/doc/python3.11/html", "python3-doc"),
    "postgresql": ("/usr/share/doc/postgresql-doc-15/html", "postgresql-doc-15"),
    "git": ("/usr/share/doc/git/html", "git-doc"),
}
# Names that have to be escaped in a URL, or that servers treat in their own way.
ODD_FILES = {
    "with space.txt": b"space\n", "a+b.txt": b"plus\n", "percent%41.txt": b"percent\n", "semi;colon.txt": b"semicolon\n",
    "q?mark.txt": b"question\n", "hash#.txt": b"hash\n", "amp&.txt": b"ampersand\n", "back\\slash.txt": b"backslash\n",
    "umlaut-äöü-日本.html": "<p>ümlaut</p>\n".encode(), "quote'\".txt": b"quotes\n", "UPPER.HTML": b"<p>UPPER</p>\n",
    "noextension": b"none\n", "two.dots.tar.gz": gzip.compress(b"archive", mtime=0), "empty.txt": b"", "empty.html": b"",
    "one.txt": b"1", ".hidden": b"hidden\n", ".well-known/security.txt": b"Contact: mailto:a@example.org\n",
    "no-index/file.txt": b"file\n", "index-only/index.html": b"<p>index</p>\n", "latin1-\udce9.txt": b"no UTF-8\n",
    "large.bin": bytes(range(256)) * (3 << 12), "data.json": b'{"a": 1}\n', "module.mjs": b"export {}\n",
    "font.woff2": b"wOF2", "program.wasm": b"\0asm", "picture.webp": b"RIFF", "video.mp4": b"\0\0\0\x18ftyp", "icon.ico": b"\0",
    "doc.pdf": b"%PDF-1.4\n", "text.md": b"# text\n", "page.xhtml": b"<html/>", "feed.atom": b"<feed/>", "style.css": b"a{}\n",
    "script.js": b"1\n", "image.svg": b"<svg/>", "table.csv": b"a,b\n", "archive.zip": b"PK\3\4", "map.js.map": b"{}",
}
# What is worth compressing, by its suffix.
COMPRESSIBLE = {".html", ".txt", ".css", ".js", ".svg", ".xml", ".json", ".HTML"}
OLD_S = 1_700_000_000


def default_folders():
    """name -> folder of what is installed."""
    return {name: path for name, (path, _) in DEBIAN_DOCS.items() if os.path.isdir(path)}


def dangling(folder, names):
    return [name for name in names if not os.path.exists(os.path.join(folder, name))]


def stage(folders, target):
    """Copies the folders below `target`, links resolved and times kept, and adds names that are hard to serve."""
    for name, folder in folders.items():
        shutil.copytree(folder, target / name, ignore=dangling)
    odd = target / "odd"
    for name, content in ODD_FILES.items():
        file = odd / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    (odd / "empty-folder").mkdir()
    outside = target.parent / "outside.txt"
    outside.write_bytes(b"outside\n")
    (odd / "link-inside.txt").symlink_to("one.txt")
    (odd / "link-outside.txt").symlink_to(outside)
    (odd / "link-dangling.txt").symlink_to("nothing")
    for path in [target.parent / "outside.txt", *odd.rglob("*")]:
        if not path.is_symlink():
            os.utime(path, (OLD_S, OLD_S))


def add_sidecars(target):
    """Beside each compressible file its .gz, and its .br and .zst where the programs for it are installed."""
    files = [path for path in target.rglob("*") if path.suffix in COMPRESSIBLE and path.is_file()
             and not path.is_symlink() and path.stat().st_size >= 256]
    for path in files:
        data = path.read_bytes()
        pathlib.Path(f"{path}.gz").write_bytes(gzip.compress(data, 6, mtime=0))
    made = ["gz"]
    for suffix, command in (("br", ["brotli", "-q", "5", "-f", "-k"]), ("zst", ["zstd", "-3", "-q", "-f", "-k"])):
        if shutil.which(command[0]) is None:
            continue
        made.append(suffix)
        for start in range(0, len(files), 500):
            subprocess.run([*command, *map(str, files[start:start + 500])], check=True, stdout=subprocess.DEVNULL)
    for path in files:
        info = path.stat()
        for suffix in made:
            os.utime(f"{path}.{suffix}", ns=(info.st_atime_ns, info.st_mtime_ns))
    return len(files), made


class Sidecars:
    """Which compressed contents belong to which originals, by their hashes."""

    CODINGS = {".gz": "gzip", ".br": "br", ".zst": "zstd"}

    def __init__(self):
        self.known = set()

    @staticmethod
    def _hash(data):
        return hashlib.blake2b(data, digest_size=16).digest()

    def learn(self, target):
        for path in target.rglob("*"):
            coding = self.CODINGS.get(path.suffix)
            original = path.with_suffix("")
            if coding is not None and original.is_file() and path.is_file():
                self.known.add((coding, self._hash(path.read_bytes()), self._hash(original.read_bytes())))

    def fits(self, coding, body, original):
        """Whether `body` is what lies beside a file with this content."""
        return original is not None and (coding, self._hash(body), self._hash(original)) in self.known


def quoted(path):
    return urllib.parse.quote(os.fsencode(path), safe="/!$&'()*+,;=:@-._~")


def urls(target):
    """Every URL worth asking for: a list of (kind, request target in bytes)."""
    found = []
    files, folders = [], []
    for at, names, file_names in os.walk(target):
        names.sort()
        here = os.path.relpath(at, target)
        base = "/" if here == "." else f"/{here}/"
        folders.append(base)
        files += [base + name for name in sorted(file_names)]
    sidecar = (".gz", ".br", ".zst")
    names = set(files)
    for path in files:
        is_sidecar = path.endswith(sidecar) and path.rsplit(".", 1)[0] in names
        found.append(("sidecar" if is_sidecar else "file", quoted(path)))
    for path in folders:
        found.append(("folder", quoted(path)))
        if path != "/":
            found.append(("folder without slash", quoted(path[:-1])))
            found.append(("folder without slash", quoted(path[:-1]) + "?a=b&c"))
        found.append(("missing", quoted(path) + "missing.html"))
        found.append(("missing", quoted(path) + "missing/deeper/page.html"))
    plain = [quoted(path) for path in files if not path.endswith(sidecar)]
    for path in plain[::20]:
        found += [("missing", path + ".bak"), ("missing", path + "/"), ("missing", path + "/below")]
    for path in plain[3::25]:
        found += [("odd", target) for target in odd_targets(path)]
    return [(kind, path.encode()) for kind, path in found] + [("odd", data) for data in RAW_TARGETS]


def odd_targets(path):
    """Other ways to ask for a path, right and wrong ones."""
    folder, _, name = path.rpartition("/")
    first = f"%{ord(name[0]):02x}" if name and name[0] != "%" else name[:1]
    return [
        f"{folder}/{first}{name[1:]}", f"{folder}/{first.upper()}{name[1:]}", f"{folder}//{name}", f"/.{path}",
        f"{folder}/./{name}", f"{folder}/x/../{name}", f"{folder}/%2e/{name}", f"{folder}/x/%2E%2e/{name}",
        f"/..{path}", f"/%2e%2e{path}", f"{folder}%2F{name}", f"{path}?query=1", f"{path}?", f"{path}?a/../b", f"{path}#part",
        f"{path}%00", f"{path}%20", f"{path}%", f"{path}%zz", f"{path};v=1", f"{path}.", f"{path}\\", f"{folder}/{name.upper()}",
        f"http://localhost{path}", f"HTTP://localhost{path}?q", f"{path}/..", f"{path}/.", f"{folder}/..{name}",
        f"{folder}/.../{name}", f"{path}%c3", f"{path}|x", f"{path}^", f"{folder}/\"{name}",
    ]


RAW_TARGETS = [
    "/odd/umlaut-äöü-日本.html".encode(), b"/odd/latin1-\xe9.txt", b"/odd/\xff\xfe", b"/odd/q?mark.txt", b"/odd/hash#.txt",
    b"/odd/percent%41.txt", b"/odd/a%2Bb.txt", b"/odd/a b.txt", b"*", b"odd/one.txt", b"//odd/one.txt", b"/../odd/one.txt",
    b"http://localhost", b"http://localhost/", b"http://localhost?x", b"/odd/%6fne.txt", b"/%6F%64%64/one.txt", b"/odd%2fone.txt",
    b"/odd/one.txt%0d%0aX:%20y", b"/odd/\x7f", b"/odd/one.txt?\x01", b"/" + b"a" * 300, b"/" + b"a/" * 500, b"/?", b"/.", b"/..",
]
