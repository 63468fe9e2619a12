"""Slips of the finger: every option, value, command and name that is nearly right gets the right one told."""

import shlex

import pytest

SLIPS = {
    # options
    "--cvs": ["--cvs", "did you mean --csv?"],
    "--ingore-case": ["did you mean --ignore-case?"],
    "count --groupby x": ["--groupby", "did you mean --group-by?"],
    "filter --lits x": ["did you mean --list?"],
    "plan --fq 1": ["did you mean --fp?"],
    # values
    "--refresh lsat": ["--refresh takes last or first, not 'lsat'", "did you mean last?"],
    "--keep frist": ["first or last", "did you mean first?"],
    "--output=jsno": ["text or json", "did you mean json?"],
    "--stats=jsn": ["text or json", "did you mean json?"],
    "compare -w landmark -o scv": ["text, json or csv", "did you mean csv?"],
    "plan -o jsn": ["did you mean json?"],
    "count -o xml": ["--output takes text", "not 'xml', as in --output text"],
    "generate --format cvs": ["lines, tsv, csv or ndjson", "did you mean csv?"],
    "generate --gaps brust": ["did you mean burst?"],
    "generate --time rfc339": ["did you mean rfc3339?"],
    "--tag=verdit": ["'verdit'", "did you mean verdict?"],
    "--filter blom": ["did you mean bloom?"],
    "--overload srink": ["did you mean shrink?"],
    "help --completion bsh": ["bash, zsh or fish", "did you mean bash?"],
    "--help=al": ["did you mean all?"],
    # specs
    "-w slidng:5": ["the window 'slidng' is not known", "did you mean sliding?"],
    "plan lanmark:5": ["did you mean landmark?"],
    "-w 'landmark fpp=1'": ["the option 'fpp' is not known", "did you mean fp?"],
    "-w 'landmark filter=blom'": ["filter='blom'", "did you mean bloom?"],
    "-w 'sliding:5 refresh=frist'": ["refresh='frist'", "did you mean first?"],
    "-w forever": ["the window 'forever' is not known", "start with landmark"],
    "-w 'landmark filter=magic'": ["choose one of bloom"],
    "-w 'landmark colour=1'": ["the options are fp, mem"],
    # commands
    "plna": ["no command and no file 'plna'", "seen plan"],
    "help dedpu": ["'dedpu'", "did you mean dedup?"],
}


@pytest.mark.parametrize("line", SLIPS)
def test_a_slip_of_the_finger_is_told_what_was_meant(seen, line):
    seen(*shlex.split(line), text="a\n").refused(*SLIPS[line])


def test_a_spec_that_was_not_quoted_is_told_so(seen, tmp_path):
    words = ["a window and its options are one text", "-w 'landmark fp=1e-3 mem=64KiB'"]
    for command in [], ["count"], ["top"], ["compare"]:
        seen(*command, "-w", "landmark", "fp=1e-3", "mem=64KiB", text="a\n").refused(*words)
    seen("-w", "sliding:1h", "rate=5", text="a\n").refused("-w 'sliding:1h rate=5'")
    (tmp_path / "fp=1e-3").write_text("a\na\n")
    assert seen("fp=1e-3", cwd=tmp_path).lines == ["a"]
    seen("other=1", cwd=tmp_path).refused("cannot open other=1")


def test_plan_takes_options_of_a_spec_as_the_others_do(seen):
    inside = seen("plan", "landmark:1e6 fp=1e-3 mem=8MiB", "-o", "json")
    assert inside.code == 0 and seen("plan", "--fp", "1e-3", "--mem", "8MiB", "landmark:1e6", "-o", "json").out == inside.out
    assert seen("plan", "--json", "landmark:1e6", "fp=1e-3", "mem=8MiB").out == inside.out
    assert seen("plan", "landmark:1e6 fp=1e-9", "--fp", "1e-3", "--mem", "8MiB").lines == \
        seen("plan", "landmark:1e6 fp=1e-3 mem=8MiB", "-o", "text").lines
    seen("plan", "--fp", "2", "landmark").refused("--fp 2")
    seen("plan", "--fp", "1e-12", "--items", "1e9", "--mem", "64KiB", "landmark").refused("mem")
