"""A mesher in a process of its own, since meshers crash, hang and print."""

from __future__ import annotations

import io
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..errors import Environment
from ..state import Index, Vec
from .spent import Spent

Report = Callable[[float | None, str], None]
TimedReport = Callable[[float | None, str, float], None]

BOOT = Path(__file__).with_name("child_boot.py")  # watches over the other, which meshes
MESH = Path(__file__).with_name("child_mesh.py")
MAGIC = b"\x00conjac-mesher\x00"
HELLO_SECONDS = 60.0  #: within which a child greets
POLL_SECONDS = 0.25  #: between looks at its time
END_SECONDS = 5.0  #: that the child has to kill its mesher


class ChildFailed(Exception):
    """A crash of the mesher's process, or an invalid mesh from it; the message gives the details."""


class ChildTooSlow(ChildFailed):
    """A mesher's process that exceeded its time limit."""


def python_commands() -> list[list[str]]:
    """Return command lines that may start this very Python, the likeliest first; the child's greeting shows whether one
    did."""
    names = [sys.executable, getattr(sys, "_base_executable", "")]
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for prefix in (sys.prefix, sys.exec_prefix, sys.base_prefix):
        names += [os.path.join(prefix, "bin", f"python{version}"), os.path.join(prefix, "python.exe"),
                  os.path.join(prefix, "bin", "python.exe")]
    commands = []
    for name in dict.fromkeys(names):
        if not name or not os.path.isfile(name):
            continue
        blender = "blender" in os.path.basename(name).lower()
        commands.append([name, "--background", "--factory-startup", "--python", str(BOOT)] if blender
                        else [name, "-I", str(BOOT)])
    return commands


@contextmanager
def _start() -> Iterator[tuple[subprocess.Popen[bytes], list[str], queue.Queue[tuple[str, bytes]]]]:
    """Yield a child that runs the same Python, the command that starts its mesher in the same way, and the queue of its
    pipes' output. The child and its mesher are killed at the end in any case."""
    options: dict[str, Any] = {"start_new_session": True}  # Ctrl-C in a terminal ends us, not the mesher
    if sys.platform == "win32":
        options = {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    tried = []
    # fTetWild leaves files in the folder where it runs
    with tempfile.TemporaryDirectory(prefix="conjac-mesher-", ignore_cleanup_errors=True) as scratch:
        for command in python_commands():
            try:
                child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                         cwd=scratch, **options)
            except OSError as error:
                tried.append(f"{command[0]} ({error.strerror})")
                continue
            messages, readers = _listen(child)
            try:
                if _has_greeted(messages):
                    yield child, [str(MESH) if word == str(BOOT) else word for word in command], messages
                    return
            finally:
                _end(child, readers)
            tried.append(command[0])
    raise Environment("no Python was found to run the mesher in", f"Tried {', '.join(tried) or 'nothing'}")


def _end(child: subprocess.Popen[bytes], readers: list[threading.Thread]) -> None:
    """Kill the child and its mesher, where they still run, and wait until both have gone."""
    assert child.stdin is not None and child.stdout is not None and child.stderr is not None
    with suppress(OSError):
        child.stdin.close()  # the sign for it to kill its mesher and end
    if child.poll() is None:
        if sys.platform != "win32":
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        else:
            with suppress(subprocess.TimeoutExpired):
                child.wait(END_SECONDS)
            child.kill()
    child.wait()
    for reader in readers:  # the mesher holds the other end of their pipes
        reader.join(END_SECONDS)
    for pipe in (child.stdout, child.stderr):
        with suppress(OSError):
            pipe.close()


def _listen(child: subprocess.Popen[bytes]) -> tuple[queue.Queue[tuple[str, bytes]], list[threading.Thread]]:
    """Return a queue, and the threads that empty both pipes into it, so that the child never blocks on a full one."""
    messages: queue.Queue[tuple[str, bytes]] = queue.Queue()

    def empty(pipe: IO[bytes], kind: str) -> None:
        with suppress(OSError, ValueError):
            while part := os.read(pipe.fileno(), 1 << 16):
                messages.put((kind, part))
        messages.put((kind + "-end", b""))

    readers = [threading.Thread(target=empty, args=(pipe, kind), daemon=True)
               for pipe, kind in ((child.stdout, "answer"), (child.stderr, "print"))]
    for reader in readers:
        reader.start()
    return messages, readers


