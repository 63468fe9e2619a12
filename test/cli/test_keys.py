"""Keys as people mean them: each way to make a key against a model in Python that has no idea of bytes in a buffer."""

import json
import os
import re

import pytest

BLANKS = " \t\r\n\v\f"
TRACKING = """utm_* mtm_* hsa_* pk_campaign pk_kwd pk_keyword pk_source pk_medium gclid gclsrc dclid gbraid wbraid
    gad_source srsltid _ga _gl fbclid igshid igsh msclkid twclid ttclid li_fat_id yclid ysclid _openstat mc_cid mc_eid
    mkt_tok _hsenc _hsmi vero_id oly_anon_id oly_enc_id wickedid rdt_cid epik ScCid gad_campaignid""".lower().split()
PORTS = {b"http": b"80", b"https": b"443", b"ws": b"80", b"wss": b"443", b"ftp": b"21"}


# -- the models ------------------------------------------------------------------------------------


def lower(value):
    """ASCII letters only: bytes.lower does just that."""
    return value.lower()


def trim(value):
    return value.strip(BLANKS.encode())


def tracks(parameter):
    name = parameter.split(b"=")[0].lower().decode("latin-1")
    return any(name.startswith(t[:-1]) if t.endswith("*") else name == t for t in TRACKING)


def url(value):
    match = re.match(rb"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)", value)
    if not match and not value.startswith(b"/"):
        return value
    value = value.split(b"#")[0]
    head = b""
    if match:
        scheme, authority = match.group(1).lower(), match.group(2)
        value = value[match.end():]
        user, at, host = authority.rpartition(b"@")
        host = host.lower()
        port = re.search(rb":([0-9]*)$", host)
        if port and port.group(1) in (b"", PORTS.get(scheme)):
            host = host[:port.start()]
        head = scheme + b"://" + user + at + host
        if authority and not value.startswith(b"/"):
            value = b"/" + value
    path, mark, query = value.partition(b"?")
    left = b"&".join(p for p in query.split(b"&") if not tracks(p)) if mark else b""
    return head + path + (b"?" + left if left else b"")


def first_of_each(records, key):
    """What seen prints: the first record of each key, and those that have none."""
    seen, out = set(), []
    for record in records:
        k = key(record)
        if k is None or k not in seen:
            out.append(record)
        if k is not None:
            seen.add(k)
    return out


def agrees(seen, records, key, *args, end=b"\n"):
    """With one thread and with two."""
    text = b"".join(r + end for r in records)
    want = b"".join(r + end for r in first_of_each(records, key))
    for threads in "1", "2":
        done = seen(*args, "-q", "-j", threads, text=text)
        assert done.code == 0, done.err
        assert done.out == want, (args, threads)
    return want


def words(rng, alphabet, n, longest):
    return [bytes(rng.choice(alphabet) for _ in range(rng.randrange(longest + 1))) for _ in range(n)]


# -- case and blanks -------------------------------------------------------------------------------


def test_ignore_case_folds_ascii_letters_and_nothing_else(seen, rng):
    every = [bytes([c]) for c in range(1, 256) if c != 10]
    assert agrees(seen, every, lower, "--ignore-case").count(b"\n") == 254 - 26
    agrees(seen, words(rng, b"aAbB@`[{zZ\xc3\xa4\x84", 5000, 4), lower, "--ignore-case")
    assert seen("--ignore-case", text="Ä\nä\nÀB\nÀb\n").out.decode() == "Ä\nä\nÀB\n"


def test_trim_takes_ascii_blanks_off_both_ends(seen, rng):
    agrees(seen, words(rng, b"a \t\v\f\r\xa0b", 5000, 5), trim, "--trim")
    assert seen("--trim", "-k", "2", text="1\t x\n2\tx \n3\tx\n4\tx y\n").lines == ["1\t x", "4\tx y"]


def test_keys_are_changed_and_records_are_not(seen):
    text = b" A\ta \xff\na\tA \xff\r\n"
    assert seen("--ignore-case", "--trim", "--tag", text=text).out == b"new\t A\ta \xff\ndup\ta\tA \xff\r\n"
    assert seen("--ignore-case", "--trim", "--duplicates", text=b"a\ta \xff\n" + text).out == text


