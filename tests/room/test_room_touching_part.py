"""A part that touches other bodies comes from outside: one file that makes it of a job's body, and one entry among the
methods. It is baked with a soft body, on which it rests."""

import numpy as np
import pytest
from made_up import add_to_solver
from rope_jobs import Quiet
from small_jobs import box_tets, change, write_job
from worlds import world_of

from solver import catalogue
from solver.errors import BadScene
from solver.frames.read import Cache
from solver.job.folder import parameters
from solver.job.load import load
from solver.parts.eol.step_result import InterfaceReaction
from solver.simulate import bake
from solver.state import State
from solver.world.interface import SteppedPart

GRAVITY, MODULUS, DENSITY, MASS, STIFFNESS = 9.81, 2e4, 1000.0, 0.5, 300.0


class Weight(SteppedPart):
    """A rigid block without rotation: m u̇ = m g + Σ λ, with λ = k h max(0, −gap) at the points of other bodies below
    it. Their gaps are those at the end of the step: their predicted motion under the predicted forces f, corrected by C
    (λ + h f), C their effective compliance."""

    unknowns, backend = 3, "none"

    def __init__(self, name, nodes, mass, stiffness, gravity, surfaces, inertia=None):
        self.name, self.nodes, self.mass, self.stiffness = name, nodes, mass, stiffness
        self.gravity, self.surfaces, self.inertia = np.array(gravity), surfaces, inertia
        self.notes = [f'"{name}" touches {", ".join(surface.name for surface in surfaces)}']

    @property
    def bodies(self):
        return [(self.name, 0, len(self.nodes))]

    def owns(self, name):
        return name == self.name

    def initial_state(self):
        return State(0.0, np.zeros(3), np.zeros(3))

    def with_interface(self, inertia):
        return Weight(self.name, self.nodes, self.mass, self.stiffness, self.gravity, self.surfaces, inertia)

    def may_finish(self, state):
        return True

    def attempt(self, state, h, inputs):
        points = np.concatenate([surface.motion.at(state.time + h) for surface in self.surfaces])
        low, high = self.nodes.min(axis=0) + state.q, self.nodes.max(axis=0) + state.q
        under = np.flatnonzero(((points >= low - 0.01) & (points <= high + 0.01))[:, :2].all(axis=1)
                               & (points[:, 2] > low[2] - 0.01))
        compliance, drift = self.response(under, h)
        u = state.u + h * self.gravity
        deep = points[under, 2] + h * drift - low[2] - h * u[2]
        system = np.eye(len(under)) / (self.stiffness * h) + h * compliance + h / self.mass
        load, touched = np.zeros(len(under)), deep > 0.0
        for _ in range(50):
            load = np.zeros(len(under))
            load[touched] = np.linalg.solve(system[np.ix_(touched, touched)], deep[touched])
            wrong = np.where(touched, load < 0.0, deep - system @ load > 1e-12)
            if not wrong.any():
                break
            touched ^= wrong
        u[2] += load.sum() / self.mass
        reaction = np.zeros((len(points), 3))
        reaction[under, 2] = -load
        return State(state.time + h, state.q + h * u, u, state.memory,
                     reaction=InterfaceReaction(reaction, np.zeros((0, 3))))

    def response(self, under, h):
        """Return the vertical compliance of these points, and their speed without the predicted forces."""
        if self.inertia is None:
            return np.zeros((len(under), len(under))), np.zeros(len(under))
        count = self.inertia.count
        units = np.eye(3 * count).reshape(-1, count, 3)
        A = np.array([self.inertia.momentum(unit).ravel() for unit in units])
        J = np.array([self.inertia.velocities(impulse)[under, 2] for impulse in units])
        spread = np.linalg.solve(A, J)
        return J.T @ spread, -h * spread.T @ self.inertia.gather_impulses(self.inertia.forces).ravel()

    def output(self, state, frame):
        return self.nodes + state.q


def weight_of(job, prepared, report, surfaces):
    params = parameters("method", job.scene.method_of(prepared.body))
    return Weight(prepared.body.name, prepared.volume.nodes, params["weight_mass"], params["weight_stiffness"],
                  job.scene.gravity, surfaces)


def add_weight(monkeypatch):
    add_to_solver(monkeypatch, {"build.weights": weight_of}, catalogue.Entry(
        "method", "weight", "build.weights:weight_of", "Weight", "Neither bends nor turns",
        (catalogue.Param("weight_mass", "Mass", "Of the whole body", 1.0, "kg", 0.0, 100.0),
         catalogue.Param("weight_stiffness", "Stiffness", "Of a point that it touches", STIFFNESS, "N/m", 0.0, 1e6)),
        can=("draft", "touches bodies", "any integrator")))


