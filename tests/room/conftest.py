"""New entries of the catalogue, each one file and one entry: a material, an integrator, a damping law, a joint,
directions of fibers, a force between bodies, a law on rates."""

import numpy as np
import pytest
from made_up import add_to_solver

from solver import catalogue
from solver.forces.rate_blocks import RateBlocks
from solver.forces.stencils import Stencils
from solver.integrators.interface import Integrator
from solver.materials.interface import Material
from solver.materials.lanes import CONSTANT, ENERGY, GRADIENT, LANES, MATERIAL_KERNEL, STRESS, TANGENT
from solver.state import State
from solver.threads import kernel

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel(MATERIAL_KERNEL)
def energy(work, project):
    for lane in range(LANES):
        for entry in range(9):
            strain = work[(GRADIENT + entry) * LANES + lane] - IDENTITY[entry]
            work[ENERGY * LANES + lane] += 0.5 * work[CONSTANT * LANES + lane] * strain * strain


@kernel(MATERIAL_KERNEL)
def stress(work, project):
    for lane in range(LANES):
        for entry in range(9):
            strain = work[(GRADIENT + entry) * LANES + lane] - IDENTITY[entry]
            work[(STRESS + entry) * LANES + lane] += work[CONSTANT * LANES + lane] * strain


@kernel(MATERIAL_KERNEL)
def tangent(work, project):
    for lane in range(LANES):
        for block in range(3):
            for axis in range(3):
                work[(TANGENT + 9 * block + 4 * axis) * LANES + lane] += work[CONSTANT * LANES + lane]


class Gauze(Material):
    """ψ = k/2 |F − 1|²: each coordinate solves Laplace's equation by itself."""

    energy, stress, tangent = energy, stress, tangent

    @staticmethod
    def constants(pull):
        return pull[None]


class Spokes:
    """Fibers away from the object's origin."""

    def __init__(self, params):
        self._reach = params["reach"]

    def directions(self, muscle):
        return self._reach * muscle.in_object(muscle.centres)


class Explicit(Integrator):
    """v = v⁰ + h M⁻¹ f, x = x⁰ + h v, in rates; no stage is posed."""

    order, remembers = 1, ()

    def __init__(self, params):
        pass

    def step(self, system, state, h):
        u = state.u + h * system.acceleration(state)
        return State(state.time + h, state.q + h * u, u, state.memory)


class Sand:
    """D = −k M, and nothing between the nodes."""

    stiffness_damping = None

    def __init__(self, nodes, elastic, modulus, params):
        self.drag = params["grit"]

    def within(self, h):
        return self

    def fill(self, x, time, forces, blocks):
        blocks[:] = 0.0


class Hooks:
    """Springs from each corner of the second body's skin to its nearest node of the first one's skin."""

    def __init__(self, bodies, rest, params):
        above, below = (np.unique(body.skin) for body in bodies)
        top = below[rest[below, 2] > rest[below, 2].max() - 1e-9]
        away = np.linalg.norm(rest[above] - rest[top][:, None], axis=2)
        self.pairs = np.stack([top, above[away.argmin(axis=1)]], axis=1).astype(np.int32)
        self.length = away.min(axis=1)
        self.stiffness, self.drag = params["pull"] / len(self.pairs), params["drag"] / len(self.pairs)

    def measure(self, x, time):
        return self.fill(x, time, True)

    def damp(self, x, v, time):
        if not self.drag:
            return None
        way = x[self.pairs[:, 0]] - x[self.pairs[:, 1]]
        along = way / np.linalg.norm(way, axis=1)[:, None]
        block = self.drag * along[:, :, None] * along[:, None, :]
        return Stencils(self.pairs, np.zeros((len(block), 2, 3)), block.reshape(-1, 1, 9), 0.0)

    def fill(self, x, time, project):
        way = x[self.pairs[:, 0]] - x[self.pairs[:, 1]]
        length = np.linalg.norm(way, axis=1)
        along, stretch = way / length[:, None], length - self.length
        force = -self.stiffness * stretch[:, None] * along
        lateral = self.stiffness * stretch / length
        lateral = np.maximum(lateral, 0.0) if project else lateral
        outer = along[:, :, None] * along[:, None, :]
        block = self.stiffness * outer + lateral[:, None, None] * (np.eye(3) - outer)
        return Stencils(self.pairs, np.stack([force, -force], axis=1), block.reshape(-1, 1, 9),
                        0.5 * self.stiffness * float(stretch @ stretch))


class Belt:
    """A damped spring between what two hinges turn by, and a flywheel that turns with the first one."""

    def __init__(self, rates, params):
        self.rates, self.params = np.concatenate(rates), params

    def blocks(self, positions, u, time):
        direction = np.array([1.0, -self.params["ratio"]])
        pull, off = self.params["pull"], direction @ positions
        outer = np.outer(direction, direction)
        return RateBlocks(-pull * off * direction, np.diag([self.params["flywheel"], 0.0]),
                          -self.params["drag"] * outer, -pull * outer, 0.5 * pull * off**2)


class Wire:
    """A bead on z = x²: one length, a motion along a curve."""

    centre = ()

    @staticmethod
    def fill(bodies, dof, q, u, start, centres, pose, subspace, bend):
        x, rate = q[dof[bodies]], u[dof[bodies]]
        pose[bodies, 0, 3], pose[bodies, 2, 3] = x, x * x
        subspace[dof[bodies], 3], subspace[dof[bodies], 5] = 1.0, 2.0 * x
        bend[bodies, 5] = 2.0 * rate * rate


@pytest.fixture
def room(monkeypatch):
    """Files that the solver does not have, and their entries."""
    pull = catalogue.Param("pull", "Pull", "How much it resists", 2e4, "Pa", 1.0, 1e9, field=True)
    grit = catalogue.Param("grit", "Grit", "How fast it stops", 5.0, "1/s", 0.0, 1e3)
    add_to_solver(
        monkeypatch, {"materials.gauze": Gauze, "integrators.explicit": Explicit, "forces.sand": Sand,
                      "fields.fibers.spokes": Spokes, "coordinates.joints.wire": Wire, "forces.hooks": Hooks,
                      "forces.belt": Belt},
        catalogue.Entry("fiber_field", "spokes", "fields.fibers.spokes:Spokes", "Spokes", "Made up",
                        (catalogue.Param("reach", "Reach", "How far", 2.0),)),
        catalogue.Entry("force", "hooks", "forces.hooks:Hooks", "Hooks", "Made up",
                        (catalogue.Param("pull", "Pull", "Of all springs together", 100.0, "N/m", 1e-3, 1e9),
                         catalogue.Param("drag", "Drag", "Of all springs together", 0.0, "N s/m", 0.0, 1e9))),
        catalogue.Entry("rate_law", "belt", "forces.belt:Belt", "Belt", "Made up", tuple(
            catalogue.Param(key, key.title(), "Made up", default) for key, default in
            (("pull", 30.0), ("drag", 0.0), ("ratio", 2.0), ("flywheel", 0.0)))),
        catalogue.Entry("joint", "wire", "coordinates.joints.wire:Wire", "Wire", "Made up", rates=("length",)),
        catalogue.Entry("damping", "sand", "forces.sand:Sand", "Sand", "Made up", (grit,)),
        catalogue.Entry("material", "gauze", "materials.gauze:Gauze", "Gauze", "Made up", (pull,)),
        catalogue.Entry("integrator", "explicit", "integrators.explicit:Explicit", "Explicit", "Made up"))
