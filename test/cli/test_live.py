"""A process among others: pipes that wait, signals, terminals, time passing."""

import gzip
import os
import pty
import re
import select
import signal
import subprocess
import time

import pytest

from conftest import SEEN, default_signals


def start(*args, **more):
    more.setdefault("preexec_fn", default_signals)
    more.setdefault("stdin", subprocess.PIPE)
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen([SEEN, *args], bufsize=0, **more)


def line_from(stream, seconds=5):
    """The next line, or b"" if none comes in time."""
    text = b""
    while not text.endswith(b"\n") and select.select([stream], [], [], seconds)[0]:
        byte = os.read(stream.fileno(), 1)
        if not byte:
            break
        text += byte
    return text


# -- at once -------------------------------------------------------------------------------------------


def test_tail_f_prints_at_once(tmp_path):
    log = tmp_path / "log"
    log.write_text("a\n")
    tail = subprocess.Popen(["tail", "-f", "-s", "0.1", str(log)], stdout=subprocess.PIPE)
    p = start(stdin=tail.stdout)
    try:
        assert line_from(p.stdout) == b"a\n"
        with open(log, "a") as more:
            more.write("a\nb\n")
        assert line_from(p.stdout) == b"b\n"
    finally:
        tail.kill()
        tail.communicate()
        p.communicate()


def test_half_a_line_waits_for_the_other_half():
    p = start()
    p.stdin.write(b"a\nb")
    assert line_from(p.stdout) == b"a\n"
    assert line_from(p.stdout, 0.2) == b""
    p.stdin.write(b"c\n")
    assert line_from(p.stdout) == b"bc\n"
    p.communicate()


def test_arrival_time_decides_without_a_time_field():
    p = start("-w", "sliding:300ms filter=exact", "--tag")
    p.stdin.write(b"a\n")
    assert line_from(p.stdout) == b"new\ta\n"
    p.stdin.write(b"a\n")
    assert line_from(p.stdout) == b"dup\ta\n"
    time.sleep(0.4)
    p.stdin.write(b"a\n")
    assert line_from(p.stdout) == b"new\ta\n"
    p.communicate()


# -- signals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_with_statistics_and_its_own_code(sig):
    p = start("--stats=json")
    p.stdin.write(b"a\nb\na\nhalf")
    assert line_from(p.stdout) == b"a\n"
    assert line_from(p.stdout) == b"b\n"
    p.send_signal(sig)
    assert p.wait(5) == -sig  # a shell says 128 + sig
    assert b'"records":3,"unique":2,"duplicates":1,' in p.stderr.read()


def test_a_signal_ends_a_busy_run_with_whole_records():
    yes = subprocess.Popen(["seq", "1", "1000000000"], stdout=subprocess.PIPE)
    p = start("-q", "--stats=json", stdin=yes.stdout, stdout=open("/dev/shm/seen-busy", "wb"))
    time.sleep(0.3)
    p.send_signal(signal.SIGTERM)
    _, err = p.communicate(timeout=300)
    yes.kill()
    yes.communicate()
    out = open("/dev/shm/seen-busy", "rb").read()
    os.unlink("/dev/shm/seen-busy")
    assert p.returncode == -signal.SIGTERM
    assert out.endswith(b"\n") and b'"unique":%d,' % out.count(b"\n") in err


def test_sigusr1_prints_statistics_and_goes_on():
    p = start()
    p.stdin.write(b"a\na\n")
    assert line_from(p.stdout) == b"a\n"
    p.send_signal(signal.SIGUSR1)
    text = b""
    while b"memory" not in text:
        line = line_from(p.stderr)
        assert line, text
        text += line
    assert re.search(rb"records +2 ", text) and re.search(rb"duplicates +1 ", text)
    p.stdin.write(b"b\n")
    assert line_from(p.stdout) == b"b\n"
    p.communicate()
    assert p.returncode == 0


