"""A run killed at any instant and taken up again loses no record, and counts none twice."""

import bisect
import json
import re
import signal
import subprocess

import pytest

from conftest import SEEN


class Killed:
    """A run over one file that is killed and resumed. Each step is compared with a run that was not killed, which
    prints the records of these `number`s, `line` by line."""

    def __init__(self, folder, rng, threads):
        self.rng, self.out, self.state, self.log = rng, folder / "out", folder / "state", folder / "log"
        records = [b"%d.%02d user-%06d g%d" % (i // 3, i % 100, rng.randrange(120000), rng.randrange(9))
                   for i in range(250000)]
        self.log.write_bytes(b"".join(r + b"\n" for r in records))
        self.args = [SEEN, "-w", "landmark fp=1e-6 mem=1MiB seed=3", "-d", " ", "-k", "2"]
        tagged = subprocess.run([*self.args, "--tag", self.log], capture_output=True).stdout.splitlines()
        self.number = [i for i, line in enumerate(tagged, 1) if line.startswith(b"new")]
        self.line = [records[i - 1] for i in self.number]
        self.args += ["--group-by", "3", "--sum", "1", "--stats=json"]
        self.account = self.counted(subprocess.run([*self.args, self.log], capture_output=True).stderr)
        self.args += ["-j", str(threads), "--state", str(self.state), "--state-every", "4ms"]

    @staticmethod
    def counted(err):
        """The groups and sums that a run tells of when it comes to its end."""
        stats = json.loads(err.splitlines()[-1])
        return {name: stats[name] for name in ("records", "unique", "duplicates", "groups", "sums")}

    def start_over(self):
        for path in (self.out, self.state, self.state.with_name("state.new")):
            path.unlink(missing_ok=True)
        self.out.touch()
        self.printed = self.resumed = 0  # lines of all runs so far; the last record behind us

    def step(self, longest):
        """One run, killed unless it ends before.  Whether it ended."""
        before = self.out.stat().st_size
        with open(self.out, "ab") as out:
            p = subprocess.Popen([*self.args, str(self.log)], stdout=out, stderr=subprocess.PIPE)
            try:
                p.wait(self.rng.random() * longest)
            except subprocess.TimeoutExpired:
                p.kill()
            err = p.communicate()[1].decode()
        assert p.returncode in (0, -signal.SIGKILL), err
        with open(self.out, "rb") as out:
            out.seek(before)
            self.check(out.read(), err)
        if p.returncode == 0:
            assert self.counted(err) == self.account
        return p.returncode == 0

    def check(self, text, err):
        """What this run printed comes behind the record from which it says it resumed, and all before that
        record had been printed when it began."""
        resumed = re.search(r"resuming after record ([0-9,]+)", err)
        if not resumed and not text:
            return  # killed before it said anything
        resumed = int(resumed.group(1).replace(",", "")) if resumed else 0
        assert resumed >= self.resumed
        self.resumed = resumed
        first = bisect.bisect(self.number, resumed)
        assert first <= self.printed, "records are lost"
        if self.printed and text.startswith(b"\n"):
            text = text[1:]  # the line torn before is ended
        *lines, torn = text.split(b"\n")
        last = first + len(lines)
        assert lines == self.line[first:last]
        assert not torn or self.line[last].startswith(torn)
        self.printed = max(self.printed, last)


@pytest.mark.parametrize("kills, threads", [
    (20, 1), (20, 2),
    pytest.param(700, 1, marks=pytest.mark.long), pytest.param(300, 2, marks=pytest.mark.long),
])
def test_killed_at_any_instant_nothing_is_lost(tmp_path, rng, kills, threads):
    run = Killed(tmp_path, rng, threads)
    run.start_over()
    killed, ends, resumes, longest = 0, 0, 0, 0.2
    while killed < kills or not ends or resumes <= kills // 5:
        was = run.resumed
        ended = run.step(longest)
        longest *= 0.7 if ended else 1.3 if run.resumed == was else 1  # most are killed, and get on
        resumes += run.resumed > 0
        killed += not ended
        assert killed < 50 * kills, "hardly a run lives to save its state"
        if not ended:
            continue
        ends += 1
        assert run.printed == len(run.line)
        assert set(run.line) <= set(run.out.read_bytes().splitlines())
        run.start_over()
    print("%d kills, %d runs to the end, %d resumed" % (killed, ends, resumes))
