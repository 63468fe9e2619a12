"""Mistakes that users make, and the message that each one gets: what is wrong, where, and what to do.

A row is a story, the command line, the exit code, and the message in two parts: what is wrong and where, what to do.
<n> stands for a number that the planner finds.
"""

import gzip
import io
import os
import re
import subprocess
import zipfile

import pytest

from conftest import SEEN, skip_what_is_not_built_in


def zipped(name, text):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), text)
    return archive.getvalue()


FILES = {
    "clicks.csv": b"when,user,ad,cost\n2024-11-20T10:00:00Z,ann,7,0.30\n2024-11-20T10:30:00Z,bob,7,free\n"
                  b"2024-11-20T08:30:00Z,ann,7,0.25\n",
    "german.csv": b"user;ad\nann;7\n",
    "dates.csv": b"when,user\n20-11-2024,ann\n",
    "quote.csv": b'id\nx\n"a\nb\n',
    "tagged.csv": b"user,seen\nann,new\n",
    "twice.csv": b"user,user\nann,bob\n",
    "other.csv": b"user,when\nann,1\n",
    "utf16.txt": b"\xff\xfea\0\n\0",
    "clicks.zip": zipped("clicks.csv", "user\nann\n"),
    "clicks.parquet": b"PAR1\x15\x04\x15\x10" + bytes(50) + b"PAR1",
    "cut.gz": gzip.compress(b"a\n" * 10000, mtime=0)[:40],
    "array.json": b'[{"id":1},\n{"id":2}]\n',
    "empty.txt": b"",
}

