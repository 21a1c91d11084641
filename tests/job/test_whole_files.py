"""`write_whole`: whatever moment a process or the power ends, a file is the old one or the new one, whole."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WRITE = """
import sys
from pathlib import Path
from solver.job.files import write_whole
path, size = Path(sys.argv[1]), int(sys.argv[2])
print("on", flush=True)
for letter in sys.argv[3]:
    write_whole(path, letter.encode() * size)
"""


def kept_after_each_call(journal: str, name: str) -> list[tuple[int, int]]:
    """(bytes that reached the disk, bytes that were written) of the file called `name`, after each system call.

    A disk keeps names as they come and forgets whatever bytes were not flushed when the power went.
    """
    files: dict[str, dict] = {}
    opened: dict[str, dict] = {}
    found = []
    for call in journal.splitlines():
        if match := re.search(r'openat\(.*?"([^"]*)", ([A-Z_|]*).*\)\s+= (\d+)', call):
            path, how, number = match.groups()
            if "O_CREAT" in how or "O_TRUNC" in how:
                files[path] = opened[number] = {"flushed": 0, "written": 0}
            elif path in files:
                opened[number] = files[path]
        elif (match := re.search(r"write\((\d+), .*\)\s+= (\d+)", call)) and match[1] in opened:
            opened[match[1]]["written"] += int(match[2])
        elif (match := re.search(r"f(?:data)?sync\((\d+)\)\s+= 0", call)) and match[1] in opened:
            opened[match[1]]["flushed"] = opened[match[1]]["written"]
        elif (match := re.search(r"close\((\d+)\)", call)) and match[1] in opened:
            del opened[match[1]]
        elif match := re.search(r'rename\w*\(.*?"([^"]*)".*?"([^"]*)".*\)\s+= 0', call):
            files[match[2]] = files.pop(match[1])
        elif match := re.search(r'unlink\w*\(.*?"([^"]*)".*\)\s+= 0', call):
            files.pop(match[1], None)
        if name in files:
            found.append((files[name]["flushed"], files[name]["written"]))
    return found


@pytest.mark.skipif(shutil.which("strace") is None, reason="reads the calls of the system with strace")
def test_the_power_may_go_at_any_moment(tmp_path):
    """Through a disk that forgets what was not flushed: under the file's name there is never less than all of it."""
    path, size = tmp_path / "file", 300_000
    ran = subprocess.run(["strace", "-f", "-o", str(tmp_path / "journal"), "-e",
                          "trace=openat,write,fsync,fdatasync,close,rename,renameat,renameat2,unlink,unlinkat",
                          sys.executable, "-c", WRITE, str(path), str(size), "abc"], cwd=ROOT, capture_output=True,
                         text=True)
    if ran.returncode and "ptrace" in ran.stderr:
        pytest.skip("no right to trace here")
    assert ran.returncode == 0, ran.stderr
    kept = kept_after_each_call((tmp_path / "journal").read_text(), str(path))
    assert kept and set(kept) == {(size, size)}
