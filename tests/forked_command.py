"""Commands of the solver in processes of their own, forked from one that has imported them: where a test runs many,
loading the solver anew is nearly all that they cost."""

import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
from multiprocessing.connection import Connection
from pathlib import Path

PRELOADED = ("solver.threads", "numba", "solver.cli", "solver.job.load", "solver.job.estimate", "solver.simulate",
             "solver.build.world", "solver.meshing.tetrahedralize", "solver.linear.cholesky.cholmod",
             "solver.materials.stable_neo_hookean", "loaded_solver")

_processes = multiprocessing.get_context("forkserver")


def run(*arguments: object, memory: int | None = None, seconds: float = 300.0) -> tuple[int | None, str, str]:
    """(exit code, None where it did not end in time; standard output; standard error).

    memory: that it may take beside what is loaded already [bytes].
    """
    _processes.set_forkserver_preload([__name__, *PRELOADED])
    with tempfile.TemporaryDirectory(prefix="conjac-command-") as folder:
        said = [Path(folder) / name for name in ("output", "errors")]
        process = _processes.Process(target=_written, args=([*map(str, arguments)], [*map(str, said)], memory))
        process.start()
        process.join(seconds)
        code = process.exitcode
        process.kill()
        return code, *(path.read_text(encoding="utf-8") for path in said)


class Started:
    """A command that runs: as much of subprocess.Popen, with pipes, as tests of what a signal does need."""

    def __init__(self, *arguments: object) -> None:
        _processes.set_forkserver_preload([__name__, *PRELOADED])
        pipes = [_processes.Pipe(duplex=False) for _ in range(3)]
        theirs = [pipe[number > 0] for number, pipe in enumerate(pipes)]
        self._process = _processes.Process(target=_piped, args=([*map(str, arguments)], theirs))
        self._process.start()
        self.stdin, self.stdout, self.stderr = (
            open(os.dup(pipe[number == 0].fileno()), "wrr"[number], encoding="utf-8")
            for number, pipe in enumerate(pipes))
        for end in (end for pipe in pipes for end in pipe):
            end.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Negative: ended by that signal."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float) -> int:
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("solver", timeout)
        return self.returncode

    def communicate(self, timeout: float = 60.0) -> tuple[str, str]:
        """(what is left of its output, of its errors) when it has ended. Its input stays open, as a terminal's does."""
        said = self.stdout.read(), self.stderr.read()
        self.wait(timeout)
        for pipe in (self.stdin, self.stdout, self.stderr):
            pipe.close()
        return said


def _piped(arguments: list[str], ends: list[Connection]) -> None:
    for number, end in enumerate(ends):
        os.dup2(end.fileno(), number)
        end.close()
    _command(arguments)


def _written(arguments: list[str], paths: list[str], memory: int | None) -> None:
    for number, path in enumerate((os.devnull, *paths)):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)
    if memory is not None:
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + memory, taken + memory))
    _command(arguments)


def _command(arguments: list[str]) -> None:
    from solver.cli import main

    code = 1
    try:
        code = main(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
