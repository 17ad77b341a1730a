"""What the C1000K study saw, and figures in its form.

The study: one message to 1,000,000 WebSockets over a network of three AWS C3.4xlarge (16 processors each), milliseconds at one of
the 20 client processes, 50,000 connections each. https://colobu.com/2015/07/14/performance-comparison-of-7-websocket-frameworks/
Its servers (https://github.com/smallnest/C1000K-Servers) read the clock anew for each connection, as they come to it: the time
that the connections before it took is not in these figures. It is in ours, which count from publication. Left out are Go and
Node.js, which write in that loop and so report 1 ms; and those that did not reach 1,000,000 connections.
"""

from math import log10

STUDY = {
    "Netty": {"count": 50000, "first": 0, "last": 18301, "mean": 2446.09, "stddev": 3082.11, "p50": 1214, "p75": 3625, "p95": 8855,
              "p98": 12069, "p99": 13274, "p99_9": 18301},
    "Undertow": {"count": 50000, "first": 1, "last": 11948, "mean": 1366.86, "stddev": 2007.77, "p50": 412, "p75": 2021,
                 "p95": 5838, "p98": 7222, "p99": 8051, "p99_9": 11948},
    "Vert.x": {"count": 50000, "first": 49, "last": 18949, "mean": 10427.00, "stddev": 5182.72, "p50": 10856, "p75": 14934,
               "p95": 17949, "p98": 18458, "p99": 18658, "p99_9": 18949},
}
ROWS = [("count", "count"), ("min", "first"), ("max", "last"), ("mean", "mean"), ("stddev", "stddev"), ("median", "p50"),
        ("75 % ≤", "p75"), ("95 % ≤", "p95"), ("98 % ≤", "p98"), ("99 % ≤", "p99"), ("99.9 % ≤", "p99_9")]
CURVE = [("min", "first"), ("50 %", "p50"), ("75 %", "p75"), ("95 %", "p95"), ("98 %", "p98"), ("99 %", "p99"), ("99.9 %", "p99_9"),
         ("max", "last")]


def figures(broadcast):
    """One of swarm's `broadcasts` as the study has it: milliseconds."""
    return {"count": broadcast["receivers"],
            **{key: broadcast[f"{key}_us"] / 1e3 for _, key in ROWS if key != "count"}}


def table(columns):
    """Markdown; `columns` is {heading: figures}."""
    def cell(key, value):
        return f"{value:,}" if key == "count" else f"{value:,.0f}" if value >= 100 else f"{value:.1f}"

    text = ["| ms | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    text += [f"| {name} | " + " | ".join(cell(key, each[key]) for each in columns.values()) + " |" for name, key in ROWS]
    return "\n".join(text)


def document(elements, width, height):
    """An SVG of these elements."""
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
            ' font-family="system-ui, sans-serif" font-size="12" fill="#57606a"><rect width="100%" height="100%" fill="#fff"/>\n'
            + elements + "\n</svg>\n")


def plot(groups):
    return document(curves(groups), 1060, 460)


def curves(groups):
    """SVG elements: until so many percent had the message, both axes' ends included. `groups`: [(name, colour, dashed, [figures])]."""
    left, top, width, height = 90, 50, 640, 360
    decades = [10 ** power for power in range(0, 6)]  # 1 ms to 100 s

    def x(at):
        return left + at / (len(CURVE) - 1) * width

    def y(ms):
        return top + height - min(max(log10(max(ms, 1)), 0), 5) / 5 * height

    out = [f'<text x="{left}" y="28" font-size="15" font-weight="600" fill="#1f2328">Until so many had the message</text>']
    for decade in decades:
        text = f"{decade // 1000} s" if decade >= 1000 else f"{decade} ms"
        out.append(f'<path d="M{left} {y(decade):.1f}h{width}" stroke="#d0d7de"/><text x="{left - 8}" y="{y(decade) + 4:.1f}"'
                   f' text-anchor="end">{text}</text>')
    for at, (name, _) in enumerate(CURVE):
        out.append(f'<path d="M{x(at):.1f} {top}v{height}" stroke="#d0d7de"/><text x="{x(at):.1f}" y="{top + height + 18}"'
                   f' text-anchor="middle">{name}</text>')
    for number, (name, colour, dashed, lines) in enumerate(groups):
        dash = ' stroke-dasharray="6 4"' if dashed else ""
        for line in lines:
            path = " ".join(f"{'L' if at else 'M'}{x(at):.1f} {y(line[key]):.1f}" for at, (_, key) in enumerate(CURVE))
            out.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}/>')
        place = top + 10 + number * 22
        out.append(f'<path d="M{left + width + 24} {place}h22" stroke="{colour}" stroke-width="3"{dash}/>'
                   f'<text x="{left + width + 54}" y="{place + 4}">{name}</text>')
    return "\n".join(out)