MISTAKES = [
    # files
    ("a file that is not there", "seen click.csv", 2,
     "cannot open click.csv: No such file or directory; ",
     "check its name and folder"),
    ("a folder", "seen logs", 2,
     "cannot read logs: Is a directory; ",
     "name the files in it"),
    ("a zip archive", "seen clicks.zip", 2,
     "cannot open clicks.zip: it is a zip archive: ",
     "unzip -p FILE | seen ...; save a spreadsheet as CSV first"),
    ("a Parquet file", "seen clicks.parquet", 2,
     "cannot open clicks.parquet: it is Parquet: ",
     "duckdb -csv -c \"FROM 'FILE'\" | seen --csv ..."),
    ("UTF-16, as a spreadsheet saves it", "seen utf16.txt", 2,
     "cannot open utf16.txt: it is UTF-16: ",
     "iconv -f UTF-16 -t UTF-8 FILE | seen ..."),
    ("a download that stopped", "seen cut.gz", 2,
     "cannot read cut.gz: its gzip data ends in the middle, it was cut short: ",
     "copy or make it again"),
    ("a quote that is never closed", "seen --csv -k id quote.csv", 2,
     "quote.csv: the quote opened in line 3 is never closed; ",
     "with --no-quotes quotes are bytes"),
    ("tables whose columns differ", "seen --csv clicks.csv other.csv", 2,
     "other.csv: its header line differs from the first file's; ",
     "run it by itself"),
    # keys
    ("a misspelt column", "seen --csv -k usr clicks.csv", 2,
     "there is no column 'usr'; ",
     "did you mean 'user'?"),
    ("a column that is not there", "seen --csv -k browser clicks.csv", 2,
     "there is no column 'browser'; ",
     "the columns are when, user, ad, cost"),
    ("semicolons read as commas", "seen --csv -k user german.csv", 2,
     "there is no column 'user' in the header 'user;ad': ",
     "try -d ';'"),
    ("a column beyond the last one", "seen --csv -k 9 clicks.csv", 2,
     "there is no column 9; the header names 4: ",
     "columns count from 1"),
    ("a name without a header", "seen -k user clicks.csv", 2,
     "'user' is not a field number; ",
     "names need a header line (--csv, --tsv), --ndjson or --clf"),
    ("commas read as TABs", "seen -k 2 clicks.csv", 2,
     "none of the records could be judged (4): record 1 has 1 field, -k asks for 2: ",
     "try -d ,"),
    ("a field from the end", "seen -k -3 clicks.csv", 2,
     "'-3' is not a field: ",
     "field 3 from the end is written last-2, and the fields up to 3 are written 1-3"),
    ("fields that count from 0", "seen -k 0 clicks.csv", 2,
     "'0' is not a field: ",
     "fields count from 1 to 65536, and a range is written 2-4, 2- or 2-last-1"),
    ("a comma too many", "seen --csv -k user, clicks.csv", 2,
     "-k 'user,' holds an empty name; ",
     "write -k user,ad"),
    ("two columns of one name", "seen --csv -k user twice.csv", 2,
     "two columns are called 'user': ",
     "give its position, 1 or 2"),
    ("a delimiter of two bytes", "seen -d '||' clicks.csv", 2,
     "-d ",
     "takes one byte, such as , or ; or \\t, not '||'"),
    ("an expression that is not closed", "seen --key-regex 'id=(' clicks.csv", 2,
     "--key-regex 'id=(' is not an extended regular expression: ",
     "Unmatched ( or \\("),
    ("an expression that matches nothing", "seen --key-regex 'id=([0-9]+)' clicks.csv", 2,
     "none of the records could be judged (4): key 'when,user,ad,cost' does not match --key-regex "
     "'id=([0-9]+)', record 1: ",
     "correct the expression"),
    ("a table read as JSON", "seen --ndjson -k user clicks.csv", 2,
     "none of the records could be judged (4): record 1 is not a JSON object or array: "
     "'when,user,ad,cost': ",
     "--ndjson reads a JSON text a line, as jq -c . FILE or jq -c '.[]' FILE writes it; --csv, --tsv "
     "and --clf read other formats"),
    ("an array of JSON", "seen --ndjson -k id array.json", 2,
     "none of the records could be judged (2): record 1 is not a JSON object or array: '[{\"id\":1},': ",
     "--ndjson reads a JSON text a line, as jq -c . FILE or jq -c '.[]' FILE writes it; --csv, --tsv "
     "and --clf read other formats"),
    ("a table read as a web log", "seen --clf -k host clicks.csv", 2,
     "none of the records could be judged (4): record 1 is not a line of a web log: "
     "'when,user,ad,cost': ",
     "leave out --clf, or name the format (--csv, --tsv, --ndjson)"),
    # times
    ("a window of time without times", "seen --csv -k user -w sliding:1h clicks.csv", 2,
     "a window of time needs the time of each record, for clicks.csv is a file: ",
     "name its field with --time FIELD, or give --arrival to go by when records are read"),
    ("a misspelt column of times", "seen --csv -k user --time wen -w sliding:1h clicks.csv", 2,
     "there is no column 'wen'; ",
     "did you mean 'when'?"),
    ("times in a format of their own", "seen --csv -k user --time when -w sliding:1h dates.csv", 2,
     "none of the records could be judged (1): time '20-11-2024' cannot be read, record 1: ",
     "--time-format says how times are written"),
    ("times in another format", "seen --csv -k user --time when --time-format '%d/%m/%Y' -w sliding:1h dates.csv", 2,
     "none of the records could be judged (1): time '20-11-2024' does not match '%d/%m/%Y', record 1: ",
     "correct --time-format"),
    ("times in the future", "seen --csv -k user --time when --now 2023-11-20 -w sliding:1h clicks.csv", 2,
     "none of the records could be judged (3): record 1 says 2024-11-20T10:00:00Z, the clock "
     "2023-11-20T00:00:00Z, more than a day before it; ",
     "--allow-future takes such times, and --zone says where times without an offset were written"),
    ("a log that is not sorted", "seen --csv -k user --time when --now 2024-12-01 -w sliding:1h clicks.csv", 0,
     "1 of 3 records came late, by 2h at most, and were judged at a later time than their own; ",
     "--reorder SPAN sorts them first, and --lateness SPAN judges them by their own time in sliding "
     "windows"),
    ("a zone that does not exist", "seen --csv -k user --time when --zone Berlin -w landmark:1d clicks.csv", 2,
     "the time zone 'Berlin' is not known on this machine; ",
     "it takes a name such as Europe/Berlin"),
    ("a time for a window of records", "seen --csv -k user --time when -w sliding:1e6 clicks.csv", 2,
     "--time serves windows of time, ",
     "such as sliding:1h or landmark:1d"),
    ("--merge without times", "seen --merge --csv -k user clicks.csv clicks.csv", 2,
     "--merge needs the field that holds the time: ",
     "--time FIELD"),
    ("a span without a unit", "seen --csv --time when --reorder 5 -w sliding:1h clicks.csv", 2,
     "--reorder 5: '5' needs a unit; ",
     "write a span such as 500ms, 90s, 15m, 1h, 7d or 2w"),
    # windows and sizes
    ("a spec that is not quoted", "seen -w landmark fp=1e-3 clicks.csv", 2,
     "a window and its options are one text; ",
     "quote the spec: -w 'landmark fp=1e-3'"),
    ("a misspelt window", "seen -w slidng:1e6 clicks.csv", 2,
     "the window 'slidng' is not known; ",
     "did you mean sliding?"),
    ("a window without its kind", "seen -w 1h clicks.csv", 2,
     "the window '1h' is not known; ",
     "start with landmark, landmark:1d, jumping:1h/12, sliding:1e6 or decaying"),
    ("a window without a length", "seen -w sliding: clicks.csv", 2,
     "sliding needs a length: ",
     "write sliding:1e6 or sliding:24h"),
    ("a jumping window without parts", "seen -w jumping:1e6 clicks.csv", 2,
     "jumping needs its number of sub-windows: ",
     "write jumping:1e6/8"),
    ("a million with a suffix", "seen -w sliding:1M clicks.csv", 2,
     "'1M' is not clear; ",
     "write 1e6 for records, or 1m for minutes"),
    ("mebibytes in small letters", "seen --mem 64m clicks.csv", 2,
     "--mem 64m: '64m' has an unknown unit; ",
     "write 64M (67108864 bytes) or 64MB (64000000 bytes)"),
    ("an error rate of 2", "seen -w 'landmark fp=2' clicks.csv", 2,
     "fp=2 is out of range; ",
     "it must be above 0 and below 1"),
    ("a misspelt option of a spec", "seen -w 'landmark ftp=1e-3' clicks.csv", 2,
     "the option 'ftp' is not known; ",
     "did you mean fp?"),
    ("more keys than memory", "seen -w 'landmark items=1e9 mem=1MiB' clicks.csv", 2,
     "1000000000 keys to err in at most 10 % of new records ",
     "need mem=<n>MiB at least; mem=1MiB allows items=<n>"),
    ("a window that does not fit", "seen -w 'sliding:1e6 mem=1MiB' clicks.csv", 2,
     "1000000 keys to err in at most 10 % of new records ",
     "need mem=<n>KiB at least; mem=1MiB allows fp=<n>, or items=<n>"),
    ("a filter of another window", "seen -w 'landmark filter=line' clicks.csv", 2,
     "filter=line does not serve this window; ",
     "leave filter= out and the planner chooses"),
    ("an option given twice", "seen -w 'landmark fp=1e-3 fp=1e-6' clicks.csv", 2,
     "fp is given twice: ",
     "leave one out"),
    ("a month", "seen -w landmark:1month clicks.csv", 2,
     "'1month' has an unknown unit; months and years differ in length: ",
     "write days, such as 30d"),
    ("--within beyond the window", "seen --csv --time when -w sliding:1h --within 2h clicks.csv", 2,
     "--within 2h: give it more than nothing, and ",
     "at most the window's length"),
    ("--within where keys have no age", "seen --within 5 clicks.csv", 2,
     "--within ",
     "serves sliding and jumping windows, which know how long ago a key was seen"),
    # output
    ("a misspelt option", "seen --cvs clicks.csv", 2,
     "unknown option --cvs; ",
     "did you mean --csv?"),
    ("two formats", "seen --csv --tsv clicks.csv", 2,
     "--csv and --tsv exclude each other: ",
     "give one of them"),
    ("an unknown tag", "seen --tag=verdict,colour clicks.csv", 2,
     "--tag=verdict,colour: 'colour' is not ",
     "one of verdict, number, time, age, first, first-time, last, last-time"),
    ("tagged twice", "seen --csv -k user --tag tagged.csv", 2,
     "the table has a column 'seen' already: choose another name, as in ",
     "--tag-column seen2"),
    ("groups by a column that is not there", "seen --csv --group-by publisher clicks.csv", 2,
     "there is no column 'publisher'; ",
     "the columns are when, user, ad, cost"),
    ("a sum of text", "seen --csv --sum user clicks.csv", 3,
     "3 amounts of 'user' cannot be read and count as nothing: the first is 'ann' in record 1; ",
     "write an amount as 1234.50"),
    ("one key of two", "seen --csv --query-key user clicks.csv", 2,
     "--query-key decides and --add-key is remembered: ",
     "both are needed"),
    ("--confirmed without a cache", "seen --confirmed clicks.csv", 2,
     "--confirmed needs a cache of the keys called duplicates, such as ",
     "--verify 1e5"),
    ("claims of the command line", "seen -w 'sliding:1e4 items=1e4 claims=9' clicks.csv", 2,
     "claims= is for programs and for SEEN.CLAIM of a server; ",
     "leave it out"),
    ("--keep last of a window without end", "seen --keep last -w 'decaying mem=1MiB' clicks.csv", 2,
     "--keep last ",
     "needs filter=exact, and so a window: decaying has none"),
    # states and servers
    ("a state on standard output", "seen --state - clicks.csv", 2,
     "--state - : a state is a file that is replaced as a whole; ",
     "name one, or ./- for a file called -"),
    ("input given as the state", "seen --state clicks.csv german.csv", 2,
     "clicks.csv is not a state of seen: it does not begin with SEEN; ",
     "give --state a file that seen wrote, or one that is not there yet"),
    ("a state in a folder that is not there", "seen --state nowhere/seen.state clicks.csv", 2,
     "cannot keep a state in nowhere: No such file or directory; ",
     "--state names a file in a folder that is there"),
    ("a state that another command line made",
     "seen -q --state s clicks.csv > first; seen --state s --ignore-case clicks.csv", 2,
     "s was made without --ignore-case; ",
     "give what it was made with, or another --state"),
    ("a server that is not there", "seen --redis redis://127.0.0.1:1/clicks --patience 1s clicks.csv", 2,
     "--redis: cannot talk to 127.0.0.1:1: Connection refused; ",
     "start the server, or correct HOST and PORT"),
    ("an address without a name", "seen --redis localhost:6379 clicks.csv", 2,
     "--redis takes ",
     "redis://HOST:PORT/NAME, not 'localhost:6379'"),
    # other commands
    ("a misspelt command", "seen plna", 2,
     "there is no command and no file 'plna'; did you mean ",
     "seen plan?"),
    ("filter without a list", "seen filter clicks.csv", 2,
     "filter needs a list of keys, a file with one a line: ",
     "--list FILE"),
    ("an empty list", "seen filter --list empty.txt clicks.csv", 0,
     "empty.txt holds no keys: no record passes; is it the ",
     "right list?"),
    ("one log to compare", "seen diff clicks.csv", 2,
     "diff compares two inputs, and only one is named: seen diff ",
     "LEFT RIGHT (- is standard input)"),
    ("no spec to compare", "seen compare clicks.csv", 2,
     "compare needs the specs to compare: -w SPEC ",
     "-w SPEC ..."),
    ("days on a table without times", "seen count --csv -k user -w landmark:1d clicks.csv", 2,
     "a window of time needs the time of each record, for clicks.csv is a file: ",
     "name its field with --time FIELD, or give --arrival to go by when records are read"),
]


