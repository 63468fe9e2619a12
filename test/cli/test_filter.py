"""seen filter: what is in a list passes, always; what is not, as rarely as was asked."""

import math

import pytest


@pytest.fixture
def lists(tmp_path, monkeypatch):
    """lists(name=[keys]) writes a list each, in the folder where seen will run."""
    monkeypatch.chdir(tmp_path)

    def write(**named):
        for name, keys in named.items():
            (tmp_path / name).write_text("".join("%s\n" % key for key in keys))

    return write


def test_what_is_in_the_list_passes(seen, lists):
    lists(good=["ann", "bob"])
    text = "eve\nbob\nann\nbob\nann \n\n"
    assert seen("filter", "--list", "good", text=text).lines == ["bob", "ann", "bob"]
    assert seen("filter", "--list", "good", "-v", text=text).lines == ["eve", "ann ", ""]


@pytest.mark.parametrize("how", [["--fp", "0.3"], ["--fp", "1e-3"], ["--exact"], []])
def test_nothing_in_a_list_is_lost_and_others_pass_as_rarely_as_asked(seen, lists, rng, how):
    keys = [str(rng.getrandbits(60)) for _ in range(5000)]
    others = ["x%d" % rng.getrandbits(60) for _ in range(20000)]
    lists(good=keys)
    mixed = keys + others
    rng.shuffle(mixed)
    text = "".join(line + "\n" for line in mixed)
    passed = seen("filter", "--list", "good", *how, text=text).lines
    good = set(keys)
    assert [line for line in passed if line in good] == [line for line in mixed if line in good]
    assert sorted(passed + seen("filter", "--list", "good", "-v", "--exact", text=text).lines) \
        == sorted(mixed + [line for line in passed if line not in good])
    fp = float(how[1]) if how[:1] == ["--fp"] else 0
    false = len(passed) - len(keys)
    assert false <= fp * len(others) + 5 * math.sqrt(fp * len(others))
    if fp == 0.3:
        assert false > 0


def test_several_lists_in_one_pass(seen, lists, rng):
    named = {name: [rng.randrange(100) for _ in range(30)] for name in ("red", "green", "blue")}
    lists(**named)
    records = [rng.randrange(120) for _ in range(500)]
    expected = []
    for r in records:
        matched = [name for name in named if r in named[name]]
        if matched:
            expected.append("%s\t%d" % ("+".join(matched), r))
    args = [word for name in named for word in ("--list", name)]
    text = "".join("%d\n" % r for r in records)
    done = seen("filter", *args, "--tag", "--stats", text=text)
    assert done.lines == expected
    for name in named:
        matches = sum(r in named[name] for r in records)
        assert "%s: 30 keys" % name in done.err.decode() and "%d matches" % matches in done.err.decode()


def test_names_of_lists_are_values_of_the_table(seen, tmp_path):
    for name in "a,b", 'c"d', "e":
        (tmp_path / name).write_text("1\n" if name != "e" else "1\n2\n")
    args = ["filter", *(word for name in ("a,b", 'c"d', "e") for word in ("--list", name)), "--tag"]
    done = seen(*args, "--csv", "-k", "k", text="k\n1\n2\n1\n", cwd=tmp_path)
    assert done.lines == ["k,lists", '1,"a,b+c""d+e"', "2,e", '1,"a,b+c""d+e"']
    assert seen(*args, text="1\n", cwd=tmp_path).lines == ['a,b+c"d+e\t1']


def test_fields_make_the_key(seen, lists):
    lists(good=["1\tx", "2\ty"])
    text = "a\tx\t1\nb\ty\t1\nc\ty\t2\n"
    assert seen("filter", "--list", "good", "-k", "3,2", text=text).lines == ["a\tx\t1", "c\ty\t2"]


def test_tables_keep_their_header(seen, lists):
    lists(good=['"b,c",1', "d,2"])
    text = 'v,u\n1,"b,c"\n1,d\n2,"d"\n'
    args = ["filter", "--list", "good", "--csv", "-k", "u,v"]
    assert seen(*args, text=text).lines == ["v,u", '1,"b,c"', '2,"d"']
    assert seen(*args, "--tag", text=text).lines == ["v,u,lists", '1,"b,c",good', '2,"d",good']
    assert seen(*args, "-v", text=text).lines == ["v,u", "1,d"]


