"""Constraints between points of bodies, and the nodes of other objects to which they tie these."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from .. import catalogue
from ..constraints.points.ends import BodyShape, TiedEnd, bind_points
from ..constraints.points.point_constraint import PointConstraint, stiffness_over_step
from ..constraints.points.rows import PointKind
from ..coordinates.prescribed import Constant, OverTime
from ..errors import BadScene
from ..job import schema
from ..job.folder import Job, parameters, refuse
from ..job.schema_constraints import Constraint, ConstraintEnd
from ..job.validate_constraints import name_constraint
from ..state import Index, Mask, Vec
from .fields import Prepared
from .inputs import number_over_time, over_time

NO_EDGES, NO_FACES, NO_TETS = (np.zeros((0, width), np.int32) for width in (2, 3, 4))


@dataclass(frozen=True)
class TargetNodes:
    """Nodes of other objects to which constraints tie soft bodies: of objects of given motion, then points of rigid
    bodies. They come after the nodes of soft bodies and obstacles."""

    positions: Vec  #: positions at the start, (k, 3) [m]
    motions: list[OverTime]  #: of nodes that are not on rigid bodies, in their order
    attached: list[tuple[int, slice]]  #: index of the rigid body among all that are shown, and its target nodes
    spans: dict[tuple[int, int], slice]  #: target nodes of an end, by the indices of its constraint and of itself


def points_of(one: Constraint, end: ConstraintEnd) -> Vec:
    """Return the points that an end of a constraint ties, at the start, (p, 3) [m]; two points of the axis of a hinge.
    """
    point = np.array(end.point if end.point is not None else one.ends[0].point, dtype=float)
    reads = catalogue.find("constraint", one.kind.kind).reads
    return np.stack([point, point + np.array(one.axis)]) if "axis" in reads else point[None]


def among(job: Job, prepared: list[Prepared]) -> list[int]:
    """Return the indices of the constraints in the scene whose soft bodies are all among `prepared`."""
    names = {prepared_body.body.name for prepared_body in prepared}
    return [k for k, constraint in enumerate(job.scene.constraints)
            if {end.body for end in constraint.ends if end.body and not end.mechanism} <= names]


def target_nodes(job: Job, prepared: list[Prepared]) -> TargetNodes:
    """Return the nodes of other objects to which constraints tie these bodies."""
    shown = [(mechanism.name, body.name) for mechanism in job.scene.mechanisms for body in mechanism.bodies]
    positions, motions, attached, spans, first = [np.zeros((0, 3))], list[OverTime](), [], {}, 0
    ends = [((k, i), end) for k in among(job, prepared) for i, end in enumerate(job.scene.constraints[k].ends)]
    for key, end in (item for item in ends if item[1].vertices is not None):
        positions.append(np.asarray(job.array(end.vertices or ""), dtype=float))
        motions.append(Constant(positions[-1]) if end.motion is None else over_time(job, end.motion))
        spans[key] = slice(first, first := first + len(positions[-1]))
    for key, end in (item for item in ends if item[1].mechanism):
        positions.append(points_of(job.scene.constraints[key[0]], end))
        spans[key] = slice(first, first := first + len(positions[-1]))
        attached.append((shown.index((end.mechanism, end.body)), spans[key]))
    return TargetNodes(np.concatenate(positions), motions, attached, spans)


@dataclass(frozen=True)
class Tie:
    """A constraint with its ends bound to nodes."""

    index: int  #: index in the scene
    constraint: Constraint
    ends: list[TiedEnd]
    kind: PointKind

    @property
    def is_always_hard(self) -> bool:
        """Whether the constraint is hard from the start to the end: without compliance, strength over time and limited
        duration."""
        one = self.constraint
        return not isinstance(one.compliance, str) and one.compliance == 0.0 and one.strength is None and not one.lasts


def ties_of(job: Job, prepared: list[Prepared], targets: TargetNodes, first_target: int, rest: Vec,
            first: Index) -> list[Tie]:
    """Return the constraints of these bodies with their ends bound to nodes. first_target: index of the first target
    node. rest: positions of all nodes, (n, 3) [m]. first: first node of each body, (bodies + 1,).

    Raises BadScene that names a constraint with a distance of 0, or without the face or edge that it needs.
    """
    ties = list[Tie]()
    for k in among(job, prepared):
        one, where = job.scene.constraints[k], f"$.constraints[{k}]"
        ends = [_end(job, one, end, prepared, targets.spans.get((k, i)), first_target, rest, first)
                for i, end in enumerate(one.ends)]
        length = None if one.length is None else number_over_time(job, one.length)
        try:
            kind: PointKind = catalogue.find("constraint", one.kind.kind).load()(
                *ends, rest, parameters("constraint", one.kind), length)
        except BadScene as failure:
            raise refuse(f"{name_constraint(one)}: {failure.what}", where, failure.remedy) from failure
        ties.append(Tie(k, one, ends, kind))
    return ties


def point_constraints(job: Job, prepared: list[Prepared], ties: Sequence[Tie], replaced: Set[int], rest: Vec, mass: Vec,
                      first: Index, is_free: Mask) -> list[PointConstraint]:
    """Return the constraints of these bodies that have rows. replaced: indices of the ties that have none. rest:
    positions of all nodes, (n, 3) [m]. mass: (n,) [kg]. first: first node of each body, (bodies + 1,). is_free: which
    nodes move apart from constraints, (n,).

    Raises BadScene that names a constraint which cannot be satisfied, or which contradicts others.
    """
    laws, kinds = list[PointConstraint](), list[tuple[str, PointKind]]()
    h = schema.step_size(job.scene.time.fps, job.scene.time.step)[1]
    for number, tie in enumerate(ties):
        one = tie.constraint
        heaviest = max([float(mass[first[b]:first[b + 1]].sum()) for b, other in enumerate(prepared)
                        if other.body.name in {end.body for end in one.ends if not end.mechanism}], default=1.0)
        law = PointConstraint(tie.kind, stiffness_over_step(heaviest, h), number_over_time(job, one.compliance),
                              None if one.strength is None else number_over_time(job, one.strength),
                              one.lasts or np.inf)
        if number not in replaced:
            laws.append(law)
        if law.is_hard(0.0) and not one.lasts:
            kinds.append((name_constraint(one), tie.kind))
    if kinds:
        from .satisfiable import refuse_unmet

        refuse_unmet(kinds, rest, mass, is_free)
    return laws


def _end(job: Job, one: Constraint, end: ConstraintEnd, prepared: list[Prepared], span: slice | None, first_target: int,
         rest: Vec, first: Index) -> TiedEnd:
    """Return an end of a constraint bound to nodes of its body, or to target nodes. span: of the target nodes; None:
    the end is on a soft body. first_target: first target node. rest: (n, 3) [m]."""
    points = points_of(one, end)
    if span is None:
        number = next(k for k, other in enumerate(prepared) if other.body.name == end.body)
        body, start = prepared[number], np.int32(first[number])
        shape = BodyShape(end.body, np.arange(first[number], first[number + 1]), body.volume.tets + start,
                      body.skin + start, body.wires + start)
        return bind_points(shape, points, rest, end.radius)
    nodes = np.arange(first_target + span.start, first_target + span.stop, dtype=np.int32)
    if end.mechanism:
        # one node at each of its points
        return TiedEnd(end.body, nodes[:, None], np.ones((len(nodes), 1)), NO_FACES, NO_EDGES)
    skin, wires = (none if path is None else np.asarray(job.array(path), dtype=np.int32) + nodes[0]
                   for path, none in ((end.triangles, NO_FACES), (end.edges, NO_EDGES)))
    return bind_points(BodyShape(one.name, nodes, NO_TETS, skin, wires), points, rest)
