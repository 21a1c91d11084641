"""Displacements added to a subspace: static responses to loads and slow vibrations of the whole mesh that it lacks.

An added displacement d contributes three scalar functions, its components, to all three axes, so that any rotation of d
is in the span as well.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg, lobpcg

from ...linear.block_krylov import largest
from ...meshing.volume import shape_gradients
from ...state import Index, Vec
from .operators import Substance, factor_with_shift, stiffness_operator, weight_operator
from .skinning import MOST_RATIO, Subspace, orthonormal

FREQUENCIES = 5  #: that have to be right
OFF = 0.1  #: largest relative error
COUNTED = 12  #: of the slowest modes, in which the strain of elements counts
NEWS = 1.0e-4  #: of a displacement, that is not in the span yet: less of it is rounding
RIGID = 1.0e-6  #: of the fastest requested frequency, squared: slower modes are rigid


@dataclass(frozen=True)
class Vibrations:
    """Slowest vibrations of the whole mesh, and of a subspace of it."""

    frequencies: Vec  #: of the whole mesh [Hz], (5,) or as many as there are
    spanned: Vec  #: of the subspace, all elements counted [Hz]
    modes: Vec  #: of the subspace, (q, p, 3), scaled to a stiffness of one [N^−½ m^−½ kg^½]

    @property
    def off(self) -> float:
        """Return the largest relative excess of a frequency of the subspace over that of the mesh."""
        return float((self.spanned / self.frequencies - 1.0).max(initial=0.0))


def with_load_modes(nodes: Vec, tets: Index, substance: Substance, subspace: Subspace,
                    loads: tuple[Vec, ...]) -> tuple[Subspace, Vibrations]:
    """Return the subspace with static responses to loads, and with as many vibrations as are needed for its first five
    frequencies to be correct within a tenth; and these vibrations.

    loads: forces on all nodes, (n, 3) [N] each. [MFEM 10, changed: with displacements of loads and slow vibrations]
    """
    free = np.setdiff1d(np.arange(len(nodes)), subspace.pinned)
    p = subspace.functions.shape[1]
    if p >= len(free):
        return subspace, Vibrations(np.zeros(0), np.zeros(0), np.zeros((0, p, 3)))
    whole = _Whole(nodes, tets, substance, subspace, free)
    for load in loads:
        subspace = _with(subspace, whole.response(load))
    spanned, fields, _ = whole.of_subspace(subspace)
    true, vibrations = whole.slowest(fields)
    # rigid motions are in the span, and the first of both lists
    oscillates = true > RIGID * true.max(initial=0.0)
    requested = np.flatnonzero(oscillates)[:FREQUENCIES]
    for k in requested[np.sqrt(spanned[requested] / true[requested]) > 1.0 + OFF]:
        subspace = _with(subspace, vibrations[:, k].reshape(-1, 3))
    spanned, _, modes = whole.of_subspace(subspace, 3 * subspace.functions.shape[1])
    swinging = spanned > RIGID * spanned[requested[-1]] if len(requested) else np.zeros(len(spanned), bool)
    modes = modes[swinging] / np.sqrt(spanned[swinging])[:, None, None]
    # a subspace is never softer than the mesh: where it is, the iteration had not converged
    true[requested] = np.minimum(true[requested], spanned[requested])
    hertz, spanned_hertz = (np.sqrt(values[requested]) / (2.0 * np.pi) for values in (true, spanned))
    return subspace, Vibrations(hertz, spanned_hertz, modes)


def build_balanced_pulls(nodes: Vec, subspace: Subspace, spot: Index) -> list[Vec]:
    """Return three fields of forces, (n, 3) [N], that pull a spot of nodes (k,) along each axis, less the resultant
    that would accelerate a free body as a rigid one."""
    mass, forces = subspace.mass[:, None], []
    for axis in range(3):
        force = np.zeros_like(nodes)
        force[spot, axis] = subspace.mass[spot]
        if not len(subspace.pinned):
            arms = nodes - subspace.centre
            rigid = np.stack([*np.eye(3)[:, None] * np.ones((1, len(nodes), 1)),
                              *(np.cross(direction, arms) for direction in np.eye(3))]).reshape(6, -1)
            own = np.linalg.lstsq((rigid * np.repeat(subspace.mass, 3)) @ rigid.T, rigid @ force.ravel(), rcond=1e-9)[0]
            force -= mass * (own @ rigid).reshape(-1, 3)
        forces.append(force)
    return forces


def strain_energies(nodes: Vec, tets: Index, stiffness: Vec, subspace: Subspace, modes: Vec) -> Vec | None:
    """Return approximate energies of each element in the slowest modes, (e,) [J]; None where there are no modes.

    stiffness: (e,) [Pa]. modes: of the subspace, (q, p, 3), each of an energy of about one.
    """
    if not len(modes):
        return None
    gradients, six_volumes = shape_gradients(nodes, tets)
    total = np.zeros(len(tets))
    for mode in modes[:COUNTED]:
        corners = (subspace.functions @ mode)[tets]
        strain = np.einsum("eca,ecj->eaj", corners, gradients)
        total += ((strain + strain.transpose(0, 2, 1)) ** 2).sum(axis=(1, 2))
    energies: Vec = total * stiffness * six_volumes
    return energies


def _with(subspace: Subspace, displacement: Vec) -> Subspace:
    lengths = np.linalg.norm(displacement, axis=0)
    displacement = displacement[:, lengths > NEWS * lengths.max(initial=0.0)]
    more = orthonormal(displacement, subspace.mass, subspace.functions, NEWS)
    return replace(subspace, functions=np.concatenate([subspace.functions, more], axis=1))


class _Whole:
    """−K and M of the free nodes of a mesh at rest."""

    rounds = 18  #: of the iteration on large meshes; what it finds are true displacements, converged or not
    exactness = 1.0e-6  #: of the residual of an eigenvector: tolerance of the iteration on a factored mesh
    most_factored = 30_000  #: nodes of a mesh whose whole stiffness is factored; larger ones are iterated on
    guards = 6  #: vibrations more that are iterated on: limbs that are alike swing alike
    relative_shift = 1.0e-3  #: of the slowest weight's stiffness, which is as slow as a body gets

    def __init__(self, nodes: Vec, tets: Index, substance: Substance, subspace: Subspace, free: Index) -> None:
        self._count, self._free = len(nodes), free
        rows = (3 * free[:, None] + np.arange(3)).ravel()
        self._stiffness = stiffness_operator(nodes, tets, substance)[rows][:, rows].tocsr()
        self._mass = np.repeat(subspace.mass[free], 3)
        moving = subspace.stiffnesses[subspace.stiffnesses > 0.0]
        shift = self.relative_shift * float(moving.min(initial=1.0 if not len(moving) else np.inf))
        self._shifted = self._stiffness + shift * sp.diags(self._mass)
        self._shift = shift
        self._solve: Callable[[Vec], Vec] | None = None
        if len(free) <= self.most_factored:
            self._solve, self._shift = factor_with_shift(self._stiffness.tocsc(), self._mass, shift)
        else:
            weights = weight_operator(nodes, tets, substance.limit_stiffness(MOST_RATIO))[free][:, free]
            # a node's three axes each take about a third of the trace
            scalar, _ = factor_with_shift((weights / 3.0).tocsc(), subspace.mass[free], shift)
            self._precondition = lambda rhs: scalar(
                rhs.reshape(len(free), 3, -1).reshape(len(free), -1)).reshape(rhs.shape)

    def response(self, load: Vec) -> Vec:
        """Return the linear static displacement by a load (n, 3) [N], (n, 3) [m]."""
        rhs = load[self._free].ravel()
        if self._solve is not None:
            solution = self._solve(rhs[:, None])[:, 0]
        else:
            size = (len(rhs),) * 2
            solution, _ = cg(self._shifted, rhs, rtol=1e-3, maxiter=self.rounds * 8,
                          M=LinearOperator(size, self._precondition))
        return self._all(solution[:, None])[:, 0].reshape(-1, 3)

    def of_subspace(self, subspace: Subspace, most: int | None = None) -> tuple[Vec, Vec, Vec]:
        """Return squared angular frequencies [1/s²] of a subspace, the lowest `most` and those of rigid motions, their
        displacements (3 f, k) and coordinates (k, p, 3)."""
        functions = subspace.functions[self._free]
        p = functions.shape[1]
        matrix = np.empty((3 * p, 3 * p))
        columns = np.zeros((len(self._mass), p))
        for axis in range(3):
            columns[:] = 0.0
            columns[axis::3] = functions
            image = self._stiffness @ columns
            for second in range(3):
                matrix[second * p : (second + 1) * p, axis * p : (axis + 1) * p] = functions.T @ image[second::3]
        most = FREQUENCIES + self.guards if most is None else most
        count = min(3 * p, most + 6 * int((subspace.stiffnesses == 0.0).sum()))
        values, vectors = scipy.linalg.eigh(0.5 * (matrix + matrix.T), subset_by_index=(0, count - 1))
        fields = np.empty((len(self._mass), count))
        for axis in range(3):
            fields[axis::3] = functions @ vectors[axis * p : (axis + 1) * p]
        return np.maximum(values, 0.0), fields, vectors.T.reshape(count, 3, p).transpose(0, 2, 1)

    def slowest(self, fields: Vec) -> tuple[Vec, Vec]:
        """Return the lowest squared angular frequencies [1/s²] and displacements of the whole mesh, (3 n, k), from
        initial guesses, (3 f, k)."""
        root = np.sqrt(self._mass)[:, None]
        count = min(fields.shape[1], len(self._mass))
        if self._solve is not None:
            solve = self._solve
            vectors = largest(lambda y: root * solve(root * y), root * fields, max(count - self.guards, 1),
                              self.exactness) / root
            inside = vectors.T @ (self._stiffness @ vectors)
            values, rotation = scipy.linalg.eigh(0.5 * (inside + inside.T))
            return np.maximum(values, 0.0), self._all(vectors @ rotation)
        size = (len(self._mass),) * 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # convergence is not required
            values, vectors = lobpcg(
                LinearOperator(size, matvec=lambda y: self._shifted @ y, matmat=lambda y: self._shifted @ y), fields,
                B=sp.diags(self._mass), M=LinearOperator(size, matvec=self._precondition, matmat=self._precondition),
                maxiter=self.rounds, tol=1e-12, largest=False)
        order = np.argsort(values)
        return np.maximum(values[order] - self._shift, 0.0), self._all(vectors[:, order])

    def _all(self, fields: Vec) -> Vec:
        """Return fields of the free nodes as fields of all nodes, (3 n, k), zero on the others."""
        out = np.zeros((self._count, 3, fields.shape[1]))
        out[self._free] = fields.reshape(len(self._free), 3, -1)
        return out.reshape(3 * self._count, -1)
