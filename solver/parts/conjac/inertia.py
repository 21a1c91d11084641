"""Inertia of positions where most nodes follow the dynamic ones, for stages in contact, which lower its energy.

Velocities V u follow as if nothing touched, with the V at the start of a step; u = C (x − x_base)/(b h) is read off the
positions, rigid motions by mass and the rest where nodes and patches are dynamic. So V C is a projection, nothing else
has inertia, momentum changes by forces only, and all positions, those of other bodies too, are in equilibrium with
contact: the stage is the minimum of ½ uᵀ Vᵀ M V u − uᵀ p + (a/b) W(x), with all cross terms.
[ConJac 11, changed: contacts are no part of J]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from ...assembly.linearised import Linearised
from ...coordinates.floating_frames import Frame, components
from ...state import Index, Vec
from ..interface import Mesh
from ..stage import NodeStage

NOTHING = 1.0e-9  #: of a velocity's square: what a body has less of is none of its own

CLOSE = 1.0e-2  #: of a right side: conjugate gradients on that factor stop there
MOST = 60  #: of their iterations


@dataclass(frozen=True)
class _Together:
    """Nodes that are coupled with each other and with no others. Rows are 3 i + axis of its nodes."""

    nodes: Index  #: (m,) free ones
    read: Vec  #: C, (r, 3 m)
    velocities: Vec  #: V, (3 m, r)


class Inertia:
    """Inertia of positions ½ uᵀ A u − uᵀ p: u = C (v − F), A = Vᵀ (M − a h D) V, p = Vᵀ (M (v̂ − F) + a h D (F + w)).
    """

    regularisation = 0.03  #: of the mass that a factored matrix has at nodes, where the exact one has what follows

    def __init__(self, mesh: Mesh, order: Index, frames: list[Frame], velocities: Vec, patches: Vec, lin: Linearised,
                 stage: NodeStage, is_coupled: bool, follow: Vec | None, carried: Vec | None) -> None:
        """Assemble C, A and p. order: nodes of the rows. frames: rigid motions that nothing constrains. velocities: V
        of the reduced unknowns, (3 (q + k), r). patches: weights of nodes in amplitudes, (c, n, 3). is_coupled: whether
        forces join bodies. follow: F, the response to prescribed nodes, (3 (q + k),). carried: response to each rate of
        the joints, (3 (q + k), c)."""
        columns = np.zeros((len(mesh.rest), 3, velocities.shape[1]))
        columns[order] = velocities.reshape(len(order), 3, -1)
        self.regularisation_mass = self.regularisation * mesh.mass  #: (n,) [kg]
        self._follow = np.zeros_like(mesh.rest)  #: F
        moving = np.zeros_like(mesh.rest)  #: F + w
        if follow is not None:
            self._follow[order] = follow.reshape(-1, 3)
            moving[order] = self._follow[order]
            moving[mesh.coordinates.prescribed] = stage.w

        #: velocities of free nodes in equilibrium for each rate of joints, (n, 3, c)
        self.carried = np.zeros((len(mesh.rest), 3, 0 if carried is None else carried.shape[1]))
        if carried is not None:
            self.carried[order] = carried.reshape(len(order), 3, -1)

        label = components(mesh.parts, len(mesh.rest))
        if is_coupled:
            label[:] = 0
        owned = label[np.abs(columns).max(axis=1).argmax(axis=0)] if columns.shape[2] else np.zeros(0, dtype=int)
        self._all = [_together(np.sort(order[label[order] == number]), columns[:, :, owned == number],
                               [frame for frame in frames if label[frame.nodes[0]] == number], mesh.mass, mesh.dynamic,
                               patches) for number in np.unique(label[order])]

        weight = stage.weight(lin)
        momentum = lin.mass[:, None] * stage.v_hat - weight[:, None] * self._follow
        matrices = [group.velocities.T @ (np.repeat(weight[group.nodes], 3)[:, None] * group.velocities)
                    for group in self._all]
        if lin.damped is not None and lin.damped.has_blocks:
            ah = stage.a * stage.h
            momentum += ah * lin.damped.multiply(moving[:, :, None])[:, :, 0]
            for k, group in enumerate(self._all):
                field = np.zeros((len(mesh.rest), 3, group.velocities.shape[1]))
                field[group.nodes] = group.velocities.reshape(len(group.nodes), 3, -1)
                matrices[k] -= ah * group.velocities.T @ lin.damped.multiply(field)[group.nodes].reshape(
                    group.velocities.shape)
        self._matrices = [0.5 * (matrix + matrix.T) for matrix in matrices]
        self._impulses = [group.velocities.T @ momentum[group.nodes].ravel() for group in self._all]

    @cached_property
    def columns(self) -> Vec | None:
        """Return Cᵀ B, (n, 3, r), with B Bᵀ = A; None where no force joins bodies, each of which has columns of its
        own."""
        if len(self._all) != 1:
            return None
        one, (squares, modes) = self._all[0], scipy.linalg.eigh(self._matrices[0])
        out = np.zeros((len(self.regularisation_mass), 3, len(squares)))
        out[one.nodes] = (one.read.T @ (modes * np.sqrt(np.maximum(squares, 0.0)))).reshape(len(one.nodes), 3, -1)
        return out

    def energy(self, v: Vec) -> tuple[Vec, float]:
        """Return the derivative, (n, 3) [N s], and value [J] of this energy at rates of positions v, (n, 3) [m/s]."""
        slope, value = np.zeros_like(v), 0.0
        for group, matrix, impulse in zip(self._all, self._matrices, self._impulses):
            u = group.read @ (v - self._follow)[group.nodes].ravel()
            left = matrix @ u - impulse
            value += 0.5 * float(u @ (left - impulse))
            slope[group.nodes] = (group.read.T @ left).reshape(-1, 3)
        return slope, value

    def times(self, v: Vec) -> Vec:
        """Return the curvature Cᵀ A C times rates of positions v, both (n, 3) or (n, 3, c)."""
        out = np.zeros_like(v)
        for group, matrix in zip(self._all, self._matrices):
            field = v[group.nodes]
            rows = field.reshape(3 * len(field), -1)
            out[group.nodes] = (group.read.T @ (matrix @ (group.read @ rows))).reshape(field.shape)
        return out

    def following(self, columns: Vec) -> Vec:
        """Return velocities V C that follow rates of positions, both (n, 3, c)."""
        out = np.zeros_like(columns)
        for group in self._all:
            field = columns[group.nodes]
            rows = group.velocities @ (group.read @ field.reshape(3 * len(field), -1))
            out[group.nodes] = rows.reshape(field.shape)
        return out

    def project_loads(self, loads: Vec) -> Vec:
        """Return generalised forces (V C)ᵀ f on rates of positions, by loads f on all nodes, both (n, 3, c)."""
        out = np.zeros_like(loads)
        for group in self._all:
            field = loads[group.nodes]
            rows = group.read.T @ (group.velocities.T @ field.reshape(3 * len(field), -1))
            out[group.nodes] = rows.reshape(field.shape)
        return out

    def velocities(self, v: Vec, rates: Vec | None = None) -> Vec:
        """Return velocities V u + F, (n, 3) [m/s], at rates of positions v, (n, 3) [m/s]; zero on prescribed nodes.
        rates: of the joints, (c,)."""
        follow = self._follow if rates is None else self._follow + self.carried @ rates
        return follow + self.following((v - follow)[:, :, None])[:, :, 0]


def _together(nodes: Index, columns: Vec, frames: list[Frame], mass: Vec, dynamic: Index, patches: Vec) -> _Together:
    """Return coupled nodes with their C and V. columns: velocities of all nodes for each of their reduced unknowns, (n,
    3, r). frames: their rigid motions. mass: of all nodes. patches: weights of nodes in amplitudes, (c, n, 3)."""
    index = np.full(len(mass), -1)
    index[nodes] = np.arange(len(nodes))
    weight = np.repeat(mass[nodes], 3)[:, None]

    # rigid motions, orthonormal by mass
    fields = [np.zeros((len(nodes), 3, frame.field.shape[2])) for frame in frames]
    for field, frame in zip(fields, frames):
        is_own = index[frame.nodes] >= 0
        field[index[frame.nodes[is_own]]] = frame.field[is_own]
    rigid = np.concatenate([np.zeros((len(nodes), 3, 0)), *fields], axis=2).reshape(3 * len(nodes), -1)
    rigid = scipy.linalg.qr(np.sqrt(weight) * rigid, mode="economic")[0] / np.sqrt(weight)
    by_mass = (weight * rigid).T

    # further dynamic directions: as many as there are other unknowns, those farthest from rigid ones
    whole = columns[nodes].reshape(3 * len(nodes), -1)
    across = whole - rigid @ (by_mass @ whole)
    count = max(whole.shape[1] - rigid.shape[1], 0)
    if count:
        squares = whole.T @ (weight * whole)
        squares += NOTHING * np.diag(np.diag(squares))
        directions = scipy.linalg.eigh(across.T @ (weight * across), squares)[1][:, -count:]
        across = across @ directions
    else:
        across = across[:, :0]

    # each is read where nodes and patches are dynamic, less the rigid motions there
    own_dynamic = index[dynamic][index[dynamic] >= 0]
    look = np.zeros((3 * len(own_dynamic), 3 * len(nodes)))
    look[np.arange(len(look)), (3 * own_dynamic[:, None] + np.arange(3)).ravel()] = 1.0
    look = np.concatenate([look, patches[:, nodes].reshape(len(patches), 3 * len(nodes))])
    extended = np.linalg.pinv(look @ across) @ (look - (look @ rigid) @ by_mass) if count else across.T
    return _Together(nodes, np.concatenate([by_mass, extended]), np.concatenate([rigid, across], axis=1))
