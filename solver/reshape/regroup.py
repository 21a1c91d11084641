"""Groups of bodies that cannot be in contact: each is solved alone, and groups that come near each other merge.

Each group has its own factor, contact distances and time step, and the integrator and stage solver of its bodies where
these agree, else those of the scene. A state records its groups, so that a resumed bake has the groups of an
uninterrupted bake.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import msgspec
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..build.fields import Prepared
from ..build.rigid_skins import skins_of
from ..build.world import Mechanisms, SoftPart, build_soft_part, touches_bodies
from ..job.folder import Job
from ..job.kinds import kind_of
from ..job.schema import Body, Scene
from ..job.schema_values import Choice
from ..node_records import BodyMemory
from ..state import State, Vec
from ..world.interface import Part
from ..world.layout import of_another_version
from ..world.node_memory import merge_memories
from ..world.nodes_part import NodesPart
from ..world.world import World
from .boxes import Boxes
from .reach import MARGIN, Reach, list_groupable_bodies, that_touch, ties, touches_nothing

GROUPS = "groups"  #: memory of a world: the first token of each token's group


@dataclass(frozen=True)
class BodyGroup:
    """Group of bodies that is solved without the other bodies."""

    world: World  #: of the parts of this group
    numbers: tuple[int, ...]  #: of its parts in the world of all bodies
    tokens: tuple[int, ...]  #: of its bodies; empty for a part without grouped bodies
    step: float  #: longest time step [s]
    largest_deformation: float


class Regroup:
    """Groups of the bodies of a job.

    A token is the index of a soft body in `list_groupable_bodies`; the last token is all mechanisms.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._bodies: list[Prepared] = []
        self._rigid: Mechanisms | None = None
        self._parts: dict[tuple[int, ...], SoftPart] = {}  #: parts in use, by their tokens
        self._replaced: list[SoftPart] = []  #: parts of bodies that have been reshaped since
        self._reshaped = set[int]()  #: tokens of bodies that were cut, nailed or released
        self._labels: tuple[int, ...] = ()

    @staticmethod
    def suits(job: Job) -> bool:
        """Return whether the bodies of a job can be solved in groups.

        Not where a body is remeshed cloth, is solved in staggered steps, or is cut or nailed between two frames.
        Several bodies require contact of surfaces. A single body requires time steps without a tolerance, and without
        contact of surfaces the steps of the scene and no changes of pins or topology.
        """
        scene = job.scene
        if any(kind_of(body).steps_by_itself or touches_bodies(scene, body) or any(cut.subframe for cut in body.cuts)
               or any(nail.subframe or nail.until_subframe for nail in body.nails) for body in scene.bodies):
            return False
        if len(scene.bodies) + bool(scene.mechanisms) > 1:
            return scene.contact is not None
        return (len(list_groupable_bodies(scene)) == 1 and not scene.time.tolerance and (
            scene.contact is not None or not (requests_own_steps(scene.bodies[0]) or scene.bodies[0].is_reshaped)))

    def begin(self, bodies: list[Prepared], rigid: Mechanisms | None) -> list[SoftPart]:
        """Return the parts of the groups of soft bodies at the start frame.

        bodies: soft bodies in the order of their tokens. rigid: mechanisms, None where there are none. Raises the
        exceptions of `build_soft_part`.
        """
        self._bodies, self._rigid = bodies, rigid
        self._must = [*ties(self._job.scene)]
        of_rigid = [0.0] * (rigid is not None)
        self.reach = Reach(
            np.array([*(body.volume.diagonal for body in bodies), *of_rigid]),
            np.array([*(max(body.thickness or 0.0, body.surface_offset) for body in bodies), *of_rigid]),
            that_touch(self._job.scene))
        self._skins = [] if rigid is None else skins_of(self._job)
        if rigid is not None:
            poses = rigid.uncoupled.poses(rigid.uncoupled.initial_state())["pose"]
            self._in_body = [(skin.vertices - poses[skin.shown][:3, 3]) @ poses[skin.shown][:3, :3]
                             for skin in self._skins]
        self._overhang = np.array([self._beyond_nodes(body) for body in bodies])
        start = [self._box(k, body.volume.nodes) for k, body in enumerate(bodies)]
        start += [(skin.vertices.min(axis=0), skin.vertices.max(axis=0)) for skin in self._skins]
        self.at_start = self._boxes_of(range(len(bodies)), start)
        self._labels = self._merge_labels(range(self.tokens), self.reach.find_near_pairs(self.at_start, MARGIN))
        return [self._part(tokens) for tokens in self._list_soft_groups()]

    @property
    def tokens(self) -> int:
        """Return the number of tokens: soft bodies, plus 1 where there are mechanisms."""
        return len(self._bodies) + (self._rigid is not None)

    @property
    def labels(self) -> tuple[int, ...]:
        """Return the present groups: for each token the first token of its group."""
        return self._labels

    def record_groups(self, state: State) -> State:
        """Return a state whose memory records the present groups."""
        return replace(state, memory={**state.memory, GROUPS: np.array(self._labels, dtype=float)})

    def again(self, world: World, state: State) -> World:
        """Return the world of the groups that a state records. Raises BadInput where it has no such record."""
        labels = state.memory.get(GROUPS)
        if labels is None and self.tokens == 1:  # an older snapshot of a single body
            labels = np.zeros(1)
        if labels is None or labels.shape != (self.tokens,):
            raise of_another_version()
        self._labels = tuple(int(label) for label in labels)
        return self._world(world)

    def find_soft_parts(self, world: World) -> dict[int, SoftPart]:
        """Return the parts of soft bodies of a world, by their numbers in that world."""
        return {k: soft for k, part in enumerate(world.parts) for soft in self._parts.values() if soft.part is part}

    def take(self, bodies: Mapping[str, Prepared]) -> None:
        """Replace bodies, by name, by their present form after cuts, nails or releases, and discard their parts."""
        taken = {token for token, body in enumerate(self._bodies) if body.body.name in bodies}
        for token in taken:
            self._bodies[token] = bodies[self._bodies[token].body.name]
        self._reshaped |= taken
        self._replaced += [part for tokens, part in self._parts.items() if taken & {*tokens}]
        self._parts = {tokens: part for tokens, part in self._parts.items() if not taken & {*tokens}}

    def rebuilt(self, soft: SoftPart) -> SoftPart:
        """Return a part rebuilt from the present form of its bodies. Raises the exceptions of `build_soft_part`."""
        tokens = self._tokens_of(soft.part)
        return self._part((*tokens, len(self._bodies)) if soft.rigid is not None else (*tokens,))

    def groups(self, world: World) -> list[BodyGroup]:
        """Return the groups of a world, each as a smaller world of the parts of the group."""
        self._replaced = [replaced for replaced in self._replaced if any(replaced.part is part for part in world.parts)]
        groups = []
        for numbers, couplings in world.independent:
            parts = [world.parts[k] for k in numbers]
            tokens = tuple(sorted(token for part in parts for token in self._tokens_of(part)))
            scene = self._scene(tokens)
            groups.append(BodyGroup(World(parts, couplings=couplings), numbers, tokens, scene.time.step,
                                    scene.time.largest_deformation))
        return groups

    def boxes(self, group: BodyGroup, state: State) -> Boxes:
        """Return the boxes of a group's soft bodies and rigid bodies [m]. state: of the group's world."""
        extents: list[tuple[Vec, Vec]] = []
        soft: list[int] = []
        for part, own in zip(group.world.parts, group.world.split_state(state)):
            if (nodes := self._nodes_of(part)) is not None:
                x = nodes.nodes_at(own)[0]
                soft += self._tokens_of(part)
                extents += [self._box(token, x[body.nodes])
                          for token, body in zip(self._tokens_of(part), nodes.bodies_in_world)]
        for part, own in zip(group.world.parts, group.world.split_state(state)):
            if self._rigid is not None and self._is_rigid(part):
                poses = self._rigid.uncoupled.poses(own)["pose"]
                for skin, own_frame in zip(self._skins, self._in_body):
                    points = own_frame @ poses[skin.shown][:3, :3].T + poses[skin.shown][:3, 3]
                    extents.append((points.min(axis=0), points.max(axis=0)))
        return self._boxes_of(soft, extents)

    def find_near_groups(self, boxes: Sequence[Boxes], groups: Sequence[BodyGroup]) -> list[list[int]]:
        """Return lists of the indices of groups that are near each other, each of two groups or more.

        boxes: of the bodies of each group.
        """
        together = reduce(lambda one, other: Boxes(*(np.concatenate([getattr(one, name), getattr(other, name)])
                                                     for name in ("token", "low", "high"))), boxes)
        of_token = {token: k for k, group in enumerate(groups) for token in group.tokens}
        pairs = [(of_token[a], of_token[b]) for a, b in self.reach.find_near_pairs(together, 0.0)
                 if of_token[a] != of_token[b]]
        labels = np.array(_components(len(groups), pairs))
        return [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)
                if np.count_nonzero(labels == label) > 1]

    def merge_groups(self, world: World, state: State, groups: Sequence[BodyGroup]) -> tuple[World, State]:
        """Return a world in which some groups are merged into one, and its state with equal positions and velocities.

        The integrator of the merged group starts without a history of rates, as after a cut.
        """
        tokens = sorted(token for group in groups for token in group.tokens)
        self._labels = self._merge_labels(self._labels, [(tokens[0], token) for token in tokens[1:]])
        before = world.split_state(state)
        former = {token: (nodes, own, body.nodes) for part, own in zip(world.parts, before)
                 if (nodes := self._nodes_of(part)) is not None
                 for token, body in zip(self._tokens_of(part), nodes.bodies_in_world)}
        earlier = {id(part): own for part, own in zip(world.parts, before)}
        of_mechanisms = [own for part, own in zip(world.parts, before) if self._is_rigid(part)]
        other = self._world(world)
        # histories of an integrator belong to the former unknowns
        histories = {key for coupling in (*world.couplings, *other.couplings) for key in coupling.histories}
        states = []
        for part in other.parts:
            own = of_mechanisms[0] if self._is_rigid(part) else earlier.get(id(part))
            if own is None:
                nodes = self._nodes_of(part)
                assert nodes is not None
                own = _assemble_state(nodes, [former[token] for token in self._tokens_of(part)], state.time)
            elif self._is_rigid(part) and other.couplings:
                own = replace(own, memory={key: value for key, value in own.memory.items() if key not in histories})
            states.append(own)
        return other, self.record_groups(other.merge_states(states, state))

    def _beyond_nodes(self, one: Prepared) -> float:
        """Return how far a body's mesh and contact surface extend beyond the box of its nodes [m]."""
        if one.embedding is None:
            return 0.0
        shown, nodes = one.embedding.apply(one.volume.nodes), one.volume.nodes
        if one.thinned is not None:
            shown = np.concatenate([shown, one.thinned.positions(nodes)])
        return float(max((nodes.min(axis=0) - shown.min(axis=0)).max(), (shown.max(axis=0) - nodes.max(axis=0)).max(),
                         0.0))

    def _box(self, token: int, x: Vec) -> tuple[Vec, Vec]:
        return x.min(axis=0) - self._overhang[token], x.max(axis=0) + self._overhang[token]

    def _boxes_of(self, soft: Iterable[int], corners: Sequence[tuple[Vec, Vec]]) -> Boxes:
        """Return the boxes of soft bodies, then of rigid bodies. soft: tokens of the soft bodies, in order."""
        tokens = [*soft]
        tokens += [len(self._bodies)] * (len(corners) - len(tokens))
        low, high = (np.array([corner[k] for corner in corners]).reshape(-1, 3) for k in (0, 1))
        return Boxes(np.array(tokens, dtype=np.int32), low, high)

    def _merge_labels(self, labels: Iterable[int], pairs: Iterable[tuple[int, int]]) -> tuple[int, ...]:
        """Return the label of each token after the groups of pairs of tokens merge: the first token of its group."""
        links = [*enumerate(labels), *pairs, *self._must]
        return _components(self.tokens, links)

    def _list_soft_groups(self) -> list[tuple[int, ...]]:
        """Return the tokens of each group that has soft bodies, in the order of their first tokens."""
        groups = [tuple(np.flatnonzero(np.array(self._labels) == label).tolist()) for label in sorted({*self._labels})]
        return [tokens for tokens in groups if tokens[0] < len(self._bodies)]

    def _part(self, tokens: tuple[int, ...]) -> SoftPart:
        """Return the part of a group, built on first use. Raises the exceptions of `build_soft_part`."""
        if tokens not in self._parts:
            of_bodies = [self._bodies[token] for token in tokens if token < len(self._bodies)]
            rigid = self._rigid if tokens[-1] == len(self._bodies) else None
            self._parts[tokens] = build_soft_part(replace(self._job, scene=self._scene(tokens)), of_bodies, rigid,
                                                  reshaped=bool(self._reshaped & {*tokens}))
        return self._parts[tokens]

    def _world(self, world: World) -> World:
        """Return the world of the present groups, with other parts than those of soft bodies unchanged."""
        soft = [self._part(tokens) for tokens in self._list_soft_groups()]
        couplings = [coupling for group in soft for coupling in group.couplings]
        others = [part if self._rigid is None or not self._is_rigid(part) else self._rigid.beside(couplings)
                  for part in world.parts if self._nodes_of(part) is None]
        return world.with_parts([*(group.part for group in soft), *others], couplings)

    def _is_rigid(self, part: Part) -> bool:
        """Return whether a part is that of the mechanisms, coupled or not."""
        return self._rigid is not None and any(part is own for own in self._rigid)

    def _nodes_of(self, part: Part) -> NodesPart | None:
        """Return the part where it is a part of soft bodies that was built here, else None."""
        return next((soft.part for soft in (*self._parts.values(), *self._replaced) if soft.part is part), None)

    def _tokens_of(self, part: Part) -> list[int]:
        """Return the tokens of a part's bodies, in the order of the part."""
        if self._is_rigid(part):
            return [len(self._bodies)]
        if self._nodes_of(part) is None:
            return []
        number = {body.body.name: k for k, body in enumerate(self._bodies)}
        return [number[name] for name, _, _ in part.bodies]

    def _scene(self, tokens: Sequence[int]) -> Scene:
        """Return the scene of a group: its bodies and the settings on which they agree."""
        scene, count = self._job.scene, len(self._bodies)
        bodies = [self._bodies[token].body for token in tokens if token < count]
        if not bodies:
            return scene
        names = {body.name for body in bodies}
        scene = msgspec.structs.replace(
            scene, bodies=bodies, forces=[force for force in scene.forces if names >= {*force.bodies}],
            constraints=[constraint for constraint in scene.constraints if names >= {
                end.body for end in constraint.ends if end.body and not end.mechanism}])
        if tokens[-1] == count:
            return scene  # mechanisms use the settings of the scene
        if len(bodies) == 1 and touches_nothing(scene, bodies[0]):
            scene = msgspec.structs.replace(scene, contact=None, obstacles=[])
        integrator, stage_solver = _find_agreed([(body.integrator, body.stage_solver) for body in bodies],
                                                (scene.integrator, scene.stage_solver))
        changes = [scene.time.largest_deformation if body.largest_deformation is None else body.largest_deformation
                   for body in bodies]
        time = msgspec.structs.replace(scene.time, step=min(body.step or scene.time.step for body in bodies),
                                       largest_deformation=min(filter(None, changes), default=0.0))
        return msgspec.structs.replace(scene, time=time, integrator=integrator, stage_solver=stage_solver,
                                       mechanisms=[])


