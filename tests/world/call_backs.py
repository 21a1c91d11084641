"""Calls back: a file that calls another one, from which functions of the first are called, at whatever distance."""

import sys
from collections import defaultdict
from pathlib import Path

SOLVER = Path(__file__).resolve().parents[2] / "solver"


def file_of(frame):
    """Return the file of a frame from solver/, None of any other."""
    path = frame.f_code.co_filename
    return Path(path).relative_to(SOLVER).as_posix() if path.startswith(str(SOLVER)) else None


def callers(frame):
    """Yield the files that a call came through, from its own to the outermost one, each run of one file once."""
    last = None
    while frame is not None:
        file = file_of(frame)
        if file is not None and file != last:
            yield file
            last = file
        frame = frame.f_back


def call_backs(run):
    """Return (file, file that it has called) → names of the first one's functions that were called on the way on.

    A function of file A counts where it is called from another file while A waits for a file B that it has called: from
    B itself, or through more files. Who follows a value from A into B has to go back to A. What a file calls of its own
    does not count.
    """
    found = defaultdict(set)

    def note(frame, event, _):
        if event != "call" or (own := file_of(frame)) is None or is_called_within(frame, own):
            return
        way = list(callers(frame))
        if own in way[1:]:
            found[own, way[way.index(own, 1) - 1]].add(frame.f_code.co_qualname)

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return dict(found)


def is_called_within(frame, own):
    """Return whether a function is called from its own file, with nothing of the solver in between."""
    below = frame.f_back
    while below is not None and file_of(below) is None:
        below = below.f_back
    return below is not None and file_of(below) == own
