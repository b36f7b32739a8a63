"""Files that change while the program runs: it takes what is right, and says what is not, without being told to."""
import os
import shutil

from harness.scenario import scenario

REFUSED = "reload failed, the old settings stay in force"


def replace(path, text):
    """As editors do: a new file in the place of the old one."""
    new = path.with_name(path.name + ".new")
    new.write_text(text)
    os.replace(new, path)


def settings_text(t, program, config):
    """The text that stands in the file for that configuration; the file stays as it is."""
    before = program.config_path.read_text()
    program.write_config(config)
    text = program.config_path.read_text()
    replace(program.config_path, before)
    return text


def taken(t, program, ns, generation):
    t.until("the changed file to be in force", lambda: (program.status() or {}).get("generation", 0) > generation, 30)
    return t.canary(ns)


@scenario("files/configuration")
def configuration(t):
    """A configuration that is edited is taken; a broken one is refused, told, and harms nothing; its correction is taken."""
    t.complete = False
    first, second = t.ns(), t.ns()
    program = t.run(evicted=first)
    gone, pids = [t.canary(first)], program.lasting()
    generation = program.status()["generation"]
    good = settings_text(t, program, t.config(evicted=[first, second]))
    replace(program.config_path, good + "nonsense: 1\n")
    t.until("the refusal in the log", lambda: REFUSED in program.log(), 30)
    t.until("the refusal in status", lambda: "nonsense" in program.ask("status").stdout, 10)
    assert program.status()["generation"] == generation
    gone.append(t.canary(first))
    program.config_path.write_text(good)        # in place, as `kubectl cp` and `cat >` do
    gone.append(taken(t, program, second, generation))
    assert "nonsense" not in program.ask("status").stdout
    assert pids == program.lasting(), "a process was started again"
    t.expect(deleted=gone)


@scenario("files/mounted")
def mounted(t):
    """A ConfigMap as a kubelet mounts it: a link is swapped for a new folder, and the old one removed."""
    t.complete = False
    first, second = t.ns(), t.ns()
    program = t.program(t.config(evicted=first), start=False)
    mount = program.dir / "mount"
    text = {1: program.config_path.read_text(), 2: settings_text(t, program, t.config(evicted=[first, second]))}

    def swap(number):
        (mount / f"..{number}").mkdir(parents=True)
        (mount / f"..{number}" / "config.yml").write_text(text[number])
        (mount / "..data_tmp").symlink_to(f"..{number}")
        os.replace(mount / "..data_tmp", mount / "..data")

    swap(1)
    (mount / "config.yml").symlink_to("..data/config.yml")
    program.config_path = mount / "config.yml"
    program.start()
    gone = [t.canary(first)]
    generation = program.status()["generation"]
    swap(2)
    shutil.rmtree(mount / "..1")
    gone.append(taken(t, program, second, generation))
    t.expect(deleted=gone)


@scenario("files/token")
def token(t):
    """A token file that is replaced is taken long before the old one would be read again."""
    ns = t.ns()
    path = t.write("token", t.server.tokens["cleaner"] + "\n")
    text = t.server.kubeconfig("cleaner").replace(f"    token: {t.server.tokens['cleaner']}", f"    tokenFile: {path}")
    kubeconfig = t.write("with-token-file", text)
    program = t.program(t.config(evicted=ns), kubeconfig)
    gone, generation = [t.canary(ns)], program.status()["generation"]
    replace(path, t.server.tokens["cleaner-writer"] + "\n")
    gone.append(taken(t, program, ns, generation))
    t.expect(deleted=gone)
    assert t.writes()[-1].user == "cleaner-writer", t.writes()[-1]
