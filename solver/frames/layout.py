"""Layout of the files of a cache folder, and their log.

cache/manifest.json          inputs of the bake: range, rate, bodies, hashes, settings, the runs that made it
cache/written.log            one line a file, appended after the file is complete: kind, frame, bytes, blake2b, and
                             when it was written, which older caches do not have
cache/frames/000012.npy      (V, 3) float32, every body's output vertices one after the other, object space [m],
                             relative to its "origin" in the manifest where it has one
cache/snapshots/000021.npz   the whole State, exact
cache/poses/000012.npz       of rigid bodies: pose (b, 4, 4), own frames in world [m]; rates (m,); effort (m,) of
                             motors [N m, N]; loops (l,), gap of each [m]; the manifest has the names
cache/cuts/000030.npz        cuts after this frame; later frames have more vertices
cache/sheets/000012.npz      of cloth with faces of its own at every frame: "bodies", their numbers in the manifest,
                             and for the k-th of them "k.x" (n, 3) float32, object space [m], relative to the
                             body's origin; "k.material" (n, 2) float32, X [m]; "k.faces" (m, 3); "k.source"
                             (m, 3), the triangle of the mesh at rest that each corner is in; "k.rest" (N, 2)
                             float32, X of that mesh; "k.sliding" (s,), vertices on a feature; "k.speed"
                             (s, 3) float32, velocity of the cloth through them [m/s]. frames/ has the artist's
                             own vertices at the same points of the cloth
cache/liveliness/000012.npy  (3, m) float32: body, strain-rate activity [1/s] and awake (1 or 0) of each dynamic node
cache/contacts/000012.npy    (k, 7) float32: of each pair of surfaces in contact the position [m], in world, the force
                             on one side [N] and their distance [m]
cache/stress/000012.npy      (V, 4) float32, of every body's output vertices: von Mises stress [Pa], largest stretch,
                             pressure [Pa] and speed [m/s]; zeros where a body shows none
cache/needles/000012.npy     (b,) float32: the longest edge of each body over its length at rest, where one is
                             longer than LONGEST in `needles`
cache/halved/000012.npy      (b + 1,) int32: number of steps of a frame that were halved because of each body, and
                             last because of none of them, where some were
cache/groups/000012.npz      the bodies that were solved together, and the space that they have filled since the
                             frame before: see `group_record`
cache/lock                   the process that bakes
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FORMAT = 1
MANIFEST, LOG = "manifest.json", "written.log"
FRAME, SNAPSHOT, CUTS, LIVELINESS, POSES, NEEDLES = "frame", "snapshot", "cuts", "liveliness", "poses", "needles"
SHEETS, TOUCHED, HALVED, STRESS, GROUPED = "sheets", "touched", "halved", "stress", "grouped"
FILES = {FRAME: "frames/{:06d}.npy", SNAPSHOT: "snapshots/{:06d}.npz", CUTS: "cuts/{:06d}.npz",
         LIVELINESS: "liveliness/{:06d}.npy", POSES: "poses/{:06d}.npz", NEEDLES: "needles/{:06d}.npy",
         SHEETS: "sheets/{:06d}.npz", TOUCHED: "contacts/{:06d}.npy",
         HALVED: "halved/{:06d}.npy", STRESS: "stress/{:06d}.npy", GROUPED: "groups/{:06d}.npz"}


@dataclass(frozen=True)
class Written:
    """Line of the log: a file, its size and its digest as it was written."""

    kind: str  #: a key of FILES
    frame: int
    bytes: int
    digest: str
    mtime_ns: int | None = None  #: of the file; None in older caches

    def line(self) -> str:
        """Return the entry as a line of the log, with its newline."""
        return f"{self.kind} {self.frame} {self.bytes} {self.digest} {self.mtime_ns}\n"


def file_of(folder: Path, kind: str, frame: int) -> Path:
    """Return the path of a frame's file of one kind, a key of FILES."""
    return folder / FILES[kind].format(frame)
