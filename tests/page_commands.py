"""The commands that the operators' pages show, read from the pages, and which test runs each of them.

A command is what one types: of a block ```sh, or of an indented one, every line (with what follows a backslash, parted at &&, without
its remark), and in the text every `code` that begins with a program of TYPED and is more than the name of one of its verbs. Blocks ```console, and what they print,
are integration/pages' own; commands of this program in the text name things as NAMESPACE/POD and are held to its --help there.
tests/page_claims.py is the table; a runner takes its Share of it, runs the text of the page, and its last word is that nothing is left.
"""
import collections
import dataclasses
import fnmatch
import os
import pathlib
import re

from page_claims import CLAIMS, NOT_RUN, PAGES, SUBSTITUTIONS

TOP = pathlib.Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
INDENTED = re.compile(r"(?<=\n\n)(?: {4}\S.*\n)+")
CODE = re.compile(r"`([^`\n]+)`")
# What an operator types -> how many words a command has at least: `kubectl scale` speaks of a verb, `make deb` is a command.
TYPED = {"sudo": 2, "systemctl": 3, "journalctl": 2, "kubectl": 3, "helm": 3, "make": 2, "docker": 3, "podman": 3, "ctr": 3}


@dataclasses.dataclass(frozen=True)
class Command:
    page: str
    line: int
    heading: str
    text: str

    def __str__(self):
        return f"{self.page}:{self.line}: {self.text}"


def of_block(body, first):
    """(line, command) of a block whose first line is that one of the page."""
    whole, began = "", 0
    for number, line in enumerate(body.splitlines(), first):
        began = began if whole else number
        whole += re.sub(r"(^|\s+)# .*$", "", line).strip()
        if whole.endswith("\\"):
            whole = whole[:-1]
            continue
        yield from ((began, part) for part in filter(None, whole.split(" && ")))
        whole = ""


def of_text(text):
    """(line, command) of the `code` between the blocks."""
    for match in CODE.finditer(text):
        words = match[1].split()
        if words and len(words) >= TYPED.get(words[0], len(words) + 1):
            yield text.count("\n", 0, match.start()) + 1, match[1]


def read(page, text):
    """Every command of a page, in its order."""
    found, blank = [], lambda match: "\n" * match[0].count("\n")
    for match in BLOCK.finditer(text):
        if match[1] == "sh":
            found += of_block(match[2], text.count("\n", 0, match.start()) + 2)
    plain = BLOCK.sub(blank, text)
    for match in INDENTED.finditer(plain):
        found += of_block(match[0], plain.count("\n", 0, match.start()) + 1)
    found += of_text(INDENTED.sub(blank, plain))
    headings = [(plain.count("\n", 0, m.start()) + 1, m[1]) for m in re.finditer(r"^#+ (.*)$", plain, re.M)]
    return [Command(page, line, next((h for at, h in reversed(headings) if at < line), ""), command) for line, command in sorted(found, key=lambda f: f[0])]


def files(page):
    """What the page has its reader write: name -> text, of the blocks that begin with `# NAME`."""
    return {m[1]: m[0] for _, body in BLOCK.findall((TOP / page).read_text()) if (m := re.match(r"# ([\w.-]+)\n(?s:.*)", body))}


def every():
    return [command for page in PAGES for command in read(page, (TOP / page).read_text())]


def claimants(command):
    return [claim for claim in CLAIMS if claim[1] == command.page and fnmatch.fnmatchcase(command.text, claim[2])]


def mistakes(commands, claims=CLAIMS, not_run=NOT_RUN):
    """What is wrong between pages and table: a command that nobody runs, or two, and rows that speak of nothing."""
    met = collections.Counter()
    for command in commands:
        rows = [row for row in (*claims, *not_run) if row[-2] == command.page and fnmatch.fnmatchcase(command.text, row[-1])]
        met.update(rows)
        if len(rows) != 1:
            yield f"{command}: {'nobody runs it' if not rows else 'more than one row of the table speaks of it'}"
    yield from (f"{row[-2]} shows no `{row[-1]}`" for row in (*claims, *not_run) if not met[row])


def environment(**more):
    """That of somebody who types, also where a make started the tests: it would have the make that is typed say more."""
    return {**{name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}, **more}


class Share:
    """What one runner has to run, in the order of the pages; `values` fill its substitutions."""

    def __init__(self, runner, **values):
        self.substitutions = [(old, new.format(**values)) for who, old, new in SUBSTITUTIONS if who == runner]
        self.commands = [command for command in every() if (runner in [claim[0] for claim in claimants(command)])]
        self.unrun = list(self.commands)

    def of(self, page, pattern="*"):
        return [c for c in self.commands if c.page == page and fnmatch.fnmatchcase(c.text, pattern)]

    def typed_for_all(self, text):
        """The same, of a command that does the same on whatever page it stands."""
        same = [c for c in self.unrun if c.text == text]
        return [self.typed(command) for command in same][0]

    def typed(self, command):
        """What is to be given to a shell: the text of the page, but for the substitutions. It counts as run."""
        self.unrun.remove(command)
        text = command.text
        for old, new in self.substitutions:
            text = text.replace(old, new)
        return text

    def check_all_ran(self):
        assert self.commands, "none of the pages' commands are this runner's"
        assert not self.unrun, "shown and not run: " + "; ".join(map(str, self.unrun))
