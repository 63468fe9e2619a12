"""make demo's script: runs, says what it did, and leaves nothing behind."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEN = str((ROOT / os.environ.get("SEEN", "build/seen")).resolve())


def test_demo(tmp_path):
    env = {**os.environ, "SEEN": SEEN, "TMPDIR": str(tmp_path)}
    done = subprocess.run([ROOT / "tools/demo.sh"], env=env, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert "4,093,573 of 5,583,301 records are new" in done.stdout
    assert "bare seen" in done.stdout and done.stdout.count("  $ seen") >= 6
    assert len(done.stdout.splitlines()) <= 50
    assert list(tmp_path.iterdir()) == []
