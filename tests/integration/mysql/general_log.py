"""MariaDB's general log: what the server under test said to the database, and whether it may.

All of it goes by prepared statements, whose texts hold nothing that a client sent: marks for values, identifiers that the schema
has, words and numbers of the program's own. What tests say themselves, as another user, does not count; but it tells which
identifiers there are.
"""

import re

import sample_schema

ENTRY = re.compile(r"(?:\d{6} [ \d]\d:\d\d:\d\d\t|\t\t) *(\d+) ([A-Z][A-Za-z ]*?)\t(.*)", re.DOTALL)
HEADING = re.compile(r"^\S*mariadbd, Version: .*\n(?:Tcp port: .*\n)?Time\t.*\n?", re.MULTILINE)  # of each start
COMMANDS = {"Connect", "Prepare", "Execute", "Close stmt", "Quit", "Reset connection", "Reset stmt", "Fetch"}
OTHERS = ("fixture@", "root@", "shop_")
QUOTED = re.compile(r"`((?:[^`]|``)*)`")
NAMES = re.compile(QUOTED.pattern + r"|([\w$]+)")
LITERAL = re.compile(r"""'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*"|\b0x[0-9a-f]+\b|\b\d[\d.]*(?:e[-+]?\d+)?\b""", re.IGNORECASE)
COMMENT = re.compile(r"/\*|--\s|#|;")
SAMPLE = " ".join(sample_schema.TABLES + sample_schema.ROWS + sample_schema.MILLION)


def entries(text):
    """(thread, command, argument) of each entry; an argument may go over several lines."""
    current = None
    for line in HEADING.sub("", text).removesuffix("\n").split("\n"):
        match = ENTRY.match(line)
        if match:
            if current:
                yield current
            current = (int(match.group(1)), match.group(2), match.group(3))
        elif current:
            current = (current[0], current[1], current[2] + "\n" + line)
    if current:
        yield current


class Report:
    """texts     what was prepared, as it was
    shapes    the same without identifiers
    commands  how many there were of each
    problems  what may not be, as text"""

    def __init__(self, path, configured=()):
        """`configured`: statements that stand in a configuration (mysql_query), as they are prepared."""
        self.texts, self.commands, self.problems, configured = set(), {}, [], set(configured)
        others, said = set(), [SAMPLE]
        for thread, command, argument in entries(path.read_text(errors="replace")):
            if command == "Connect" and argument.startswith(OTHERS):
                others.add(thread)
            elif command == "Connect":
                others.discard(thread)  # numbers begin again with a restart
            if thread in others:
                said.append(argument)
                continue
            self.commands[command] = self.commands.get(command, 0) + 1
            if command == "Prepare":
                self.texts.add(argument)
            elif command not in COMMANDS and not argument.startswith(OF_FUNCTIONS):
                self.problems.append(f"{command}: {argument[:500]}")
        known = {quoted or word for quoted, word in NAMES.findall(" ".join(said))}
        for text in sorted(self.texts - configured):
            self._check(text, known)
        self.shapes = {QUOTED.sub("`", text) for text in self.texts}

    def _check(self, text, known):
        bare = QUOTED.sub(" ", text)
        for literal in LITERAL.findall(bare):
            if literal not in LITERALS and not (literal in OF_SCHEMA and "information_schema." in text):
                self.problems.append(f"the literal {literal} in a text: {text[:500]}")
        if COMMENT.search(LITERAL.sub(" ", bare)):
            self.problems.append(f"a comment or a second statement in a text: {text[:500]}")
        for name in QUOTED.findall(text):
            if name not in ALIASES and name not in known:
                self.problems.append(f"the identifier {name!r} that no table of the tests has: {text[:500]}")

    def __str__(self):
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self.commands.items()))
        return f"{len(self.texts)} distinct statements of {len(self.shapes)} shapes ({counts})"


# What the program's own literals say: nothing else may stand in a text.
LITERALS = {"0", "1", "2"} | {
    "65", "30", "6", "0e0",  # DECIMAL(65,30), TIME(6), +0e0
    "'true'", "'false'", "'null'", "3", "4", "5",  # of JSON, and the ranks of its types
    "'NULL'", "'STRING'", "'BOOLEAN'", "'ARRAY'", "'OBJECT'", "'INTEGER'", "'DOUBLE'", "'DECIMAL'", "'UNSIGNED INTEGER'"}
# Of those that read the schema alone.
OF_SCHEMA = {"'/'", "'.'", "','", "10", "15", "16", "256", "'BASE TABLE'", "'SYSTEM VERSIONED'", "'VIEW'"}
# What a function or a trigger of the tests does is logged as if its caller had said it.
OF_FUNCTIONS = ("INSERT INTO notes (text) VALUES ('n')", "SET @secre")
ALIASES = set()
