"""A stage solver, a linear solver, a contact law and a kind of loop come from outside, each one file and one entry.
`test_room_together` bakes them in one scene."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
from made_up import add_to_solver
from mechanisms import mechanism_world, run
from small_jobs import box_job, box_tets, write_job
from worlds import nodes_of

from solver import catalogue
from solver.contact.find.distance_kernels import DIFFERENCE, SQUARE
from solver.contact.laws.barrier import Barrier
from solver.errors import BadScene
from solver.forces.stencils import Stencils
from solver.job.load import load
from solver.linear.interface import NotPositiveDefinite, ShowsNothing
from solver.nonlinear.descent import descend
from solver.nonlinear.fallback_euler import ProjectedDirections
from solver.nonlinear.interface import StageSolver
from solver.nonlinear.limits import StopRule
from solver.nonlinear.stop_rules import ResidualStop

PAIRS = [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]  #: of a stencil's nodes, in the order of its blocks


class Cautious(StageSolver):
    """Newton's method with projected stiffness in every iteration."""

    solved = 0

    def __init__(self, params):
        self.limits = StopRule.of({"tolerance": params["care"]})

    def solve(self, problem, guess):
        type(self).solved += 1
        at = problem.evaluate(guess)
        stop = ResidualStop(self.limits.goal(problem, at))
        end = descend(problem, at, ProjectedDirections(at), stop, self.limits.iterations)
        if not end.has_converged:
            raise self.limits.failure(problem, end.at)
        return end.at.unknowns


class Dense(ShowsNothing):
    """Cholesky of the whole matrix."""

    proves_definite, factored = True, 0

    def __init__(self):
        self.why, self.remarks, self._retained = "dense", [], 0

    @staticmethod
    def order(graph, lasts=True):
        return np.arange(graph.shape[0], dtype=np.int32)

    def analyse(self, lower, retained):
        self._retained = retained

    def factor(self, lower, positions=None):
        self.factored += 1
        self._matrix = lower.toarray()
        self._matrix += np.tril(self._matrix, -1).T
        try:
            self._factor = scipy.linalg.cho_factor(self._matrix)
        except np.linalg.LinAlgError as failure:
            raise NotPositiveDefinite(str(failure)) from failure

    def solve(self, right):
        return scipy.linalg.cho_solve(self._factor, right)

    def condense(self):
        free = len(self._matrix) - self._retained
        return -np.linalg.solve(self._matrix[:free, :free], self._matrix[:free, free:])

    def compute_condensation_residual(self):
        return None

    def forget_past(self):
        pass


class Cushion(Barrier):
    """W = κ/2 (δ − d)² of each pair that is nearer than δ: a spring, where the barrier has a wall."""

    def find_active_pairs(self, x):
        pairs = super().find_active_pairs(x)
        distance = np.sqrt(pairs.work[:, SQUARE])
        pressed = pairs.stiffness * (pairs.activation - distance)
        normal = pairs.work[:, DIFFERENCE : DIFFERENCE + 3] / distance[:, None]
        forces = pressed[:, None, None] * pairs.work[:, :4, None] * normal[:, None, :]
        energy = 0.5 * float(pressed @ (pairs.activation - distance))
        return replace(pairs, forces=forces, energy=energy)

    def fill(self, x, time, project):
        pairs = self.find_active_pairs(x)
        normal = pairs.work[:, DIFFERENCE : DIFFERENCE + 3] / np.sqrt(pairs.work[:, SQUARE])[:, None]
        outer = pairs.stiffness[:, None] * np.einsum("ki,kj->kij", normal, normal).reshape(-1, 9)
        blocks = np.stack([-pairs.work[:, a, None] * pairs.work[:, b, None] * outer for a, b in PAIRS], axis=1)
        return Stencils(pairs.nodes, pairs.forces, blocks, pairs.energy)


class InPlane:
    """A point of body a stays in the plane across the Z axis of b's frame: one row."""

    along, across = (2,), ()


def add_solvers(monkeypatch):
    """Write files that the solver does not have, and their entries."""
    barrier = catalogue.find("contact", "barrier")
    add_to_solver(
        monkeypatch, {"nonlinear.cautious": Cautious, "linear.dense": Dense, "contact.laws.cushion": Cushion,
                      "constraints.in_plane": InPlane},
        catalogue.Entry("stage_solver", "cautious", "nonlinear.cautious:Cautious", "Cautious", "Made up",
                        (catalogue.Param("care", "Care", "Of the residual", 1e-9, "", 1e-12, 1e-2),)),
        catalogue.Entry("linear_solver", "dense", "linear.dense:Dense", "Dense", "Made up"),
        catalogue.Entry("contact", "cushion", "contact.laws.cushion:Cushion", "Cushion", "Made up", barrier.params),
        catalogue.Entry("loop", "in_plane", "constraints.in_plane:InPlane", "In a Plane", "Made up"))
    monkeypatch.setattr(Cautious, "solved", 0)


@pytest.fixture
def solvers(monkeypatch):
    add_solvers(monkeypatch)


