"""A part that touches comes from outside: one file that makes it of a job's body, and one entry among the methods."""


import numpy as np
import pytest
from made_up import add_to_solver
from rope_jobs import Quiet
from small_jobs import box_job, change

from solver import catalogue
from solver.build.ground import ground_of
from solver.errors import BadScene
from solver.frames.read import Cache
from solver.job.folder import parameters
from solver.job.load import load
from solver.simulate import bake
from solver.state import State
from solver.world.interface import SteppedPart

GRAVITY = 9.81


class Puck(SteppedPart):
    """A rigid body without rotation: m u̇ = m g + λ, with an impulse λ ≥ 0 where its lowest node meets the ground and
    friction that takes the rest of its tangential motion."""

    unknowns, backend = 3, "none"

    def __init__(self, name, nodes, ground, friction):
        self.name, self.nodes, self.ground, self.friction = name, nodes, ground, friction
        self.notes = [f'"{name}" is a puck']

    @property
    def bodies(self):
        return [(self.name, 0, len(self.nodes))]

    def owns(self, name):
        return name == self.name

    def initial_state(self):
        return State(0.0, np.zeros(3), np.array([0.5, 0.0, 0.0]), {"load": np.zeros(1)})

    def attempt(self, state, h, inputs):
        normal = self.ground.normal
        height = float(((self.nodes + state.q - self.ground.point(state.time)) @ normal).min())
        free = state.u - [0.0, 0.0, h * GRAVITY]
        load = max(0.0, -height / h - free @ normal)
        u = free + load * normal
        along = u - (u @ normal) * normal
        speed = float(np.linalg.norm(along))
        if speed > 0.0:
            u -= along * min(1.0, self.friction * load / speed)
        return State(state.time + h, state.q + h * u, u, {"load": np.array([load / h])})

    def output(self, state, frame):
        return self.nodes + state.q


def puck_of(job, one, report):
    mu = parameters("method", job.scene.method_of(one.body))["puck_friction"]
    return Puck(one.body.name, one.volume.nodes, ground_of(job), mu)


@pytest.fixture
def with_puck(monkeypatch):
    add_to_solver(monkeypatch, {"build.pucks": puck_of}, catalogue.Entry(
        "method", "puck", "build.pucks:puck_of", "Puck", "Neither bends nor turns",
        (catalogue.Param("puck_friction", "Friction", "On the ground", 0.3, "", 0.0, 10.0),),
        can=("draft", "any integrator")))


def two_boxes(folder, **scene):
    """Return a job of the small box on ConJac and one beside it that is a puck, 10 cm above the ground."""
    ground = {"point": [0.0, 0.0, -0.1], "normal": [0.0, 0.0, 1.0], "stiffness": 50.0}
    job = box_job(folder, end=13, motion=False, ground=ground, **scene)
    np.save(job / "arrays" / "aside.npy", np.load(job / "arrays" / "nodes.npy") + [0.0, 0.5, 0.0])
    change(job, "bodies", [{"name": "Ear", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
                            "dynamic": {"nodes": "arrays/dynamic.npy"}, "pin": {"nodes": "arrays/pinned.npy"}},
                           {"name": "Disc", "tets": {"nodes": "arrays/aside.npy", "tets": "arrays/tets.npy"},
                            "method": {"kind": "puck", "params": {"puck_friction": 0.4}}}])
    return job


def test_a_made_up_part_falls_on_the_ground_beside_a_soft_body(with_puck, tmp_path):
    """It falls 10 cm while it moves at 0.5 m/s, and the friction of the impact takes all of that speed."""
    job = two_boxes(tmp_path / "job")
    bake(job, Quiet())
    cache = Cache(job / "cache")
    assert cache.frames_done() == list(range(1, 14))
    disc = [cache.frame(k)["Disc"] for k in range(1, 14)]
    assert disc[0][:, 2].min() == pytest.approx(0.0, abs=1e-6)
    assert disc[-1][:, 2].min() == pytest.approx(-0.1, abs=1e-6)
    # it flies 0.5 m/s for √(2 · 0.1 / g), then the impact of √(2 g · 0.1) takes μ times as much: nothing is left
    flight = 0.5 * np.sqrt(0.2 / GRAVITY)
    assert disc[-1][0, 0] - disc[0][0, 0] == pytest.approx(flight, rel=0.1)
    assert np.abs(disc[-1] - disc[-2]).max() < 1e-9
    # the soft body beside it moves as it does without
    single = box_job(tmp_path / "single", end=13, motion=False,
                     ground={"point": [0.0, 0.0, -0.1], "normal": [0.0, 0.0, 1.0], "stiffness": 50.0})
    change(single, "bodies.0.material", {"kind": "stable_neo_hookean"})
    bake(single, Quiet())
    assert np.abs(cache.frame(13)["Ear"] - Cache(single / "cache").frame(13)["Ear"]).max() < 1e-9


def test_its_parameters_and_limits_are_checked_as_any_method_s(with_puck, tmp_path):
    job = two_boxes(tmp_path / "job")
    change(job, "bodies.1.method.params.puck_friction", 11.0)
    with pytest.raises(BadScene, match="Friction is 11 and cannot be above 10"):
        load(job)
    job = two_boxes(tmp_path / "touching", contact={})
    with pytest.raises(BadScene, match='"Disc" is drafted by Puck: it touches the ground and colliders'):
        load(job)