def test_records_without_a_key_are_in_no_list(seen, lists):
    lists(good=["x"])
    done = seen("filter", "--list", "good", "-k", "2", text="a\tx\nb\n")
    assert done.lines == ["a\tx"] and b"record 2 has 1 field, -k asks for 2" in done.err
    assert seen("filter", "--list", "good", "-k", "2", "-v", text="a\tx\nb\n").lines == ["b"]
    assert seen("filter", "--list", "good", "-k", "2", "--strict", text="a\tx\nb\n").code == 2


def test_an_empty_list_lets_nothing_through(seen, lists):
    lists(empty=[])
    assert seen("filter", "--list", "empty", text="a\n\n").lines == []


def test_the_old_name_of_a_list_still_serves_and_is_not_mistaken_for_fields(seen, lists):
    lists(good=["x"], other=["y"])
    assert seen("filter", "--keys", "good", "--list", "other", text="x\ny\nz\n").lines == ["x", "y"]
    seen("filter", "--list", "good", "--keys", "ip,ad", text="a\n").refused("--keys ip,ad", "--list FILE", "-k ip,ad")


def test_the_column_of_lists_has_a_name_of_its_own(seen, lists):
    lists(good=["1"])
    args = ["filter", "--list", "good", "--csv", "-k", "u", "--tag"]
    done = seen(*args, text="u,lists\n1,x\n")
    done.refused("column 'lists' already", "--tag-column lists2")
    assert done.out == b""
    assert seen(*args, "--tag-column", "in", text="u,lists\n1,x\n").lines == ["u,lists,in", "1,x,good"]
    seen(*args[:-1], "--tag-column", "in", text="u\n1\n").refused("--tag-column", "--tag")
    seen(*args, "--tag-column", "a,b", text="u\n1\n").refused("--tag-column 'a,b'", "without commas")


def test_refusals(seen, lists):
    lists(good=["x"], pairs=["x"])
    seen("filter", text="a\n").refused("--list FILE")
    seen("filter", "--list", "nothing here", text="a\n").refused("cannot open nothing here")
    seen("filter", "--list", "good", "-v", "--tag", text="a\n").refused("exclude")
    seen("filter", "--list", "good", "--exact", "--fp", "0.1", text="a\n").refused("exclude")
    seen("filter", "--list", "good", "--fp", "2", text="a\n").refused("--fp 2")
    seen("filter", "--list", "pairs", "-k", "1,2", text="a\tb\n").refused("pairs: record 1 has 1 field, -k asks for 2")
    with open("/dev/full", "wb") as full:
        done = seen("filter", "--list", "good", text="x\n", stdout=full)
    assert done.code == 2 and b"cannot write" in done.err


def test_a_real_stream(seen, stream, lists):
    """Clicks of every hundredth address, as grep would find them."""
    path = stream("talkingdata_train_sample.csv")
    header, *rows = path.read_text().splitlines()
    good = {row.split(",")[0] for row in rows[::100]}
    lists(good=good)
    passed = seen("filter", "--list", "good", "--csv", "-k", "ip", path).lines
    assert passed == [header] + [row for row in rows if row.split(",")[0] in good]


@pytest.mark.parametrize("words", [b"\xef\xbb\xbfann\nbob\n", b"ann\r\nbob\r\n", b"\xef\xbb\xbfann\r\nbob"])
@pytest.mark.parametrize("text", [b"ann\nbob\neve\n", b"ann\r\nbob\r\neve\r\n"])
def test_lists_and_records_of_any_system_match(seen, tmp_path, words, text):
    (tmp_path / "list").write_bytes(words)
    done = seen("filter", "--list", tmp_path / "list", text=text)
    assert done.out == b"".join(text.splitlines(True)[:2])


def test_an_empty_list_is_told(seen, tmp_path):
    (tmp_path / "list").write_bytes(b"")
    done = seen("filter", "--list", tmp_path / "list", text="a\n")
    assert done.code == 0 and b"list holds no keys: no record passes" in done.err
    assert b"every record passes" in seen("filter", "-v", "--list", tmp_path / "list", text="a\n").err
    assert seen("filter", "-q", "--list", tmp_path / "list", text="a\n").err == b""
