"""What each Accept-Encoding gets: RFC 9110 section 12.5.3."""

from coded_site import FILES

# The form that must come. "br" is a sidecar, "br*" what the server has made; None the file itself.
SIDE, MADE = "", "*"


class Case:
    def __init__(self, target, accept, form, status=200, vary=True):
        self.target, self.accept, self.form, self.status, self.vary = target, accept, form, status, vary
        lines = "no field" if accept is None else " | ".join([accept] if isinstance(accept, str) else accept)
        self.id = f"{target} {lines or 'empty'}"

    @property
    def lines(self):
        values = [] if self.accept is None else [self.accept] if isinstance(self.accept, str) else self.accept
        return [("Accept-Encoding", value) for value in values]

    @property
    def coding(self):
        return (self.form or "").rstrip("*")

    @property
    def made(self):
        return (self.form or "").endswith("*")

    @property
    def file(self):
        path = self.target[1:] + ("index.html" if self.target.endswith("/") else "")
        return path if path in FILES else path.partition("/")[2]

    @property
    def body(self):
        return FILES[self.file]


SIDECARS = [Case("/page.html", accept, form) for accept, form in (
    (None, None), ("", None), (",", None), ("br", "br"), ("zstd", "zstd"), ("gzip", "gzip"), ("x-gzip", "gzip"),
    ("GZIP", "gzip"), ("X-GZip", "gzip"), ("gzip, deflate, br, zstd", "br"), ("gzip, deflate", "gzip"),
    ("gzip,zstd", "zstd"), ("*", "br"), ("*;q=0.1", "br"), ("br;q=0, *", "zstd"), ("br;q=0, zstd;q=0, *", "gzip"),
    ("deflate", None), ("compress, exi", None), ("zst", None), ("gz", None), ("identity", None),
    ("identity, br", "br"), ("identity;q=1, gzip;q=0.5", None), ("identity;q=1, *;q=0.5", None),
    ("identity;q=0.5, gzip", "gzip"), ("identity;q=0.5, gzip;q=0.5", "gzip"), ("identity;q=0.5, gzip;q=0.4", None),
    ("gzip;q=1.0, br;q=0.9", "gzip"), ("gzip;q=0.9, br;q=1.0", "br"), ("zstd;q=0.9, gzip;q=0.95, br;q=0.1", "gzip"),
    ("gzip;q=0.001", "gzip"), ("gzip;q=0", None), ("gzip;q=0.000", None), ("gzip;q=0, br;q=0", None),
    ("identity;q=0, gzip", "gzip"), ("identity;q=0, *", "br"), ("*;q=0, gzip", "gzip"), ("*;q=0, identity", None),
    ("gzip ;\tq=0.5 , br; q=0.4", "gzip"), ("gzip;Q=1", "gzip"), ("gzip;q=1.", "gzip"),
    ("gzip;q=2", None), ("gzip;q=-1", None), ("gzip;q=.5", None), ("gzip;q=0.1234", None), ("gzip;q=", None),
    ("gzip;q", None), ("gzip;", None), ("gzip; q = 1", None), ('gzip;q="1"', None), ("gzip;q=1;x=y", None),
    ("gzip;x=y", None), ("gzip;q=a, br", "br"), ("gzip, gzip;q=0", "gzip"), ("gzip;q=0, gzip", None),
    (["gzip", "br"], "br"), (["gzip;q=1", "br;q=0.5"], "gzip"), (["", "zstd", ""], "zstd"),
    (["identity;q=0", "br;q=0", "zstd;q=0", "gzip"], "gzip"), (", ,gzip,,", "gzip"),
    ("x, " * 63 + "gzip", "gzip"), ("x, " * 64 + "gzip", None), ("gzip" + ", x" * 500, "gzip"),
)]

