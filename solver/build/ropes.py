"""Bodies of ropes: the vertices of the surface are the nodes, and its edges the links between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import catalogue
from ..errors import NoFreeNode
from ..fields.attach import find_attached_nodes, no_attachments
from ..fields.build import Fields
from ..job import schema
from ..job.folder import Job, blame, parameters
from ..job.kinds.rope import RopeKind
from ..job.schema_ropes import Rope
from ..meshing.volume import Volume, find_connected_nodes
from ..state import Index, Mask, Vec
from .cloth import find_pinned_vertices, motion_of
from .fields import Prepared
from .inputs import over_time
from .material_data import MaterialData
from .volumes import Stage

if TYPE_CHECKING:
    from ..forces.cloth.sheet import SheetLaw
    from ..forces.limits import LengthLimit
    from ..forces.ropes.links import Links
    from ..forces.ropes.twist import RodTwist

CONTINUES = 0.5  #: cos of the angle between two links at a knot of more than two: what turns less goes on there


@dataclass(frozen=True)
class PreparedRope(Prepared):
    """Ropes, meshed and painted: the volume has nodes and no tetrahedra."""

    edges: Index  #: (k, 2)

    @property
    def skin(self) -> Index:
        """Return no faces, (0, 3): a rope touches by its links."""
        return np.zeros((0, 3), dtype=np.int32)

    @property
    def wires(self) -> Index:
        """Return the links, (k, 2), by which the rope touches."""
        return self.edges

    @property
    def is_closed(self) -> bool:
        """Whether the skin has an inside: False."""
        return False

    @property
    def count(self) -> int:
        """Return the number of links."""
        return len(self.edges)

    @property
    def thickness(self) -> float | None:
        """Return the thickness of the rope [m], the distance that it keeps from other surfaces."""
        return self.rope.thickness

    @property
    def surface_offset(self) -> float:
        """Return the radius of the rope [m], or the thickness that its body sets."""
        return 0.5 * self.rope.thickness if self.body.thickness is None else self.body.thickness

    @property
    def kind(self) -> RopeKind:
        """Return the kind of the body, with its settings."""
        return RopeKind(self.body)

    @property
    def rope(self) -> Rope:
        """Return the settings of the ropes."""
        return self.kind.rope

    @property
    def is_banded(self) -> bool:
        """Whether nearly all of its matrix is near the diagonal, once its nodes are ordered: True."""
        return True

    def material_data(self, job: Job, rest: Vec, start: int) -> MaterialData:
        """Return the links, bending, twisting and hard limits of the ropes as elements, with the mass of each node.
        rest: positions of all nodes, (n, 3) [m]. start: first node of the ropes among them."""
        from ..forces.cloth.elements import ClothElements  # its kernels are compiled where there are ropes
        from ..forces.ropes.bends import RodBends
        from ..forces.ropes.links import Strand

        rope, edges = self.rope, self.edges + np.int32(start)
        length = np.linalg.norm(rest[edges[:, 1]] - rest[edges[:, 0]], axis=1)
        mass = np.zeros(len(self.volume.nodes))
        np.add.at(mass, self.edges, 0.5 * rope.linear_density * length[:, None])
        if rope.loads is not None:
            mass += np.asarray(job.array(rope.loads), dtype=float)
        step = schema.step_size(job.scene.time.fps, job.scene.time.step)[1]
        entry = catalogue.find("rope", rope.length.kind)
        links: Links = entry.load()(Strand(edges, length, self._hanging(mass), step), parameters("rope", rope.length))
        limits: list[LengthLimit] = []
        most = parameters("rope", rope.length).get(catalogue.MOST_STRETCH.key, 0.0)
        if most:
            from ..forces.limits import LengthLimit

            limits.append(LengthLimit(edges, length, -np.inf, most, float(mass.sum()), step))
        bends = bends_of(self.edges, self.volume.nodes) + np.int32(start)
        laws: list[SheetLaw] = [links]
        if rope.bending_stiffness and len(bends):
            laws += shape_of(bends, rest, rope) if rope.keeps_shape else [RodBends(bends, rest, rope.bending_stiffness)]
        twists: list[RodTwist] = []
        if rope.twisting_stiffness:
            from ..forces.ropes import twist  # its kernels are compiled where something is twisted

            twisted = twist.find_pinned_strands(edges, self.fields.pinned + np.int32(start), rest)
            if len(twisted.nodes):
                twists.append(twist.RodTwist(twisted, rest, rope.twisting_stiffness, _twist_angle(job, rope)))
        stiffness = float(links.stiffness.max())
        laws += [*twists, *limits]
        return MaterialData(ClothElements(laws, twists), np.full(len(edges), stiffness), mass,
                      [part + start for part in find_connected_nodes(self.edges, len(self.volume.nodes))], stiffness,
                      (links, *twists, *limits))

    def _hanging(self, mass: Vec) -> Vec:
        """Return the mass of the connected piece of each link, (k,) [kg]. mass: of the nodes, (n,) [kg]."""
        whole = np.zeros(len(mass))
        for part in find_connected_nodes(self.edges, len(mass)):
            whole[part] = mass[part].sum()
        each: Vec = whole[self.edges[:, 0]]
        return each

    def vertices_at(self, job: Job, nodes: Index, painted: Mask) -> Index:
        """Return the vertices of the artist's mesh at these nodes, (k,): those with equal numbers."""
        return nodes

    def read_prescribed_motion(self, job: Job, nodes: Index) -> Vec | None:
        """Return positions of animated nodes at each sample, (T, k, 3) [m]; None where they are at rest. nodes: (k,).
        """
        return motion_of(job, self.body, self.volume.nodes, nodes)

    def resistance(self, edge: float) -> Vec:
        """Return the stiffness of each node against contact, (n,) [N/m]: 0."""
        return np.zeros(len(self.volume.nodes))


