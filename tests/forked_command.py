"""Commands of the solver in processes of their own, forked from one that has imported them: where a test runs many,
loading the solver anew is nearly all that they cost. What a signal does to a command is tested in ones that are not."""

import multiprocessing
import os
import resource
import sys
import tempfile
import traceback
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
        process = _processes.Process(target=_command, args=([*map(str, arguments)], [*map(str, said)], memory))
        process.start()
        process.join(seconds)
        code = process.exitcode
        process.kill()
        return code, *(path.read_text(encoding="utf-8") for path in said)


def _command(arguments: list[str], said: list[str], memory: int | None) -> None:
    for number, path, how in ((0, os.devnull, os.O_RDONLY), (1, said[0], os.O_WRONLY | os.O_CREAT),
                              (2, said[1], os.O_WRONLY | os.O_CREAT)):
        opened = os.open(path, how)
        os.dup2(opened, number)
        os.close(opened)
    if memory is not None:
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + memory, taken + memory))
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