def _has_greeted(messages: queue.Queue[tuple[str, bytes]]) -> bool:
    """Return whether the child runs and is the same Python as this one."""
    received, expected = b"", MAGIC + sys.implementation.cache_tag.encode() + b"\n"  # type: ignore[operator]
    deadline = time.monotonic() + HELLO_SECONDS
    while time.monotonic() < deadline:
        try:
            kind, part = messages.get(timeout=POLL_SECONDS)
        except queue.Empty:
            continue
        if kind == "answer-end":
            return False
        if kind == "answer":
            received += part
            if MAGIC in received and b"\n" in received[received.index(MAGIC):]:
                return expected in received
    return False


def run_mesher(mesher: Any, vertices: Vec, triangles: Index, settings: Mapping[str, float], seconds: float,
               report: TimedReport) -> tuple[Vec, Index]:
    """Return `mesher.mesh(vertices, triangles, settings)`, nodes (k, 3) and tets (e, 4), computed in a child process.

    report: called at least a few times a second with the fraction that is done, or None, words, and the seconds that
    the child has used; an exception that it raises ends the child. Raises ChildTooSlow after more than `seconds`,
    ChildFailed where the child crashed or returned no mesh, and Environment where no Python can be started.
    """
    packed = io.BytesIO()
    np.savez(packed, vertices=vertices, triangles=triangles)
    package, _, rest = type(mesher).__module__.partition(".meshing")
    ours = package == __package__.partition(".meshing")[0]
    root = Path(__file__).resolve().parents[1]
    with _start() as (child, command, messages):
        assert child.stdin is not None
        header = json.dumps({
            "command": command, "sys_path": [str(root.parent), *(p for p in sys.path if p)], "size": packed.tell(),
            "settings": dict(settings), "name": type(mesher).__name__,
            "module": f"{root.name}.meshing{rest}" if ours else type(mesher).__module__,
        }).encode()
        request = len(header).to_bytes(8, "little") + header + packed.getvalue()
        with suppress(OSError):  # a child that died at once is reported below
            child.stdin.write(request)
            child.stdin.flush()
        response, printed = _follow(mesher, messages, seconds, report, Spent(child.pid))
        if response is None:
            child.wait()
            raise ChildFailed(_last_output(child.returncode, printed))
    try:
        with np.load(io.BytesIO(response), allow_pickle=False) as arrays:
            return arrays["nodes"], arrays["tets"]
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        raise ChildFailed(f"it returned something that is no mesh ({error})") from error


def _follow(mesher: Any, messages: queue.Queue[tuple[str, bytes]], seconds: float, report: TimedReport,
            spent: Spent) -> tuple[bytes | None, str]:
    """Return all bytes of the response, None where it is incomplete, and the end of the printed output."""
    response: list[bytes] = []
    printed, line_start, last_progress = "", "", (None, "")
    # two pipes end in any order; after the response's the other one has the last output, unless it is open elsewhere
    left, until = {"answer-end", "print-end"}, np.inf
    while left and time.monotonic() < until:
        had = spent()
        if had > seconds:
            raise ChildTooSlow(f"it did not finish within {seconds:.0f} s")
        report(*last_progress, had)
        try:
            kind, part = messages.get(timeout=POLL_SECONDS)
        except queue.Empty:
            continue
        if kind == "answer":
            response.append(part)
        elif kind in left:
            left.remove(kind)
            if kind == "answer-end":
                whole, until = _find_response(b"".join(response)), time.monotonic() + END_SECONDS
                if whole is not None:
                    return whole, printed
        elif kind == "print":
            *lines, line_start = (line_start + part.decode("utf-8", "replace")).splitlines(keepends=True) or [""]
            if line_start.endswith("\n"):
                lines, line_start = [*lines, line_start], ""
            for line in lines:
                last_progress = mesher.progress(line) or last_progress
            printed = (printed + "".join(lines))[-4000:]
    return None, printed + line_start


def _find_response(response: bytes) -> bytes | None:
    """Return the response in the output of a child, after what its Python printed; None where it is not complete."""
    content = response.partition(MAGIC)[2]
    size = int.from_bytes(content[:8], "little")
    return content[8 : 8 + size] if len(content) >= 8 + size else None


def _last_output(code: int, printed: str) -> str:
    """Return how a child ended: by which signal or with which code, and the last line it printed."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    how = f"it crashed (signal {-code})" if code < 0 else f"it ended with code {code}"
    return f"{how}: {lines[-1][:200]}" if lines else how
