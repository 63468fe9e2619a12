"""seen filter --any: a record has many keys (fields, words, n-grams) and passes if one is in a list; against
sets in Python. What passes without a key does so at 1-(1-e)^m."""

import base64
import json
import math
import re

import pytest

from test_filter import lists  # noqa: F401 (a fixture)

WORD = re.compile(r"[^\W_]+")
SYLLABLES = ["ka", "lo", "mé", "tü", "ßo", "漢", "ζη", "Ra", "NO", "7"]
BETWEEN = [" ", ", ", "-", "\u201c", "\u201d ", "\u2026", "\u00a0", "\u3002", "\uff0c", "_", "  ", "\u00bb", "\u00d7"]


def text_of(rng, words):
    return "".join("".join(rng.choices(SYLLABLES, k=rng.randint(1, 3))) + rng.choice(BETWEEN) for _ in range(words))


def lower(text):
    """As --ignore-case: ASCII letters alone."""
    return re.sub("[A-Z]", lambda m: m[0].lower(), text)


@pytest.mark.parametrize("case", [[], ["--ignore-case"]])
def test_a_record_passes_with_any_word_and_is_tagged_with_list_and_word(seen, lists, rng, case):
    fold = lower if case else str
    named = {"l%02d" % i: [w for w in (fold("".join(rng.choices(SYLLABLES, k=2))) for _ in range(2))] for i in range(64)}
    lists(**named)
    records = [text_of(rng, rng.randrange(12)) for _ in range(3000)]
    expected = []
    for r in records:
        words = [fold(w) for w in WORD.findall(r)]
        hit = [(name, next(w for w in words if w in keys)) for name, keys in named.items() if set(words) & set(keys)]
        if hit:
            expected.append("%s\t%s\t%s" % ("+".join(n for n, _ in hit), "+".join(w for _, w in hit), r))
    assert 100 < len(expected) < 3000
    args = ["filter", "--words", *case, *(word for name in named for word in ("--list", name))]
    text = "".join(r + "\n" for r in records)
    assert seen(*args, "--tag", text=text).out.decode().split("\n")[:-1] == expected
    plain = [line.split("\t", 2)[2] for line in expected]
    assert seen(*args, "--any", text=text).out.decode().split("\n")[:-1] == plain
    rest = seen(*args, "-v", "--exact", text=text).out.decode().split("\n")[:-1]
    assert sorted(plain + rest) == sorted(records)
    for how in (["--tag"], ["-o", "json"], ["-v"]):
        assert seen(*args, *how, text=text).out == seen(*args, *how, "-j", "3", text=text).out


def test_words_stand_between_characters_of_the_users(seen, lists):
    lists(good=["a b", "c\u2013d", "e", "tab"])
    text = "x,a b;y\nc\u2013d;e-f\n a b ,z\nx\ttab\n"
    assert seen("filter", "--list", "good", "--words=,;", "--tag", text=text).lines == [
        "good\ta b\tx,a b;y", "good\tc\u2013d\tc\u2013d;e-f"]
    assert seen("filter", "--list", "good", "--words=,;", "--trim", text=text).lines == ["x,a b;y", "c\u2013d;e-f", " a b ,z"]
    assert seen("filter", "-q", "--list", "good", "--words=\u2013-;", text=text).lines == ["c\u2013d;e-f"]  # e
    assert seen("filter", "-q", "--list", "good", "--words=\\t", text=text).lines == ["x\ttab"]
    assert seen("filter", "-q", "--list", "good", "--words", text=text).lines == ["c\u2013d;e-f", "x\ttab"]


def test_urls_among_words_are_made_alike(seen, lists):
    lists(good=["http://a.example/x"])
    text = "see HTTP://A.example:80/x#top now\nsee http://a.example/y\n"
    assert seen("filter", "--list", "good", "--words= ", "--key-url", "--tag", text=text).lines == [
        "good\thttp://a.example/x\tsee HTTP://A.example:80/x#top now"]


@pytest.mark.parametrize("n", [1, 3, 5])
def test_ngrams_are_characters_that_follow_one_another(seen, lists, rng, n):
    alphabet = "ab\u00e9\u6f22\U0001f600"
    grams = ["".join(rng.choices(alphabet, k=n)) for _ in range(1 if n == 1 else 12)]
    lists(good=grams)
    records = ["".join(rng.choices(alphabet, k=rng.randrange(12))) for _ in range(800)]
    found = seen("filter", "--list", "good", "--ngrams", n, "-o", "json", text="".join(r + "\n" for r in records)).lines
    expected = [(i, r) for i, r in enumerate(records, 1) if any(g in r for g in grams)]
    assert [(o["number"], o["record"]) for o in map(json.loads, found)] == expected
    for o in map(json.loads, found):
        first = min(o["record"].find(g) for g in grams if g in o["record"])
        assert o["keys"] == [o["record"][first:first + n]]