@pytest.mark.parametrize("options", [["--ignore-case"], ["--trim"], ["--trim", "--ignore-case"]])
def test_several_fields_are_made_each_by_itself(seen, rng, options):
    def one(value):
        value = trim(value) if "--trim" in options else value
        return lower(value) if "--ignore-case" in options else value

    rows = [b"\t".join(words(rng, b"aAb ", 3, 2)) for _ in range(5000)]
    agrees(seen, rows, lambda r: tuple(map(one, r.split(b"\t")[:2])), "-k", "1,2", *options)


# -- fields counted from the end, and as many as there are ---------------------------------------------


def span(fields, word):
    """-k WORD of these fields, or None where they are too few."""
    def place(text):
        return len(fields) - 1 - int(text[5:] or 0) if text.startswith("last") else int(text) - 1

    ends = re.fullmatch(r"(last(?:-\d+)?|\d+)(?:(-)(last(?:-\d+)?|\d+)?)?", word)
    first = place(ends.group(1))
    last = place(ends.group(3)) if ends.group(3) else len(fields) - 1 if ends.group(2) else first
    return tuple(fields[first:last + 1]) if 0 <= first <= last < len(fields) else None


def key_of_spans(split, words):
    def key(record):
        spans = [span(split(record), word) for word in words.split(",")]
        return None if None in spans else tuple(v for s in spans for v in s)
    return key


SPANS = ["last", "last-1", "2-", "1-", "3-", "2-last-1", "last-2-last", "last-1,1", "2-,1", "last,1-2", "last-1-"]


def csv_fields(record):
    """The fields of a row without line ends, a character at a time."""
    out, value, inside, begun = [], b"", False, False
    for i in range(len(record)):
        c = record[i:i + 1]
        if inside and c == b'"':
            inside = False
            quoted_end = True
        elif c == b'"' and not begun:
            inside = begun = True
            quoted_end = False
        elif c == b'"' and value is not None and quoted_end and record[i - 1:i] == b'"':
            value += c
            inside, quoted_end = True, False
        elif c == b"," and not inside:
            out.append(value)
            value, begun, quoted_end = b"", False, False
        else:
            value += c
            begun = True
            quoted_end = False
    return out + [value]


@pytest.mark.parametrize("keys", SPANS)
def test_fields_from_the_end_and_open_ranges_of_delimited_lines(seen, rng, keys):
    rows = [b";".join(words(rng, b"ab", rng.randrange(1, 6), 1)) for _ in range(4000)]
    agrees(seen, rows, key_of_spans(lambda r: r.split(b";"), keys), "-d", ";", "-k", keys)


@pytest.mark.parametrize("keys", SPANS)
def test_fields_from_the_end_and_open_ranges_of_csv_without_names(seen, rng, keys):
    def field():
        value = words(rng, b'ab,"', 1, 2)[0]
        plain = b"," not in value and b'"' not in value and rng.random() < .5
        return value if plain else b'"' + value.replace(b'"', b'""') + b'"'

    rows = [b",".join(field() for _ in range(rng.randrange(1, 5))) for _ in range(3000)]
    agrees(seen, rows, key_of_spans(csv_fields, keys), "--csv", "--no-header", "-k", keys, end=b"\r\n")


@pytest.mark.parametrize("keys", SPANS + ["1", "2", "2-3", "3,1"])
def test_runs_of_blanks_as_awk_has_them(seen, rng, keys):
    rows = words(rng, b"ab  \t", 4000, 9)
    key = key_of_spans(lambda r: r.replace(b"\t", b" ").split(), keys)
    agrees(seen, rows, key, "--blanks", "-k", keys)
    assert seen("--blanks", "-k", keys, "-q", text=b"\n".join(rows)).out == \
        seen("-d", " +", "-k", keys, "-q", text=b"\n".join(rows)).out
    agrees(seen, rows, key, "-0", "--blanks", "-k", keys, end=b"\0")