NOT_ACCEPTABLE = [Case("/page.html", accept, None, 406) for accept in (
    "*;q=0", "identity;q=0", "identity;q=0, deflate", "deflate, *;q=0", ["identity;q=0", "gzip;q=0"])] + [
    Case("/style.css", "identity;q=0, br", None, 406),
    Case("/made/text.txt", "identity;q=0", None, 406),
    # Nothing to choose from: the only form there is.
    Case("/text.txt", "identity;q=0", None), Case("/plain/page.html", "*;q=0", None, vary=False),
    Case("/made/image.png", "identity;q=0", None, vary=False),
]

WHICH_FILES = [
    Case("/style.css", "br, gzip", "gzip"), Case("/style.css", "br, zstd", None), Case("/style.css", "br;q=1, gzip;q=0.1", "gzip"),
    Case("/script.js", "gzip", None), Case("/text.txt", "gzip", None), Case("/folder.txt", "gzip", None),
    Case("/image.png", "gzip", "gzip"), Case("/docs/", "br, gzip", "br"), Case("/docs/index.html", "br", "br"),
    Case("/docs/", "gzip", None), Case("/empty.html", "br, gzip, zstd", None),
    Case("/only-gz/page.html", "br, zstd, gzip", "gzip"), Case("/only-gz/page.html", "br", None),
    Case("/gz-first/page.html", "br, zstd, gzip", "gzip"), Case("/gz-first/page.html", "br, zstd", "zstd"),
    Case("/gz-first/page.html", "br, gzip;q=0.9", "br"), Case("/plain/page.html", "br, gzip", None, vary=False),
]

BY_THE_SERVER = [
    Case("/made/page.html", "br, zstd, gzip", "br*"), Case("/made/page.html", "zstd", "zstd*"),
    Case("/made/page.html", "gzip, deflate", "gzip*"), Case("/made/page.html", "x-gzip", "gzip*"),
    Case("/made/page.html", None, None), Case("/made/page.html", "identity, gzip;q=0.5", None),
    Case("/made/style.css", "*", "br*"), Case("/made/script.js", "gzip;q=0.5", "gzip*"), Case("/made/docs/", "br", "br*"),
    Case("/made/large.txt", "gzip", "gzip*"), Case("/made/large.txt", "br", "br*"), Case("/made/large.txt", "zstd", "zstd*"),
    Case("/made/noise.txt", "br, gzip, zstd", None), Case("/made/small.txt", "br", None, vary=False),
    Case("/made/image.png", "gzip", None, vary=False), Case("/made/events.unknown", "gzip", None, vary=False),
    Case("/made-gz-first/text.txt", "br, zstd, gzip", "gzip*"), Case("/made-gz-first/text.txt", "br, zstd", "br*"),
    Case("/made-gz-first/text.txt", "zstd", None), Case("/made-html/page.html", "gzip", "gzip*"),
    Case("/made-html/text.txt", "gzip", None, vary=False), Case("/made-html/empty.html", "gzip", None, vary=False),
    Case("/both/page.html", "br, gzip", "br"), Case("/both/style.css", "br, gzip", "gzip"),
    Case("/both/style.css", "br, gzip;q=0.9", "br*"), Case("/both/style.css", "zstd", "zstd*"),
    Case("/both/text.txt", "gzip", "gzip*"), Case("/both/script.js", "gzip", "gzip*"), Case("/both/image.png", "br", None),
    Case("/streamed/page.html", "br", "br*"), Case("/streamed/page.html", "zstd", "zstd*"),
    Case("/streamed/page.html", "gzip", "gzip*"), Case("/streamed/large.txt", "br", "br*"),
    Case("/streamed/large.txt", "zstd", "zstd*"), Case("/streamed/large.txt", "gzip", "gzip*"),
    Case("/streamed/large.txt", "gzip;q=0", None), Case("/no-transform/page.html", "br, gzip", None, vary=False),
]

CASES = SIDECARS + NOT_ACCEPTABLE + WHICH_FILES + BY_THE_SERVER
