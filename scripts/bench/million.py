"""The table and the plot of bench_million.py: what was measured, beside what others have published of their own servers.

The C1000K study (https://github.com/smallnest/C1000K-Servers): 1,200,000 WebSockets and a message a minute to all, a server of 16
processors, clients on other machines; the range is that of its servers that held them. libtnet
(https://github.com/siddontang/libtnet): 1,017,147 requests that its comet server held, user memory by its own account.
"""

from math import log10

from . import c1000k

PUBLISHED = [
    {"name": "C1000K study: 1,200,000 WebSockets, 16 processors (as published)", "connections": 1200000, "own": (15e9, 22e9),
     "last_s": (8, 15)},
    {"name": "libtnet: 1,017,147 held requests (as published)", "connections": 1017147, "own": (1.28e9, 1.28e9), "last_s": None},
]
COLOURS = ["#1f6feb", "#1a7f37", "#d9730d", "#0969da"]
LONG = ["", "connected in", "server's own memory", "each", "clients' memory", "kernel, both ends", "all together", "first has a message after",
        "half", "99 %", "last", "lost, repeated, out of order"]
SHORT = ["", "server's own memory", "each", "the last has a message after"]


def size(value):
    return f"{value / 1e9:.2f} GB" if value >= 1e9 else f"{value / 1e6:.0f} MB"


def seconds(us):
    return f"{us / 1e6:.1f} s" if us >= 1e6 else f"{us / 1e3:.0f} ms"


def span(low, high, text):
    return text(low) if low == high else f"{text(low)} to {text(high)}"


def name_of(result):
    kind = "held requests" if result["held"] else "WebSockets"
    return f"roost: {result['clients']:,} {kind}, {result['machine']['processors']} processors with both ends"


def kernel_of(result):
    held, before = result["memory"]["held"], result["memory"]["before"]
    return sum(held[key] - before[key] for key in ("slab", "tcp_buffers", "stacks_and_tables"))


def all_of(result, key="room"):
    return result["memory"]["before"][key] - result["memory"]["held"][key]


def over(broadcasts, key):
    values = [each[key] for each in broadcasts]
    return span(min(values), max(values), seconds)


def cells(result):
    """{heading: text}; of a range the first is the quickest message, the second the slowest."""
    own = result["memory"]["held"]["server"]
    delivery = dict(zip(LONG[7:11], (over(result["broadcasts"], key) for key in ("first_us", "p50_us", "p99_us", "last_us")))
                    ) if result["broadcasts"] else {}
    return {"": name_of(result), "connected in": seconds(result["connect_s"] * 1e6), "server's own memory": size(own),
            "each": f"{own / max(result['connections'], 1):.0f} B", "clients' memory": size(result["memory"]["held"]["swarm"]),
            "kernel, both ends": size(kernel_of(result)), "all together": size(all_of(result)), **delivery,
            "the last has a message after": delivery.get("last", "-"), "lost, repeated, out of order": f"{result['wrong']:,}"}


def published_cells(entry):
    low, high = entry["own"]
    last = span(*entry["last_s"], lambda value: f"{value} s") if entry["last_s"] else "-"
    return {"": entry["name"], "server's own memory": span(low, high, size), "last": last, "the last has a message after": last,
            "each": span(low / entry["connections"], high / entry["connections"], lambda value: f"{value:,.0f} B")}


def table(results, headings=LONG):
    """Markdown: a row for each measured case, then the published ones."""
    rows = [cells(result) for result in results] + [published_cells(entry) for entry in PUBLISHED]
    lines = ["| " + " | ".join(headings) + " |", "|---|" + "---:|" * (len(headings) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row.get(heading, "-") for heading in headings) + " |" for row in rows])


def bars(results, left, top, width):
    """SVG: the server's own memory per connection, on a logarithmic scale from 100 B to 100 KB."""
    entries = [(name_of(result), COLOURS[at % len(COLOURS)], [result["memory"]["held"]["server"] / max(result["connections"], 1)])
               for at, result in enumerate(results)]
    entries += [(entry["name"], None, [edge / entry["connections"] for edge in sorted(set(entry["own"]))]) for entry in PUBLISHED]

    def x(value):
        return left + min(max(log10(max(value, 1)) - 2, 0), 3) / 3 * width

    out = [f'<text x="{left}" y="{top - 22}" font-size="15" font-weight="600" fill="#1f2328">The server\'s own memory per connection</text>']
    for decade in (100, 1000, 10000, 100000):
        text = f"{decade} B" if decade < 1000 else f"{decade // 1000} KB"
        out.append(f'<path d="M{x(decade):.1f} {top}v{len(entries) * 26}" stroke="#d0d7de"/><text x="{x(decade):.1f}"'
                   f' y="{top + len(entries) * 26 + 18}" text-anchor="middle">{text}</text>')
    for at, (name, colour, values) in enumerate(entries):
        paint = f'fill="{colour}"' if colour else 'fill="#eaeef2" stroke="#57606a" stroke-dasharray="6 4"'
        y = top + at * 26 + 4
        out.append(f'<rect x="{left}" y="{y}" width="{max(x(values[-1]) - left, 1):.1f}" height="18" {paint}/>')
        text = span(values[0], values[-1], lambda value: f"{value:,.0f} B")
        out.append(f'<text x="{left + width + 24}" y="{y + 13}">{name}: {text}</text>')
    return "\n".join(out), len(entries) * 26


def plot(results):
    """SVG: delivery of every message, and memory per connection; the published figures are dashed."""
    groups = [(name_of(result), COLOURS[at % len(COLOURS)], False,
               [c1000k.figures(each) for each in result["broadcasts"]]) for at, result in enumerate(results) if result["broadcasts"]]
    groups += [(f"{name}, 1,000,000 on 16 processors, as published", colour, True, [c1000k.STUDY[name]])
               for name, colour in (("Netty", "#cf222e"), ("Undertow", "#8250df"), ("Vert.x", "#57606a"))]
    lower, height = bars(results, 90, 500, 640)
    return c1000k.document(c1000k.curves(groups) + "\n" + lower, 1340, 540 + height)