def test_bytes_that_are_no_text_are_characters_of_their_own(seen, tmp_path):
    (tmp_path / "list").write_bytes(b"\xffa\n")
    args = ["filter", "--list", tmp_path / "list"]
    assert seen(*args, "--ngrams", "2", text=b"x\xffay\nxay\n").out == b"x\xffay\n"
    assert seen(*args, "--words", text=b"x \xffa y\nx a\n").out == b"x \xffa y\n"
    done = seen(*args, "--words", "-o", "json", text=b"x \xffa\n")
    assert base64.b64decode(json.loads(done.out)["record_base64"]) == b"x \xffa"
    assert seen(*args, "--words", "--tag", text=b"x \xffa\n").out == str(tmp_path / "list").encode() + b"\t\xffa\tx \xffa\n"


def test_each_of_several_fields_is_a_key(seen, lists):
    lists(good=["ann", "", "x,y"])
    text = "ann\tbob\nbob\tann\tx\nann\nbob\t\n"
    done = seen("filter", "--list", "good", "-k", "2-", "--any", "--tag", text=text)
    assert done.lines == ["good\tann\tbob\tann\tx"]
    assert b"1 of the keys in good is not a value" in done.err  # empty fields are not keys
    assert b"record 3 has 1 field, -k asks for 2" in done.err
    assert seen("filter", "-q", "--list", "good", "-k", "1,3", "--any", text=text).lines == ["ann\tbob", "ann"]
    table = 'a,b,c\n1,"x,y",2\n2,ann,3\n3,"q",x\n'
    lists(good=["ann"])
    args = ["filter", "-q", "--list", "good", "--csv", "--any", "-k", "b,c", "--tag"]
    assert seen(*args, text=table).lines == ["a,b,c,lists,lists_key", "2,ann,3,good,ann"]
    lists(good=['"x,y"'])
    assert seen(*args, text=table).lines == ["a,b,c,lists,lists_key", '1,"x,y",2,good,"x,y"']
    assert seen(*args, "--tag-column", "in", text=table).lines[0] == "a,b,c,in,in_key"
    seen(*args, text="b,c,lists_key\n1,2,3\n").refused("column 'lists_key' already")


def test_groups_of_an_expression_are_keys(seen, lists):
    lists(good=["7"])
    text = "id=5 ref=7\nid=7 ref=8\nid=1 ref=2\nnone\n"
    done = seen("filter", "--list", "good", "--any", "--key-regex", "id=([0-9]+) ref=([0-9]+)", text=text)
    assert done.lines == ["id=5 ref=7", "id=7 ref=8"] and b"does not match --key-regex" in done.err


def test_records_without_some_fields_are_judged_by_the_others(seen, lists):
    lists(good=["ann"])
    text = '{"to":"ann"}\n{"cc":"ann"}\n{"to":"bob","cc":"bob"}\n{"x":"ann"}\n'
    done = seen("filter", "--list", "good", "--ndjson", "-k", "to,cc,bcc", "--any", text=text)
    assert done.lines == ['{"to":"ann"}', '{"cc":"ann"}']
    assert b"no record has a field bcc, which -k asks for" in done.err
    assert b"1 record was not looked up: record 4 has no value at" in done.err
    assert seen("filter", "--list", "good", "--ndjson", "-k", "to,cc", "--any", "--strict", text=text).code == 2


def test_what_can_never_match_is_told(seen, lists):
    lists(good=["new york", "rain", ""], short=["ab", "abcd"])
    done = seen("filter", "--list", "good", "--words", text="rain in New York\n")
    assert done.lines == ["rain in New York"]
    assert b"2 of the keys in good are not one word, so that no record has them; the first is 'new york'" in done.err
    done = seen("filter", "--list", "short", "--ngrams", "4", text="xabcdx\n")
    assert done.lines == ["xabcdx"] and b"1 of the keys in short is not 4 characters" in done.err
    assert seen("filter", "-q", "--list", "good", "--words", text="rain\n").err == b""


@pytest.mark.parametrize("m,fp", [(1, "0.02"), (10, "0.02"), (40, "2e-3"), (100, "0.02")])
def test_a_record_of_m_other_words_passes_at_one_minus_one_minus_e_to_the_m(seen, lists, rng, m, fp):
    """The rate of records is what the statistics say of the rate of keys, at five sigma."""
    lists(good=["g%d" % rng.getrandbits(60) for _ in range(4000)])
    n = 200000 // m
    text = "".join(" ".join("x%d" % rng.getrandbits(60) for _ in range(m)) + "\n" for _ in range(n))
    done = seen("filter", "--list", "good", "--fp", fp, "--words", "--stats=json", text=text)
    stats = done.stats
    (good,) = stats["lists"]
    rate = 1 - (1 - good["fp"]) ** m
    assert good["fp"] == pytest.approx(float(fp), rel=0.25) and stats["keys"] == n * m
    assert good["fp_record"] == pytest.approx(rate, rel=1e-6) and stats["fp_record"] == pytest.approx(rate, rel=1e-6)
    assert abs(len(done.lines) - n * rate) <= 5 * math.sqrt(n * rate * (1 - rate)) + 1 + 0.05 * n * rate


