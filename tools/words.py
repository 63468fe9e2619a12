#!/usr/bin/env python3
"""Finds words and phrases that make a reader read twice, in comments, strings and documents, and comments
of C beyond 100 columns.

    tools/words.py               every file that git tracks
    tools/words.py FILE...       these files

Prints one line for each place, FILE:LINE: WORD (say ...) or FILE:LINE: how wide, and exits with 1 if there
is one. Words are not searched in code, so a name may be spelled like a word of the list. Phrases are also
found where a line ends within them. The width is checked here because clang-format leaves comments as they
are: it would wrap drawings.
"""

import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

# Each row: a regular expression in which a space stands for any white space, and what to write instead.
WORDS = (
    (r"anew", "'again', 'from the start', 'a new ...'"),
    (r"whoever", "name the caller, the user or the program"),
    (r"whomever", "name the person or the program"),
    (r"somebody|someone else", "name the caller, the user or the program"),
    (r"anybody", "'any user', 'any program', 'anyone'"),
    (r"nobody", "'no caller', 'no user', 'nothing', or name what is missing"),
    (r"whatever|whichever", "'any ...', 'for every ...', 'regardless of ...'"),
    (r"lest", "'so that ... not', 'because otherwise ...'"),
    (r"hereby|herein|thereby|therein|thereof|wherein|whence|thence", "'by this', 'in it', 'of it', 'from there'"),
    (r"of which", "start a new sentence that names the subject"),
    (r"so many", "the number itself: 'n keys', 'this many keys'"),
    (r"what there is", "name it"),
    (r"as far as it goes", "say where it ends"),
    (r"as if nothing (?:had )?happened", "'unchanged', 'as without ...'"),
    (r"(?!there )\w+ (?:is|are|was|were) no (?!more|longer|better|worse|larger|smaller|less|fewer|slower|faster|later|earlier"
     r"|older|higher|lower|different|need)\w+", "'is not a ...', 'there is not any ...' or name what is missing"),
    (r"of whose", "start a new sentence that names the subject"),
    (r"(?-i:Of)", "begin with the subject"),
    (r"the (?:more|less|fewer|larger|longer|older|smaller)\b[^.;:,]*, the (?:more|less|fewer|larger|longer|older|smaller)",
     "'... grows with ...', 'as ... grows, ... falls'"),
    (r"(?-i:Where) [^.;:]*, there (?!is|are|was|were|has|will|can|may)", "'If ...', 'When ...'"),
    (r"the (?:more|less|fewer|larger|longer|older|smaller) the", "'... grows with ...', 'as ... grows, ... falls'"),
)

# Places that may keep a word: (file, text of the line, why).
ALLOWED = ()

SUFFIXES = {".c", ".h", ".cpp", ".py", ".sh", ".md", ".build", ".txt"}
NAMES = {"Makefile"}
SKIPPED = re.compile(r"(^|/)golden/|^LICENSE$|^(tools|test/build)/(test_)?words\.py$")

C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(text):
    """The text with spaces for letters, so that the prose beside it keeps its place."""
    return re.sub(r"[^\n]", " ", text)


def prose_of_c(text):
    out, at = [], 0
    for token in C_TOKEN.finditer(text):
        out += [blank(text[at:token.start()]), prose_of_token(token.group())]
        at = token.end()
    return "".join(out) + blank(text[at:])


def prose_of_token(token):
    if token.startswith("//"):
        return "  " + token[2:]
    if token.startswith("/*"):
        inner = re.sub(r"(?m)^(\s*)\*", r"\1 ", token[2:-2])
        return "  " + inner + "  "
    return " " + re.sub(r"\\.", "  ", token[1:-1]) + " "


def prose_of_python(text):
    lines = [blank(line) for line in text.splitlines(keepends=True)]
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    source = text.splitlines(keepends=True)
    for kind, _, (row, column), (last, end), _ in tokenize.generate_tokens(io.StringIO(text).readline):
        if kind not in kinds:
            continue
        for i in range(row - 1, last):
            a = column if i == row - 1 else 0
            b = end if i == last - 1 else len(source[i])
            lines[i] = lines[i][:a] + re.sub(r"[\"'#]", " ", source[i][a:b]) + lines[i][b:]
    return "".join(lines)


def prose_of_hashed(text):
    """Shell, make and meson: all of it, without the signs that begin comments."""
    return re.sub(r"(?m)^(\s*)#+", lambda m: m.group(1) + " " * (len(m.group()) - len(m.group(1))), text)


def prose(path, text):
    if path.suffix in {".c", ".h", ".cpp"}:
        return prose_of_c(text)
    if path.suffix == ".py":
        return prose_of_python(text)
    return text if path.suffix == ".md" else prose_of_hashed(text)


PATTERNS = tuple((re.compile(rf"\b(?:{words})\b".replace(" ", r"\s+"), re.I), say) for words, say in WORDS)


def hits(path):
    """(line, word, what to say) of every place in a file that is not allowed."""
    text = path.read_text(encoding="utf-8")
    readable, lines = prose(path, text), text.splitlines()
    for pattern, say in PATTERNS:
        for match in pattern.finditer(readable):
            line = readable.count("\n", 0, match.start()) + 1
            if not any(str(path) == file and part in lines[line - 1] for file, part, _ in ALLOWED):
                yield line, " ".join(match.group().split()), say


WIDEST = 100


def wide(path):
    """(line, columns) of every line beyond WIDEST that a comment of C reaches."""
    if path.suffix not in {".c", ".h", ".cpp"}:
        return
    text = path.read_text(encoding="utf-8")
    commented = set()
    for token in C_TOKEN.finditer(text):
        if token.group().startswith("/"):
            first = text.count("\n", 0, token.start()) + 1
            commented.update(range(first, first + token.group().count("\n") + 1))
    for line, columns in enumerate(map(len, text.splitlines()), 1):
        if columns > WIDEST and line in commented:
            yield line, columns


def tracked():
    names = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in names.split("\0") if name]


def main(names):
    paths = [Path(name) for name in names] or [
        path for path in tracked()
        if (path.suffix in SUFFIXES or path.name in NAMES) and not SKIPPED.search(str(path)) and path.exists()
    ]
    bad = 0
    for path in paths:
        for line, columns in wide(path):
            print(f"{path}:{line}: a comment of {columns} columns; {WIDEST} are the most")
            bad += 1
        found = sorted(hits(path))
        for line, word, say in found:
            print(f"{path}:{line}: {word} (say {say})")
        bad += len(found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
