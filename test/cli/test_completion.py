"""Completion, asked of the shells themselves: bash and zsh in a terminal with the TAB key, fish with
its `complete -C`.  A shell that is not installed is skipped aloud."""

import os
import pty
import select
import shutil
import signal
import subprocess
import time

import pytest

from conftest import SEEN

# (what is typed before TAB, what stands on the line afterwards)
ONE_ANSWER = [
    ("seen comp", "seen compare"),
    ("seen acc", "seen access.log"),
    ("seen --dupl", "seen --duplicates"),
    ("seen dedup --dupl", "seen dedup --duplicates"),
    ("seen count --out", "seen count --output"),
    ("seen count -o js", "seen count -o json"),
    ("seen generate --form", "seen generate --format"),
    ("seen generate --format cs", "seen generate --format csv"),
    ("seen --stats=j", "seen --stats=json"),
    ("seen --filter age", "seen --filter age-partitioned"),
    ("seen --filter=age", "seen --filter=age-partitioned"),
    ("seen -w sli", "seen -w sliding:"),
    ("seen -w 'sliding:1h refresh=f", "seen -w 'sliding:1h refresh=first"),
    ("seen plan sliding:1h refresh=f", "seen plan sliding:1h refresh=first"),
    ("seen filter --list cust", "seen filter --list customers.txt"),
    ("seen filter --list=cust", "seen filter --list=customers.txt"),
    ("seen filter --list customers.txt acc", "seen filter --list customers.txt access.log"),
    ("seen --zone Europe/Berl", "seen --zone Europe/Berlin"),
    ("seen help gen", "seen help generate"),
]

# Nothing is offered for another subcommand's option, for a file where none is read, for a number.
NO_ANSWER = ["seen plan --dupl", "seen generate acc", "seen --items acc", "seen --nosuch"]


@pytest.fixture
def folder(tmp_path):
    for name in "access.log", "customers.txt":
        (tmp_path / name).touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "seen").symlink_to(SEEN)
    return tmp_path


def environment(folder):
    return {"PATH": "%s/bin:%s" % (folder, os.environ["PATH"]), "HOME": str(folder), "TERM": "dumb",
            "LC_ALL": "C.UTF-8", "PS1": "$ "}


class Terminal:
    """An interactive shell; what is typed comes back with what the shell makes of it."""

    def __init__(self, argv, folder):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(argv[0], argv, environment(folder))
        self.screen = ""

    def read_until(self, done, seconds=10):
        end = time.monotonic() + seconds
        while not done(self.screen) and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                self.screen += os.read(self.fd, 65536).decode(errors="replace").replace("\x07", "")
        return done(self.screen)

    def type(self, text):
        self.screen = ""
        os.write(self.fd, text.encode())

    def run(self, command):
        self.type(command + "; echo DO''NE\n")
        assert self.read_until(lambda s: "$ " in s.partition("DONE")[2], 30), self.screen

    def clear(self):
        self.type("\x15")
        self.run("true")

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


@pytest.fixture(params=["bash", "zsh"])
def terminal(request, folder):
    if not shutil.which(request.param):
        pytest.skip("%s is not installed: tools/setup.sh test" % request.param)
    bash = ["bash", "--norc", "--noprofile", "-i"]
    shell = Terminal(bash if request.param == "bash" else ["zsh", "-f", "-i"], folder)
    if request.param == "zsh":
        shell.run("autoload -U compinit; compinit -D -u; unsetopt list_beep")
    shell.run("source <(seen help --completion %s)" % request.param)
    yield shell
    shell.close()


def test_tab_completes_in_a_terminal(terminal):
    for typed, wanted in ONE_ANSWER:
        terminal.type(typed + "\t")
        assert terminal.read_until(lambda screen: wanted in screen), (typed, terminal.screen)
        terminal.clear()


def test_tab_proposes_nothing_where_there_is_nothing(terminal):
    for typed in NO_ANSWER:
        terminal.type(typed + "\t|")
        assert terminal.read_until(lambda screen: typed + "|" in screen), terminal.screen
        terminal.clear()


def test_bash_completes_behind_a_pipe_and_an_assignment(folder):
    shell = Terminal(["bash", "--norc", "--noprofile", "-i"], folder)
    shell.run("source <(seen help --completion bash)")
    for typed, wanted in ("cat x | seen --dupl", "seen --duplicates"), ("A=1 seen comp", "seen compare"):
        shell.type(typed + "\t")
        assert shell.read_until(lambda screen: wanted in screen), shell.screen
        shell.clear()
    shell.close()


def fish(folder, line):
    script = "source (seen help --completion fish | psub); complete -C $argv[1]"
    done = subprocess.run(["fish", "--no-config", "-c", script, line], cwd=folder, timeout=300,
                          env=environment(folder), capture_output=True, text=True)
    assert done.stderr == ""
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


def needs_fish():
    if not shutil.which("fish"):
        pytest.skip("fish is not installed: tools/setup.sh test")


@pytest.mark.parametrize("typed, wanted", ONE_ANSWER, ids=[typed for typed, _ in ONE_ANSWER])
def test_fish_knows_the_one_answer(typed, wanted, folder):
    needs_fish()
    words = fish(folder, typed)
    assert len(words) == 1 and wanted.endswith(words[0]), words


@pytest.mark.parametrize("typed", NO_ANSWER)
def test_fish_proposes_nothing_where_there_is_nothing(typed, folder):
    needs_fish()
    assert fish(folder, typed) == []


def test_every_option_of_every_subcommand_is_known_to_every_shell(folder):
    """The scripts are data and a few lines: the data are all that --help=all has."""
    from test_manners import COMMANDS, help_of, options_in

    bash = help_of("help", "--completion", "bash")
    zsh = help_of("help", "--completion", "zsh")
    fish = help_of("help", "--completion", "fish")
    for command in COMMANDS:
        options = options_in(help_of(command, "--help=all"))
        line = next(l for l in bash.split("_seen_options()")[1].splitlines()
                    if l.startswith("    %s) echo" % command))
        body = zsh.split("\n_seen_%s() {" % command)[1].split("\n}\n")[0]
        for option in options:
            assert "--%s " % option in line
            assert "--%s" % option in body
            assert any("__seen_runs %s'" % command in l and " -l %s " % option in l
                       for l in fish.splitlines())
