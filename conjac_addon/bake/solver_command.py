"""Command line of the solver for a bake."""

from __future__ import annotations

from pathlib import Path

from .. import prefs


def solver_command(folder: Path, frames: tuple[int, int] | None, resume: bool, earlier: Path | None = None
                   ) -> list[str]:
    """Return the solver's arguments for a job folder. frames: (first, last), None for all. resume: whether there is a
    bake to resume. earlier: folder of an earlier one from which unchanged objects are reused."""
    threads = prefs.threads()
    return ["bake", str(folder), "--json", *(["--resume"] if resume else []),
            *(["--reuse", str(earlier)] if earlier is not None else []),
            *([f"--frames={frames[0]}-{frames[1]}"] if frames else []),
            *(["--threads", str(threads)] if threads else ["--cores-left-free", str(prefs.cores_left_free())])]