def test_in_a_table_with_names_the_last_column_is_the_headers(seen):
    text = "a,b,c\n1,2,3\n9,9,3\n1,2\n"
    assert seen("--csv", "-k", "last", "-q", text=text).lines == ["a,b,c", "1,2,3", "1,2"]
    assert seen("--csv", "-k", "2-", "-q", text="a,b,c\n1,2,3\n9,2,3\n1,2,4\n").lines == ["a,b,c", "1,2,3", "1,2,4"]
    assert seen("--csv", "-k", "last-1", "--tag", text="a,b,c\n1,2,3\n9,2,4\n").lines[2] == "9,2,4,dup"
    named = "first,last,x\n1,2,3\n1,2,4\n1,3,4\n"
    assert seen("--csv", "-k", "last", text=named).lines == ["first,last,x", "1,2,3", "1,3,4"]
    seen("--csv", "-k", "last-3", text="a,b,c\n").refused("there is no column last-3; the header names 3")
    seen("--csv", "-k", "4-", text="a,b,c\n").refused("there is no column 4-")


def test_a_key_of_as_many_fields_as_there_are_equals_one_of_so_many(seen, state):
    args = ["--state", state, "-d", ",", "-w", "landmark fp=1e-9 mem=64KiB seed=1"]
    assert seen("-d", ",", "-k", "2-", text="x,a,b\ny,a,b\ny,ab\ny,a\n").lines == ["x,a,b", "y,ab", "y,a"]
    assert seen(*args, "-k", "2-", text="x,a\n").code == 0
    seen(*args, "-k", "2", text="x,a\n").refused("with -k 2-, not -k 2")
    other = '\x01a\x01b'
    assert seen("-d", ",", "-k", "2-", text="x,a,b\ny,%s\n" % other).lines == ["x,a,b", "y," + other]


@pytest.mark.parametrize("keys, said", [
    ("-3", ["'-3'", "last-2", "1-3"]), ("-1", ["'-1'", "last", "1"]), ("0", ["count from 1"]), ("3-2", ["3-2"]),
    ("last-1-2", ["last-1-2"]), ("last-1-last-2", ["last-1-last-2"]), ("2-4-", ["2-4-"]), ("1,1", ["twice"]),
    ("last,last-0", ["twice"]), ("99999", ["99999", "65536"]), ("last-99999", ["65536"]), ("--3", ["--3"]),
])
def test_places_that_cannot_be_are_refused_with_how_to_write_them(seen, keys, said):
    seen("-k" + keys, text="a\n").refused(*said)


def test_places_from_the_end_are_for_fields_that_stand_in_a_row(seen):
    seen("--clf", "-k", "last", text="x\n").refused("'last'", "-k host,path")
    assert seen("--ndjson", "-k", "last", "-q", text='{"last":1}\n{"last":1}\n').lines == ['{"last":1}']
    assert seen("-k", "1", "--time", "last", "-w", "sliding:10s", text="a\t5\nb\tx\t6\na\ty\ty\t7\n").lines == [
        "a\t5", "b\tx\t6"]
    done = seen("-k", "1", "-w", "landmark", "--group-by", "last-1", "--stats=json", text="a\tg\t1\nb\tg\t2\n")
    assert [g["records"] for g in done.stats["groups"]] == [2]
    seen("-k", "1", "--time", "2-", "-w", "sliding:10s", text="a\t5\n").refused("--time takes one field, not 2-")


def test_blanks_are_for_lines(seen):
    seen("--blanks", "--csv", text="a\n").refused("--blanks is for lines")
    seen("--blanks", "--ndjson", text="{}\n").refused("--blanks is for lines")
    seen("--blanks", "-d", ",", text="a\n").refused("--blanks and -d")


# -- --key-regex ----------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", [
    "a+", "(a+)b", "(a)|(b)", "^(a*)(.)", "b(c)?(a)", "[0-9]+", "(a(b))", "^", "c$"])
def test_the_groups_of_an_expression_are_the_key(seen, rng, pattern):
    """Python's alternatives are not POSIX's leftmost longest, so that these are chosen to agree."""
    compiled = re.compile(pattern.encode())

    def key(record):
        match = compiled.search(record)
        if match:
            return tuple(g or b"" for g in match.groups()) or (match.group(),)

    agrees(seen, words(rng, b"abc1", 4000, 5), key, "--key-regex", pattern)
    rows = [b"x\t" + w for w in words(rng, b"abc1", 2000, 5)]
    agrees(seen, rows, lambda r: key(r[2:]), "--key-regex", pattern, "-k", "last")


