"""Contact surfaces of bodies whose tetrahedra intersect others at the start although their meshes do not.

Tetrahedra extend beyond the mesh by up to the mesher's tolerance. A body that lies on a floor or in a shelf intersects
it by that much: its contact surface is then the mesh itself. Where the artist has put a mesh exactly against another
one, or slightly into it, vertices near the other surface are moved slightly inwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from msgspec.structs import replace as changed

from ..contact.find.mesh import Surfaces
from ..contact.laws.embedded import EmbeddedVertices
from ..embedding.bind import barycentric
from ..meshing.normals import out_of_all
from ..state import Index, Vec
from .fields import Prepared

INSETS = (1e-3, 2e-3, 3e-3)  #: of a body's largest extent: how far within its mesh it touches, the first that does
NEAR = 4.0  #: of that: nearer to others its vertices are moved
COINCIDENT = 0.02  #: of the inset: what is nearer afterwards lies on each other, such as what crossed by just the inset
MOST = 10_000  #: intersections that are examined


@dataclass(frozen=True)
class Touching:
    """Contact surfaces of all bodies and obstacles at the start."""

    prepared: list[Prepared]
    skins: list[Index]  #: triangles of each body, of nodes and of embedded vertices, which come after the nodes
    wires: Index  #: edges of no triangle, of all bodies, (k, 2)
    quads: Index  #: quads that collide along both diagonals, of all bodies, (q, 4)
    embedded: EmbeddedVertices  #: vertices that tetrahedra carry
    surfaces: Surfaces  #: of bodies and obstacles that collide
    now: Vec  #: positions of nodes and vertices [m], (n + v, 3)
    owner: Index  #: index of the body or obstacle of each, (n + v,)

    def intersecting_pairs(self) -> set[tuple[int, int]]:
        """Return the pairs of bodies and obstacles that intersect, as indices, the lower one first; twice the same
        where one intersects itself."""
        if self.surfaces.intersection(self.now) is None:
            return set()
        intersections = islice(self.surfaces.intersections(self.now), MOST)
        return {(min(pair), max(pair)) for pair in
                ((int(self.owner[edge[0]]), int(self.owner[face[0]])) for edge, face in intersections)}

    def is_separated(self, distance: float) -> bool:
        """Return whether no body is within a distance [m] of another body or of an obstacle."""
        near = self.surfaces.find_near_pairs(self.now, distance)
        return bool(near.is_self.all())


#: contact surfaces of bodies, with these embedded vertices; None: with their own
Arrange = Callable[[list[Prepared], EmbeddedVertices | None], Touching]


def as_they_touch(arrange: Arrange, prepared: list[Prepared]) -> Touching:
    """Return the contact surfaces of all bodies: their own where none intersect at the start, else with as few replaced
    by other surfaces as it takes. No surface is replaced where intersections would remain. arrange: makes the contact
    surfaces of bodies."""
    first = made = arrange(prepared, None)
    pairs = made.intersecting_pairs()
    while pairs:
        intersecting = {k for pair in pairs for k in pair}
        bodies = [_with_next_surface(prepared_body) if k in intersecting else prepared_body
                  for k, prepared_body in enumerate(made.prepared)]
        if all(body is before for body, before in zip(bodies, made.prepared)):
            break
        made = arrange(bodies, None)
        pairs = made.intersecting_pairs()
    if not pairs:
        return made
    inset = {k for pair in pairs if pair[0] != pair[1] for k in pair
             if k < len(prepared) and made.prepared[k].body.touches_by_mesh}
    if any(not {*pair} & inset for pair in pairs):
        return first
    for fraction in INSETS:
        within = arrange(made.prepared, _within(made, inset, fraction))
        size = min(float(made.prepared[k].volume.extents.max()) for k in inset)
        if not within.intersecting_pairs() and within.is_separated(COINCIDENT * fraction * size):
            return within
    return first


def _with_next_surface(one: Prepared) -> Prepared:
    """Return a body with its next choice of a contact surface: after a simplified mesh the tetrahedra, after these the
    mesh; the body itself where there is no other choice."""
    body = one.body
    if one.thinned is not None:
        return replace(one, body=changed(body, touches_by_mesh=False), thinned=None)
    if body.surface is None or one.embedding is None or body.cuts or body.touches_by_mesh:
        return one
    return replace(one, body=changed(body, touches_by_mesh=True))


def _within(made: Touching, bodies: set[int], fraction: float) -> EmbeddedVertices:
    """Return the embedded vertices with those of some bodies moved inwards where they are near other surfaces. bodies:
    indices. fraction: distance, as a fraction of each body's largest extent."""
    weights, start = made.embedded.weights.copy(), made.embedded.nodes
    for k, prepared_body in enumerate(made.prepared):
        if not prepared_body.body.touches_by_mesh or prepared_body.embedding is None:
            continue
        if prepared_body.thinned is not None:
            start += len(prepared_body.thinned.corners)
            continue
        count = len(prepared_body.embedding.corners)
        if k in bodies:
            inset = fraction * float(prepared_body.volume.extents.max())
            nodes = prepared_body.volume.nodes
            pairs = made.surfaces.find_near_pairs(made.now, NEAR * inset)
            among = pairs.nodes[~pairs.is_self]
            moved = np.unique(among[(among >= start) & (among < start + count)]) - start
            # at rest, where weights are computed
            rest = prepared_body.embedding.apply(nodes)
            inwards = rest[moved] - inset * out_of_all(rest, made.skins[k] - start)[moved]
            row = start - made.embedded.nodes + moved
            weights[row] = barycentric(inwards, nodes[prepared_body.embedding.corners[moved]])
        start += count
    return replace(made.embedded, weights=weights)
