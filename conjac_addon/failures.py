"""Errors of objects, kept until the operation is repeated and succeeds, since a pop-up vanishes with the mouse.

They are kept in memory only: a new Blender finds errors of the files on the disk by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..solver.errors import CacheBusy, ConJacError, StaleCache

#: what a bake is called among what can fail; other work has the name of its operator
BAKE = "bake"

#: errors that the status shows, from the folder, for as long as they are true
SHOWN_BY_STATUS = frozenset({CacheBusy.code, StaleCache.code})

#: a phrase of an error → the operator that mends it
REMEDIES = (
    ("it crosses", "conjac.select_crossing"),
    ("Sheet Thickness", "conjac.turn_into_cloth"),
    ("Free the cache", "conjac.free_bake"),
)


class Failure:
    """One thing that went wrong."""

    def __init__(self, text: str, code: str) -> None:
        """text: the object, what is wrong, and the remedy. code: its heading in the manual's troubleshooting page."""
        # what ends a message on a job is the place in a file that an artist never sees
        self.text, self.code = text.partition(" - at `$")[0].rstrip("."), code

    @property
    def operator(self) -> str:
        """Return the operator that fixes it, "" without one."""
        return next((name for phrase, name in REMEDIES if phrase in self.text), "")


_failures: dict[tuple[int, str], Failure] = {}  #: by session_uid and what failed


def keep(uid: int, doing: str, text: str, code: str) -> None:
    """Remember that something went wrong with the object of a session_uid."""
    if code not in SHOWN_BY_STATUS:
        _failures[uid, doing] = Failure(text, code)


def mend(uid: int, doing: str) -> None:
    """Remove an error after the operation succeeded. A successful bake includes all of its preparations."""
    for key in [key for key in _failures if key[0] == uid and doing in (key[1], BAKE)]:
        del _failures[key]


def of(*uids: int) -> list[Failure]:
    """Return the errors of the objects of some session_uids, the latest last."""
    return [failure for (uid, _), failure in _failures.items() if uid in uids]


@contextmanager
def remembered(uid: int, doing: str) -> Iterator[None]:
    """Context in which a ConJacError is stored as the object's error, and raised again."""
    try:
        yield
    except ConJacError as error:
        keep(uid, doing, str(error), error.code)
        raise


def forget() -> None:
    """Drop all of it."""
    _failures.clear()
