"""Host and the forms of a request target: RFC 9112 section 3.2, RFC 9110 sections 4.2 and 7.2."""

from exchange_case import CLOSES, INDEX, OK, Answer, Case, get, refused

HOSTS = [
    refused("9112 3.2", "no Host in HTTP/1.1", get(host=None)),
    Case("9112 3.2", "no Host in HTTP/1.0", get(host=None, version=b"1.0"), OK, end=CLOSES),
    refused("9112 3.2", "two Hosts", get(b"Host: b")),
    refused("9112 3.2", "the same Host twice", get(b"Host: a")),
    refused("9112 3.2", "two Hosts far apart, in other case", get(b"X: y", b"Y: z", b"hOsT: a")),
    refused("9112 3.2", "two Hosts in HTTP/1.0", get(b"Host: a", version=b"1.0")),
    Case("9112 3.2", "an empty Host", get(host=b"Host:"), OK),
    *(Case("9110 7.2", f"Host {text!r}", get(host=b"Host: " + text), OK) for text in (
        b"example.org", b"EXAMPLE.org", b"example.org.", b"a:80", b"a:", b"a:0", b"a:65535", b"a:00080", b"127.0.0.1",
        b"127.0.0.1:80", b"[::1]", b"[::1]:80", b"[2001:DB8::1]", b"a_b-c.d", b"xn--bcher-kva", b"a%41",
        b"a" * 63 + b".example")),
    *(refused("9110 7.2", f"Host {text!r}", get(host=b"Host: " + text)) for text in (
        b"a:65536", b"a:x", b"a:-1", b"a: 80", b"a :80", b":80", b"a:80:80", b"a b", b"u@a", b"u:p@a", b"a,b", b"a/b",
        b"a\\b", b"a?b", b"a#b", b"a%", b"a%zz", b"a\tb", b"a\xe9", b'"a"', b"<a>", b"::1", b"[::1", b"::1]", b"[]",
        b"[::1]x", b"[::g]", b"[1.2.3.4]", b"[fe80::1%25eth0]", b"[v1.x]", b"http://a", b"{a}", b"a" * 256)),
]

FORMS = [
    Case("9112 3.2.2", "absolute form", get(target=b"http://a/hello.txt"), OK),
    Case("9112 3.2.2", "absolute form overrides Host", get(target=b"http://b/hello.txt"), OK),
    Case("9112 3.2.2", "absolute form with a port", get(target=b"http://a:8080/hello.txt"), OK),
    Case("9112 3.2.2", "absolute form of an IPv6 address", get(target=b"http://[::1]:80/hello.txt"), OK),
    Case("9110 4.2.3", "scheme and host in any case", get(target=b"HtTp://A/hello.txt"), OK),
    Case("9110 4.2.3", "absolute form without a path", get(target=b"http://a"), INDEX),
    Case("9110 4.2.3", "absolute form without a path, with a query", get(target=b"http://a?x=1"), INDEX),
    Case("9112 3.2.2", "absolute form with an empty port", get(target=b"http://a:/hello.txt"), OK),
    Case("9112 3.2.2", "absolute form in HTTP/1.0", get(target=b"http://a/hello.txt", version=b"1.0", host=None), OK,
         end=CLOSES),
    refused("9112 3.2.2", "absolute form without Host", get(target=b"http://a/hello.txt", host=None)),
    refused("9112 3.2.2", "absolute form with a malformed Host", get(target=b"http://a/hello.txt", host=b"Host: a b")),
    *(refused("9112 3.2", f"target {text!r}", get(target=text)) for text in (
        b"http://", b"http:///hello.txt", b"http:/hello.txt", b"http:hello.txt", b"http//a/hello.txt", b"://a/",
        b"http://u@a/", b"http://u:p@a/", b"http://a:99999/", b"http://a:x/", b"http://[::1/", b"http://a\\b/",
        b"ftp://a/hello.txt", b"file:///hello.txt", b"hello.txt", b"a:80", b"?x", b"\\hello.txt", b"%2fhello.txt",
        b"**", b"http://a%/", b"http://a b/")),
    *(refused("9112 3.2.3", f"CONNECT {text!r}", get(method=b"CONNECT", target=text))
      for text in (b"/", b"/hello.txt", b"a", b"a:", b"a:x", b"http://a:80/", b"*", b"u@a:80", b"a:80/")),
    Case("9112 3.2.1", "a target that begins with two slashes is a path", get(target=b"//a/hello.txt"), 404),
    Case("9112 3.2.1", "a question mark alone", get(target=b"/hello.txt?"), OK),
    Case("9112 3.2.1", "a query of everything", get(target=b"/hello.txt?a=/../%2f%00&b=?://%zz\"<>[]^`{|}\\"), OK),
    Case("9112 3.2.4", "OPTIONS of a host without a path", get(method=b"OPTIONS", target=b"http://a"),
         Answer(204, b"", Allow="GET, HEAD, OPTIONS")),
]

CASES = HOSTS + FORMS
