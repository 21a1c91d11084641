"""Calls back: a file that calls another one, which calls functions of the first."""

import sys
from collections import defaultdict
from pathlib import Path

SOLVER = Path(__file__).resolve().parents[2] / "solver"


def file_of(frame):
    """Return the file of a frame from solver/, None of any other."""
    path = frame.f_code.co_filename
    return Path(path).relative_to(SOLVER).as_posix() if path.startswith(str(SOLVER)) else None


def call_backs(run):
    """Return (file, file that it has called) → names of the first one's functions that the second called meanwhile.

    A function of file A that is called from B counts where B was itself called from A, with nothing of the solver in
    between: who follows a value from A into B has to go back to A.
    """
    found = defaultdict(set)

    def note(frame, event, _):
        if event != "call" or (own := file_of(frame)) is None:
            return
        files, below = [own], frame.f_back
        while below is not None and len(files) < 3:
            there = file_of(below)
            if there is not None and there != files[-1]:
                files.append(there)
            elif there == files[-1] == own and len(files) == 1:
                return  # within one file
            below = below.f_back
        if len(files) == 3 and files[2] == own:
            found[own, files[1]].add(frame.f_code.co_qualname)

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return dict(found)
