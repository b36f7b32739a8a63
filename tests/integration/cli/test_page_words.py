#!/usr/bin/env python3
"""The checks of pages find what they are for: a page with one mistake each."""
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TOP / "tests"), str(pathlib.Path(__file__).parent)]
import cases  # noqa: E402
from page_words import check_links, check_troubles, check_twin, check_words  # noqa: E402

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
PAGE = """# One

`ops-pod-cleaner history --since 6h`, `make demo STAY=1`, [a page](docs/faq.md), `scripts/check --fast`

```sh
sudo ops-pod-cleaner status -o json | grep -v '^$'    # a remark
helm install x deploy/chart --set image.repository=R
```

| a | b |
|---|---|

- 10,984 kills ([torture](docs/torture.md))
"""


def found(text):
    return [*check_words(PROGRAM, TOP, text), *check_links(TOP, text)]


def with_mistake(right, wrong):
    assert right in PAGE, right
    return PAGE.replace(right, wrong)


def a_right_page_passes():
    assert not found(PAGE), found(PAGE)
    assert not list(check_twin(PAGE, PAGE.replace("One", "一").replace("a remark", "说明")))


def what_is_not_there_is_found():
    for right, wrong, word in (("history", "histories", "no such command"), ("--since", "--sinc", "no option --sinc"),
                               ("-o json", "-x json", "no option -x"), ("make demo", "make demos", "no such target"),
                               ("image.repository", "image.repo", "no value image.repo"), ("faq.md", "fax.md", "leads nowhere"),
                               ("scripts/check", "scripts/chock", "scripts/chock does not exist"),
                               ("10,984", "10,985", "does not say 10,985")):
        errors = found(with_mistake(right, wrong))
        assert len(errors) == 1 and word in errors[0], (wrong, errors)


def a_twin_that_differs_is_found():
    for right, wrong, word in (("# One", "## One", "headings"), ("-o json", "-o text", "blocks"), ("--since 6h", "--since 7h", "commands"),
                               ("|---|---|\n", "|---|---|\n| c | d |\n", "tables")):
        errors = list(check_twin(PAGE, with_mistake(right, wrong)))
        assert len(errors) == 1 and word in errors[0], (wrong, errors)


def a_trouble_without_its_place_is_found():
    page = (TOP / "docs" / "troubleshooting.md").read_text()
    assert not list(check_troubles(TOP, page))
    assert list(check_troubles(TOP, page.replace("`sink`", "`sunk`"))) == ["the trouble sink is missing"]


cases.run([a_right_page_passes, what_is_not_there_is_found, a_twin_that_differs_is_found,
           a_trouble_without_its_place_is_found])
