#!/usr/bin/env python3
"""Checks that every folder of src/ includes only what the layering allows.

Prints file:line and the rule that is broken, and exits with 1; says how much was checked otherwise.
Usage: check_layers.py [ROOT], where ROOT holds src/ (default: this repository).
"""

import pathlib
import re
import sys

# What each folder of src/ may include from, besides itself. A folder stands below everything it names.
MAY_INCLUDE = {
    "base": (),
    "log": ("base",),
    "metrics": ("base",),
    "config": ("base",),
    "event": ("base", "log", "metrics"),
    "net": ("base", "log", "metrics", "event"),
    "http": ("base", "log", "metrics", "event", "net"),
    "redis": ("base", "log", "metrics", "event", "net"),
    "push": ("base", "log", "metrics", "event", "redis"),
    "db": ("base", "log", "metrics", "event"),
    "tables": ("base", "log", "metrics", "event", "db"),
    "module": ("base", "log", "metrics", "config", "event", "net", "http", "redis", "push", "db", "tables"),
    # One folder per module: modules/x may not include modules/y.
    "modules": ("base", "log", "metrics", "config", "event", "net", "http", "redis", "push", "db", "tables", "module"),
    "server": ("base", "log", "metrics", "config", "event", "net", "http", "redis", "push", "db", "tables", "module",
               "modules"),
    "main.cc": ("base", "server"),
    "tools": ("base", "log", "metrics", "config", "event", "net", "http"),
}

SOURCES = {".cc", ".h", ".rl"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def owner(path):
    """The folder (or file) of src/ that a path relative to src/ belongs to."""
    return path.split("/", 1)[0]


def module_of(path):
    """modules/x/... -> x; None for what lies directly in modules/ and for every other path."""
    parts = path.split("/")
    return parts[1] if parts[0] == "modules" and len(parts) > 2 else None


def broken_rule(source, included):
    """Why the file `source` may not include `included` (both relative to src/); None where it may."""
    of, from_ = owner(source), owner(included)
    if of not in MAY_INCLUDE:
        return f"{of} has no place in the layering: give it one in scripts/check_layers.py"
    if from_ not in MAY_INCLUDE:
        return f'write the path from src/: "{included}" names no folder of it'
    if of != from_:
        allowed = MAY_INCLUDE[of]
        if from_ not in allowed:
            return f"{of} may include {', '.join(allowed) or 'nothing else'}; not {from_}"
    elif of == "modules":
        mine, other = module_of(source), module_of(included)
        if other is not None and mine != other:
            return f"a module never includes another one: {mine or 'modules'} includes {other}"
    return None


def check(root):
    """The complaints, one line each, and the numbers of files and of includes looked at."""
    src = pathlib.Path(root) / "src"
    complaints, files, includes = [], 0, 0
    for path in sorted(src.rglob("*")):
        if path.suffix not in SOURCES or not path.is_file():
            continue
        files += 1
        source = path.relative_to(src).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if match is None:
                continue
            includes += 1
            rule = broken_rule(source, match.group(1))
            if rule is not None:
                complaints.append(f"src/{source}:{number}: {rule}")
    return complaints, files, includes


def main(arguments):
    root = arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent
    complaints, files, includes = check(root)
    if files == 0:
        print(f"check_layers: no sources below {root}/src", file=sys.stderr)
        return 1
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    if complaints:
        return 1
    print(f"check_layers: {files} files, {includes} includes, every one allowed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
