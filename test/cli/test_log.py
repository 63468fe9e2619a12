"""--log=json: every message is one JSON object on a line of its own, in every subcommand."""

import json
import re
import subprocess

import pytest

from conftest import SEEN
from test_live import run_on_terminal

COMMANDS = re.findall(r"^  ([a-z]+) +\S", subprocess.run(
    [SEEN, "--help"], capture_output=True, text=True).stdout.split("usage:")[1], re.M)


def told(done):
    return [json.loads(line) for line in done.err.decode().splitlines()]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("how", [["--log=json", "--nosuchoption"], ["--nosuchoption", "--log", "json"]])
def test_an_error_in_every_subcommand(seen, command, how):
    done = seen(command, *how)
    (message,) = told(done)
    assert done.code == 2 and message["level"] == "error"
    plain = seen(command, "--nosuchoption").err.decode()
    assert plain == "seen: %s\n" % message["message"]


def test_a_warning(seen):
    done = seen("--log=json", "-k2", text="a\tb\na\n")
    (message,) = told(done)
    assert done.code == 0 and message["level"] == "warning" and "record 2" in message["message"]
    assert seen("--log=text", "-k2", text="a\tb\na\n").err.startswith(b"seen: ")
    assert seen("--log=json", "-q", "-k2", text="a\tb\na\n").err == b""


def test_what_is_wrong_in_a_spec_has_its_place(seen):
    for command in [], ["plan"]:
        done = seen(*command, "--log=json", *([] if command else ["-w"]), "sliding:1x")
        (message,) = told(done)
        assert (message["spec"], message["column"]) == ("sliding:1x", 10) and "unit" in message["message"]


def test_bytes_and_control_characters_of_a_name_are_valid_json(seen, tmp_path):
    name = bytes(tmp_path) + b'/a"\n\xff'
    done = subprocess.run([SEEN.encode(), b"--log=json", name], capture_output=True)
    assert json.loads(done.stderr)["message"].startswith('cannot open %s/a"\n\u00ff: ' % tmp_path)


def test_a_message_is_never_cut(seen):
    name = "x" * 3000
    assert name in told(seen("--log=json", name))[0]["message"] and name.encode() in seen(name).err


def test_no_progress_among_json_lines():
    assert run_on_terminal("--log=json") == b""


def test_it_is_text_or_json(seen):
    seen("--log=xml").refused("--log", "xml", "text or json")


def test_a_state_may_go_on_with_another_format(seen, state):
    seen("--state", state, "-w", "landmark mem=64KiB", text="a\n")
    done = seen("--state", state, "--log=json", "--tag", text="a\n")
    assert done.out == b"dup\ta\n" and "resuming after record 1" in told(done)[0]["message"]