def prepare_rope(job: Job, body: schema.Body, volume: Volume, report: Stage) -> PreparedRope:
    """Return the ropes of a body with their prescribed nodes. Raises a ConJacError that names the body and the field,
    such as NoFreeNode where every node is pinned or attached."""
    report("fields", body.name, None, "Laying out the ropes")
    rope = body.rope
    assert rope is not None
    edges = np.asarray(job.array(rope.edges), dtype=np.int32)
    notes: list[str] = []
    with blame(job.scene, body, "rope"):
        pinned = find_pinned_vertices(job, body, volume.nodes, edges, notes)
        weights = {attach.weights: np.asarray(job.array(attach.weights), dtype=float)
                   for attach in body.attach if attach.weights}
        attached, by = find_attached_nodes(body, job.array, weights, len(volume.nodes), pinned, notes)
        if len(pinned) + len(attached) == len(volume.nodes) and body.pin.until is None:
            raise NoFreeNode("every point is pinned or attached, so nothing can move", "Pin or attach less of it",
                             where="pin.weights" if body.pin.weights is not None else "pin.nodes")
    fields = Fields({}, np.zeros(0), no_attachments(), pinned, {}, None, motion_of(job, body, volume.nodes, pinned),
                    tuple(notes), attached, by)
    return PreparedRope(body, volume, None, fields, edges)


def _twist_angle(job: Job, rope: Rope) -> Callable[[float], float]:
    """Return the rotation of the ends of strands relative to each other [rad] as a function of time [s]."""
    from ..forces.ropes.twist import build_winding

    if not isinstance(rope.twist, str):
        return build_winding(rope.twist, rope.twist_time)
    curve = over_time(job, job.array(rope.twist)[:, None])
    return lambda time: float(curve.at(time)[0])


def shape_of(bends: Index, rest: Vec, rope: Rope) -> list[SheetLaw]:
    """Return the forces that keep ropes in their drawn shape, against bending and torsion. bends: three successive
    nodes each, (b, 3). rest: positions of all nodes at rest, (n, 3) [m]."""
    from ..forces.ropes.shape import TORSION, CurvedBends, RodTorsion, in_a_row

    rows = in_a_row(bends, rest)
    torsion = [RodTorsion(rows, rest, TORSION * rope.bending_stiffness)] if len(rows) else []
    return [CurvedBends(bends, rest, rope.bending_stiffness), *torsion]


def bends_of(edges: Index, positions: Vec) -> Index:
    """Return the three nodes of each bend, the middle one between two links, (b, 3).

    Where more than two links meet, as in the knots of a net, only pairs that are nearly straight at rest resist
    bending. edges: (k, 2). positions: positions of all nodes at rest, (n, 3) [m].
    """
    around = defaultdict(list)
    for first, second in edges.tolist():
        around[first].append(second)
        around[second].append(first)
    bends = []
    for node in sorted(around):
        ends = around[node]
        away = positions[ends] - positions[node]
        away /= np.linalg.norm(away, axis=1)[:, None]
        for i in range(len(ends)):
            bends += [(ends[i], node, ends[j]) for j in range(i + 1, len(ends))
                      if len(ends) == 2 or -float(away[i] @ away[j]) > CONTINUES]
    return np.array(bends, dtype=np.int32).reshape(-1, 3)
