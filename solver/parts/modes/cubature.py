"""Cubature: elements of a mesh that represent all others, those nearest to the centres of clusters that move alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ...errors import BadInput
from ...meshing.volume import tet_faces, tet_volumes
from ...state import Index, Vec
from .skinning import Subspace

LEAST = 5  #: points a weight: fewer leave motions without stiffness
CLASS = 0.5  #: decades of the modulus that make one class of elements
FEW = 4  #: points of a lump at least, where it has as many elements
SAMPLE = 60_000  #: elements of a class that clusters are found on; all others join the nearest then
ROUNDS = 12  #: of moving the centres of clusters, at most
SLICE = 1 << 9  #: elements whose distances are made at once: they stay in the cache
POSITION_WEIGHT = 8.0  #: weight of an element's position, relative to the body's size, against its weights of modes
ROUNDING = 1.0e-12  #: of a square: what is less is the centre itself
#: exponent of a class' spread in its number of points: what spreads evenly in three dimensions errs evenly
SPREAD_EXPONENT = 0.6


@dataclass(frozen=True)
class Cubature:
    """Elements and their weights: Σ w ψ approximates the sum of V ψ over all elements. [MFEM 2]"""

    tets: Index  #: (c,) numbers of elements
    volumes: Vec  #: w, (c,) [m³]; they sum to the volume of the mesh until `scale`

    def scale(self, factor: float) -> Cubature:
        """Return the cubature with all weights multiplied by a factor."""
        return Cubature(self.tets, self.volumes * factor)


def build_cubature(nodes: Vec, tets: Index, stiffness: Vec, subspace: Subspace, points: int,
                   exponent: float = 0.0, energy: Vec | None = None) -> Cubature:
    """Return a cubature of about `points` elements, by k-means of the weights at elements, for each lump of one
    stiffness separately.

    stiffness: (e,) [Pa]. exponent: features are weights times Γ^exponent; the paper's is −2, which makes slices along
    the slowest mode. energy: of each element in slow motion, (e,) [J], by which points are distributed to lumps; None:
    evenly. All elements are taken where there are not more than `points`. Raises BadInput where there are fewer than 5
    points for each weight. [MFEM 11, changed: exponent 0, volumes as weights and lumps of one stiffness by themselves]
    """
    volumes = tet_volumes(nodes, tets)
    if points >= len(tets):
        return Cubature(np.arange(len(tets), dtype=np.int32), volumes)
    if points < LEAST * subspace.weights.shape[1]:
        raise BadInput(f"{points} points are too few for {subspace.weights.shape[1]} modes: some motions would have no "
                       "stiffness", f"Take at least {LEAST} points a mode; 20 to 30 are a good choice")
    moving = subspace.stiffnesses > 1e-9 * max(float(subspace.stiffnesses.max()), 1e-300)
    scale = np.where(moving, np.where(moving, subspace.stiffnesses, 1.0) ** exponent, 0.0)
    constant = ~moving
    features = (subspace.weights * np.where(constant, 1.0, scale))[tets].mean(axis=1)
    group = _lumps(tets, stiffness, points)
    # weights of slender bodies are even across them, where bending is not: elements far apart share no cluster either
    positions = subspace.affine(nodes[tets].mean(axis=1))[:, 1:]
    level = scale[moving].max(initial=1.0)
    features = np.concatenate([features[:, moving] * np.sqrt(subspace.mass.sum()) / level,
                               POSITION_WEIGHT * positions], axis=1)
    members = [np.flatnonzero(group == number) for number in range(int(group.max()) + 1)]
    spread = np.array([_spread(features[member], volumes[member]) for member in members])
    if energy is not None:
        # lumps without strain in slow motion need few points, however large they are
        spread *= np.array([energy[member].sum() / volumes[member].sum() for member in members])
    fractions = spread**SPREAD_EXPONENT / max(float((spread**SPREAD_EXPONENT).sum()), 1e-300)
    fractions *= max(points - sum(min(FEW, len(member)) for member in members), 0) / points
    chosen: list[Index] = []
    weights: list[Vec] = []
    for member, part in zip(members, fractions, strict=True):
        count = min(round(points * part) + FEW, len(member))
        representatives, weight = _clusters(features[member], volumes[member], count)
        chosen.append(member[representatives])
        weights.append(weight)
    order = np.argsort(np.concatenate(chosen))
    return Cubature(np.concatenate(chosen)[order].astype(np.int32), np.concatenate(weights)[order])


def _lumps(tets: Index, stiffness: Vec, points: int) -> Index:
    """Return the lump of each element, (e,): elements that are connected through faces and about equally stiff; where
    these are too many for the number of points, all elements that are about equally stiff."""
    classes = np.floor(np.log10(stiffness / stiffness.min()) / CLASS + 1e-9).astype(np.int64)
    _, face = tet_faces(tets)
    order = np.argsort(face, kind="stable")
    shared = np.flatnonzero(face[order[1:]] == face[order[:-1]])
    one, other = order[shared] // 4, order[shared + 1] // 4
    alike = classes[one] == classes[other]
    graph = coo_matrix((np.ones(alike.sum(), np.int8), (one[alike], other[alike])), shape=(len(tets), len(tets)))
    count, lump = connected_components(graph, directed=False)
    if FEW * count > 0.5 * points:
        lump = np.unique(classes, return_inverse=True)[1].reshape(-1)
    numbers: Index = lump.astype(np.int32)
    return numbers


def _spread(features: Vec, volumes: Vec) -> float:
    """Return Σ V |f − mean|² of one lump."""
    mean = volumes @ features / volumes.sum()
    return float((volumes[:, None] * (features - mean) ** 2).sum())


def _clusters(features: Vec, volumes: Vec, count: int) -> tuple[Index, Vec]:
    """Return the elements nearest to the centres of clusters, and the clusters' volumes, (count,) each or fewer."""
    if count >= len(features):
        return np.arange(len(features), dtype=np.int32), volumes
    rng = np.random.default_rng(0)
    some = np.arange(len(features)) if len(features) <= SAMPLE else np.sort(
        rng.choice(len(features), SAMPLE, replace=False))
    own, weight = features[some], volumes[some]
    centres = _farthest_points(own, weight, count, rng)
    for _ in range(ROUNDS):
        nearest, _ = _nearest(own, centres)
        total = np.bincount(nearest, weights=weight, minlength=count)
        sums = np.stack([np.bincount(nearest, weights=weight * column, minlength=count) for column in own.T], axis=1)
        full = total > 0.0
        moved = np.where(full[:, None], sums / np.where(full, total, 1.0)[:, None], centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    nearest, away = _nearest(features, centres)
    # of each cluster the element that is nearest to its centre, the first of several
    order = np.lexsort((np.arange(len(away)), away, nearest))
    first = np.unique(nearest[order], return_index=True)[1]
    representatives = order[first]
    weights: Vec = np.bincount(nearest, weights=volumes, minlength=count)[nearest[representatives]]
    return representatives.astype(np.int32), weights


def _farthest_points(features: Vec, volumes: Vec, count: int, rng: np.random.Generator) -> Vec:
    """Return initial centres, (count, m), each drawn with a probability by its distance from the previous ones."""
    chosen = np.empty(count, np.int64)
    squares = (features**2).sum(axis=1)
    away, squared_distances = np.full(len(features), np.inf), np.empty(len(features))
    sums = np.cumsum(volumes)
    for k, draw in enumerate(rng.random(count)):
        chosen[k] = one = min(int(np.searchsorted(sums, draw * sums[-1])), len(features) - 1)
        np.dot(features, -2.0 * features[one], out=squared_distances)
        squared_distances += squares
        squared_distances += squares[one]
        np.minimum(away, squared_distances, out=away)
        away[away < ROUNDING * squares] = 0.0
        np.cumsum(volumes * away, out=sums)
        if not sums[-1] > 0.0:
            chosen[k:] = chosen[k]
            break
    return features[chosen]


def _nearest(features: Vec, centres: Vec) -> tuple[Index, Vec]:
    """Return the nearest centre of each element and its squared distance, (e,) each."""
    nearest, away = np.empty(len(features), np.int32), np.empty(len(features))
    squares = (centres**2).sum(axis=1)
    for start in range(0, len(features), SLICE):
        some = features[start : start + SLICE]
        squared_distances = squares - 2.0 * (some @ centres.T)
        nearest[start : start + SLICE] = best = squared_distances.argmin(axis=1)
        away[start : start + SLICE] = squared_distances[np.arange(len(some)), best] + (some**2).sum(axis=1)
    return nearest, away
