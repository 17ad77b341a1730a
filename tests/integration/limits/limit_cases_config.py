"""Configurations that are refused: (what is wrong, configuration, words of the error)."""


def rate(**options):
    return {"http": {"rate_limit": options}}


def count(**options):
    return {"http": {"connection_limit": options}}


def two_routes(first, second):
    return {"http": {"sites": [{"routes": [{"path": "/a", "static": {}, **first}, {"path": "/b", "static": {}, **second}]}]}}


CASES = [
    ("no number of requests", rate(per_s=1), "requests"),
    ("no requests at all", rate(requests=0), "must be between 1 and"),
    ("too many requests", rate(requests=1_000_001), "1000000"),
    ("no time", rate(requests=1, per_s=0), "must be between 1 and"),
    ("more than a day", rate(requests=1, per_s=86401), "86400"),
    ("no burst", rate(requests=1, burst=0), "must be between 1 and"),
    ("a fraction", rate(requests=1.5), "integer"),
    ("delay_after beyond the burst", rate(requests=5, burst=3, delay_after=4), '"delay_after" is beyond the burst of 3'),
    ("an unknown variable", rate(requests=1, key="{clinet}"), 'there is no variable "{clinet}"'),
    ("an open brace", rate(requests=1, key="{client"), "without its"),
    ("an empty key", rate(requests=1, key=""), "key"),
    ("a status that is no error", rate(requests=1, status=302), "must be between 400 and 599"),
    ("a key that is no key", rate(requests=1, bursts=3), "burst"),
    ("an IPv6 prefix of nothing", rate(requests=1, ipv6_prefix=0), "must be between 1 and"),
    ("an IPv6 prefix too long", rate(requests=1, ipv6_prefix=129), "128"),
    ("a zone of two rates",
     two_routes({"rate_limit": {"requests": 1, "zone": "z"}}, {"rate_limit": {"requests": 2, "zone": "z"}}),
     'zone "z" has other numbers elsewhere'),
    ("no number of requests at a time", count(), "max"),
    ("none at a time", count(max=0), "must be between 1 and"),
    ("a count by an unknown variable", count(max=1, key="{ip}"), 'there is no variable "{ip}"'),
    ("a count with a status that is no error", count(max=1, status=200), "must be between 400 and 599"),
    ("a zone of two sizes",
     two_routes({"connection_limit": {"max": 1, "zone": "z", "max_keys": 5}}, {"connection_limit": {"max": 1, "zone": "z"}}),
     'zone "z" has other numbers elsewhere'),
    ("a negative number of connections", {"limits": {"connections_per_address": -1}}, "must be between 0 and"),
    ("an exemption that is no network", {"limits": {"exempt": ["127.0.0.1", "nowhere"]}}, "nowhere"),
    ("memory too little to serve", {"overload": {"max_memory_bytes": 4096}}, "too little to serve with"),
    ("memory in words", {"overload": {"max_memory_bytes": "lots"}}, "auto"),
    ("a lag of hours", {"overload": {"max_loop_lag_ms": 3_600_000}}, "60000"),
]
