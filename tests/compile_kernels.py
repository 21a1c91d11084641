"""Compiles every kernel of the solver into the cache on disk.

    python tests/compile_kernels.py 1      from the first module on
    python tests/compile_kernels.py -1     from the last one on

Of two that run at once each finds on disk what the other one has compiled. `make test` starts the first one while it
still installs what the solver does not need; `conftest.py` starts both, of which the first waits for make's.
"""

import fcntl
import gc
import importlib
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from solver import threads  # noqa: E402


def compiled() -> Path:
    """Return the path of the empty file that marks the kernels of this checkout as compiled."""
    return Path(os.environ["NUMBA_CACHE_DIR"]) / f"compiled-{threads.sources_hash()}"


def compile_all(step: int) -> None:
    """Import all modules with kernels, from the first on if step is 1 and from the last on if it is -1, unless another
    process has done so meanwhile."""
    with open(compiled().with_name(f"{compiled().name}.lock{step}"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if compiled().exists():
            return
        gc.set_threshold(100_000, 20, 100)  # numba makes many objects that it keeps: a twelfth of the time
        for path in threads._kernel_sources(ROOT / "solver")[::step]:
            try:
                importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
            except ImportError:  # of a linear solver that another Blender has not
                continue
        compiled().touch()


if __name__ == "__main__":
    compile_all(int(sys.argv[1]))
