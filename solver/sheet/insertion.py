"""Insertion of vertices where a sheet passes over features: edges and faces are split, or a near vertex is moved."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..contact.find.passing import passing_edges, passing_points
from ..state import Index, Mask, Vec
from . import mesh_kernels as queries
from . import operations_kernels as ops
from .insertion_kernels import living_edges, mark_redundant
from .limits import RemeshLimits
from .runs import Runs
from .tracking import border_distance
from .working import STRAIGHT, Working

#: tan of the smallest angle after a move of a vertex, which is improved later
THINNEST = float(np.tan(np.deg2rad(1.0)))
#: relative to its displacement in a step: distance of material to which a vertex on a run may slide
SLIDES = 2.0
OTHER_LAYER = 4.0  #: of the distance along a run: material that is farther away is another layer of the cloth


@dataclass
class Conforming:
    """A mesh while it is made to conform to features.

    `on` has numbers of runs in place of edges; sliding velocities of new vertices are zero.
    """

    working: Working
    runs: Runs
    limits: RemeshLimits
    h: float  #: of the next step [s]
    border: Vec  #: the border's edges in material space, which stay where they are, (b, 2, 2)
    fall: Vec  #: displacement of everything in the step in addition to its velocity [m], (3,)
    #: vertices that came onto features, and the velocity of the material there [m/s], (3,)
    new: dict[int, Vec] = field(default_factory=dict)
    released: set[int] = field(default_factory=set)  #: vertices that left features
    refused: set[tuple[int, ...]] = field(default_factory=set)  #: intersections without a vertex that stay so
    #: material of vertices that could not move there yet, its velocity, and their distance from it [m]
    carried_over: dict[int, tuple[Vec, Vec, float]] = field(default_factory=dict)
    jump: float = 0.0  #: largest displacement of a point of the cloth in the world [m]
    spared: Mask | None = None  #: vertices at which nothing is inserted, joined or mended, (n,) of those at the start
    #: vertices on runs in their order, and how far along they are, while nothing is changed
    ordered: dict[int, tuple[Index, Vec]] = field(default_factory=dict)

    def spares(self, *vertices: int) -> bool:
        """Return whether any of these vertices may not be changed."""
        return self.spared is not None and any(i < len(self.spared) and self.spared[i] for i in vertices)

    def edges(self) -> Index:
        """Return the ends of all edges, (e, 2)."""
        working = self.working
        count = int(working.counts[1])
        ends: Index = np.empty((3 * count, 2), np.int32)
        return ends[:living_edges(working.faces, working.across, count, ends)]

    def sit(self, vertex: int, on: int, position: Vec) -> None:
        """Put a vertex onto the feature with number `on`, at a position, (3,) [m]."""
        working = self.working
        if vertex not in self.new and working.on[vertex] < 0:
            self.new[vertex] = working.v[vertex].copy()
        if vertex not in self.carried_over:
            self.jump = max(self.jump, float(np.linalg.norm(working.x[vertex] - position)))
        working.on[vertex], working.x[vertex] = on, position
        working.mark_changed()

    def release(self, vertex: int) -> None:
        """Make a vertex on a feature Lagrangian. `conform` sets its velocity to that of the material later."""
        self.working.on[vertex] = -1
        self.new.pop(vertex, None)
        self.released.add(vertex)
        self.working.mark_changed()

    def move(self, vertex: int, face: int, weights: Vec) -> bool:
        """Move a vertex to a point of a face, in material space and in the world, with the velocity there.

        Return whether the vertex was moved: a vertex on the border moves only along a straight border. weights: of the
        corners of the face, (3,).
        """
        working = self.working
        corners, velocity = working.faces[face], np.empty(3)
        ops.velocity_in(working.arrays, face, np.ascontiguousarray(weights), velocity)
        return self.shift(vertex, weights @ working.material[corners], weights @ working.x[corners], velocity)

    def shift(self, vertex: int, X: Vec, x: Vec, velocity: Vec) -> bool:
        """Move a vertex to X, (2,) [m], in material space and x, (3,) [m], in the world, with a velocity, (3,) [m/s].

        Return whether the vertex was moved: a vertex on the border moves only along a straight border, and no vertex so
        that a face gets too thin; such a move is recorded in `carried_over`.
        """
        working = self.working
        around = working.faces_around(vertex)
        if not len(around) or (working.on_border(vertex) and not self._straight(vertex, X)):
            return False
        before = working.material[vertex].copy()
        least = min(self.sharpness(f) for f in around)
        working.material[vertex] = X
        after = min(self.sharpness(f) for f in around)
        if after < min(THINNEST, least) or after <= 0.0:
            working.material[vertex] = before
            self.carried_over[vertex] = X, velocity.copy(), float(np.linalg.norm(working.x[vertex] - x))
            return False
        self.carried_over.pop(vertex, None)
        working.x[vertex], working.v[vertex], working.slide[vertex] = x, velocity, 0.0
        if vertex in self.new:
            self.new[vertex] = velocity.copy()
        working.mark_changed()
        return True

    def pay(self) -> None:
        """Move the vertices in `carried_over` to their intended material positions, as far as triangles allow."""
        for vertex, (X, velocity, off) in list(self.carried_over.items()):
            if self.working.at[vertex] < 0 or vertex not in self.new:
                del self.carried_over[vertex]
            elif not self.shift(vertex, X, self.working.x[vertex].copy(), velocity):
                self.carried_over[vertex] = X, velocity, off

    def _straight(self, vertex: int, target: Vec) -> bool:
        """Return whether the border is straight at a vertex on it, and from there to `target`, (2,) [m]."""
        X, near = self.working.material, self.working.neighbours(vertex)
        for direction in (X[near[-1]] - X[vertex], target - X[vertex]):
            other = X[near[0]] - X[vertex]
            size = float(np.linalg.norm(other) * np.linalg.norm(direction))
            if abs(other[0] * direction[1] - other[1] * direction[0]) > STRAIGHT * size:
                return False
        return True

    def sharpness(self, face: int) -> float:
        """Return the tangent of the smallest angle of a face in material space."""
        return float(queries.sharpness_of(self.working.arrays, *(int(i) for i in self.working.faces[face])))

    def angle_to_border(self, face: int, run: int, position: Vec, X: Vec) -> float:
        """Return the angle in material space between a run over a face and the border's edge nearest to X [rad].

        position: point on the run in the world, (3,) [m]. X: in material space, (2,) [m].
        """
        first, direction = self.border[:, 0], self.border[:, 1] - self.border[:, 0]
        t = np.clip(np.einsum("bi,bi->b", X - first, direction) / np.einsum("bi,bi->b", direction, direction), 0.0, 1.0)
        along = direction[np.argmin(np.linalg.norm(first + t[:, None] * direction - X, axis=1))]
        corners = self.working.faces[face]
        D = (self.working.material[corners[1:]] - self.working.material[corners[0]]).T
        F = (self.working.x[corners[1:]] - self.working.x[corners[0]]).T @ np.linalg.inv(D)
        over = np.linalg.lstsq(F, self.runs.direction(run, position), rcond=None)[0]
        return float(np.arctan2(abs(over[0] * along[1] - over[1] * along[0]), abs(over @ along)))

    def measure_border_distance(self, X: Vec) -> float:
        """Return the distance of a point X, (2,) [m], from the border in material space [m]."""
        return float(border_distance(self.border, X[None])[0])


def insert(now: Conforming) -> None:
    """Insert vertices wherever the sheet passes over a feature without a vertex on it, until no passing is left."""
    for _ in range(now.limits.rounds):
        if not insert_points(now) + insert_edges(now):
            break


def insert_points(now: Conforming) -> int:
    """Insert vertices on corners and tips that faces pass over; return their number."""
    working, features, limits = now.working, now.runs.features, now.limits
    n = int(working.counts[0])
    requested = features.corner.copy()
    requested[working.on[:n][working.alive & (working.on[:n] >= 0) & (working.on[:n] < now.runs.points)]] = False
    if not requested.any():
        return 0
    rows = working.living_faces
    passing = passing_points(working.x[:n], now.h * working.v[:n], working.faces[rows], features, requested, now.h,
                           limits.thickness, limits.depth)
    done, used = 0, set[int]()
    # features that are touched already come before others
    for k in np.lexsort((passing.of, passing.when)).tolist():
        point, face = int(passing.feature[k]), int(rows[passing.of[k]])
        corners = set(working.faces[face].tolist())
        key = (-1, point)
        if (not requested[point] or key in now.refused or used & corners or now.released & corners
                or now.spares(*corners)):
            continue
        vertex = _at_point(now, face, passing.barycentric[k], point)
        if vertex < 0:
            now.refused.add(key)
            continue
        now.sit(vertex, point, passing.positions[k])
        requested[point] = False
        used |= corners | {vertex}
        done += 1
    return done


def _at_point(now: Conforming, face: int, weights: Vec, point: int) -> int:
    """Return a vertex for a point feature at a point of a face, new or moved there; −1 where none is admissible.

    weights: of the corners of the face, (3,).
    """
    working, shortest = now.working, now.limits.shortest
    corners = working.faces[face].copy()
    X = working.material[corners]
    target = weights @ X
    if now.measure_border_distance(target) < shortest:
        return -1
    near = np.linalg.norm(X - target, axis=1)
    k = int(np.argmin(near))
    if near[k] < shortest:
        vertex = int(corners[k])
        ends_at_point = working.on[vertex] >= now.runs.points and point in now.runs.ends[
            working.on[vertex] - now.runs.points]
        if working.required[vertex] or (working.on[vertex] >= 0 and not ends_at_point):
            return -1
        if now.move(vertex, face, weights) and working.on[vertex] >= 0:
            now.new[vertex] = working.v[vertex].copy()
        return vertex
    sides = np.linalg.norm(np.roll(X, -1, axis=0) - np.roll(X, 1, axis=0), axis=1)
    twice = float(np.cross(X[1] - X[0], X[2] - X[0]))
    k = int(np.argmin(weights * twice / sides))
    if weights[k] * twice / sides[k] >= shortest:
        return working.split_face(face, weights)
    a, b = int(corners[(k + 1) % 3]), int(corners[(k + 2) % 3])
    edge_vector = working.material[b] - working.material[a]
    t = float((target - working.material[a]) @ edge_vector / (edge_vector @ edge_vector))
    position, velocity = weights @ working.x[corners], np.empty(3)
    ops.velocity_in(working.arrays, face, np.ascontiguousarray(weights), velocity)
    vertex = working.split_edge(a, b, t)
    working.on[vertex] = -1
    now.shift(vertex, target, position, velocity)
    return vertex


def insert_edges(now: Conforming) -> int:
    """Insert vertices on runs where edges pass over them; return their number."""
    working, runs, limits = now.working, now.runs, now.limits
    n = int(working.counts[0])
    edges = now.edges()
    passing = passing_edges(working.x[:n], now.h * working.v[:n] + now.fall, edges, runs.features, now.h,
                          limits.thickness, limits.depth)
    if not len(passing.of):
        return 0
    run = runs.features.run[passing.feature].astype(np.int32)
    left, has = np.zeros(n, dtype=bool), np.empty(len(run), dtype=bool)
    left[list(now.released)] = True
    mark_redundant(edges, np.ascontiguousarray(passing.of), run, runs.ends, runs.points, working.on, working.at, left,
                  passing.positions, np.ascontiguousarray(runs.features.points),
                  max(limits.thickness, limits.shortest, 0.5 * limits.depth), limits.thickness, has)
    now.ordered.clear()
    if has.all():
        return 0
    speeds = runs.features.on_edges(passing.feature, passing.positions)[1]
    done, moved = 0, set[int]()
    order = np.lexsort((passing.of, passing.when))
    both = [(k, int(edges[passing.of[k], 0]), int(edges[passing.of[k], 1])) for k in order.tolist() if not has[k]]
    # the border's edges first: a vertex inside does not replace one on the border
    both.sort(key=lambda one: working.faces_of(one[1], one[2])[1] >= 0)
    for k, a, b in both:
        key = (a, b, int(run[k]))
        if key in now.refused or a in moved or b in moved or now.spares(a, b):
            continue
        X = _material_at(working, a, b, float(passing.barycentric[k]))
        if (_leaps(now, a, b, float(passing.barycentric[k]), passing.positions[k], speeds[k])
                or (limits.one_layer and _is_covered(now, int(run[k]), passing.positions[k], X))
                or _slides_to(now, a, b, int(run[k]), passing.positions[k], X)):
            now.refused.add(key)
            continue
        now.ordered.clear()
        result = _on_edge(now, a, b, float(passing.barycentric[k]), int(run[k]), passing.positions[k])
        if result is None:
            now.refused.add(key)
            continue
        vertex, split = result
        now.sit(vertex, runs.points + int(run[k]), passing.positions[k])
        now.ordered.clear()
        moved |= {vertex} if split else {vertex, *working.neighbours(vertex).tolist()}
        done += 1
    return done


def _material_at(working: Working, a: int, b: int, fraction: float) -> Vec:
    """Return the material point at a fraction of the edge from vertex a to vertex b, (2,) [m]."""
    X: Vec = (1.0 - fraction) * working.material[a] + fraction * working.material[b]
    return X


def _leaps(now: Conforming, a: int, b: int, fraction: float, position: Vec, feature_velocity: Vec) -> bool:
    """Return whether a point of an edge is too far from the feature to be put onto it: contact forces separate the two.

    The bound is `limits.leap` times the sum of the thickness and the displacement of the point in a step, the larger of
    the absolute one and that relative to the feature. feature_velocity: (3,) [m/s]. position: on the feature,
    (3,) [m].
    """
    x, v = now.working.x, now.working.v
    off = float(np.linalg.norm((1.0 - fraction) * x[a] + fraction * x[b] - position))
    own = now.h * ((1.0 - fraction) * v[a] + fraction * v[b]) + now.fall
    move = max(float(np.linalg.norm(own)), float(np.linalg.norm(own - now.h * feature_velocity)))
    return off > now.limits.leap * (now.limits.thickness + move)


def _is_covered(now: Conforming, run: int, position: Vec, X: Vec) -> bool:
    """Return whether another layer of the cloth than that at X, (2,) [m], is on a run at `position`, (3,) [m].

    That layer has an edge along the run there, or the nearest vertex on the run, which is far away in material space.
    """
    working = now.working
    vertices, along, at = _along(now, run, position)
    if not len(vertices):
        return False
    if _between(now, vertices, along, at) is not None:
        return True
    nearest = int(np.abs(along - at).argmin())
    between = float(np.linalg.norm(working.material[vertices[nearest]] - X))
    return between > OTHER_LAYER * (abs(float(along[nearest]) - at) + now.limits.shortest)


def _slides_to(now: Conforming, a: int, b: int, run: int, position: Vec, X: Vec) -> bool:
    """Return whether the edge on a run at `position`, (3,) [m], slides to the material X, (2,) [m], in the next step.

    Fast cloth brings its next vertices there and needs no others.
    """
    working = now.working
    vertices, along, at = _along(now, run, position)
    pair = _between(now, vertices, along, at)
    if pair is None:
        return False
    first, edge_vector = working.material[pair[0]], working.material[pair[1]] - working.material[pair[0]]
    t = float(np.clip((X - first) @ edge_vector / (edge_vector @ edge_vector), 0.0, 1.0))
    move = now.h * max(float(np.linalg.norm(working.v[i])) for i in (a, b))
    return float(np.linalg.norm(first + t * edge_vector - X)) <= SLIDES * move + now.limits.shortest


def _along(now: Conforming, run: int, position: Vec) -> tuple[Index, Vec, float]:
    """Return the vertices on a run in their order, (k,), their arc lengths, (k,) [m], and the arc length of `position`
    [m]."""
    working, runs = now.working, now.runs
    if run not in now.ordered:
        n = int(working.counts[0])
        vertices = np.flatnonzero(working.alive & (working.on[:n] == runs.points + run))
        along = runs.along(run, working.x[vertices])
        order = np.argsort(along, kind="stable")
        now.ordered[run] = vertices[order], along[order]
    vertices, along = now.ordered[run]
    return vertices, along, float(runs.along(run, position[None])[0]) if len(vertices) else 0.0


def _between(now: Conforming, vertices: Index, along: Vec, at: float) -> tuple[int, int] | None:
    """Return the ends of the mesh edge along a run at arc length `at` [m]; None where there is none.

    vertices, along: vertices on the run and their arc lengths, see `_along`.
    """
    k = int(np.searchsorted(along, at))
    if not 0 < k < len(vertices):
        return None
    ends = int(vertices[k - 1]), int(vertices[k])
    return ends if now.working.faces_of(*ends)[0] >= 0 else None


def _on_edge(now: Conforming, a: int, b: int, fraction: float, run: int, position: Vec) -> tuple[int, bool] | None:
    """Return a vertex at a fraction of an edge, and whether it is new; None where no vertex is admissible there."""
    working, limits = now.working, now.limits
    face, beyond = working.faces_of(a, b)
    if face < 0 or working.conformal(a, b):
        return None
    is_border = beyond < 0
    X, edge_vector = working.material[a], working.material[b] - working.material[a]
    target, length = X + fraction * edge_vector, float(np.linalg.norm(edge_vector))
    near = now.measure_border_distance(target)
    if (is_border or near < 2.0 * limits.shortest) and now.angle_to_border(face, run, position, target) < limits.border:
        return None
    vertex = a if fraction * length < limits.shortest else b if (1.0 - fraction) * length < limits.shortest else -1
    if vertex < 0:
        return working.split_edge(a, b, fraction), True
    if working.on[vertex] >= 0 or working.required[vertex]:
        return None
    off = (fraction if vertex == a else 1.0 - fraction) * length
    if working.on_border(vertex) and not is_border and off > 1e-6 * length:
        # the border's own edge decides whether the feature passes over it
        return None
    weights = np.zeros(3)
    corners = working.faces[face].tolist()
    weights[corners.index(a)], weights[corners.index(b)] = 1.0 - fraction, fraction
    velocity, x = np.empty(3), weights @ working.x[working.faces[face]]
    ops.velocity_in(working.arrays, face, weights, velocity)
    if not now.shift(vertex, target, x, velocity):
        _flip_flat_faces(now, vertex, run, target)
        now.shift(vertex, target, x, velocity)
    return vertex, False


def _flip_flat_faces(now: Conforming, vertex: int, run: int, target: Vec) -> None:
    """Flip edges of a vertex that is to be on a run, where its faces with two vertices on the run would be flat."""
    working = now.working
    for face in working.faces_around(vertex).tolist():
        others = [i for i in working.faces[face].tolist() if i != vertex]
        if vertex in working.faces[face] and all(working.on[i] == now.runs.points + run or
                                                 0 <= working.on[i] in now.runs.ends[run] for i in others):
            working.flip(vertex, max(others, key=lambda i: float(np.linalg.norm(working.material[i] - target))))
