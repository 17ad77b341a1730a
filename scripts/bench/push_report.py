"""The tables of bench_push.py, and the limits the server has to keep."""

import statistics

TITLES = {"poll": "long-poll", "sse": "SSE", "ws": "WebSocket"}
WAITING = 0.05  # of the time ready but not running: from here on other work disturbs
MUST_BYTES, GOAL_BYTES = 512, 384
GOAL_FLOOR = {"poll": 1.3, "sse": 1.15, "ws": 1.15}  # x the CPU of the floor


def median(runs, key):
    return statistics.median(run[key] for run in runs)


def ratio(runs, others, key):
    """Round by round, as what disturbs a round disturbs all in it."""
    return statistics.median(a[key] / b[key] for a, b in zip(runs, others))


def progress(number, transport, name, run):
    return (f"round {number}, {TITLES[transport]}, {name}: {run['idle_bytes']:.0f} B idle, {run['flowed_bytes']:.0f} B after,"
            f" {run['cpu_us']:.2f} µs per delivery, p50 {run['p50']:.0f} p99 {run['p99']:.0f} last {run['last']:.0f} ms,"
            f" {run['errors']} errors, waiting {run['server_waiting']:.0%} / {run['own_waiting']:.0%}")


HEADINGS = ["", "own B idle", "own B after messages", "CPU µs per delivery", "spread", "CPU / floor", "p50 ms", "p99 ms",
            "last ms"]


def lines(cells):
    for name, runs in sorted(cells.items(), key=lambda item: median(item[1], "cpu_us")):
        cpu = [run["cpu_us"] for run in runs]
        against = f"{ratio(runs, cells['floor'], 'cpu_us'):.2f}" if "floor" in cells else "-"
        yield [name, f"{median(runs, 'idle_bytes'):,.0f}", f"{median(runs, 'flowed_bytes'):,.0f}", f"{median(runs, 'cpu_us'):.2f}",
               f"±{(max(cpu) - min(cpu)) / 2 / median(runs, 'cpu_us'):.0%}", against, f"{median(runs, 'p50'):.0f}",
               f"{median(runs, 'p99'):.0f}", f"{median(runs, 'last'):.0f}"]


def markdown(cells, environment):
    text = [environment, ""]
    for transport, rows in cells.items():
        text.append("| " + " | ".join([TITLES[transport], *HEADINGS[1:]]) + " |\n|---|" + "---:|" * (len(HEADINGS) - 1))
        text.extend("| " + " | ".join(line) + " |" for line in lines(rows))
        text.append("")
    return "\n".join(text)


def warnings(cells):
    """What a reader has to know before believing the figures."""
    for transport, rows in cells.items():
        for name, runs in rows.items():
            where = f"{TITLES[transport]}, {name}"
            if waited := [run for run in runs if max(run["server_waiting"], run["own_waiting"]) > WAITING]:
                yield f"{where}: other work kept a side waiting for its core in {len(waited)} of {len(runs)} rounds"
            if (softirq := median(runs, "softirq_us")) > 0.02 * median(runs, "cpu_us"):
                yield f"{where}: the kernel did {softirq:.2f} µs per delivery in a thread of its own: they are not in CPU"
            if not all(run["rested"] for run in runs):
                yield f"{where}: the server did not come to rest between messages"


def check(cells):
    """Yields (kind, holds, text) for every limit whose servers were measured."""
    for transport, rows in cells.items():
        for name, runs in rows.items():
            lost = sum(run["expected"] - run["deliveries"] for run in runs) or sum(run["errors"] for run in runs)
            kind = "must" if name == "roost" else "goal"
            yield kind, lost == 0, f"{TITLES[transport]}, {name}: every message came once, in order"
        if "roost" in rows:
            yield from check_roost(transport, rows)


def check_roost(transport, rows):
    roost, title = rows["roost"], TITLES[transport]
    own = max(median(roost, "idle_bytes"), median(roost, "flowed_bytes"))
    for kind, limit in (("must", MUST_BYTES), ("goal", GOAL_BYTES)):
        yield kind, own <= limit, f"{title}: {own:.0f} B of own memory per subscriber ({kind}: <= {limit})"
    if "nchan" in rows:
        for key, what in (("cpu_us", "CPU per delivery"), ("last", "publish to last delivery")):
            found = ratio(roost, rows["nchan"], key)
            yield "must", found < 1, f"{title}: {what} {found:.2f} x Nchan's (must: < 1)"
    if "floor" in rows:
        found, limit = ratio(roost, rows["floor"], "cpu_us"), GOAL_FLOOR[transport]
        yield "goal", found <= limit, f"{title}: CPU per delivery {found:.2f} x the floor's (goal: <= {limit:g})"
