"""Compare CHOLMOD wheels on the dragon's step matrix: cvxopt, kvxopt and cholespy, with scikit-sparse.

    python -m benchmarks.sparse_wheels

"as used" is cvxopt as the solver uses it: several right-hand sides are solved together, in kernels of our own, since
cvxopt solves one after the other. One thread each, all in one process, in turns, medians: a factor of new values on an
existing pattern, and solves with 1 and with 13 right-hand sides. The matrix is in METIS's ordering for those that
accept one; cholespy does not and factors from scratch. Nothing else uses kvxopt and cholespy: pip installs them into
build/sparse_wheels.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import meshes, report
from benchmarks import vanilla as worlds
from solver import threads  # before what it configures
from solver.linear.cholesky.cholmod import Cholmod
from solver.linear.cholesky.cvxopt_cholmod import CvxoptCholmod

FOLDER = Path(__file__).resolve().parent.parent / "build" / "sparse_wheels"
PINS = ("kvxopt==1.3.3.3", "cholespy==2.2.0")
ROUNDS = 15
COLUMNS = (1, 13)
FASTER = 1.15  #: what a wheel of our own would have to gain


class Recorder(Cholmod):
    """Keeps the first matrix that it factors."""

    matrix: sp.csc_matrix | None = None

    def factor(self, lower: sp.csc_matrix, positions: Any = None) -> None:
        if Recorder.matrix is None:
            Recorder.matrix = lower.copy()
        super().factor(lower, positions)


def step_matrix() -> sp.csc_matrix:
    """Lower triangle of M − βh²K of the dragon, in the order of elimination."""
    nodes, tets = meshes.tetrahedra("dragon")
    height = nodes[:, 2] - nodes[:, 2].min()
    worlds.choose = Recorder  # type: ignore[attr-defined, assignment]
    world = worlds.vanilla(nodes, tets, np.flatnonzero(height < 0.1 * height.max()), 3.0e4, 0.49,
                           integrator="semi_implicit", params={})
    world.step(world.initial_state(), 1.0 / 96.0)
    assert Recorder.matrix is not None
    return Recorder.matrix


def scikit_sparse(lower: sp.csc_matrix) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    from sksparse.cholmod import analyze

    factor = analyze(lower, mode="supernodal", ordering_method="natural")
    return lambda: factor.cholesky_inplace(lower), factor


def through(package: str) -> Callable[[sp.csc_matrix], tuple[Callable[[], Any], Callable[[Any], Any]]]:
    """cvxopt, or kvxopt, which has the same words."""
    def made(lower: sp.csc_matrix) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
        import importlib

        library, cholmod = importlib.import_module(package), importlib.import_module(f"{package}.cholmod")
        columns = np.repeat(np.arange(lower.shape[1]), np.diff(lower.indptr))
        matrix = library.spmatrix(library.matrix(lower.data), library.matrix(lower.indices.astype(np.int64)),
                                  library.matrix(columns), lower.shape)
        cholmod.options.update(supernodal=2, nmethods=1)
        factor = cholmod.symbolic(matrix, p=library.matrix(np.arange(lower.shape[0], dtype=np.int64)))

        def solve(rhs: Any) -> Any:
            sides = library.matrix(rhs)
            cholmod.solve(factor, sides)
            return np.array(sides).reshape(rhs.shape)

        return lambda: cholmod.numeric(matrix, factor), solve
    return made


def cholespy(lower: sp.csc_matrix) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    from cholespy import CholeskySolverD, MatrixType

    whole = (lower + sp.tril(lower, -1).T).tocsc()
    solvers: list[Any] = []

    def factor() -> None:
        solvers[:] = [CholeskySolverD(whole.shape[0], whole.indptr.astype(np.int32), whole.indices.astype(np.int32),
                                   whole.data, MatrixType.CSC)]

    def solve(rhs: Any) -> Any:
        rhs = np.ascontiguousarray(rhs)
        answer = np.zeros_like(rhs)
        solvers[0].solve(rhs, answer)
        return answer

    return factor, solve


def as_used(lower: sp.csc_matrix) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    solver = CvxoptCholmod()
    solver.analyse(lower, 0)
    return lambda: solver.factor(lower), solver.solve


BACKENDS = {"scikit-sparse": scikit_sparse, "cvxopt": through("cvxopt"), "kvxopt": through("kvxopt"),
            "cholespy": cholespy, "as used": as_used}


def main() -> None:
    threads.configure(1)
    if not FOLDER.exists():
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps",
                        "--target", str(FOLDER), *PINS], check=True)
    sys.path.append(str(FOLDER))
    lower = step_matrix()
    whole = lower + sp.tril(lower, -1).T
    rights = {count: np.asfortranarray(np.cos(np.arange(float(lower.shape[0] * count))).reshape(-1, count))
              for count in COLUMNS}
    made = {name: how(lower) for name, how in BACKENDS.items()}
    taken: dict[tuple[str, str], list[float]] = {}
    errors: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, (factor, solve) in made.items():
            began = time.thread_time()
            factor()
            taken.setdefault((name, "factor"), []).append(time.thread_time() - began)
            for count, rhs in rights.items():
                began = time.thread_time()
                answer = solve(rhs)
                taken.setdefault((name, f"solve_{count}"), []).append(time.thread_time() - began)
                error = float(np.abs(whole @ answer - rhs).max() / np.abs(rhs).max())
                errors[name] = max(errors.get(name, 0.0), error)
    ms = {key: 1e3 * statistics.median(times) for key, times in taken.items()}
    details: dict[str, Any] = {name: {what: round(ms[name, what], 2) for what in ("factor", "solve_1", "solve_13")}
                               | {"residual": errors[name]} for name in made}
    wheels = [name for name in made if name not in ("scikit-sparse", "as used")]
    best = min(wheels, key=lambda name: ms[name, "factor"] + ms[name, "solve_1"])
    details["best_on_wheels"] = best
    ratios = {what: ms["as used", what] / ms["scikit-sparse", what] for what in ("factor", "solve_1", "solve_13")}
    newton = (ms["as used", "factor"] + ms["as used", "solve_1"]) / (
        ms["scikit-sparse", "factor"] + ms["scikit-sparse", "solve_1"])
    report.emit("sparse_wheels", [
        report.claim("wheels_newton", newton, "times scikit-sparse's factor and one solve", f"<= {FASTER}"),
        report.claim("wheels_factor", ratios["factor"], "times scikit-sparse's", f"<= {FASTER}"),
        report.claim("wheels_solve_1", ratios["solve_1"], "times scikit-sparse's", f"<= {FASTER}"),
        report.claim("wheels_solve_13", ratios["solve_13"], "times scikit-sparse's", f"<= {FASTER}"),
    ], details)


if __name__ == "__main__":
    main()
