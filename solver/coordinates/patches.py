"""Patches of nodes that have an inertia of their own as a whole: the part of their motion that is dynamic.

A patch moves by amplitudes y = C v, weighted means over its nodes; the forces that act on it through the amplitudes are
Cᵀ λ, spread over all of its nodes, so that it does not dent where a single node would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..state import Index, Mask, Vec

FLAT = 1.0e-3  #: of the largest: a motion that hardly any node of the patch takes part in is none of its own

#: motions of a patch, velocities of nodes for each amplitude, (m, 3, c), from their positions about the patch's centre,
#: now and at rest, both (m, 3), relative to the patch's size
Motions = Callable[[Vec, Vec], Vec]


def mean(now: Vec, rest: Vec) -> Vec:
    """Return the three translations of a patch, as velocities of its nodes for each amplitude, (m, 3, 3). now, rest:
    positions of the nodes about the patch's centre, present and at rest, relative to the patch's size, (m, 3)."""
    return np.broadcast_to(np.eye(3), (len(now), 3, 3))


def mean_and_rotation(now: Vec, rest: Vec) -> Vec:
    """Return the translations of a patch and its rotations ω × r about its centre, as velocities of its nodes for each
    amplitude, (m, 3, 6). now, rest: positions of the nodes about the patch's centre, present and at rest, relative to
    the patch's size, (m, 3)."""
    rotations = np.stack([np.cross(axis, now) for axis in np.eye(3)], axis=2)
    return np.concatenate([mean(now, rest), rotations], axis=2)


def affine(now: Vec, rest: Vec) -> Vec:
    """Return all affine motions of a patch, each axis of motion with each coordinate at rest, as velocities of its
    nodes for each amplitude, (m, 3, 12). now, rest: positions of the nodes about the patch's centre, present and at
    rest, relative to the patch's size, (m, 3)."""
    stretches = np.einsum("ij,nk->nijk", np.eye(3), rest).reshape(len(rest), 3, 9)
    return np.concatenate([mean(now, rest), stretches], axis=2)


@dataclass(frozen=True)
class Patch:
    """A patch of nodes that is dynamic as a whole, with the motions that it may take."""

    nodes: Index  #: (m,)
    motions: Motions


class Patches:
    """The amplitudes of all patches as linear functions of the nodes' velocities."""

    def __init__(self, rest: Vec, mass: Vec, patches: Sequence[Patch]) -> None:
        """rest: positions at rest, (n, 3) [m]. mass: lumped, (n,) [kg]."""
        self._count = len(rest)
        self._all = [_Amplitudes(rest, mass, patch) for patch in patches]
        self.unknowns = sum(patch.unknowns for patch in self._all)

    def of(self, chosen: Mask | None) -> Index:
        """Return the indices of the amplitudes of the patches in a mask `chosen`, (p,); of all patches where it is
        None."""
        owner = np.repeat(np.arange(len(self._all)), [patch.unknowns for patch in self._all])
        indices: Index = np.flatnonzero(np.ones(len(owner), dtype=bool) if chosen is None else chosen[owner])
        return indices

    def rows(self, x: Vec) -> Vec:
        """Return C, the weight of each node's velocity in each amplitude, (c, n, 3), at positions x, (n, 3) [m]."""
        out = np.zeros((self.unknowns, self._count, 3))
        first = 0
        for patch in self._all:
            out[first : first + patch.unknowns, patch.nodes] = patch.rows(x)
            first += patch.unknowns
        return out


class _Amplitudes:
    """Amplitudes of one patch: the independent combinations of its motions."""
    def __init__(self, rest: Vec, mass: Vec, patch: Patch) -> None:
        self.nodes, self._motions = patch.nodes, patch.motions
        self._weights = mass[self.nodes] / mass[self.nodes].sum()
        arms = rest[self.nodes] - self._weights @ rest[self.nodes]
        self._size = max(float(np.sqrt(self._weights @ np.einsum("na,na->n", arms, arms))), np.finfo(float).tiny)
        self._rest = arms / self._size
        motions = self._motions(self._rest, self._rest)
        values, axes = np.linalg.eigh(np.einsum("n,nac,nad->cd", self._weights, motions, motions))
        self._own = axes[:, values > FLAT**2 * values[-1]]  #: independent combinations of motions
        self.unknowns = self._own.shape[1]

    def rows(self, x: Vec) -> Vec:
        now = (x[self.nodes] - self._weights @ x[self.nodes]) / self._size
        motions = self._motions(now, self._rest) @ self._own
        out: Vec = (self._weights[:, None, None] * motions).transpose(2, 0, 1)
        return out
