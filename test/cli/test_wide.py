"""Keys of more than 128 bits: filter=substrings takes the paper's ids of 64 characters as they stand."""

import pytest

SPEC = "filter=substrings bits=512 substring=10 hash=raw fp=.99"


def ids(rng, n):
    """Random ids of 64 characters; a quarter of them are repeats."""
    made = []
    for _ in range(n):
        again = made and rng.randrange(4) == 0
        made.append(rng.choice(made) if again else "".join(rng.choice("0123456789abcdef") for _ in range(64)))
    return made


class Vectors:
    """Figure 2 of Metwally et al.: a set for each substring."""

    def __init__(self, bits=512, p=10):
        self.p, self.seen = p, [set() for _ in range(bits - p + 1)]

    def observe(self, key):
        number = int.from_bytes(key.encode(), "little")
        parts = [number >> i & (1 << self.p) - 1 for i in range(len(self.seen))]
        found = all(part in seen for part, seen in zip(parts, self.seen))
        for part, seen in zip(parts, self.seen):
            seen.add(part)
        return found


def expected(keys):
    vectors = Vectors()
    return ["dup" if vectors.observe(key) else "new" for key in keys]


@pytest.mark.parametrize("more", [[], ["-j3"], ["--tag=verdict,number"]], ids=str)
def test_verdicts_are_those_of_the_papers_vectors(seen, rng, more):
    keys = ids(rng, 1500)
    done = seen("-w", "landmark " + SPEC, "--tag", *more, text="".join(k + "\n" for k in keys))
    assert [line.split("\t")[0] for line in done.lines] == expected(keys) and done.lines[-1].endswith(keys[-1])


def test_keys_are_values_of_fields_and_quotes_are_none_of_them(seen, rng):
    keys = ids(rng, 300)
    rows = "".join(f'{i},"{k[:30]}""{k[31:]}"\n' for i, k in enumerate(keys))
    done = seen("-w", "landmark " + SPEC, "--csv", "-k", "id", "--tag", text="n,id\n" + rows)
    assert [line.rsplit(",", 1)[1] for line in done.lines[1:]] == expected([k[:30] + '"' + k[31:] for k in keys])


def test_a_state_goes_on(seen, rng, tmp_path):
    keys = ids(rng, 400)
    args = ["-w", "landmark " + SPEC, "--state", tmp_path / "state", "--tag"]
    lines = [line for part in (keys[:150], keys[150:]) for line in seen(*args, text="".join(k + "\n" for k in part)).lines]
    assert [line.split("\t")[0] for line in lines] == expected(keys)


def test_landmarks_and_ages_serve_wide_keys(seen, rng):
    keys = [k for k in ids(rng, 60)]
    text = "".join(k + "\n" for k in keys)
    twice = seen("-w", "landmark " + SPEC, "--landmark-on", "^day", "--tag", text=text + "day\n" + text).lines
    assert [line.split("\t")[0] for line in twice[:60]] == expected(keys)
    assert [line.split("\t")[0] for line in twice[61:]] == expected(["day"] + keys)[1:]
    done = seen("-w", "jumping:40/4 " + SPEC, "--tag=age", text=(keys[0] + "\n" + keys[1] + "\n") * 30)
    assert done.code == 0 and done.lines[2].split("\t")[0] not in ("-", "")


def test_keys_that_are_too_long_pass_unjudged(seen):
    done = seen("-w", "landmark " + SPEC, "--tag", text="a" * 64 + "\n" + "a" * 65 + "\n" + "a" * 64 + "\n")
    assert [line.split("\t")[0] for line in done.lines] == ["new", "-", "dup"]
    assert b"longer than hash=raw takes" in done.err


def test_hashed_keys_of_512_bits(seen):
    text = "".join(f"{i % 500}\n" for i in range(1000))
    done = seen("-w", "landmark filter=substrings bits=512 substring=14 fp=.9 seed=1", "-q", text=text)
    assert 490 <= len(done.lines) <= 500


def test_records_held_back_keep_their_wide_keys(seen, rng):
    keys = ids(rng, 1000)
    rows = [(1000 + i, key) for i, key in enumerate(keys)]
    late = sorted(rows, key=lambda row: row[0] + rng.randrange(8))
    args = ["-w", "landmark " + SPEC, "--tag", "--time", 1, "-k", 2]
    sorted_here = seen(*args, "--reorder", "10s", text="".join("%d\t%s\n" % row for row in late))
    assert sorted_here.lines == ["%s\t%d\t%s" % (tag, *row) for tag, row in zip(expected(keys), rows)]


@pytest.mark.parametrize("args,words", [
    (["--keep=last"], ["filter=exact"]),
    (["--query-key=1", "--add-key=2"], ["--query-key"]),
    (["--shards=2"], ["shards="]),
    (["--cache=9"], ["verify="]),
    (["--redis=redis://127.0.0.1/x"], ["bits=512", "bits=128"]),
])
def test_what_goes_by_one_digest_is_refused(seen, args, words):
    seen("-w", "landmark " + SPEC, *args, text="").refused(*words)


def test_within_takes_keys_of_one_digest(seen):
    seen("-w", "jumping:40/4 " + SPEC, "--within=10", text="").refused("--within", "bits=128")


@pytest.mark.parametrize("command", ["count", "top", "compare"])
def test_other_commands_say_who_serves(seen, command):
    seen(command, "-w", "landmark:9 " + SPEC, text="a\n").refused("bits=512", "bits=128")
