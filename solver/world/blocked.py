"""Search for the objects that block prescribed motion, and their names for messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from ..contact.laws.interface import ContactLaw
from ..state import Index, Vec
from .bodies import BodyInWorld, ObstacleInWorld

OPPOSED = -0.9  #: cosine between the normals of two sides below which a node is between them
NO_SPACE = 1.0e-3  #: relative to the activation distance: less space between two sides is none


def name_blocking_pair(bodies: Sequence[BodyInWorld], obstacles: Sequence[ObstacleInWorld],
                       contacts: Sequence[ContactLaw], node: int, x: Vec) -> tuple[str, str]:
    """Return the names of the owner of a prescribed node and of the object in contact with this owner, for messages.

    node: prescribed node. x: positions of all nodes, (n, 3) [m]. The owner is an obstacle or the pin of a soft body. Of
    several objects in contact with it, the one nearest to the node is returned; "" where there is no name.
    """
    owners, owner = _owners_of_nodes(bodies, obstacles, len(x))
    node_owner = int(owner[node])
    if node_owner < 0:
        return "", ""
    pairs = np.concatenate([np.zeros((0, 2), dtype=np.int32), *(law.node_pairs_within(x, 1.0) for law in contacts)])
    sides = owner[pairs]
    both = np.concatenate([np.column_stack([sides, pairs]), np.column_stack([sides[:, ::-1], pairs[:, ::-1]])])
    against = both[(both[:, 0] == node_owner) & (both[:, 1] >= 0) & (both[:, 1] != node_owner)]
    if not len(against):
        return owners[node_owner][0], ""
    away = np.linalg.norm(x[against[:, 2]] - x[node], axis=1)
    return owners[node_owner][0], owners[int(against[int(away.argmin()), 1])][1]


def closes_on(bodies: Sequence[BodyInWorld], obstacles: Sequence[ObstacleInWorld], contacts: Sequence[ContactLaw],
              free: Index, x: Vec, end: Vec) -> tuple[int, str] | None:
    """Return a free node between two prescribed surfaces without room for it at the end of a step, and a message.

    None where there is no such node. The message names the node's body and both surfaces, without a full stop. free:
    nodes that are not prescribed, (f,). x, end: positions of all nodes at the start of the step and at the end of
    prescribed motion, (n, 3) [m]. At x, both surfaces are in contact with the node. A shorter step does not help, as
    later steps end in the same positions.
    """
    owners, owner = _owners_of_nodes(bodies, obstacles, len(x))
    is_free = np.zeros(len(x), dtype=bool)
    is_free[free] = True
    for law in contacts:
        sides = [*_sides(law.point_pairs(x), owner, is_free, x, end)]
        for (surface, nodes, normals, space), (other, its_nodes, its_normals, its_space) in combinations(sides, 2):
            both, first, second = np.intersect1d(nodes, its_nodes, assume_unique=True, return_indices=True)
            opposed = np.einsum("ki,ki->k", normals[first], its_normals[second]) < OPPOSED
            left = space[first] + its_space[second]
            lacks = np.flatnonzero(opposed & (left <= NO_SPACE * law.activation))
            if len(lacks):
                node = int(both[lacks[int(left[lacks].argmin())]])
                name = owners[int(owner[node])][1] if owner[node] >= 0 else "what is between"
                where = ", ".join(f"{c:.4g}" for c in x[node])
                return node, (f"{owners[surface][0]} and {owners[other][0]} close on {name} near ({where}) m and "
                              "leave no room for it")
    return None


def _sides(pairs: tuple[Index, Vec, Vec], owner: Index, is_free: Index, x: Vec,
           end: Vec) -> Iterator[tuple[int, Index, Vec, Vec]]:
    """Yield each owner of prescribed triangles in contact with free points, and these points.

    For an owner: its number, its points, each once, (k,), unit normals towards the points, (k, 3), and the distance
    beyond the thickness at the end if the points do not move, (k,) [m]. pairs: result of `ContactLaw.point_pairs`.
    """
    points, weights, thickness = pairs
    between = np.flatnonzero(is_free[points[:, 0]] & ~is_free[points[:, 1:]].any(axis=1) & (owner[points[:, 1]] >= 0))
    corners, weights = points[between, 1:], weights[between, 1:]
    away = x[points[between, 0]] - np.einsum("kc,kci->ki", weights, x[corners])
    far = np.linalg.norm(away, axis=1)
    normals = away / np.maximum(far, 1e-300)[:, None]
    nearer = np.einsum("kc,kci,ki->k", weights, end[corners] - x[corners], normals)
    space = far - thickness[between] - nearer
    owner_of_row = owner[corners[:, 0]]
    for number in np.unique(owner_of_row):
        own = np.flatnonzero(owner_of_row == number)
        own = own[np.lexsort((space[own], points[between[own], 0]))]
        nodes, first = np.unique(points[between[own], 0], return_index=True)
        yield int(number), nodes, normals[own[first]], space[own[first]]


def _owners_of_nodes(bodies: Sequence[BodyInWorld], obstacles: Sequence[ObstacleInWorld],
            count: int) -> tuple[list[tuple[str, str, slice]], Index]:
    """Return the bodies and obstacles, and the index of each node's owner among them, (n,), −1 without an owner.

    Each entry has a name for prescribed nodes, a name for other nodes, and the slice of its nodes.
    """
    owners = [*((f'the pin of "{body.name}"', f'"{body.name}"', body.nodes) for body in bodies),
              *((f'"{obstacle.name}"', f'"{obstacle.name}"', obstacle.nodes) for obstacle in obstacles)]
    owner = np.full(count, -1)
    for k, (_, _, nodes) in enumerate(owners):
        owner[nodes] = k
    return owners, owner
