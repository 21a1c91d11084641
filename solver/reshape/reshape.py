"""(world, state) → (world, state): the only place where counts change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import catalogue
from ..job import schema
from ..job.folder import Job, blame
from ..meshing.volume import face_parts
from ..state import Index, State, Vec
from ..world.build import assemble
from ..world.fields import Prepared
from ..world.world import World
from .body import Separation, Whole, apply, cut_body
from .cuts.interface import Cut, Shape


@dataclass
class Reshaped:
    """What happened at a frame."""

    world: World
    state: State
    record: dict[str, NDArray[Any]]  #: enough to do it again, and to show it; empty where nothing changed
    notes: list[str] = field(default_factory=list)  #: sentences for the user


class Reshape:
    """The cuts of a job. It knows how far each body has been cut, and so belongs to one run."""

    def __init__(self, job: Job, prepared: list[Prepared]) -> None:
        """Raises BadScene where a cut does not fit its body."""
        self._job = job
        self._bodies = [Whole.uncut(one, _triangles(job, one)) for one in prepared]
        for body, whole in zip(job.scene.bodies, self._bodies):
            shape = Shape(whole.prepared.volume.nodes, whole.prepared.volume.tets, whole.origin)
            for k, cut in enumerate(body.cuts):
                with blame(job.scene, body, f"cuts[{k}]"):
                    self._cut(cut, shape)

    def due(self, frame: int) -> bool:
        """Whether anything is to change once this frame has been reached."""
        return any(cut.frame == frame for body in self._job.scene.bodies for cut in body.cuts)

    def at(self, frame: int, world: World, state: State) -> Reshaped:
        """The world and the state after the cuts of this frame: the same positions and velocities on more nodes."""
        x, v = world.coordinates.place(state.q, state.time), world.velocity(state)
        separations: list[tuple[int, Separation]] = []
        notes = []
        for i, body in enumerate(self._job.scene.bodies):
            for cut in body.cuts:
                if cut.frame != frame:
                    continue
                # the nodes of one body stand one after the other, and those of its copies do too
                nodes = self._nodes(i)
                whole = self._bodies[i]
                shape = Shape(x[nodes], whole.prepared.volume.tets, whole.origin)
                separation = cut_body(whole, self._cut(cut, shape), shape)
                if separation is None:
                    notes.append(f'"{body.name}": the cut at frame {frame} passes through none of its tetrahedra, so '
                                 "nothing is cut")
                    continue
                self._bodies[i], source = apply(whole, separation)
                x, v = (_copied(values, nodes, source) for values in (x, v))
                separations.append((i, separation))
                notes.append(_said(body.name, frame, whole, self._bodies[i]))
        if not separations:
            return Reshaped(world, state, {}, notes)
        world = self._world()
        free = world.coordinates.free
        # what an integrator remembers is of other nodes: it starts anew, as after a contact
        state = State(state.time, x[free].ravel(), v[free].ravel())
        return Reshaped(world, state, record(separations), notes)

    def again(self, world: World, records: list[Mapping[str, NDArray[Any]]]) -> World:
        """The world after cuts that were made by an earlier run, in their order."""
        for made in records:
            for i, separation in separations_of(made):
                self._bodies[i], _ = apply(self._bodies[i], separation)
        return self._world() if records else world

    def _world(self) -> World:
        return assemble(self._job, [whole.prepared for whole in self._bodies])

    def _nodes(self, body: int) -> slice:
        """Where the nodes of a body stand now among all nodes."""
        counts = [len(whole.prepared.volume.nodes) for whole in self._bodies]
        return slice(sum(counts[:body]), sum(counts[: body + 1]))

    def _cut(self, cut: schema.Cut, shape: Shape) -> Cut:
        kind: Cut = catalogue.find("cut", cut.kind).load()(cut, self._job.array, shape)
        return kind


def record(separations: list[tuple[int, Separation]]) -> dict[str, NDArray[Any]]:
    """Arrays by name: `bodies` of each separation, and "0.parents", … of the first one."""
    out: dict[str, NDArray[Any]] = {"bodies": np.array([body for body, _ in separations], dtype=np.int32)}
    for k, (_, separation) in enumerate(separations):
        out |= {f"{k}.{name}": array for name, array in separation.plain().items()}
    return out


def separations_of(made: Mapping[str, NDArray[Any]]) -> list[tuple[int, Separation]]:
    """The separations that `record` kept."""
    names = Separation.__dataclass_fields__
    return [(int(body), Separation(**{name: made[f"{k}.{name}"] for name in names}))
            for k, body in enumerate(made["bodies"])]


def _copied(values: Vec, nodes: slice, source: Index) -> Vec:
    """Values of all nodes, (n, 3), with those of one body's nodes copied to its new ones."""
    copied: Vec = np.concatenate([values[: nodes.start], values[nodes][source], values[nodes.stop :]])
    return copied


def _triangles(job: Job, one: Prepared) -> Index:
    if one.body.surface is None:
        return np.zeros((0, 3), dtype=np.int32)
    triangles: Index = job.array(one.body.surface.triangles).astype(np.int32)
    return triangles


def _said(name: str, frame: int, before: Whole, after: Whole) -> str:
    """One sentence about a cut that was made."""
    fields, tets = after.prepared.fields, after.prepared.volume.tets
    pieces, part = face_parts(tets)
    came = pieces - face_parts(before.prepared.volume.tets)[0]
    text = f'"{name}": cut at frame {frame}, into {came + 1} pieces' if came else \
        f'"{name}": cut at frame {frame}; it still hangs together'
    part_of_node = np.zeros(len(after.prepared.volume.nodes), dtype=np.int32)
    part_of_node[tets] = part[:, None]
    lively = np.zeros(pieces, dtype=bool)
    lively[part_of_node[fields.dynamic]] = True
    asleep = int(pieces - lively.sum())
    if asleep and came:
        text += f"; {asleep} without a dynamic node of {'their' if asleep > 1 else 'its'} own, in balance from now on"
    return text