@pytest.fixture
def with_weight(monkeypatch):
    add_weight(monkeypatch)


def cushion_and_weight(folder, pinned=True, gravity=GRAVITY):
    """Return a job of a cushion of 20 × 10 × 10 cm, fixed at its foot or free, and a weight as large right above it."""
    nodes, tets = box_tets((6, 3, 3))
    top = float(nodes[:, 2].max() - nodes[:, 2].min())
    arrays = {"nodes": nodes, "tets": tets, "above": nodes + [0.0, 0.0, top + 1e-4],
              "foot": np.flatnonzero(nodes[:, 2] == nodes[:, 2].min()).astype(np.int32)}
    cushion = {"name": "Cushion", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
               "density": DENSITY, "method": {"kind": "vanilla"},
               "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": MODULUS, "poisson_ratio": 0.3}}}
    if pinned:
        cushion["pin"] = {"nodes": "arrays/foot.npy"}
    weight = {"name": "Weight", "tets": {"nodes": "arrays/above.npy", "tets": "arrays/tets.npy"},
              "method": {"kind": "weight", "params": {"weight_mass": MASS}}}
    time = {"start": 1, "end": 17, "fps": 24, "step": 1 / 96}
    return write_job(folder, {"version": 1, "name": "cushion", "time": time, "bodies": [cushion, weight], "contact": {},
                              "integrator": {"kind": "backward_euler"}, "gravity": [0.0, 0.0, -gravity]}, arrays)


def test_a_made_up_part_rests_on_a_soft_body(with_weight, tmp_path):
    """A bar under m g on its top and its own weight shortens by (m g L + ρ A g L² / 2) / E A, and by less where its
    foot cannot widen."""
    job = cushion_and_weight(tmp_path / "job")
    bake(job, Quiet())
    cache = Cache(job / "cache")
    rest = np.load(job / "arrays" / "nodes.npy")
    top = rest[:, 2] == rest[:, 2].max()
    cushion, weight = (np.array([cache.frame(k)[name][:, 2] for k in range(12, 18)]) for name in ("Cushion", "Weight"))
    sunk = float((rest[:, 2] - cushion)[:, top].mean())
    bar = GRAVITY * 0.1 / MODULUS * (MASS / (0.2 * 0.1) + 0.5 * DENSITY * 0.1)
    assert 0.8 * bar < sunk < bar
    assert float(np.ptp(weight.min(axis=1))) < 5e-4  # it rests on the cushion
    deep = float((cushion[:, top].mean(axis=1) - weight.min(axis=1)).mean())
    assert deep == pytest.approx(MASS * GRAVITY / (STIFFNESS * np.count_nonzero(top)), rel=0.2)


def test_momentum_goes_from_one_to_the_other(with_weight, tmp_path):
    """A weight hits a free cushion without gravity; the impulse that the next step returns is part of the sum."""
    world = world_of(load(cushion_and_weight(tmp_path / "job", pinned=False, gravity=1e-9)))
    soft, weight = world.parts
    falling = world.split_state(world.initial_state())
    falling[1] = State(0.0, np.zeros(3), np.array([0.0, 0.0, -0.5]))
    state, sums, speeds = world.merge_states(falling), [], []
    for _ in range(12):
        state = world.step(state, 1 / 96)
        flesh, own = world.split_state(state)
        velocities = soft.nodes_at(flesh)[1]
        owed = own.memory["owed"]
        sums.append(soft.mass @ velocities + weight.mass * own.u + owed.sum(axis=0))
        speeds.append(own.u[2])
    assert np.abs(np.array(sums) - [0.0, 0.0, -0.5 * weight.mass]).max() < 1e-3 * 0.5 * weight.mass
    assert speeds[-1] > -0.3  # the cushion has taken some of it


def test_what_it_does_not_touch_is_refused(with_weight, tmp_path):
    """Another draft and a body that is cut are refused: a part that steps by itself needs one mesh."""
    job = cushion_and_weight(tmp_path / "job")
    change(job, "bodies.0.method", {"kind": "weight"})
    with pytest.raises(BadScene, match='"Cushion" is drafted by Weight: it touches the ground, colliders, soft bodies'):
        load(job)
    job = cushion_and_weight(tmp_path / "cut")
    change(job, "bodies.0.nails", [{"frame": 3, "head": [0.0, 0.0, 0.0], "tip": [0.0, 0.0, 0.1], "radius": 0.01}])
    with pytest.raises(BadScene, match='nails and touches "Weight", which is drafted by Weight'):
        load(job)

