"""The README is true: its examples are run and print what it says."""
import os
import re
import subprocess
import sys

import pytest

from conftest import skip_what_is_not_built_in

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(os.path.abspath(os.environ.get("SEEN", os.path.join(ROOT, "build/seen"))))
README = open(os.path.join(ROOT, "README.md"), encoding="utf-8").read()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.M | re.S)


def commands(block):
    """(command, what it prints) of each line that begins with a dollar sign."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.M)[1:]
    return list(zip(parts[::2], parts[1::2]))


@pytest.mark.parametrize("block", blocks("console"), ids=lambda b: b.split("\n", 1)[0][2:50])
def test_each_console_example_prints_what_the_readme_shows(block, tmp_path):
    env = dict(os.environ, PATH=BUILD + os.pathsep + os.environ["PATH"])
    for command, shown in commands(block):
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True)
        skip_what_is_not_built_in(done.stderr.encode())
        assert done.stdout == shown, command
        assert done.stderr == ""


@pytest.mark.parametrize("line", re.findall(r"^\| `(seen .*?)` \|", README, re.M))
def test_each_line_of_what_else_there_is_runs(line, sample_files):
    env = dict(os.environ, PATH=BUILD + os.pathsep + os.environ["PATH"])
    done = subprocess.run(["bash", "-c", line], cwd=sample_files, env=env, capture_output=True, text=True)
    skip_what_is_not_built_in(done.stderr.encode())
    assert done.returncode == 0 and done.stdout and "seen: " not in done.stderr


def test_the_c_example_compiles_and_finds_the_duplicates(tmp_path):
    source = tmp_path / "example.c"
    source.write_text(blocks("c")[0])
    asan = ["-fsanitize=address,undefined"] if "asan" in os.path.basename(BUILD) else []
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", *asan, "-I", os.path.join(ROOT, "include"),
                    str(source), "-o", str(tmp_path / "example"), "-L", BUILD, "-lseen",
                    f"-Wl,-rpath,{BUILD}"], check=True)
    out = subprocess.run([tmp_path / "example"], capture_output=True, text=True, check=True).stdout
    assert out == "a new\nb new\na seen before\nc new\nb seen before\n"


def test_the_recording_shows_what_its_commands_print_now(request):
    """--update-golden records again."""
    path = os.path.join(ROOT, "doc/recording.svg")
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools/recording.py"), os.path.join(BUILD, "seen")],
                          capture_output=True, text=True, check=True)
    if request.config.getoption("--update-golden"):
        open(path, "w", encoding="utf-8").write(done.stdout)
    assert done.stderr == "" and done.stdout == open(path, encoding="utf-8").read()
    assert "![A terminal in which seen runs](doc/recording.svg)" in README


def test_every_file_it_links_to_is_there():
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert os.path.exists(os.path.join(ROOT, link)), link