def test_sigpipe_dies_quietly():
    done = subprocess.run('seq 1 10000000 | "%s"; echo "$?" >&2' % SEEN, shell=True, bufsize=0,
                          stdout=closed_pipe(), stderr=subprocess.PIPE)
    assert done.stderr == b"141\n"


def closed_pipe():
    r, w = os.pipe()
    os.close(r)
    return w


def test_endless_input_ends_with_its_reader():
    shell = "yes '' | \"%s\" --tag | head -n 2" % SEEN
    done = subprocess.run(shell, shell=True, capture_output=True, timeout=300)
    assert done.stdout == b"new\t\ndup\t\n" and done.stderr == b""


def test_it_ends_with_its_reader_even_if_nothing_is_left_to_print():
    shell = "yes '' | \"%s\" | head -n 1" % SEEN
    done = subprocess.run(shell, shell=True, capture_output=True, timeout=300)
    assert done.stdout == b"\n" and done.stderr == b""


def test_output_does_not_wait_for_a_buffer_to_fill_while_input_never_pauses():
    shell = "(echo first; yes) | \"%s\" | head -n 1" % SEEN
    assert subprocess.run(shell, shell=True, capture_output=True, timeout=300).stdout == b"first\n"


def test_nohup_keeps_its_promise():
    p = subprocess.Popen(["sh", "-c", 'trap "" INT; exec "%s"' % SEEN], bufsize=0,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdin.write(b"a\n")
    assert line_from(p.stdout) == b"a\n"
    p.send_signal(signal.SIGINT)
    p.stdin.write(b"b\n")
    assert line_from(p.stdout) == b"b\n"
    p.communicate()
    assert p.returncode == 0


# -- the terminal --------------------------------------------------------------------------------------


def run_on_terminal(*args):
    """What a run of a second prints on a terminal as its stderr."""
    ours, theirs = pty.openpty()
    p = start(*args, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    for i in range(5):
        p.stdin.write(b"".join(b"%d\n" % (i * 1000 + j // 2) for j in range(2000)))
        time.sleep(0.15)
    p.communicate()
    text = b""
    try:
        while chunk := os.read(ours, 4096):
            text += chunk
    except OSError:
        pass  # Linux says EIO when the other side has closed
    os.close(ours)
    return text


def test_progress_on_a_terminal_only():
    text = run_on_terminal()
    assert re.search(rb"[0-9,]+ records, [0-9,]+ a second, 50\.0 % duplicates", text), text
    assert 1 <= text.count(b"a second") <= 8
    assert text.endswith(b"\r\x1b[K")  # and nothing stays behind


def run_on_file(path, *args):
    """What a run over a file prints on a terminal while its output is read slowly."""
    ours, theirs = pty.openpty()
    p = start(*args, str(path), stdin=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    while p.stdout.read(1 << 17):
        time.sleep(0.1)
    p.communicate()
    text = b""
    try:
        while chunk := os.read(ours, 4096):
            text += chunk
    except OSError:
        pass
    os.close(ours)
    return text


@pytest.mark.parametrize("pack", [False, True])
def test_percent_and_time_left_of_a_file(tmp_path, rng, pack):
    path = tmp_path / "log"
    text = b"".join(b"%x\n" % rng.getrandbits(90) for _ in range(100000))
    path.write_bytes(gzip.compress(text) if pack else text)
    shown = [int(n) for n in re.findall(rb"% duplicates; (\d+) %", run_on_file(path))]
    assert shown and shown == sorted(shown) and 0 < shown[0] < 100 and shown[-1] <= 100
    assert re.search(rb"; \d+ %, \d+s left", run_on_file(path))


def test_no_progress_shows_none(tmp_path):
    assert run_on_terminal("--no-progress") == b""


def test_quiet_shows_no_progress():
    assert run_on_terminal("-q") == b""


def test_no_progress_into_a_pipe():
    p = start()
    for i in range(4):
        p.stdin.write(b"%d\n" % i)
        time.sleep(0.15)
    assert p.communicate()[1] == b""
