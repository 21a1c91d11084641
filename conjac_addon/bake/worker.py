"""A module of the solver in a process of its own: Blender stays responsive, and a crash costs a process."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bpy

from ...solver.errors import Environment

ROOT = Path(__file__).resolve().parents[2]  # holds solver/
BOOT = Path(__file__).resolve().with_name("worker_boot.py")

#: seconds between asking the worker to stop and killing it
GRACE = 1.5

#: lines of the worker's own output that are kept for a report of its death
LAST_LINES = 12


class Worker:
    """Starts `python -m module argv` and collects the JSON lines that it prints. env: of that process, ours if None.

    Raises Environment where no Python can be started.
    """

    def __init__(self, module: str, argv: list[str], root: Path = ROOT, env: Mapping[str, str] | None = None) -> None:
        head = {"sys_path": _sys_path(root), "module": module, "argv": argv}
        try:
            self._process = subprocess.Popen(command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=subprocess.STDOUT, env=env, **_own_group())
        except OSError as error:
            raise Environment(f"the bake's process cannot be started ({error.strerror or error})") from error
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._drain, daemon=True)
        self._reader.start()
        self._killer: threading.Timer | None = None
        self.last_lines: deque[str] = deque(maxlen=LAST_LINES)  #: plain text it printed: a traceback, a library's word
        self._send(json.dumps(head))

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs. Negative: ended by that signal."""
        return self._process.poll()

    def messages(self, wait: float = 0.0) -> list[dict[str, Any]]:
        """Return the messages since the last call; wait up to `wait` seconds for the first, or for the end of the
        process. Never touches bpy."""
        arrived = []
        with contextlib.suppress(queue.Empty):
            arrived.append(self._lines.get(timeout=wait) if wait else self._lines.get_nowait())
            while True:
                arrived.append(self._lines.get_nowait())
        return [self._message(raw) for raw in arrived if raw]

    def ended(self) -> bool:
        """Whether it has ended and all its messages have been read."""
        if self.exit_code is None:
            return False
        self._end_threads()
        return self._lines.empty()

    def pause(self) -> None:
        """Ask the worker to end after the present step."""
        self._send("pause")

    def cancel(self) -> None:
        """Ask it to end, and kill it where it has not ended GRACE seconds later. Returns at once."""
        self.pause()
        if self._killer is None:
            # a thread: the window may be busy with a slow redraw
            self._killer = threading.Timer(GRACE, self._kill)
            self._killer.daemon = True
            self._killer.start()

    def stop(self) -> int:
        """Cancel the worker and wait for its end. Returns its exit code."""
        self.cancel()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        self._kill()
        code = self._process.wait()
        self._end_threads()
        return code

    def _end_threads(self) -> None:
        """A thread that outlives the script keeps bpy, as a module, alive at exit, and that hangs."""
        if self._killer is not None:
            self._killer.cancel()
            self._killer.join(0.5)
        # a child of its own may keep the pipe open: wait a moment for the last lines, not for ever
        self._reader.join(0.5)

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # it has ended: its exit code says why
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()

    def _drain(self) -> None:
        """Empty the pipe in a thread, since the worker would block on a full one."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._process.wait()
        self._lines.put(b"")  # who waits for a line need not wait any longer

    def _message(self, raw: bytes) -> dict[str, Any]:
        line = raw.decode("utf-8", "replace").rstrip()
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if isinstance(message, dict) and "event" in message:
            return message
        self.last_lines.append(line)
        return {"event": "output", "text": line}

    def _kill(self) -> None:
        """Kill the worker and its children, so that no mesher is left running."""
        if self.exit_code is not None:
            return
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()


@functools.cache
def command() -> tuple[str, ...]:
    """Return how to start the worker: Blender's own Python, or Blender itself where `sys.executable` names another one.

    A distribution's Blender may report a Python that it found on the path and that is another installation.
    """
    asked = "import sys; print(sys.implementation.cache_tag, sys.maxsize)"
    expected = f"{sys.implementation.cache_tag} {sys.maxsize}"
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        probe = subprocess.run([sys.executable, "-I", "-c", asked], capture_output=True, text=True, timeout=30,
                               stdin=subprocess.DEVNULL, **_own_group())
        if probe.returncode == 0 and probe.stdout.strip() == expected:
            return sys.executable, "-I", str(BOOT)
    if not bpy.app.binary_path:
        raise Environment(f"{sys.executable} is not the Python that runs here, so no bake can be started")
    return bpy.app.binary_path, "--background", "--factory-startup", "--python-exit-code", "4", "--python", str(BOOT)


def _sys_path(root: Path) -> list[str]:
    """Return the solver's folder, then site-packages in Blender's own order: bundled wheels are in the extensions'
    folder."""
    found = [path for path in sys.path if "site-packages" in path and os.path.isdir(path)]
    return list(dict.fromkeys([str(root), *found]))


def _own_group() -> dict[str, Any]:
    """No console window on Windows; a group of its own, so that Ctrl-C in a terminal reaches Blender alone."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}
