"""Every error that a user of ConJac can see, on one page.

    ConJacError                    exit code   meaning
    ├── BadInput                       2       the scene, a mesh or a file is not usable as it is
    │   ├── BadScene                           a field of scene.json, or an array that it names
    │   ├── BadMesh                            the artist's mesh cannot become a volume
    │   ├── NoFreeNode                         every node is pinned
    │   ├── StaleCache                         the cache was baked from other settings
    │   └── NoSuchThing                        an object, file or catalogue key that does not exist
    ├── Diverged                       3       the motion blew up; earlier frames are kept
    ├── Environment                    4       disk, memory, path, missing library
    │   ├── CacheUnwritable
    │   ├── CacheBusy                          another process bakes into this cache
    │   └── MesherFailed                       the mesher crashed or ran out of time
    └── Stopped                       75       stopped on request; resumable

    StepFailed is not one of them: the numerics raise it inside a step, and `stepping` catches it,
    halves the step and, where that does not help, raises Diverged with object, frame and remedy.

Each has a stable `code`: a heading in the manual's troubleshooting page. An error in a job ends with the path of the
field in scene.json: `$.bodies[0].pin.weights`. Standard library only.
"""

from __future__ import annotations

EXIT_COMPLETE, EXIT_BAD_INPUT, EXIT_DIVERGED, EXIT_ENVIRONMENT, EXIT_STOPPED = 0, 2, 3, 4, 75


class ConJacError(Exception):
    """Error with one sentence for the user: which object, what is wrong, what to do.

    what: what is wrong, a clause without a full stop.
    remedy: what to do, a sentence without a full stop; may be empty.
    object: name of the Blender object or body, where it is known; the world adds it to errors of the numerics.
    frame: frame number, where it is known.
    where: path of the field of scene.json, or of the field that names the array; the numerics pass it from the body
        on ("pin.weights") or not at all, and `job.folder.blame` completes it.
    """

    code = "error"
    exit_code = EXIT_BAD_INPUT

    def __init__(self, what: str, remedy: str = "", object: str | None = None, frame: int | None = None,
                 where: str | None = None) -> None:
        super().__init__(what)
        self.what, self.remedy, self.object, self.frame, self.where = what, remedy, object, frame, where

    def __str__(self) -> str:
        subject = f'"{self.object}"' if self.object else ""
        if self.frame is not None:
            subject += f"{', f' if subject else 'F'}rame {self.frame}"
        text = f"{subject}: {self.what}" if subject else self.what[:1].upper() + self.what[1:]
        text = f"{text}. {self.remedy}" if self.remedy else text
        return f"{text} - at `{self.where}`." if self.where else f"{text}."


class BadInput(ConJacError):
    """Error in the scene, a mesh or a file, which is not usable as it is."""

    code = "bad_input"


class BadScene(BadInput):
    """Error in a field of scene.json, or in an array that it names."""

    code = "bad_scene"


class BadMesh(BadInput):
    """Error in an artist's mesh, which cannot become a volume."""

    code = "bad_mesh"


class NoFreeNode(BadInput):
    """Error of a body of which every node is pinned."""

    code = "no_free_node"


class StaleCache(BadInput):
    """Error of a cache that was baked from other settings."""

    code = "stale_cache"


class NoSuchThing(BadInput):
    """Error of an object, file or key of the catalogue that does not exist."""

    code = "no_such_thing"


class Diverged(ConJacError):
    """Error of a motion that grows without bound; earlier frames are valid."""

    code = "diverged"
    exit_code = EXIT_DIVERGED


class Environment(ConJacError):
    """Error of the disk, the memory, a path or a missing library."""

    code = "environment"
    exit_code = EXIT_ENVIRONMENT


class CacheUnwritable(Environment):
    """Error of a cache folder that cannot be written."""

    code = "cache_unwritable"


class CacheBusy(Environment):
    """Error of a cache into which another process bakes."""

    code = "cache_busy"


class MesherFailed(Environment):
    """Error of a mesher that crashed or ran out of time."""

    code = "mesher_failed"


class Stopped(ConJacError):
    """End of a bake that was stopped on request and can be resumed."""

    code = "stopped"
    exit_code = EXIT_STOPPED


class StepFailed(Exception):
    """Raised where a step cannot be solved; the state before the step remains valid. Caught inside the solver, never
    shown as it is.

    object: name of the body that failed, where it is known. remedy: what helps, where it was measured; else the world's
    own. is_final: whether no shorter step helps. part: number of the part, set by the world.
    """

    part: int | None = None

    def __init__(self, what: str, object: str | None = None, remedy: str = "", is_final: bool = False) -> None:
        super().__init__(what)
        self.object, self.remedy, self.is_final = object, remedy, is_final


#: what helps where all that is left of a stage is rounding
TOO_TIGHT = "Raise the Tolerance of the stage solver, which asks for more digits than there are"


def printable(text: str) -> str:
    """Return the text on one line as a terminal may show it: characters that move its cursor or reverse text, which
    names may contain, are escaped."""
    from unicodedata import category  # a library, which Blender's start does without

    return "".join(_escape(c) if category(c) in UNSEEN and c not in JOINERS else c for c in text)


UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
JOINERS = "\u200c\u200d"  # within words of several alphabets, and within emoji


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
