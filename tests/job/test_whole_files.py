"""At whatever moment a process or the power ends, a file is complete, old or new; and the file that was checked is the
one that is opened."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from solver.job import files
from solver.job.files import write_whole

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


CALLS = "trace=openat,write,fsync,fdatasync,close,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat"


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    """Return (every system call, path, size) of a program that writes a file three times."""
    if shutil.which("strace") is None:
        pytest.skip("reads the calls of the system with strace")
    folder = tmp_path_factory.mktemp("journal")
    path, size = folder / "file", 300_000
    ran = subprocess.run(["strace", "-f", "-o", str(folder / "calls"), "-e", CALLS, sys.executable, "-c", WRITE,
                          str(path), str(size), "abc"], cwd=ROOT, capture_output=True, text=True)
    if ran.returncode and "ptrace" in ran.stderr:
        pytest.skip("no right to trace here")
    assert ran.returncode == 0, ran.stderr
    return (folder / "calls").read_text(), path, size


def contents_after_each_call(journal: str, name: str, forgets_names: bool) -> list[tuple[int, int, int]]:
    """Return (how often it was written, bytes that reached the disk, bytes that were written) of the file called
    `name`, after each system call. A disk loses bytes that were not flushed when the power went. It has new names at
    once or, where it `forgets_names`, once their folder was flushed."""
    files: dict[str, dict] = {}  # as programs see them
    disk: dict[str, dict] = files if not forgets_names else {}
    opened: dict[str, dict] = {}
    folders: dict[str, str] = {}
    contents, count = [], 0
    for call in journal.splitlines():
        if match := re.search(r'openat\(.*?"([^"]*)", ([A-Z_|]*).*\)\s+= (\d+)', call):
            path, how, number = match.groups()
            if "O_CREAT" in how or "O_TRUNC" in how:
                count += 1
                files[path] = opened[number] = {"flushed": 0, "written": 0, "count": count}
            elif path in files:
                opened[number] = files[path]
            elif "O_DIRECTORY" in how:
                folders[number] = path
        elif (match := re.search(r"write\((\d+), .*\)\s+= (\d+)", call)) and match[1] in opened:
            opened[match[1]]["written"] += int(match[2])
        elif match := re.search(r"f(?:data)?sync\((\d+)\)\s+= 0", call):
            if match[1] in opened:
                opened[match[1]]["flushed"] = opened[match[1]]["written"]
            elif match[1] in folders and forgets_names:
                inside = {path: file for path, file in files.items() if str(Path(path).parent) == folders[match[1]]}
                disk.clear()  # of one folder only
                disk.update(inside)
        elif match := re.search(r"close\((\d+)\)", call):
            opened.pop(match[1], None)
            folders.pop(match[1], None)
        elif match := re.search(r'rename\w*\(.*?"([^"]*)".*?"([^"]*)".*\)\s+= 0', call):
            files[match[2]] = files.pop(match[1])
        elif match := re.search(r'unlink\w*\(.*?"([^"]*)".*\)\s+= 0', call):
            files.pop(match[1], None)
        if name in disk:
            contents.append((disk[name]["count"], disk[name]["flushed"], disk[name]["written"]))
    return contents


@pytest.mark.parametrize("forgets_names", [False, True])
def test_the_power_may_go_at_any_moment(journal, forgets_names):
    """On a disk that loses what was not flushed, the file is complete under its name at each moment, and has the last
    content in the end."""
    calls, path, size = journal
    contents = contents_after_each_call(calls, str(path), forgets_names)
    assert {(flushed, written) for _, flushed, written in contents} == {(size, size)}
    assert contents[0][0] == 1 and contents[-1][0] == 3


def test_the_disk_has_each_file_before_the_next_is_opened(journal):
    """After `write_whole` returns, a caller may record in a list that the file exists."""
    calls, path, size = journal
    openings = [match.start() for match in re.finditer(r'openat\([^\n]*file\.tmp", [^\n]*O_CREAT', calls)]
    assert len(openings) == 3
    for count, start in enumerate(openings[1:], 1):
        assert contents_after_each_call(calls[:start], str(path), forgets_names=True)[-1] == (count, size, size)


def test_killed_in_mid_write_it_is_the_old_one_or_the_new_one(tmp_path):
    """A process is killed at twelve moments of writing one file over and over; the next write removes what it left."""
    path, size = tmp_path / "file", 2_000_000
    for moment in range(12):
        with subprocess.Popen([sys.executable, "-c", WRITE, str(path), str(size), "ab" * 5000], cwd=ROOT,
                              stdout=subprocess.PIPE) as writer:
            assert writer.stdout.readline() == b"on\n"
            while not path.exists():
                time.sleep(0.001)
            time.sleep(0.0037 * moment)
            writer.kill()
        content = path.read_bytes()
        assert len(content) == size and content in (b"a" * size, b"b" * size)
    write_whole(path, b"c")
    assert [name.name for name in tmp_path.iterdir()] == ["file"] and path.read_bytes() == b"c"


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="a name cannot be opened without what it leads to")
@pytest.mark.parametrize("how", [files.open_regular, files.open_to_change, files.create,
                                 lambda path: files.append(path, b"more", path.parent)],
                         ids=["read", "change", "create", "append"])
def test_a_file_that_was_swapped_for_a_link_is_not_opened(tmp_path, monkeypatch, how):
    """Another process can replace a file between the check and the opening."""
    (tmp_path / "job").mkdir()
    secret, path = tmp_path / "secret", tmp_path / "job" / "file"
    secret.write_bytes(b"theirs")
    path.write_bytes(b"ours")
    opened = os.open

    def swapped(name, *arguments):
        if Path(name) == path:
            path.unlink(missing_ok=True)
            path.symlink_to(secret)
        return opened(name, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(files.os, "open", swapped)
        with pytest.raises(OSError):
            how(path).close()
    assert path.is_symlink() and secret.read_bytes() == b"theirs"


@pytest.mark.parametrize("how", [files.open_to_change, lambda path: files.append(path, b"more", path.parent)],
                         ids=["change", "append"])
def test_a_file_that_has_another_name_is_not_changed(tmp_path, how):
    """A backup made of hard links would change with the file."""
    path, backup = tmp_path / "file", tmp_path / "backup"
    path.write_bytes(b"ours")
    os.link(path, backup)
    with pytest.raises(files.NotRegular, match="a file of several names"):
        how(path)
    assert backup.read_bytes() == b"ours"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders")
def test_a_pipe_that_replaces_a_file_after_its_check_is_not_waited_for(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"ours")
    opened = os.open

    def swapped(name, *arguments):
        path.unlink()
        os.mkfifo(path)
        return opened(name, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(files.os, "open", swapped)
        with pytest.raises(files.NotRegular, match="no regular file"):
            files.open_regular(path)
