"""Commands of the solver in processes of their own that may take no more than so much memory, forked from one that
has imported them: where a test runs many, loading each anew is all that they cost."""

import multiprocessing
import os
import resource
import sys
import traceback
from pathlib import Path

MEMORY = 2 << 30  #: bytes that a command may take: numpy and msgspec need a tenth of it

_processes = multiprocessing.get_context("forkserver")


def run(verb: str, job: Path, said: Path, seconds: float = 120.0) -> tuple[int | None, str]:
    """(exit code, None where it did not end in time; what it wrote to standard error).

    said: a file that keeps that.
    """
    _processes.set_forkserver_preload([__name__, "numpy", "solver.cli", "solver.job.load", "solver.job.hashes",
                                       "solver.job.estimate"])
    process = _processes.Process(target=_limited, args=(verb, str(job), str(said)))
    process.start()
    process.join(seconds)
    code = process.exitcode
    process.kill()
    return code, said.read_text(encoding="utf-8")


def _limited(verb: str, job: str, said: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number, path, how in ((0, os.devnull, os.O_RDONLY), (1, os.devnull, os.O_WRONLY),
                              (2, said, os.O_WRONLY | os.O_CREAT)):
        opened = os.open(path, how)
        os.dup2(opened, number)
        os.close(opened)
    from solver.cli import main

    code = 1
    try:
        code = main([verb, job])
    except BaseException:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)
