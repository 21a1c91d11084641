"""Cuts, nails and releases of pins during a bake: the only module that changes the numbers of nodes of a world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import catalogue
from ..build.fields import Prepared
from ..build.world import SoftPart, build_soft_part
from ..job import schema
from ..job.folder import Job, blame
from ..meshing.volume import face_parts, mean_edge
from ..state import Index, State, Vec
from ..world.world import World
from . import nails
from .body import Separation, WholeBody, apply, cut_body
from .carried_over import carry_over
from .cuts.interface import Cut, Shape
from .made import Made, read_record, record_changes
from .regroup import Regroup

T = TypeVar("T", bound=np.generic)

KERF = 0.04  #: width of cuts where surfaces are in contact, relative to the mean edge of a body's skin


@dataclass
class Reshaped:
    """World and state after the changes of one moment."""

    world: World
    state: State
    notes: list[str] = field(default_factory=list)  #: sentences for the user


class Reshape:
    """Cuts, nails and releases of pins of a job. Each instance tracks the present bodies and parts of one run."""

    def __init__(self, job: Job, prepared: list[Prepared], soft: Sequence[SoftPart], regroup: Regroup | None = None
                 ) -> None:
        """soft: first parts of the world, those of soft bodies. regroup: groups of the bodies, None without groups.

        Raises BadScene where a cut does not fit its body.
        """
        self._job, self._regroup = job, regroup
        self._changing = {body.name for body in job.scene.bodies if body.is_reshaped}
        self._soft = self._of_changing(dict(enumerate(soft)))
        self._dynamic = [prepared_body.fields.dynamic for prepared_body in prepared]
        self._bodies = [WholeBody.uncut(prepared_body, _triangles(job, prepared_body)) for prepared_body in prepared]
        touching = job.scene.contact is not None
        self._kerf = [KERF * mean_edge(prepared_body.volume.nodes, prepared_body.skin)
                      if touching and prepared_body.touches_itself else 0.0 for prepared_body in prepared]
        #: of each body: nodes that each nail holds, by its number
        self._nailed: list[dict[int, Index]] = [{} for _ in prepared]
        self._released = [nails.find_released(job, prepared_body)
                          for prepared_body in prepared]  #: nodes of each uncut body, by frame
        self._made: list[Made] = []  #: since it was recorded
        for body, whole in zip(job.scene.bodies, self._bodies):
            shape = Shape(whole.prepared.volume.nodes, whole.prepared.volume.tets, whole.origin)
            for k, cut in enumerate(body.cuts):
                with blame(job.scene, body, f"cuts[{k}]"):
                    self._cut(cut, shape)

    def moments(self, frame: int) -> list[float]:
        """Return the moments of changes from a frame to the next, ascending, as fractions of the interval in [0, 1).

        A fraction of 0 is a change at the end of this frame.
        """
        moments = {0.0} if any(frame in some for some in self._released) else set[float]()
        for body in self._job.scene.bodies:
            moments |= {cut.subframe for cut in body.cuts if cut.frame == frame}
            moments |= {nail.subframe for nail in body.nails if nail.frame == frame}
            moments |= {nail.until_subframe for nail in body.nails if nail.until == frame}
        return sorted(moments)

    def at(self, frame: int, fraction: float, world: World, state: State) -> Reshaped:
        """Return the world and the state after the changes of one moment, with equal positions and velocities.

        frame, fraction: moment, as a frame and a fraction of the interval to the next. Parts without changes remain the
        same objects, with their memory and caches. Nails are drawn before cuts and driven in after them. Raises
        BadScene where a cut does not fit its body.
        """
        made, notes, moment = Made(), list[str](), (frame, fraction)
        if self._regroup is not None:  # groups may have merged
            self._soft = self._of_changing(self._regroup.find_soft_parts(world))
        states = world.split_state(state)
        for k, old in self._soft.items():
            members = self._members(old)
            x_before, before = old.part.nodes_at(states[k])[0], made.count
            holds_before = made.holds
            x, source = self._change(moment, members, x_before, made, notes)
            if made.count == before:
                continue
            if holds_before == made.holds and np.array_equal(x, x_before):
                # no node was separated: the part continues with its memory and caches, and only shows another mesh
                old.part.show([self._bodies[i].prepared.embedding for i in members])
                world = world.with_part(k, old.part, old.couplings)
                continue
            self._soft[k] = new = self._assemble(old)
            states[k] = carry_over(old.part, new.part, states[k], source, x)
            for coupling in new.couplings:
                # histories of the integrator belong to the former unknowns
                carrier = next(i for i, part in enumerate(world.parts) if part is coupling.parts[-1])
                memory = {key: value for key, value in states[carrier].memory.items() if key not in coupling.histories}
                states[carrier] = replace(states[carrier], memory=memory)
            world = world.with_part(k, new.part, new.couplings)
        if not made.count:
            return Reshaped(world, state, notes)
        self._made.append(made.in_order)
        return Reshaped(world, world.merge_states(states, state), notes)

    def record(self) -> dict[str, NDArray[Any]]:
        """Return the record of all changes since the last call, from `record_changes`; empty where there were none."""
        made, self._made = self._made, []
        return record_changes(made) if made else {}

    def _change(self, moment: tuple[int, float], members: list[int], x: Vec, made: Made,
                notes: list[str]) -> tuple[Vec, Index]:
        """Return the positions of a part's nodes after a moment, (n', 3) [m], and their former nodes, (n',).

        members: bodies of the part. x: positions before, (n, 3) [m]. Appends to `made` and `notes`.
        """
        sources, when = np.arange(len(x), dtype=np.int32), _describe_moment(*moment)
        for i in members:
            body = self._job.scene.bodies[i]
            if not moment[1] and moment[0] in self._released[i]:
                made.released.append((i, moment[0]))
                notes.append(f'"{body.name}": its pins let go of {self._release(i, moment[0])} nodes at frame {when}')
            for number in [nail for nail in self._nailed[i] if moment == (body.nails[nail].until,
                                                                        body.nails[nail].until_subframe)]:
                made.drawn.append((i, number))
                notes.append(f'"{body.name}": a nail is drawn at frame {when}')
                self._draw(i, number)
            for k, cut in enumerate(body.cuts):
                if (cut.frame, cut.subframe) != moment:
                    continue
                # nodes of one body are consecutive, copies included
                nodes = self._nodes(i, members)
                whole = self._bodies[i]
                shape = Shape(x[nodes], whole.prepared.volume.tets, whole.origin)
                with blame(self._job.scene, body, f"cuts[{k}]"):
                    separation = cut_body(whole, self._cut(cut, shape), shape)
                if separation is None:
                    notes.append(f'"{body.name}": the cut at frame {when} does not pass through its tetrahedra, so '
                                 "nothing is cut")
                    continue
                source = self._separate(i, separation)
                x, sources = _copy_rows(x, nodes, source), _copy_rows(sources, nodes, source)
                nodes = self._nodes(i, members)
                x[nodes] = self._open_kerf(i, x[nodes], source, separation)
                made.separations.append((i, separation))
                follows = bool(catalogue.find("method", self._job.scene.method_of(body).kind).follows)
                notes.append(_describe_cut(body.name, when, whole, self._bodies[i], follows))
            for number, nail in enumerate(body.nails):
                if (nail.frame, nail.subframe) != moment:
                    continue
                driven = nails.drive(self._job, body, number, self._bodies[i], x[self._nodes(i, members)])
                if not len(driven.nodes):
                    notes.append(f'"{body.name}": the nail at frame {when} is not near any of its nodes, so it holds '
                                 "nothing")
                    continue
                self._hold(i, driven)
                made.driven.append((i, driven))
                notes.append(f'"{body.name}": a nail holds {len(driven.nodes)} nodes from frame {when} on')
        return x, sources

    def again(self, world: World, records: Sequence[Mapping[str, NDArray[Any]]]) -> World:
        """Return the world after repeating the changes of an earlier run. records: results of `record`, in order."""
        changed = set[int]()
        for made in (moment for record in records for moment in read_record(record)):
            for i, frame in made.released:
                self._release(i, frame)
            for i, nail in made.drawn:
                self._draw(i, nail)
            for i, separation in made.separations:
                self._separate(i, separation)
            for i, driven in made.driven:
                self._hold(i, driven)
            changed |= {i for some in (made.released, made.drawn, made.separations, made.driven) for i, _ in some}
        if self._regroup is not None:  # builds the parts where it reads the groups of a state
            self._regroup.take({self._job.scene.bodies[i].name: self._bodies[i].prepared for i in changed})
            return world
        for k, old in self._soft.items():
            if changed & {*self._members(old)}:
                self._soft[k] = new = self._assemble(old)
                world = world.with_part(k, new.part, new.couplings)
        return world

    def _separate(self, body: int, separation: Separation) -> Index:
        """Separate a body and return the former node of each of its nodes, (n',). Nails continue to pin both sides."""
        self._bodies[body], source = apply(self._bodies[body], separation, self._kerf[body])
        for nail, nodes in self._nailed[body].items():
            self._nailed[body][nail] = np.flatnonzero(np.isin(source, nodes)).astype(np.int32)
        return source

    def _open_kerf(self, body: int, x: Vec, source: Index, separation: Separation) -> Vec:
        """Return the positions of a body's nodes, (n, 3) [m], with the kerf of a cut where surfaces are in contact."""
        if not self._kerf[body]:
            return x
        from .kerf import open_kerf_if_clear  # its kernels are compiled where surfaces touch

        return open_kerf_if_clear(x, self._bodies[body].prepared.volume.tets, source, separation.apart,
                                  self._kerf[body])

    def _hold(self, body: int, driven: nails.Driven) -> None:
        self._bodies[body] = nails.hold(self._job, self._job.scene.bodies[body], self._bodies[body], driven)
        self._nailed[body][driven.nail] = driven.nodes

    def _draw(self, body: int, nail: int) -> None:
        nodes = self._nailed[body].pop(nail)
        self._bodies[body] = nails.draw(self._job, self._bodies[body], nodes, self._dynamic[body])

    def _release(self, body: int, frame: int) -> int:
        """Release the pins that end at a frame, including copies of nodes, and return the number of nodes."""
        whole = self._bodies[body]
        nodes = np.flatnonzero(np.isin(whole.origin, self._released[body][frame])).astype(np.int32)
        self._bodies[body] = nails.draw(self._job, whole, nodes, self._dynamic[body])
        return len(nodes)

    def _of_changing(self, soft: Mapping[int, SoftPart]) -> dict[int, SoftPart]:
        """Return the parts with bodies that the scene reshapes, by their numbers in the world."""
        return {k: part for k, part in soft.items() if self._changing & {name for name, _, _ in part.part.bodies}}

    def _members(self, soft: SoftPart) -> list[int]:
        """Return the numbers in the scene of the bodies of a part, in the order of the part."""
        number = {body.name: i for i, body in enumerate(self._job.scene.bodies)}
        return [number[name] for name, _, _ in soft.part.bodies]

    def _assemble(self, soft: SoftPart) -> SoftPart:
        """Return a part rebuilt from the present form of its bodies."""
        members = [self._bodies[i].prepared for i in self._members(soft)]
        if self._regroup is not None:
            self._regroup.take({member.body.name: member for member in members if member.body.name in self._changing})
            return self._regroup.rebuilt(soft)
        return build_soft_part(self._job, members, soft.rigid, reshaped=True)

    def _nodes(self, body: int, members: list[int]) -> slice:
        """Return the slice of the nodes of a body among all nodes of its part."""
        counts = [len(self._bodies[i].prepared.volume.nodes) for i in members]
        index = members.index(body)
        return slice(sum(counts[:index]), sum(counts[: index + 1]))

    def _cut(self, cut: schema.Cut, shape: Shape) -> Cut:
        kind: Cut = catalogue.find("cut", cut.kind).load()(cut, self._job.array, shape)
        return kind


def _copy_rows(values: NDArray[T], nodes: slice, source: Index) -> NDArray[T]:
    """Return values of all nodes, (n, …), with the rows of one body expanded to its new nodes.

    nodes: rows of the body. source: former node in the body of each new node, (k,).
    """
    copied: NDArray[T] = np.concatenate([values[: nodes.start], values[nodes][source], values[nodes.stop :]])
    return copied


def _triangles(job: Job, one: Prepared) -> Index:
    if one.body.surface is None:
        return np.zeros((0, 3), dtype=np.int32)
    triangles: Index = job.array(one.body.surface.triangles).astype(np.int32)
    return triangles


def _describe_moment(frame: int, fraction: float) -> str:
    """Return a moment as text for the artist, such as "12.5"."""
    return f"{frame + fraction:.10g}"


def _describe_cut(name: str, when: str, before: WholeBody, after: WholeBody, follows: bool) -> str:
    """Return a sentence about a cut that was made. follows: whether nodes that are not dynamic are quasistatic."""
    fields, tets = after.prepared.fields, after.prepared.volume.tets
    pieces, part = face_parts(tets)
    came = pieces - face_parts(before.prepared.volume.tets)[0]
    text = f'"{name}": cut at frame {when}, into {pieces} pieces' if came else \
        f'"{name}": cut at frame {when}; it still hangs together'
    part_of_node = np.zeros(len(after.prepared.volume.nodes), dtype=np.int32)
    part_of_node[tets] = part[:, None]
    lively = np.zeros(pieces, dtype=bool)
    for nodes in (fields.dynamic, *(patch.nodes for patch in fields.patches)):
        lively[part_of_node[nodes]] = True
    asleep = int(pieces - lively.sum())
    if asleep and came and follows:
        text += f"; {asleep} without a dynamic node of {'their' if asleep > 1 else 'its'} own, in balance from now on"
    return text