def test_an_expression_looks_at_values_and_groups_are_trimmed_and_folded(seen):
    text = '{"m":"id=\\u0041 x"}\n{"m":"ID=a"}\n{"m":"none"}\n{"m":"none"}\n'
    done = seen("--ndjson", "-k", "m", "--key-regex", "id=(.)", "--ignore-case", "--tag=verdict", text=text)
    assert [line[:3] for line in done.lines] == ["new", "dup", "-\t{", "-\t{"]
    assert seen("--key-regex", ":(.*),", "--trim", text="a: x ,\nb:x,\n").lines == ["a: x ,"]
    assert seen("--csv", "-k", "t", "--key-regex", '"(.)', "-q", text='t\n"a""b"\n"c""b"\n').lines == ["t", '"a""b"']
    text = b"a\0b=1\na\0b=1\n"
    assert seen("--key-regex", "b=(.)", text=text).out == b"a\0b=1\n"


def test_expressions_that_cannot_serve_are_refused(seen):
    seen("--key-regex", "a(", text="a\n").refused("--key-regex 'a('", "not an extended regular expression")
    seen("--key-regex", "a", "-k", "1,2", text="a\n").refused("--key-regex looks at one field", "-k 1,2")
    seen("--key-regex", "a", "-k", "2-", text="a\n").refused("--key-regex looks at one field", "-k 2-")
    seen("--key-regex", "()" * 33, text="a\n").refused("33 groups; 32 are the most")


# -- --key-url ------------------------------------------------------------------------------------


@pytest.mark.parametrize("given, made", [
    ("HTTP://Example.COM:80/A?utm_source=x&id=7#top", "http://example.com/A?id=7"),
    ("https://Example.com?fbclid=1", "https://example.com/"), ("http://a", "http://a/"), ("http://a?", "http://a/"),
    ("https://u:P@H:443/", "https://u:P@h/"), ("http://h:443/", "http://h:443/"), ("http://h:/x", "http://h/x"),
    ("ws://[::1]:80/", "ws://[::1]/"), ("ftp://h:21/a#b?c", "ftp://h/a"), ("/a?gclid=1", "/a"), ("/A#b", "/A"),
    ("http://h/?GCLID=1&utm_x&a=&b", "http://h/?a=&b"), ("http://h/?q=utm_x", "http://h/?q=utm_x"),
    ("http://h/%7Ea?x=%2F", "http://h/%7Ea?x=%2F"), ("http://h?gclid=1&a", "http://h/?a"),
    ("Ann#1", "Ann#1"), ("mailto:A@B#c", "mailto:A@B#c"), ("example.com:80/a#b", "example.com:80/a#b"), ("", ""),
])
def test_urls_that_lead_to_the_same_page_are_one_key(seen, given, made):
    assert url(given.encode()) == made.encode()
    other = "x" + made
    text = "%s\n%s\n%s\n" % (given, made, other)
    assert seen("--key-url", "--tag", text=text).lines == ["new\t" + given, "dup\t" + made, "new\t" + other]


def test_any_text_is_made_a_url_as_the_model_makes_it(seen, rng):
    pieces = [b"http", b"HTTPS", b"://", b":", b"/", b"?", b"#", b"&", b"=", b"80", b"443", b"@", b"Host", b"utm_a",
              b"gclid", b"Id", b"\xff", b".", b"//", b" "]
    begins = [b"http://", b"HTTP://a", b"https://B:443", b"/", b"", b"x+y.z-1://"]
    texts = [rng.choice(begins) + b"".join(rng.choice(pieces) for _ in range(rng.randrange(9))) for _ in range(6000)]
    agrees(seen, texts, url, "--key-url")
    agrees(seen, texts, lambda r: lower(url(trim(r))), "--key-url", "--trim", "--ignore-case")


def test_every_tracking_parameter_of_the_document_is_dropped(seen):
    root = os.path.join(os.path.dirname(__file__), "..", "..")
    document = open(os.path.join(root, "doc", "formats.md"), encoding="utf-8").read()
    listed = re.search(r"Parameters that only track: (.*?)\.\n", document, re.S).group(1)
    assert [name.lower() for name in re.findall(r"`([^`]+)`", listed)] == TRACKING
    query = "&".join(name.replace("*", "q") + "=1" for name in TRACKING)
    assert seen("--key-url", text="http://h/?%s\nhttp://h/\n" % query).lines == ["http://h/?" + query]


# -- everywhere -----------------------------------------------------------------------------------

ALL = ["--ignore-case", "--trim", "--key-url"]


def made(value):
    return lower(url(trim(value)))


