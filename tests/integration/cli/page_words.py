"""What a page names without running it: commands of this program with their options, make targets, files of the tree."""
import functools
import re
import shlex
import subprocess

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
CODE = re.compile(r"`([^`\n]+)`")
# Such pages are held to their generators instead.
GENERATED = "Generated from"


@functools.cache
def help_of(program, verb):
    r = subprocess.run([program, *([verb] if verb else []), "--help"], capture_output=True, text=True, check=False)
    return r.stdout if r.returncode == 0 else ""


def commands(text):
    """Every command line that a page shows: in blocks of the shell, and as code in a line."""
    for kind, body in BLOCK.findall(text):
        body = body.replace("\\\n", " ")
        if kind in ("sh", ""):
            yield from (line.removeprefix("$ ").strip() for line in body.splitlines())
        elif kind == "console":
            yield from (line[2:] for line in body.splitlines() if line.startswith("$ "))
    yield from CODE.findall(BLOCK.sub("", text))


def simple(line):
    """The words of each simple command of a line."""
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
        lexer.whitespace_split, lexer.commenters = True, "#"
        words = list(lexer)
    except ValueError:
        return
    one = []
    for word in [*words, ";"]:
        if set(word) <= set("|&;()"):
            if one:
                yield one
            one = []
        else:
            one.append(word)


def check_program(program, words):
    """`ops-pod-cleaner VERB --option`, as the verb's own help has it."""
    words = [w for w in words if w not in ("…", "...")]
    if len(words) < 2 or not re.fullmatch(r"[a-z][a-z-]+", words[1]):
        return
    text = help_of(program, words[1])
    if f"ops-pod-cleaner {words[1]}" not in text and words[1] != "version":
        yield f"`{' '.join(words)}`: no such command"
        return
    for word in words[2:]:
        option = word.split("=")[0]
        if re.fullmatch(r"--[a-z-]+|-[a-z]", option) and option != "--help" and not re.search(rf"(^|[ ,]){option}\b", text, re.M):
            yield f"`{' '.join(words)}`: {words[1]} has no option {option}"


def check_make(top, words):
    targets = set(re.findall(r"^([\w-]+):", (top / "Makefile").read_text(), re.M))
    for word in words[1:]:
        if re.fullmatch(r"[a-z-]+", word) and word not in targets:
            yield f"`{' '.join(words)}`: no such target"


def check_helm(top, words):
    """--set KEY=VALUE, by the chart's values."""
    values = (top / "deploy/chart/values.yaml").read_text()
    for key in re.findall(r"--set(?:-file|-string)? ([\w.]+)=", " ".join(words)):
        for part in key.split("."):
            if not re.search(rf"^ *{part}:", values, re.M):
                yield f"`{' '.join(words)}`: the chart has no value {key}"


def check_links(folder, text):
    for target in re.findall(r"\]\(([^)#\s]+)\)", text):
        if "://" not in target and not (folder / target).exists():
            yield f"the link to {target} leads nowhere"


def check_figures(top, text):
    """A figure beside a link to what was measured stands there."""
    for part in re.split(r"\n(?=- |\n|\|)", BLOCK.sub("", text)):
        for page in re.findall(r"\]\((?:\.\./)*(?:docs/)?((?:benchmarks|torture)\.md)\)", part):
            measured = (top / "docs" / page).read_text()
            for figure in re.findall(r"(?<![\w.-])\d[\d,.]*\d(?![\w-])", part):
                if not re.search(rf"(?<![\d.,]){re.escape(figure)}(?![\d])", measured):
                    yield f"{page} does not say {figure}"


def check_troubles(top, text):
    """Every trouble that `status` can tell has its place on the page of troubles."""
    for name in re.findall(r'^TROUBLE\(\w+, "([\w-]+)"', (top / "model" / "troubles.def").read_text(), re.M):
        if f"`{name}`" not in text:
            yield f"the trouble {name} is missing"


def check_words(program, top, text):
    for line in commands(text):
        for words in simple(line):
            words = words[1:] if words[0] in ("sudo", "nice") else words
            if not words:
                continue
            if words[0] == "ops-pod-cleaner":
                yield from check_program(program, words)
            elif words[:2] == ["kubectl", "ops_pod_cleaner"]:
                yield from check_program(program, ["ops-pod-cleaner", *words[2:]])
            elif words[0] == "make":
                yield from check_make(top, words)
            elif words[0] == "helm":
                yield from check_helm(top, words)
    yield from check_figures(top, text)
    for path in re.findall(r"(?<![\w/])(?:deploy|demo|scripts|systemd)/[\w./-]*\w", text):
        if not (top / path).exists():
            yield f"{path} does not exist"


def without_remarks(body):
    """A block without what is said in it to people."""
    return [re.sub(r"(^|\s+)#.*$", "", line).rstrip() for line in body.splitlines()]


def shape(text):
    """What a page and its twin have in common."""
    plain = BLOCK.sub("", text)
    return {"levels of headings": [len(h) for h in re.findall(r"^(#+) ", plain, re.M)],
            "blocks": [(kind, without_remarks(body)) for kind, body in BLOCK.findall(text)],
            "commands": sorted(set(c for c in CODE.findall(plain) if c.split()[0] in ("ops-pod-cleaner", "make", "kubectl", "helm", "systemctl"))),
            "rows of tables": len(re.findall(r"^\|", plain, re.M))}


def check_twin(text, other):
    if text.startswith("#") and GENERATED in text[:300]:
        return
    ours, theirs = shape(text), shape(other)
    for what, value in ours.items():
        if value != theirs[what]:
            yield f"its {what} differ from the English page: {difference(value, theirs[what])}"


def difference(a, b):
    if not isinstance(a, list):
        return f"{a} and {b}"
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return f"number {i + 1}: {x!r} and {y!r}"
    return f"{len(a)} and {len(b)}"
