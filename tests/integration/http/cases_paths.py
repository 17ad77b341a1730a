"""From a target to a file: RFC 3986 sections 2 and 5.2.4, RFC 9110 sections 4.2 and 15."""

from exchange_case import FILES, Answer, Case, get, refused


def file(name, target, rfc="3986 2.1"):
    return Case(rfc, f"{target!r} is {name!a}", get(target=target), Answer(200, FILES[name]))


def moved(target, location):
    return Case("9110 15.4.2", f"{target!r} moved", get(target=target), Answer(301, Location=location))


FOUND = [
    *(file("hello.txt", target) for target in (
        b"/hello.txt", b"/hello.txt?", b"/hello.txt?x=1&y=/../", b"/%68ello.txt", b"/hello%2etxt", b"/hello%2Etxt",
        b"/%68%65%6c%6c%6f%2e%74%78%74")),
    *(file("hello.txt", target, "3986 5.2.4") for target in (
        b"/./hello.txt", b"/%2e/hello.txt", b"/sub/../hello.txt", b"/sub/%2e%2e/hello.txt", b"/sub/.%2E/hello.txt",
        b"/a/b/c/../../../hello.txt", b"/sub/./../hello.txt", b"//hello.txt", b"///.///hello.txt",
        b"/sub/..//hello.txt")),
    *(file("sub/page.html", target, "3986 5.2.4") for target in (
        b"/sub/page.html", b"/sub//page.html", b"/sub/x/../page.html", b"/sub/%2e/page.html")),
    *(file("sub/index.html", target) for target in (
        b"/sub/", b"/sub//", b"/sub/?x", b"/sub/.", b"/sub/index.html", b"/sub/x/..", b"/sub/./")),
    *(file("index.html", target) for target in (b"/", b"//", b"/.", b"/sub/..", b"/sub/../", b"/?", b"/index.html")),
    file("with space.txt", b"/with%20space.txt"),
    file("a#b.txt", b"/a%23b.txt"), file("a?b.txt", b"/a%3fb.txt"), file("a?b.txt", b"/a%3Fb.txt?c"),
    file("100%25.txt", b"/100%2525.txt"), file("back\\slash.txt", b"/back%5cslash.txt"),
    file("back\\slash.txt", b"/back\\slash.txt"), file("\udcff.txt", b"/%ff.txt"),
    file("\u00fcml\u00e4ut.txt", b"/%c3%bcml%C3%a4ut.txt"), file("empty.txt", b"/empty.txt"),
    file("d ir/index.html", b"/d%20ir/"), file("1m.bin", b"/1m.bin"), file("64k.txt", b"/64k.txt"),
    file("64k-and-one.txt", b"/64k-and-one.txt"),
    file(".well-known/security.txt", b"/.well-known/security.txt", "8615 3"),
    file(".well-known/security.txt", b"/%2ewell-known/security.txt", "8615 3"),
]

MOVED = [
    moved(b"/sub", "/sub/"), moved(b"/sub?", "/sub/?"), moved(b"/sub?q=1&r=%2f", "/sub/?q=1&r=%2f"),
    moved(b"//sub", "/sub/"), moved(b"/d%20ir", "/d%20ir/"), moved(b"/d%20ir?a=%20", "/d%20ir/?a=%20"),
    moved(b"/no-index", "/no-index/"), moved(b"/sub/../no-index", "/no-index/"), moved(b"/%73ub", "/sub/"),
    moved(b"http://elsewhere/sub?x", "/sub/?x"),
    Case("9110 15.4.2", "HEAD of a folder without its slash", get(target=b"/sub", method=b"HEAD"),
         Answer(301, b"", head=True, Location="/sub/")),
]

def named(target):
    return repr(target) if len(target) < 60 else f"{target[:9]!r}, {len(target)} bytes"


MISSING = [Case("9110 15.5.5", named(target), get(target=target), 404) for target in (
    b"/no", b"/no/", b"/no/no", b"/HELLO.txt", b"/hello.txt/", b"/hello.txt/x", b"/hello.txt%20", b"/hello.txt;x",
    b"/hello.txt//", b"/sub/hello.txt", b"/with+space.txt", b"/a%2523b.txt", b"/%2568ello.txt", b"/%252e%252e/hello.txt",
    b"/hello%252etxt", b"/\\hello.txt", b"/sub\\page.html", b"/sub%5cpage.html", b"/..%5chello.txt", b"/..\\hello.txt",
    b"/%c3%bc", b"/%C3", b"/" + b"x" * 300, b"/" + b"x" * 255, b"/" + b"x/" * 2500,
    b"/sub/" + b"y" * 4000, b"/index.html/", b"/sub/index.html/", b"/100%25.txt", b"/~root", b"/hello.txt:stream",
    b"/etc/passwd", b"/*", b"/$(id)", b"/|id", b"/hello.txt.gz")]

HIDDEN = [Case("9110 15.5.5", f"{target!r} is hidden", get(target=target), 404) for target in (
    b"/.hidden", b"/%2ehidden", b"/%2Ehidden", b"/./.hidden", b"/sub/../.hidden", b"//.hidden", b"/.hidden/", b"/...",
    b"/sub/.git", b"/sub/.git/", b"/sub/.git/config", b"/sub/%2egit/config", b"/.git/../sub/.git/config", b"/..hello.txt",
    b"/.well-known/.hidden", b"/.well-known/../.hidden", b"/.well-knownx", b"/sub/.well-known/x", b"/.htaccess")]

FORBIDDEN = [Case("9110 15.5.4", f"{target!r} has no index", get(target=target), 403)
             for target in (b"/no-index/", b"/no-index//", b"/no-index/.", b"/no-index/?x", b"/types/")]

MALFORMED = [refused("3986 2.1", repr(target), get(target=target)) for target in (
    b"/%", b"/%4", b"/%zz", b"/%%20", b"/hello.txt%", b"/%0x41", b"/%u0041", b"/hello.txt%0")]
MALFORMED += [refused("3986 7.3", repr(target), get(target=target)) for target in (
    b"/hello.txt%00", b"/%00", b"/hello.txt%00.html", b"/%0d%0aX:y", b"/%0a", b"/%7f", b"/%1b[0m", b"/%09",
    b"/sub%2fpage.html", b"/sub%2Fpage.html", b"/%2f", b"/%2fetc/passwd", b"/sub/%2e%2e%2fhello.txt", b"/..%2f")]
MALFORMED += [refused("3986 5.2.4", repr(target), get(target=target)) for target in (
    b"/..", b"/../", b"/../hello.txt", b"/%2e%2e/hello.txt", b"/%2e%2E/%2e./etc/passwd", b"/sub/../../hello.txt",
    b"/./../hello.txt", b"//../hello.txt", b"/sub/../../../../../../etc/passwd", b"/sub/../..", b"/no/../../no")]

CASES = FOUND + MOVED + MISSING + HIDDEN + FORBIDDEN + MALFORMED