def test_the_rate_of_several_lists_and_of_records_of_several_lengths(seen, lists, rng):
    lists(a=["a%d" % i for i in range(3000)], b=["b%d" % i for i in range(1000)])
    text = "".join(" ".join("x%d" % rng.getrandbits(60) for _ in range(rng.choice([0, 3, 30, 1500]))) + "\n" for _ in range(600))
    args = ["filter", "--list", "a", "--list", "b", "--fp", "1e-3", "--words"]
    stats = seen(*args, "--stats=json", text=text).stats
    e = 1 - math.prod(1 - one["fp"] for one in stats["lists"])
    rate = [1 - (1 - e) ** len(line.split()) for line in text.splitlines()]
    assert stats["fp_record"] == pytest.approx(sum(rate) / len(rate), rel=1e-6)
    assert b"600 records" in seen(*args, "--stats", text=text).err and b" a record" in seen(*args, "--stats", text=text).err


def test_records_that_passed_by_chance_are_told_at_the_end(seen, lists, rng):
    lists(good=["g%d" % i for i in range(1000)])
    text = "".join(" ".join("x%d" % rng.getrandbits(60) for _ in range(20)) + "\n" for _ in range(3000)) + "g7\n"
    done = seen("filter", "--list", "good", "--fp", "0.01", "--words", text=text)
    told = re.search(r"about (\d+) of the (\d+) records that are in a list probably hold no key of it: a record has "
                     r"20\.0 keys", done.err.decode())
    assert int(told[2]) == len(done.lines) and abs(int(told[1]) - len(done.lines) + 1) < 5 * math.sqrt(len(done.lines))
    assert seen("filter", "--list", "good", "--words", text=text).err == b""  # one in 10^9
    assert seen("filter", "--list", "good", "--fp", "0.01", "--words", "-q", text=text).err == b""


def test_json_tells_lists_and_keys_of_each_record(seen, lists):
    lists(red=["r", "rr"], blue=["b"])
    args = ["filter", "--list", "red", "--list", "blue", "-o", "json"]
    text = "b rr r\nx\nr\n"
    found = [json.loads(line) for line in seen(*args, "--words", text=text).lines]
    assert found == [{"number": 1, "lists": ["red", "blue"], "keys": ["rr", "b"], "record": "b rr r"},
                     {"number": 3, "lists": ["red"], "keys": ["r"], "record": "r"}]
    assert [json.loads(line) for line in seen(*args, text=text).lines] == [{"number": 3, "lists": ["red"], "record": "r"}]
    inverted = seen(*args, "-v", "-k", "2", text="1\tb\n2\tx\n3\n").lines
    assert [json.loads(line) for line in inverted] == [
        {"number": 2, "lists": [], "record": "2\tx"}, {"number": 3, "lists": None, "record": "3"}]
    table = seen(*args, "--csv", "-k", "k", text="k,v\nr,1\n").lines
    assert [json.loads(line) for line in table] == [{"number": 1, "lists": ["red"], "record": "r,1"}]
    assert seen(*args, "--stats", text=text).stats["matched"] == 1
    long = seen(*args, "-v", "--max-record", "1KiB", "--words", text=b"b " * 2000 + b"\nx\n")
    objects = [json.loads(line) for line in long.lines]
    assert (objects[0]["lists"], objects[0]["number"], objects[1]["number"]) == (None, 1, 2)
    assert objects[0]["record"] == "b " * 2000
    long = seen(*args, "-v", "--max-record", "1KiB", "--words", text=b"b " * 2000000 + b"\nx\n")
    objects = [json.loads(line) for line in long.lines]  # longer than any buffer
    assert objects[0]["keys"] is None and objects[1]["keys"] == []
    assert base64.b64decode(objects[0]["record_base64"]) == b"b " * 2000000


def test_refusals_of_any(seen, lists):
    lists(good=["x"])
    seen("filter", "--list", "good", "--any", text="a\n").refused("--any needs keys to choose from", "-k 2-", "--words")
    seen("filter", "--list", "good", "--words", "--ngrams", "2", text="a\n").refused("--words and --ngrams exclude")
    seen("filter", "--list", "good", "--words=", text="a\n").refused("--words= names no delimiter")
    for n in "0", "1025", "x", "2k":
        seen("filter", "--list", "good", "--ngrams", n, text="a\n").refused("--ngrams %s" % n)
    seen("filter", "--list", "good", "-o", "csv", text="a\n").refused("--output takes text or json")
    seen("filter", "--list", "good", "--tag", "-o", "json", "--csv", "-k", "a", "--tag-column", "b", text="a\n1\n").refused("--tag-column")
