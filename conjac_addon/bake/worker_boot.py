"""Entry of the worker process, run by path under `python -I` or as a script of a background Blender.

The first line of standard input is {"sys_path": [...], "module": "...", "argv": [...]}; the module then runs as
`python -m` would run it, with the rest of standard input as its own. When that ends, Blender has quit or crashed,
and the worker ends with it: 75, stopped and resumable.
"""

import json
import os
import runpy
import sys
import threading

STOPPED = 75


def read_line() -> bytes:
    """Read one line of standard input, byte by byte, since the rest belongs to another reader."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            os._exit(STOPPED)
        line += byte
    return line


def forward(source: int, target: int) -> None:
    """Pass lines on until the parent is gone. os.read: a thread inside sys.stdin's lock at exit aborts Python."""
    while block := os.read(source, 4096):
        os.write(target, block)
    os._exit(STOPPED)


def main() -> None:
    head = json.loads(read_line())
    # the module gets a standard input of its own, so that an end of the real one is seen here in any case
    reading, writing = os.pipe()
    parent = os.dup(0)
    os.dup2(reading, 0)
    os.close(reading)
    threading.Thread(target=forward, args=(parent, writing), daemon=True).start()

    sys.path[:0] = head["sys_path"]
    sys.argv = [head["module"], *head["argv"]]
    code = 0
    try:
        runpy.run_module(head["module"], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    # at once: taking numba and OpenMP down costs most of a second, and Blender would go on after a script that exits
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


main()
