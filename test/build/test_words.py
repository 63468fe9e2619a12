"""tools/words.py reads prose, not code, and finds phrases over two lines."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "words.py"

FOUND = [
    ("a.c", "/* a table, most\n * of\n * which is empty */\nint x;\n", "2: of which"),
    ("a.c", 'int x;\nchar *s = "nobody";\n', "2: nobody"),
    ("a.py", "x = 1\n# it is\n# no table\n", "2: it is no table"),
    ("a.md", "The best. Of two the first.\n", "1: Of"),
    ("a.sh", "# lest it ends\n", "1: lest"),
]
FINE = [
    ("a.c", "/* there is no table */\nint nobody, lest; /* it is no longer used */\n"),
    ("a.py", "anew = whoever(1)\n"),
]


def run(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return subprocess.run([sys.executable, TOOL, name], cwd=tmp_path, capture_output=True, text=True)


@pytest.mark.parametrize("name,text,said", FOUND)
def test_a_word_of_the_list_is_found_and_fails(tmp_path, name, text, said):
    done = run(tmp_path, name, text)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("%s:%s (say " % (name, said)), done.stdout


@pytest.mark.parametrize("name,text", FINE)
def test_code_and_plain_words_pass(tmp_path, name, text):
    done = run(tmp_path, name, text)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_comment_beyond_100_columns_fails_and_code_that_wide_does_not(tmp_path):
    wide = 'char *s = "%s";\n' % ("x" * 100)
    done = run(tmp_path, "a.c", wide + "int x; /* %s\n */\n" % ("é" * 90))
    assert (done.returncode, done.stdout) == (0, "")
    done = run(tmp_path, "a.c", wide + "int x; /* %s\n */\n" % ("é" * 91))
    assert (done.returncode, done.stdout) == (1, "a.c:2: a comment of 101 columns; 100 are the most\n")
