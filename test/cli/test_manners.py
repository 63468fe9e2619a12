"""What seen says of itself: --help, manual pages and errors, all written from the same tables."""

import os
import pty
import re
import shutil
import subprocess

import pytest

from conftest import SEEN, skip_what_is_not_built_in

COMMANDS = re.findall(r"^  ([a-z]+) +\S", subprocess.run(
    [SEEN, "--help"], capture_output=True, text=True).stdout.split("usage:")[1], re.M)


def help_of(*args):
    done = subprocess.run([SEEN, *args], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", (args, done.stderr)
    return done.stdout


def options_in(text):
    """The options that a line of --help=all begins with."""
    return set(re.findall(r"^  (?:-\w, |    )--([a-z-]+)", text, re.M))


def test_there_are_subcommands():
    assert {"dedup", "plan", "compare", "filter", "count", "top", "diff", "generate", "state", "help"} <= set(COMMANDS)


# -- help ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_screen_and_begins_with_examples(command):
    text = help_of(command, "--help")
    lines = text.splitlines()
    examples, usage = text.index("\n  seen "), text.index("\nusage: ")
    assert len(lines) <= 40 and examples < usage
    prose = [line for line in lines if not line.startswith("  ")]
    assert max(map(len, prose)) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_the_same_however_it_is_asked_for(command):
    short, full = help_of("help", command), help_of("help", "--all", command)
    assert short == help_of(command, "--help") == help_of(command, "-h")
    assert full == help_of(command, "--help=all") != short


@pytest.mark.parametrize("command", COMMANDS)
def test_the_full_help_explains_every_option_and_the_short_one_only_those(command):
    full = help_of(command, "--help=all")
    short = help_of(command, "--help")
    assert {"help", "version"} <= options_in(full)
    assert set(re.findall(r"--([a-z][a-z-]*)", short.split("\nusage:")[1])) - {"help"} <= options_in(full)
    assert options_in(short) < options_in(full)


def test_the_full_help_knows_the_options_of_the_spec():
    for command in "dedup", "compare", "plan", "top":
        assert {"fp", "mem", "items", "filter", "refresh"} <= options_in(help_of(command, "--help=all"))
    assert "fp=X" in help_of("count", "--help=all")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_full_help_and_the_manual_page_have_the_exit_codes(command):
    exits = help_of(command, "--help=all").split("\nExit codes:\n")[1]
    codes = re.findall(r"^  (\d)  ", exits, re.M)
    assert re.findall(r"^\.B (\d)$", man(command).split(".SH EXIT STATUS")[1], re.M) == codes
    assert max(map(len, exits.splitlines())) <= 80
    assert {"0", "2"} <= set(codes) and ("3" in codes) == (command in ("dedup", "diff"))


def test_bare_help_all_is_that_of_dedup():
    assert help_of("--help=all") == help_of("dedup", "--help=all") == help_of("help", "--all")


def test_help_that_cannot_be_written_is_an_error():
    with open("/dev/full", "w") as full:
        for args in ["--help"], ["plan", "--help"], ["help", "--man"], ["help", "--completion", "zsh"]:
            done = subprocess.run([SEEN, *args], stdout=full, stderr=subprocess.PIPE, text=True)
            assert done.returncode == 2 and "cannot write the output" in done.stderr


def test_refusals(seen):
    seen("--help=most").refused("--help=all")
    seen("help", "plan", "count").refused("one command at a time", "'count'")
    seen("help", "--completion", "csh").refused("bash, zsh or fish")
    seen("help", "--mann").refused("--man")
    seen("plan", "--josn").refused("--json")
    seen("count", "-Q").refused("-Q", "seen count --help")


def test_bare_seen_at_a_terminal_says_what_it_is_for():
    ours, theirs = pty.openpty()
    done = subprocess.run([SEEN], stdin=theirs, capture_output=True, text=True, timeout=300)
    os.close(ours), os.close(theirs)
    assert done.returncode == 0 and done.stdout == help_of("--help")


# -- examples -----------------------------------------------------------------------------------


def examples_of(command):
    """The lines between the prose and the usage; what a line is for stands behind or below it."""
    text = help_of(command, "--help").split("\nusage:")[0]
    return [re.split(r" {2,}", line.strip())[0] for line in text.splitlines()
            if re.match(r"  (seen|tail|source) ", line)]


@pytest.mark.parametrize("line", [line for command in COMMANDS for line in examples_of(command)])
def test_each_example_runs(line, sample_files):
    (sample_files / "seen").symlink_to(SEEN)
    env = dict(os.environ, PATH="%s:%s" % (sample_files, os.environ["PATH"]))
    # What ends at once is told to have been judged by arrival.
    line = line.replace("tail -f clicks.tsv | seen", "cat clicks.tsv | seen -q").replace("| man -l -", "| head -1")
    done = subprocess.run(["bash", "-c", line], cwd=sample_files, env=env, capture_output=True, text=True,
                          timeout=300)
    skip_what_is_not_built_in(done.stderr.encode())
    assert done.returncode == 0 and "seen: " not in done.stderr, done.stderr
    assert done.stdout or ">" in line or "<(" in line


# -- manual pages -------------------------------------------------------------------------------

PAGES = [None, *COMMANDS]


def man(command):
    return help_of("help", "--man", *([command] if command else []))


@pytest.mark.parametrize("command", PAGES)
def test_a_manual_page_has_all_its_sections_in_order(command):
    page = man(command)
    sections = re.findall(r"^\.SH (.*)", page, re.M)
    wanted = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS" if command else "COMMANDS", "EXIT STATUS",
              "EXAMPLES", "SEE ALSO"]
    assert [s for s in sections if s not in ("SPEC", "ENVIRONMENT")] == wanted
    others = [c for c in COMMANDS if c != command]
    assert re.findall(r"^\.BR seen\\-(\w+) \(1\)", page[page.index(".SH SEE ALSO"):], re.M) == others


