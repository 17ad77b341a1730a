"""Medians, ratios, tables, and the limits the server has to keep."""

import statistics

# (row, figure, against, factor, kind): roost's CPU may be at most, its rate must be at least, factor x the other's.
LIMITS = [
    ("tiny", "cpu", "null", 1.15, "must"), ("612", "cpu", "null", 1.15, "must"),
    *[(row, "cpu", peer, 1.0, "must") for row in ("tiny", "612") for peer in ("nginx", "nginx-ofc", "h2o", "lighttpd")],
    ("tiny", "cpu", "null", 1.08, "goal"), ("612", "cpu", "null", 1.08, "goal"),
    ("10k", "rate", "nginx", 2.0, "goal"), ("1m", "rate", "nginx", 2.4, "goal"),
    ("100m", "rate", "nginx", 1.7, "goal"), ("pipelined", "rate", "nginx", 6.0, "goal"),
    ("short", "cpu", "nginx", 0.85, "goal"), ("404", "cpu", "nginx", 0.63, "goal"),
]
BUSY_ENOUGH = 0.9  # of the server's core, to call the server the bottleneck
WAITING = 0.05  # of the time ready but not running: from here on other work disturbs


def summarize(runs, syscalls, persistent):
    """One cell of the comparison: what the rounds of one server on one row come to."""
    cpu = [run["server_cpu_us_per_request"] for run in runs]
    return {
        "rate": statistics.median(run["requests_per_s"] for run in runs),
        "cpu": statistics.median(cpu),
        "cpu_min": min(cpu),
        "cpu_max": max(cpu),
        "busy": statistics.median(run["server_busy"] for run in runs),
        "waiting": statistics.median(max(run["server_waiting"], run["client_waiting"]) for run in runs),
        "client_busy": statistics.median(run["client_busy"] for run in runs),
        "errors": sum(run["errors"] + run["stalled"] for run in runs),
        "reconnects": persistent * sum(run["connects"] for run in runs) / sum(run["requests"] for run in runs),
        "head_bytes": runs[0]["head_bytes"],
        "syscalls": syscalls,
    }


def ratio(cells, server, other, figure):
    if other not in cells or not cells[other][figure]:
        return "-"
    return f"{cells[server][figure] / cells[other][figure]:.2f}"


def calls_text(syscalls):
    return f"{syscalls['all']:.2f}" if syscalls.get("all") else "-"


HEADINGS = ["server", "requests/s", "CPU µs", "spread", "calls", "CPU / null", "CPU / nginx", "rate / nginx", "busy"]


def lines(cells):
    """The rows of one table, best CPU figure first; `busy` is how much of its core the server used."""
    for server, cell in sorted(cells.items(), key=lambda item: item[1]["cpu"]):
        cpu = f"{cell['cpu']:,.2f}" if cell["cpu"] < 1000 else f"{cell['cpu']:,.0f}"
        spread = f"±{(cell['cpu_max'] - cell['cpu_min']) / 2 / cell['cpu'] * 100:.0f} %" if cell["cpu"] else "-"
        mark = "" if cell["busy"] >= BUSY_ENOUGH else " †"
        rate = f"{cell['rate']:,.0f}" if cell["rate"] >= 100 else f"{cell['rate']:.1f}"
        yield [server, rate, cpu, spread, calls_text(cell["syscalls"]), ratio(cells, server, "null", "cpu"),
               ratio(cells, server, "nginx", "cpu"), ratio(cells, server, "nginx", "rate"), f"{cell['busy']:.0%}{mark}"]


def terminal_table(title, cells):
    rows = [HEADINGS, *lines(cells)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    text = [f"\n{title}"]
    for row in rows:
        figures = "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:]))
        text.append("  " + row[0].ljust(widths[0]) + figures)
    return "\n".join(text)


def warnings(title, cells):
    """What a reader has to know before believing the figures."""
    for server, cell in cells.items():
        if cell["errors"]:
            yield f"{title}: {server} gave {cell['errors']} wrong or missing responses: its figures mean nothing"
        if cell["reconnects"] > 0.001:
            yield f"{title}: {server} closed a connection every {1 / cell['reconnects']:.0f} requests"
    idle = {server: cell for server, cell in cells.items() if cell["busy"] < BUSY_ENOUGH}
    starved = [f"{server} {cell['waiting']:.0%}" for server, cell in idle.items() if cell["waiting"] > WAITING]
    outrun = [f"{server} {cell['busy']:.0%}" for server, cell in idle.items() if cell["waiting"] <= WAITING]
    if starved:
        yield f"{title}: other work on the machine kept a side waiting for its core ({', '.join(starved)} of the time)"
    if outrun:
        yield f"{title}: the generator was the limit ({', '.join(outrun)} of the server's core used)"


def check(results):
    """Yields (kind, holds, text) for every limit whose row and servers were measured."""
    for row, figure, other, factor, kind in LIMITS:
        cells = results.get(row, {})
        for server in [name for name in ("roost", "roost-reuseport") if name in cells and other in cells]:
            found = cells[server][figure] / cells[other][figure]
            holds = found <= factor if figure == "cpu" else found >= factor
            sign = "<=" if figure == "cpu" else ">="
            what = "CPU per request" if figure == "cpu" else "requests/s"
            yield kind, holds, f"{row}: {what} of {server} {found:.2f} x {other}'s ({kind}: {sign} {factor:g})"


def markdown(results, titles, environment):
    text = [f"{environment}\n"]
    for row, cells in results.items():
        text.append(f"**{titles[row]}**\n")
        text.append("| " + " | ".join(HEADINGS) + " |\n|---|" + "---:|" * (len(HEADINGS) - 1))
        text.extend("| " + " | ".join(line) + " |" for line in lines(cells))
        text.append("")
        told = [f"{server}: " + ", ".join(f"{name} {count:.2f}" for name, count in cell["syscalls"].items()
                                          if name != "all" and count >= 0.005)
                for server, cell in cells.items() if cell["syscalls"]]
        if told:
            text.append("Calls per request: " + "; ".join(told) + ".\n")
    text.append("† the server did not fill its core: compare CPU per request, not requests/s.")
    return "\n".join(text) + "\n"