def requests_own_steps(body: Body) -> bool:
    """Return whether a body has its own integrator, stage solver or steps, instead of the scene's."""
    return any(choice is not None
               for choice in (body.integrator, body.stage_solver, body.step, body.largest_deformation))


def _find_agreed(own: Sequence[tuple[Choice | None, Choice | None]], otherwise: tuple[Choice, Choice]
            ) -> tuple[Choice, Choice]:
    """Return the integrator and the stage solver on which all bodies agree, else those of the scene, `otherwise`."""
    pairs = [(integrator or otherwise[0], stage_solver or otherwise[1]) for integrator, stage_solver in own]
    return pairs[0] if all(pair == pairs[0] for pair in pairs) else otherwise


def _components(count: int, links: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Return for each of `count` vertices of a graph the least vertex of its connected component."""
    first, second = np.array([*links], dtype=np.int64).reshape(-1, 2).T
    graph = sp.coo_matrix((np.ones(len(first)), (first, second)), shape=(count, count))
    labels = connected_components(graph, directed=False)[1]
    return tuple(int(np.flatnonzero(labels == label)[0]) for label in labels)


def _assemble_state(part: NodesPart, former: Sequence[tuple[NodesPart, State, slice]], time: float) -> State:
    """Return the state of a part whose bodies were in other parts before.

    former: former part, its state and the nodes in it of each body. The memory has the records of nodes, and no
    histories of rates.
    """
    x, v = part.rest.copy(), np.zeros_like(part.rest)
    bodies = []
    for (old, own, nodes), body in zip(former, part.bodies_in_world):
        old_x, old_v = old.nodes_at(own)
        x[body.nodes], v[body.nodes] = old_x[nodes], old_v[nodes]
        bodies.append(BodyMemory(own.memory, nodes, body.nodes))
    memory = merge_memories(bodies, len(part.rest))
    free = part.coordinates.free
    return State(time, x[free].ravel(), v[free].ravel(), memory)