@pytest.mark.parametrize("command", COMMANDS)
def test_a_manual_page_has_the_options_and_examples_of_help(command):
    page = man(command).replace("\\-", "-")
    assert set(re.findall(r"^(?:\\fB-\w\\fR, )?\\fB--([a-z-]+)\\fR", page, re.M)) == \
        options_in(help_of(command, "--help=all"))
    assert page.split(".SH EXAMPLES")[1].count(".TP") == len(examples_of(command)) > 0


def test_the_pages_of_commands_with_specs_explain_them():
    for command in "dedup", "plan", "compare", "count", "top":
        page = man(command)
        assert ".SH SPEC" in page and "sliding:SPAN" in page and "age\\-partitioned" in page
        assert ("\\fBrefresh=\\fR" in page) != ("\\fB\\-\\-refresh\\fR" in page)
    assert ".SH SPEC" not in man("filter")


@pytest.mark.parametrize("command", PAGES)
def test_mandoc_finds_nothing_to_say_of_a_page(command):
    if not shutil.which("mandoc"):
        pytest.skip("mandoc is not installed: tools/setup.sh test")
    page = man(command)
    done = subprocess.run(["mandoc", "-T", "lint"], input=page, capture_output=True, text=True)
    complaints = [line for line in done.stdout.splitlines() if "longer than 80 bytes" not in line]
    assert complaints == []


@pytest.mark.parametrize("command", PAGES)
def test_groff_warns_of_nothing_and_shows_what_is_to_be_typed(command):
    if not shutil.which("groff"):
        pytest.skip("groff is not installed: tools/setup.sh test")
    done = subprocess.run(["groff", "-ww", "-man", "-Tutf8", "-P-c", "-rLL=200n"], input=man(command),
                          capture_output=True, text=True)
    assert done.stderr == ""
    shown = re.sub(r".\x08", "", done.stdout)
    for line in examples_of(command or "dedup"):
        assert line in shown


def test_a_build_that_can_be_repeated_has_its_date_from_outside():
    env = dict(os.environ, SOURCE_DATE_EPOCH="86400")
    page = subprocess.run([SEEN, "help", "--man"], env=env, capture_output=True, text=True).stdout
    assert page.startswith('.TH SEEN 1 1970-01-02 "seen ')


# -- messages -----------------------------------------------------------------------------------


def test_a_misspelt_command_is_named_unless_there_is_such_a_file(seen, tmp_path):
    seen("compre", "-w", "landmark").refused("no command and no file 'compre'", "seen compare")
    seen("no-such.txt").refused("cannot open no-such.txt")
    (tmp_path / "compre").write_text("a\na\n")
    assert seen("compre", cwd=tmp_path).out == b"a\n"


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_record_that_could_not_be_judged_is_told(threads, seen):
    lines = ["k%d\tx" % i for i in range(50000)]
    lines[43210] = lines[45000] = "no second field"
    done = seen("-k", "2,1", "-j", threads, text="\n".join(lines) + "\n")
    assert done.err.decode() == ("seen: 2 records were passed on unjudged: "
                                 "record 43211 has 1 field, -k asks for 2: try -d ' '\n")


def test_what_is_near_to_nothing_is_not_guessed_at(seen):
    seen("help", "xyz").refused("there is no command 'xyz'; seen --help lists them")
    seen("--zzzzzzz").refused("unknown option --zzzzzzz; seen dedup --help lists them")


def test_where_records_are_too_long_their_limit_is_named(seen):
    done = seen("--max-record", "1KiB", "-k", "1,2", text="a\tb\nc\n" + "x" * 1000000 + "\n")
    assert b"2 records were passed on unjudged" in done.err and b"--max-record" in done.err


def test_a_bad_key_in_a_list_is_told_by_its_number(seen, tmp_path):
    (tmp_path / "list").write_text("a\tb\nc\td\ne\n")
    seen("filter", "--keys", "list", "-k", "1,2", text="a\tb\n", cwd=tmp_path).refused("list: record 3 has 1 field, -k asks for 2")


@pytest.mark.parametrize("line", ["--duplicates --tag", "--csv --ndjson", "--null --crlf",
                                  "filter --list x --exact --fp 0.1", "filter --list x -v --tag"])
def test_options_that_exclude_each_other(line, seen):
    seen(*line.split()).refused("exclude each other: ")
