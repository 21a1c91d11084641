"""Split of one simulation among machines: soft bodies that never meet are baked separately and joined again.

Bodies that never meet are found from a draft bake: from the boxes that they sweep from frame to frame, widened by a
fraction of the largest body. After the real bakes the boxes are checked again, without that margin.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ..errors import BadInput, NoSuchThing
from ..frames import lock
from ..frames.read import Cache
from ..frames.write import FrameStore
from ..job import hashes
from ..job.files import unwritable, write_whole
from ..job.folder import Job
from ..job.kinds import kind_of
from ..job.load import SCENE, load
from ..state import Vec
from .in_world import InWorld
from .wedge import array_names, bring, make_folders, read_bytes

ROOM = 0.25  #: of the largest body's box, on each side: margin for differences between draft and bake
ISLAND = "island-{:03d}"

Boxes = dict[str, tuple[Vec, Vec]]  #: of each body by name: low and high corners [m], (3,)


def find(job: Job, draft: Path, room: float = ROOM) -> list[list[str]]:
    """Return the names of the bodies of each island, in the scene's order.

    draft: job folder with a bake of all frames of the same bodies, as coarse as desired. room: margin around each body,
    as a fraction of the largest one. Raises BadInput where the scene cannot be split, or where the draft lacks bodies
    or frames.
    """
    _check(job)
    names = [body.name for body in job.scene.bodies]
    together = _join_bodies(job)
    for boxes in sweep_boxes(job, InWorld(load(draft), Cache(draft / "cache"))):
        if set(boxes) != set(names):
            raise BadInput("the draft has other bodies", "Bake a draft of this job")
        wide = room * max(float(np.max(high - low)) for low, high in boxes.values())
        for first, second in _overlapping(boxes, wide):
            _unite(together, first, second)
    islands: dict[str, list[str]] = {}
    for name in names:
        islands.setdefault(_root(together, name), []).append(name)
    return list(islands.values())


def _check(job: Job) -> None:
    """Raise BadInput where the scene has mechanisms or bodies that cannot be split."""
    scene = job.scene
    if scene.mechanisms:
        raise BadInput("the scene has mechanisms, which are not baked separately", "Bake it as one task")
    for body in scene.bodies:
        if body.is_reshaped or kind_of(body).is_remeshed:
            raise BadInput("its mesh changes, and such bodies are not baked separately", "Bake it as one task",
                           body.name)


def _join_bodies(job: Job) -> dict[str, str]:
    """Return a disjoint-set forest of bodies that are connected in any draft: by forces or constraints, or attached."""
    together = {body.name: body.name for body in job.scene.bodies}
    for names in job.scene.joins():
        for name in names[1:]:
            _unite(together, names[0], name)
    for body in job.scene.bodies:
        for attach in body.attach:
            if attach.body in together:
                _unite(together, body.name, attach.body)
    return together


def _root(together: dict[str, str], name: str) -> str:
    while together[name] != name:
        name = together[name]
    return name


def _unite(together: dict[str, str], one: str, other: str) -> None:
    together[_root(together, other)] = _root(together, one)


def sweep_boxes(job: Job, shown: InWorld) -> Iterator[Boxes]:
    """Yield the boxes that bodies sweep from each frame of the job to the next. Raises BadInput where a frame is
    missing."""
    before: Boxes | None = None
    for frame in job.frames:
        try:
            now = {name: (points.min(axis=0), points.max(axis=0)) for name, points in shown.vertices(frame).items()}
        except NoSuchThing as error:
            raise BadInput(f"frame {frame} is not baked in {shown.job.path}", "Bake all frames first") from error
        if before is not None:
            yield {name: (np.minimum(low, before[name][0]), np.maximum(high, before[name][1]))
                   for name, (low, high) in now.items()}
        before = now


def _overlapping(boxes: Boxes, wide: float) -> Iterator[tuple[str, str]]:
    """Yield pairs of bodies whose boxes, each widened by `wide` [m], overlap."""
    names = list(boxes)
    low, high = (np.array([boxes[name][k] for name in names]) for k in (0, 1))
    for i, name in enumerate(names):
        near = ((low[i + 1:] <= high[i] + 2 * wide) & (high[i + 1:] >= low[i] - 2 * wide)).all(axis=1)
        yield from ((name, names[i + 1 + int(k)]) for k in np.flatnonzero(near))


def part(job: Job, islands: list[list[str]], out: Path) -> list[Path]:
    """Write the job folder of each island into `out`; return the folders.

    Raises CacheUnwritable where a file cannot be written, and the errors of `load`.
    """
    return [part_one(job, islands, k + 1, out) for k in range(len(islands))]


def part_one(job: Job, islands: list[list[str]], number: int, out: Path) -> Path:
    """Write the job folder of one island, counted from 1, into `out` and return it; a folder with the same scene stays.

    Raises NoSuchThing where there is no such island, CacheUnwritable where a file cannot be written, and the errors of
    `load`.
    """
    if not 1 <= number <= len(islands):
        raise NoSuchThing(f"there are {len(islands)} islands and island {number} was asked for", "Count them from 1")
    folder = out / ISLAND.format(number)
    make_folders(folder)
    raw = _raw_of(job, set(islands[number - 1]))
    content = json.dumps(raw, indent=1, ensure_ascii=False).encode()
    try:
        for name in array_names(raw):
            bring(job.array_path(name), folder / name)
        is_current = (folder / SCENE).exists() and read_bytes(folder / SCENE) == content
    except OSError as error:
        raise unwritable(folder / SCENE, error) from error
    if not is_current:
        write_whole(folder / SCENE, content, folder)
    load(folder)
    return folder


def read_list(path: Path, job: Job) -> list[list[str]]:
    """Return the islands of a bundle: names of their bodies, each body of the scene once.

    Raises NoSuchThing where the file cannot be read, BadInput where it lists other bodies.
    """
    try:
        island_names = msgspec.json.decode(read_bytes(path), type=list[list[str]])
    except OSError as error:
        raise NoSuchThing(f"the islands {path} cannot be read ({error.strerror or error})", "Write the bundle again"
                          ) from error
    except msgspec.DecodeError as error:
        raise BadInput(f"{path.name} is no list of islands ({error})", "Write the bundle again") from error
    if sorted(name for names in island_names for name in names) != sorted(body.name for body in job.scene.bodies):
        raise BadInput(f"{path.name} does not have every soft body of the scene once", "Write the bundle again")
    return island_names


def _raw_of(job: Job, names: set[str]) -> dict[str, Any]:
    """Return the plain values of the scene with some of its bodies, without forces, constraints and contacts of
    others."""
    raw, soft = dict(job.raw), {body.name for body in job.scene.bodies}
    raw["bodies"] = [{**body, **({"touches": [name for name in body["touches"] if name in names or name not in soft]}
                                 if body.get("touches") is not None else {})}
                     for body in raw["bodies"] if body["name"] in names]
    if raw.get("forces"):
        raw["forces"] = [force for force in raw["forces"] if set(force["bodies"]) <= names]
    if raw.get("constraints"):
        raw["constraints"] = [constraint for constraint in raw["constraints"]
                              if {end["body"] for end in constraint["ends"] if end.get("body")} <= names]
    return raw


def join(job: Job, islands: list[Path], log: Callable[[str], None] = lambda _: None) -> None:
    """Write the frames of all islands into the job's own cache, which is then complete except for snapshots.

    Raises BadInput where a frame is missing, or bodies of two islands met; then nothing is written. Raises the errors
    of writing a cache.
    """
    parts = [InWorld(load(folder), Cache(folder / "cache")) for folder in islands]
    of = {body.name: k for k, island in enumerate(parts) for body in island.job.scene.bodies}
    for frame, together in enumerate(zip(*(sweep_boxes(job, island) for island in parts)), job.frames[0] + 1):
        boxes = {name: box for group in together for name, box in group.items()}
        for name, other in _overlapping(boxes, 0.0):
            if of[name] != of[other]:
                raise BadInput(f'it may have met "{other}", which was baked separately', "Bake both as one island",
                               name, frame)
    log("Bodies of different islands met nowhere")
    read, runs = hashes.settings(job), [island.cache.manifest for island in parts]
    counts = {name: count for island in parts for name, _, count in island.cache.bodies()}
    origins = {name: origin for island in parts for name, origin in island.cache.origins().items()}
    first, bodies = 0, []
    for body in job.scene.bodies:
        bodies.append((body.name, first, counts[body.name]))
        first += counts[body.name]
    with lock.acquire(job.cache) as holding:
        store = FrameStore(job.cache, holding.check)
        store.cache.free()
        store.begin(job, read, bodies, backend=runs[0]["runs"][-1]["backend"] if runs[0] else "", first=job.frames[0],
                    notes=["Islands of bodies that never met were baked separately"], origins=origins)
        for frame in job.frames:
            positions = {name: points - origins[name] if name in origins else points
                     for island in parts for name, points in island.cache.frame(frame).items()}
            store.write(frame, np.concatenate([positions[name] for name, _, _ in bodies]))