@pytest.fixture
def folder(tmp_path):
    """A folder with FILES, an empty folder called logs, and seen in the path."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "seen").symlink_to(SEEN)
    (tmp_path / "work" / "logs").mkdir(parents=True)
    for name, content in FILES.items():
        (tmp_path / "work" / name).write_bytes(content)
    return tmp_path / "work"


def messages(line, folder):
    """The exit code, and the sentences on standard error."""
    env = dict(os.environ, PATH="%s:%s" % (folder.parent / "bin", os.environ["PATH"]), LC_ALL="C", TZ="UTC")
    done = subprocess.run(["bash", "-c", line], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=300)
    skip_what_is_not_built_in(done.stderr)
    said = done.stderr.decode().splitlines()
    return done.returncode, [text[len("seen: "):] for text in said if text.startswith("seen: ")]


@pytest.mark.parametrize("line, code, what, to_do", [row[1:] for row in MISTAKES], ids=[row[0] for row in MISTAKES])
def test_the_mistake_is_answered_with_what_where_and_what_to_do(line, code, what, to_do, folder):
    exit_code, said = messages(line, folder)
    assert exit_code == code and len(said) == 1
    assert said == [what + to_do] or re.fullmatch(re.escape(what + to_do).replace("<n>", r"[\d.]+"), said[0]), said


def test_no_row_lacks_what_to_do():
    assert len(MISTAKES) >= 40 and len({row[0] for row in MISTAKES}) == len(MISTAKES)
    assert all(what.strip() and to_do.strip() for _, _, _, what, to_do in MISTAKES)

