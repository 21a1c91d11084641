"""Nodes whose positions hard constraints prescribe: they are no unknowns, and these constraints have no rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.sparse import csr_matrix

from .. import catalogue
from ..constraints.points.rows import WholeDisplacement
from ..coordinates.prescribed import Constant, Displaced, Interpolated, OverTime
from ..job.folder import Job
from ..state import Index, Mask, Vec
from .fields import Prepared
from .point_constraints import TargetNodes, Tie

NO_WEIGHT = 1.0e-12  #: smaller weights are rounding
NO_GAP = 1.0e-9  #: of the size of all: smaller gaps are none


@dataclass(frozen=True)
class PrescribedEnds:
    """Single nodes at ends of constraints whose other ends have a prescribed motion."""

    nodes: Index  #: (k,)
    motions: list[OverTime]  #: positions of the nodes over time, in their order
    ties: frozenset[int]  #: indices of the constraints whose rows they replace

    def without(self, is_free: Mask) -> Mask:
        """Return which nodes move freely apart from these constraints, (n,). is_free: which do so with them, (n,)."""
        free = is_free.copy()
        free[self.nodes] = True
        return free


def find_integrated_nodes(job: Job, prepared: Sequence[Prepared], count: int) -> Mask:
    """Return which nodes are integrated in time each by itself, (count,): no pin or bone moves them, and the method of
    their body has no quasistatic nodes. count: number of all nodes."""
    integrated, start = np.zeros(count, dtype=bool), 0
    for prepared_body in prepared:
        stop = start + len(prepared_body.volume.nodes)
        integrated[start:stop] = not catalogue.find("method", job.scene.method_of(prepared_body.body).kind).follows
        integrated[start + np.concatenate([prepared_body.fields.pinned, prepared_body.fields.attached])] = False
        start = stop
    return integrated


def find_prescribed_ends(job: Job, ties: Sequence[Tie], targets: TargetNodes, first_target: int, rest: Vec,
                         can_move: Mask) -> PrescribedEnds:
    """Return the nodes that constraints prescribe: hard from the start to the end, with the whole displacement of their
    points given, where each point is a node of its own that no other constraint ties. [Notes, Mass Modification]

    first_target: index of the first target node. rest: positions of all nodes, (n, 3) [m]. can_move: nodes as returned
    by `find_integrated_nodes`, (n,).
    """
    size, nodes, motions, replaced = float(np.ptp(rest, axis=0).max()), list[Index](), list[OverTime](), []
    users = Counter[int](node for tie in ties for node in np.unique(_moving(tie)).tolist())
    motion_of_end = dict(zip(targets.spans, targets.motions))
    for number, tie in enumerate(ties):
        far = next((i for i in (0, 1) if (tie.index, i) in motion_of_end), None)
        if far is None or not tie.is_always_hard or not catalogue.find("constraint", tie.constraint.kind.kind).able(
                "whole displacement"):
            continue
        gap, near = cast(WholeDisplacement, tie.kind).displacement, tie.ends[1 - far]
        single = _single(near.nodes, near.weights)
        if single is None or not can_move[single].all() or any(users[node] > 1 for node in single.tolist()):
            continue
        # a straight path may lead through other bodies
        if gap.jump > NO_GAP * size or job.scene.contact is not None and np.abs(gap.at(0.0)).max() > NO_GAP * size:
            continue
        span = targets.spans[tie.index, far]
        motion = _on(motion_of_end[tie.index, far], tie.ends[far].nodes - first_target - span.start,
                     tie.ends[far].weights, span.stop - span.start)
        nodes.append(single)
        motions.append(Displaced(motion, gap, 1.0 if far == 1 else -1.0))
        replaced.append(number)
    return PrescribedEnds(np.concatenate([np.zeros(0, np.int32), *nodes]), motions, frozenset(replaced))


def _moving(tie: Tie) -> Index:
    """Return the nodes of both ends of a constraint; nodes of several points are repeated."""
    return np.concatenate([end.nodes[np.abs(end.weights) > NO_WEIGHT] for end in tie.ends])


def _single(nodes: Index, weights: Vec) -> Index | None:
    """Return the node of each point, (p,), where every point is one node alone, and no node is two points; else None.
    nodes: (p, w). weights: (p, w)."""
    counts = np.abs(weights) > NO_WEIGHT
    single: Index = nodes[np.arange(len(nodes)), counts.argmax(axis=1)].astype(np.int32)
    if (counts.sum(axis=1) > 1).any() or len(np.unique(single)) < len(single):
        return None
    return single


def _on(motion: OverTime, nodes: Index, weights: Vec, count: int) -> OverTime:
    """Return the positions over time of points on an object of given motion, (p, 3) [m]. nodes, weights: of the object
    at each point, (p, w) each. count: number of the object's nodes."""
    p, w = nodes.shape
    within = csr_matrix((weights.ravel(), (np.repeat(np.arange(p), w), nodes.ravel())), shape=(p, count))
    return Interpolated(motion, within) if motion.moves else Constant(within @ motion.at(0.0))
