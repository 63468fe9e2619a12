"""When and where a state is written: places where it cannot be, one run at a time, and in passing."""

import ctypes
import os
import resource
import signal
import subprocess
import time

import pytest

from conftest import SEEN, SMALL


# -- places where it cannot be written -----------------------------------------------------------------


def without_privileges():
    """Permissions hold for root too once it has lost the capabilities to override them (capabilities(7))."""
    if os.getuid() == 0:
        drop, dac_override, dac_read_search = 24, 1, 2
        for capability in dac_override, dac_read_search:
            assert ctypes.CDLL(None).prctl(drop, capability, 0, 0, 0) == 0


def test_a_folder_that_may_not_be_written_is_told_before_any_record(seen, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    done = seen("--state", folder / "s", text="a\n", preexec_fn=without_privileges)
    assert done.code == 2 and done.out == b""
    assert b"Permission denied" in done.err and done.err.count(b"\n") == 1


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (32 << 10, 32 << 10))


def test_a_full_disk_is_an_error_and_keeps_the_old_state(seen, state):
    seen(*SMALL, "--state", state, text="a\n")
    before = state.read_bytes()
    done = seen("--state", state, text="b\n", preexec_fn=small_files)
    assert done.code == 2 and done.out == b"b\n"
    assert b"cannot write the state" in done.err and b"the one before stays" in done.err
    assert state.read_bytes() == before
    assert sorted(os.listdir(state.parent)) == [state.name]
    assert seen("--state", state, "--tag", text="a\nb\n").out == b"dup\ta\nnew\tb\n"


def test_a_state_that_cannot_be_written_in_passing_is_told_once_and_the_run_goes_on(state):
    p = subprocess.Popen([SEEN, *SMALL, "--state", str(state), "--state-every", "20ms"], bufsize=0,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         preexec_fn=small_files)
    for i in range(10):
        p.stdin.write(b"%d\n" % i)
        assert p.stdout.readline() == b"%d\n" % i
        time.sleep(0.03)
    err = p.communicate()[1]
    assert p.returncode == 2
    assert err.count(b"cannot write the state") == 2  # once in passing, once at the end
    assert b"there is none yet" in err and not state.exists()


def test_output_that_failed_is_not_counted_as_seen(seen, state):
    seen(*SMALL, "--state", state, text="a\n")
    with open("/dev/full", "wb") as full:
        assert seen("--state", state, text="b\n", stdout=full).code == 2
    assert seen("--state", state, text="b\n").out == b"b\n"


def test_a_state_behind_a_link_and_its_mode_stay(seen, state, tmp_path):
    real = tmp_path / "real"
    seen(*SMALL, "--state", real, text="a\n")
    real.chmod(0o600)
    state.symlink_to(real)
    assert seen("--state", state, "--tag", text="a\n").out == b"dup\ta\n"
    assert state.is_symlink() and real.stat().st_mode & 0o777 == 0o600


# -- one run at a time ---------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [False, True], ids=["first run", "later run"])
def test_a_second_run_is_told_who_has_the_state(seen, state, again):
    if again:
        seen(*SMALL, "--state", state, text="x\n")
    p = subprocess.Popen([SEEN, "-q", *SMALL, "--state", str(state)], bufsize=0, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
    p.stdin.write(b"a\n")
    assert p.stdout.readline() == b"a\n"
    seen(*SMALL, "--state", state, text="b\n").refused("is in use by process %d;" % p.pid)
    p.stdin.write(b"c\n")
    p.communicate()
    assert seen("--state", state, "--tag", text="a\nb\nc\n").out == b"dup\ta\nnew\tb\ndup\tc\n"


# -- in passing ----------------------------------------------------------------------------------------


def follow(state, *args):
    return subprocess.Popen([SEEN, "-q", *SMALL, *args, "--state", str(state)], bufsize=0,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def appears(path, seconds=5):
    until = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.005)
    return path.exists()


def test_it_is_saved_while_nothing_comes(seen, state):
    p = follow(state, "--state-every", "100ms")
    p.stdin.write(b"a\n")
    assert p.stdout.readline() == b"a\n"
    assert appears(state)
    p.kill()
    p.communicate()
    assert seen("--state", state, "--tag", text="a\nb\n").out == b"dup\ta\nnew\tb\n"


def test_sigusr2_saves_it_now(seen, state):
    p = follow(state)
    p.stdin.write(b"a\n")
    assert p.stdout.readline() == b"a\n" and not state.exists()
    p.send_signal(signal.SIGUSR2)
    assert appears(state)
    p.stdin.write(b"b\n")
    assert p.stdout.readline() == b"b\n"
    p.kill()
    p.communicate()
    done = seen("--state", state, "--tag", text="a\nb\n")
    assert done.out == b"dup\ta\nnew\tb\n"
    assert b"resuming after record 1; what was printed after that comes again" in done.err


def test_a_span_that_is_none(seen, state):
    seen("--state", state, "--state-every", "60", text="a\n").refused("--state-every 60", "unit")