def after(job, steps, h=1 / 96):
    part = nodes_of(load(job))
    state = part.initial_state()
    for _ in range(steps):
        state = part.step(state, h)
    return part, state


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_a_made_up_stage_solver_finds_the_root_of_the_others(solvers, tmp_path, method):
    ends = {}
    for kind, params in (("cautious", {}), ("newton_d", {"tolerance": 1e-9})):
        job = box_job(tmp_path / kind, end=4, method={"kind": method}, integrator={"kind": "sdirk2"},
                      gravity=[4.0, 0.0, -30.0], stage_solver={"kind": kind, "params": params})
        ends[kind] = after(job, 6)[1]
    moved = np.abs(ends["newton_d"].q - ends["newton_d"].q.mean()).max()
    assert np.abs(ends["cautious"].q - ends["newton_d"].q).max() <= 1e-6 * moved
    assert (Cautious.solved > 0) == (method == "vanilla")  # with ConJac velocities are condensed, another loop's


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_a_made_up_linear_solver_steps_as_the_others(solvers, tmp_path, method):
    ends = {}
    for kind in ("dense", "superlu"):
        job = box_job(tmp_path / kind, end=4, method={"kind": method}, linear_solver=kind)
        part, state = after(job, 6)
        ends[kind] = state.q
        assert (type(part.linear).__name__ == "Dense") == (kind == "dense")
    assert np.abs(ends["dense"] - ends["superlu"]).max() <= 1e-10


def resting(folder, law):
    """Return a job of a block that comes to rest on a sheet."""
    nodes, tets = box_tets((2, 2, 2), (0.1, 0.1, 0.1))
    floor = np.array([[x, y, 0.0] for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
    arrays = {"nodes": nodes + [-0.05, -0.05, 0.004], "tets": tets, "floor": floor,
              "faces": np.array([[0, 2, 3], [0, 3, 1]], np.int32)}
    block = {"name": "Block", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
             "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 5e4, "poisson_ratio": 0.4}},
             "damping": {"kind": "rayleigh", "params": {"stiffness_damping": 5e-3, "mass_damping": 5.0}}}
    return write_job(folder, {
        "version": 1, "name": "resting", "time": {"start": 1, "end": 25, "fps": 24, "step": 1 / 96}, "bodies": [block],
        "obstacles": [{"name": "Floor", "vertices": "arrays/floor.npy", "triangles": "arrays/faces.npy"}],
        "contact": {"law": {"kind": law, "params": {"distance": 0.004}}}, "method": {"kind": "vanilla"},
        "integrator": {"kind": "backward_euler"}}, arrays)


def test_a_made_up_contact_law_carries_a_block(solvers, tmp_path):
    """At rest the law's springs carry the weight of one kilogram, and nothing intersects."""
    part, state = after(resting(tmp_path / "job", "cushion"), 120)
    [law] = part.contacts
    assert type(law) is Cushion
    x = part.coordinates.positions(state.q, state.time)
    pairs = law.find_active_pairs(x)
    pressed = pairs.stiffness * (pairs.activation - np.sqrt(pairs.work[:, SQUARE]))
    assert law.surfaces.intersection(x) is None and np.abs(state.u).max() < 2e-3
    assert pressed.sum() == pytest.approx(9.81 * part.mass.sum(), rel=0.02)


def test_the_forces_of_a_made_up_law_are_the_slope_of_its_energy(solvers, tmp_path):
    part, state = after(resting(tmp_path / "job", "cushion"), 30)
    [law] = part.contacts
    x = part.coordinates.positions(state.q, state.time)
    forces = np.zeros_like(x)
    law.measure(x, 0.0).add_forces(forces)
    step = 1e-7 * np.random.default_rng(0).normal(size=x.shape)
    fall = law.measure(x - step, 0.0).energy - law.measure(x + step, 0.0).energy
    assert np.abs(forces).max() > 0.1
    assert fall == pytest.approx(2.0 * float(np.vdot(forces, step)), rel=1e-5)


def test_a_made_up_loop_keeps_a_point_in_a_plane(solvers, tmp_path):
    """A body that would fall slides in a level plane at its initial speed."""
    bead = {"name": "Bead", "position": [0.0, 0.0, 1.0], "mass": 2.0,
            "shape": {"kind": "sphere", "params": {"radius": 0.1}}}
    free = {"name": "Free", "kind": "free", "child": "Bead", "rate": [0.0, 0.0, 0.0, 0.7, -0.2, 0.0]}
    plane = {"name": "Plane", "kind": "in_plane", "body_a": "Bead", "position": [0.0, 0.0, 1.0],
             "rotation": [1.0, 0.0, 0.0, 0.0]}
    world = mechanism_world(tmp_path / "job", [bead], [free], loops=[plane], integrator="sdirk2")
    state = run(world, 0.01, 50)
    pose = world.poses(state)["pose"][0]
    assert pose[:3, 3] == pytest.approx([0.35, -0.1, 1.0], abs=1e-9)
    # a kind that nobody wrote is refused
    with pytest.raises(BadScene, match="Use one of ball, hinge, point_on_line, in_plane"):
        mechanism_world(tmp_path / "wrong", [bead], [free], loops=[{**plane, "kind": "in_line"}])