@pytest.mark.parametrize("shape", ["lines", "csv", "tsv", "ndjson", "clf"])
def test_all_formats_and_subcommands_make_the_same_keys(seen, rng, tmp_path, shape):
    paths = [rng.choice(["/A?utm_q=%d", "/a?id=%d", "/b#%d"]) % rng.randrange(9) for _ in range(400)]
    write = {"lines": "x\t%s", "csv": '"%s ",x', "tsv": " %s\tx", "ndjson": '{"k":"%s"}',
             "clf": '- - - [10/Oct/2000:13:55:36 -0700] "GET %s HTTP/1.0" 200 1'}[shape]
    options = {"lines": ["-k", "2"], "csv": ["--csv", "-k", "k"], "tsv": ["--tsv", "-k", "k"],
               "ndjson": ["--ndjson", "-k", "k"], "clf": ["--clf", "-k", "path"]}[shape] + ALL
    head = {"csv": "k,v\n", "tsv": "k\tv\n"}.get(shape, "")
    text = head + "".join(write % p + "\n" for p in paths)
    keys = [made(p.encode()).decode() for p in paths]
    new = len(set(keys))
    body = seen(*options, text=text).lines[bool(head):]
    assert body == [write % p for p in map(bytes.decode, first_of_each([p.encode() for p in paths], made))]
    top = seen("top", *options, "-n", "1000", "-o", "json", text=text)
    found = {row["key"]: row["records"] for row in map(json.loads, top.lines)}
    assert found == {k: keys.count(k) for k in keys}
    assert int(seen("count", *options, text=text).lines[1].split("\t")[2]) == new
    done = seen("compare", "-w", "landmark filter=exact", *options, "-o", "json", text=text)
    assert done.code == 0 and new == json.loads(done.out)["specs"][0]["new"]
    (tmp_path / "list").write_text(" %s#x \n" % keys[0].upper())
    passed = seen("filter", "--list", tmp_path / "list", *options, text=text).lines[bool(head):]
    assert passed == [write % p for p, k in zip(paths, keys) if k == keys[0]]


def test_lists_of_keys_of_several_parts(seen, tmp_path):
    (tmp_path / "list").write_text(" A;b\nx;y\n")
    args = ["filter", "--list", tmp_path / "list", "-d", ";", "--ignore-case", "--trim"]
    text = "1;a;B \n2;x;z\n3;X;Y;\n"
    assert seen(*args, "-k", "2,3", text=text).lines == ["1;a;B ", "3;X;Y;"]
    assert seen(*args, "-k", "2-", text=text).lines == ["1;a;B "]
    assert seen(*args, "--key-regex", "^[0-9];([a-z]);([a-z])", text=text).lines == ["1;a;B ", "3;X;Y;"]
    (tmp_path / "list").write_text("7\n")
    assert seen("filter", "--list", tmp_path / "list", "--key-regex", "id=([0-9]+)", text="id=7\nid=77\n").lines == \
        ["id=7"]


def test_a_feed_makes_both_keys(seen):
    args = ["--query-key", "1,3", "--add-key", "1,2", "--ignore-case", "--trim", "--tag"]
    text = "ann\tS1\t \nAnn\t  \t s1\nann\t\t s2\n"
    assert [line.split("\t")[0] for line in seen(*args, text=text).lines] == ["-", "dup", "new"]
    by = ["--query-key", "2", "--add-key", "1", "--key-regex", "id=(.)", "--tag"]
    assert [line.split("\t")[0] for line in seen(*by, text="id=1\tx\nx\tid=1\nx\tid=2\nx\tx\n").lines] == [
        "-", "dup", "new", "-"]
    seen("--query-key", "1,3", "--add-key", "2", "--key-regex", "x", text="").refused("--key-regex looks at one field")


@pytest.mark.parametrize("option", [["--ignore-case"], ["--trim"], ["--key-url"], ["--blanks"], ["--key-regex", "(.)"]])
def test_a_state_is_of_keys_that_were_made_in_one_way(seen, state, option):
    args = ["-w", "landmark fp=1e-9 mem=64KiB", "-k", "1", "--state", state]
    assert seen(*args, *option, text="a\n").code == 0
    seen(*args, text="a\n").refused("was made with %s" % option[0])
    assert seen(*args, *option, text="a\n").out == b""
