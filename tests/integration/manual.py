"""Manuals whose examples are run: what a page shows is what happens.

A section (##) has one server, which a block of jsonc in it (a whole configuration, or a route) replaces, and one folder to work in.
`console` blocks are run by bash, line by line after "$ ", and their output compared; other languages are the tests' own. Ids, times
and numbers of milliseconds differ from run to run: what stood in the text for one stands for the real one in later commands, too,
and an id that comes again has to be the same again. "…" stands for anything, on a line of its own for any number of lines.
"""

import json
import re
import shutil
import subprocess

from roost_server import REPOSITORY, Server

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOKENS = re.compile(r"(?P<id>\b(?:1\d{9}|0):\d+-[0-9a-f]{8}\b)|(?P<tag>\b\d+-[0-9a-f]{8}\b)|(?P<date>\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT)"
                    r"|(?P<ms>\b\d+\.\d{3}\b)|(?P<ago>(?<=requested.: )\d+)|(?P<any>…)")
PATTERNS = {"id": r"(?:1\d{9}|0):SEQ-[0-9a-f]{8}", "tag": r"SEQ-[0-9a-f]{8}", "date": r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT",
            "ms": r"\d+\.\d{3}", "ago": r"\d+", "any": ".*"}


class Page:
    """A page of docs/."""

    def __init__(self, name):
        self.text = (REPOSITORY / "docs" / name).read_text()
        sections = (section for section in re.split(r"^## ", self.text, flags=re.MULTILINE)[1:])
        # (title, [(language, text), ...]) of those that have examples.
        self.sections = [(section.partition("\n")[0], blocks) for section in sections if (blocks := FENCE.findall(section))]
        self.first_config = next(text for language, text in self.sections[0][1] if language == "jsonc")

    def check_languages(self):
        assert len(FENCE.findall(self.text)) * 2 == self.text.count("```"), "a block without a language is not run"


def without_comments(text):
    return re.sub(r",(\s*[}\]])", r"\1", re.sub(r"(?m)(^|[\s,{\[])//.*$", r"\1", text))


class Reader:
    """Somebody who works through one section of a page."""

    BEFORE_CONFIG = ("jsonc",)  # languages with which a section begins that needs no server yet

    def __init__(self, page, folder):
        self.page = page
        self.folder = folder
        self.known = {}  # what the text shows: what it is here
        self.server = None
        self.count = 0

    def configure(self, text):
        value = json.loads(without_comments(text))
        config = value
        if "path" in value:
            config = json.loads(without_comments(self.page.first_config))
            config["http"]["sites"][0]["routes"].insert(0, value)
        self.stop()
        self.count += 1
        folder = self.folder / f"server{self.count}"
        shutil.copytree(REPOSITORY / "html", folder / "html")
        self.server = self.start(folder, {**config, "address": "127.0.0.1", "port": 0})
        self.known["127.0.0.1:4507"] = self.known["localhost:4507"] = "{}:{}".format(*self.server.address)

    def start(self, folder, config):
        return Server(folder, config)

    def stop(self):
        if self.server is not None:
            self.server.stop()
            self.server = None

    def here(self, text):
        """The text with what it shows replaced by what it is here."""
        for shown in sorted(self.known, key=len, reverse=True):
            text = text.replace(shown, self.known[shown])
        return text

    def check(self, shown, real, what):
        """Compares lines, and learns what ids and times are."""
        shown, real = shown.rstrip("\n").split("\n"), real.rstrip("\n").replace("\r", "").split("\n")
        position = 0
        for number, line in enumerate(shown):
            if line.strip() == "…":
                rest = len([later for later in shown[number + 1:] if later.strip() != "…"])
                if rest == 0:
                    return
                while position < len(real) - rest and not self.matches(shown[number + 1], real[position]):
                    position += 1
                continue
            assert position < len(real), f"{what}\nends before: {line}\n{chr(10).join(real)}"
            assert self.matches(line, real[position], learn=True), f"{what}\n{line!r} is shown, it is {real[position]!r}:\n{chr(10).join(real)}"
            position += 1
        assert position == len(real), f"{what}\nmore than is shown: {real[position:]}"

    def matches(self, shown, real, learn=False):
        pattern, names, end = "", [], 0
        for token in TOKENS.finditer(shown):
            kind, text = token.lastgroup, token.group()
            names.append((kind, text))
            seq = re.sub(r"^.*:|-.*$", "", text)
            pattern += re.escape(self.here(shown[end:token.start()])) + "(" + PATTERNS[kind].replace("SEQ", seq) + ")"
            end = token.end()
        match = re.fullmatch(pattern + re.escape(self.here(shown[end:])), real)
        if not match:
            return False
        for (kind, text), value in zip(names, match.groups()):
            if kind in ("id", "tag"):
                if self.known.get(text, value) != value:
                    return False
            if learn and kind in ("id", "tag", "date"):
                self.known[text] = value
        return True

    # the languages

    def console(self, text):
        for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            lines = step.split("\n")
            command = [lines.pop(0)]
            while command[-1].endswith("\\"):
                command.append(lines.pop(0))
            script = self.here("\n".join(command)).replace("sleep 0.5", "sleep 1")  # other tests run beside this one
            # A file, since what runs on in the background would keep a pipe open.
            with open(self.folder / "output", "w+b") as output:
                subprocess.run(["bash", "-c", script], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                               timeout=60, check=False)
            self.check("\n".join(lines).rstrip("\n"), (self.folder / "output").read_text(), script)

    def work_through(self, blocks):
        """All of a section. A block of another language is a method of its name, given its text and the block behind it."""
        try:
            if blocks[0][0] not in self.BEFORE_CONFIG:
                self.configure(self.page.first_config)
            for number, (language, text) in enumerate(blocks):
                if language == "jsonc":
                    self.configure(text)
                elif language == "console":
                    self.console(text)
                elif language != "text":
                    following = blocks[number + 1] if number + 1 < len(blocks) else (None, "")
                    getattr(self, language)(text, *following)
        finally:
            self.stop()
