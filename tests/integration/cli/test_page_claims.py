#!/usr/bin/env python3
"""Every command of the operators' pages is run by one test, or the table says why not; and a runner that forgets one fails."""
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(TOP / "tests"))
import cases  # noqa: E402
import page_claims  # noqa: E402
import page_commands  # noqa: E402

PAGE = """# One

```sh
make deb && sudo apt install ./x.deb    # a remark
helm upgrade x deploy/chart \\
  --set mode=enforce
```

## Two

Type `kubectl get pods`, not `kubectl scale`, nor `ops-pod-cleaner status`:

    kubectl -n NAMESPACE get deployment NAME

```console
$ make nothing
```
"""


def texts():
    return [c.text for c in page_commands.read("page", PAGE)]


def every_command_is_run_by_one_test():
    found = list(page_commands.mistakes(page_commands.every()))
    assert not found, "\n".join(found)


def every_runner_takes_its_share_and_asks_what_is_left():
    assert {claim[0] for claim in page_claims.CLAIMS} == set(page_claims.RUNNERS)
    steps = (TOP / "scripts" / "check").read_text() + (TOP / "tests/integration/cli/CMakeLists.txt").read_text()
    for runner, path in page_claims.RUNNERS.items():
        assert path in steps or pathlib.Path(path).name in steps, f"{path} is no step"
        folder = (TOP / path).parent
        text = "".join(f.read_text() for f in [TOP / path, *folder.glob("*.py"), *folder.glob("*/*.py")] if f.name != pathlib.Path(__file__).name)
        assert f'Share("{runner}"' in text and "check_all_ran()" in text, f"{path} takes no share {runner}"


def commands_are_read_as_they_are_typed():
    assert texts() == ["make deb", "sudo apt install ./x.deb", "helm upgrade x deploy/chart --set mode=enforce", "kubectl get pods",
                       "kubectl -n NAMESPACE get deployment NAME"], texts()
    where = [(c.line, c.heading) for c in page_commands.read("page", PAGE)]
    assert where == [(4, "One"), (4, "One"), (5, "One"), (11, "Two"), (13, "Two")], where


def what_nobody_runs_is_found():
    commands = page_commands.read("page", PAGE)
    rows = tuple(("boot", "page", c.text) for c in commands)
    assert not list(page_commands.mistakes(commands, rows, ()))
    for wrong, word in ((rows[1:], "make deb: nobody runs it"), ((*rows, ("chart", "page", "make *")), "more than one row"),
                        ((*rows, ("chart", "page", "make x")), "shows no `make x`")):
        found = list(page_commands.mistakes(commands, wrong, ()))
        assert len(found) == 1 and word in found[0], found


def what_a_runner_forgets_is_found():
    share = page_commands.Share("chart", kubeconfig="/k")
    forgotten = share.commands[-1]
    for command in share.commands[:-1]:
        share.typed(command)
    try:
        share.check_all_ran()
    except AssertionError as e:
        assert str(forgotten) in str(e), e
    else:
        raise AssertionError("it was forgotten, and nobody says so")


def names_are_put_in():
    share = page_commands.Share("chart", kubeconfig="/k")
    assert share.typed(share.of("docs/troubleshooting.md", "kubectl --kubeconfig *")[0]) == "kubectl --kubeconfig /k get pods"


cases.run([every_command_is_run_by_one_test, every_runner_takes_its_share_and_asks_what_is_left, commands_are_read_as_they_are_typed,
           what_nobody_runs_is_found, what_a_runner_forgets_is_found, names_are_put_in])
