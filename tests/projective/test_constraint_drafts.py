"""Jobs whose method is Projective Dynamics or XPBD: beside a whole bake, with what each may have."""

import sys
from pathlib import Path

import numpy as np
import pytest
from rope_jobs import rope_job
from small_jobs import box_job, change

from solver import simulate
from solver.errors import Stopped
from solver.frames.read import Cache
from solver.job.load import load

sys.path.append(str(Path(__file__).parents[1] / "cloth"))
from cloth_jobs import square

METHODS = {"projective": {"projective_iterations": 40}, "xpbd": {"xpbd_substeps": 30}}


class Listening:
    def __init__(self):
        self.messages = []

    def log(self, text):
        self.messages.append(text)

    def stage(self, *arguments):
        self.messages.append(arguments[-1])

    def start(self, *arguments):
        pass

    frame = start


def with_method(job, kind):
    choice = {"kind": kind, "params": METHODS.get(kind, {})}
    for where in ("method", "bodies.0.method"):
        change(job, where, choice)
    return job


def baked(folder, **how):
    """Return the vertices at each frame, (f, v, 3), and the log."""
    listener = Listening()
    simulate.bake(folder, listener, **how)
    cache = Cache(folder / "cache")
    return np.stack([cache.vertices(k).astype(float) for k in load(folder).frames]), listener.messages


def box(folder, kind, **scene):
    return with_method(box_job(folder, **{"integrator": {"kind": "backward_euler"}, **scene}), kind)


@pytest.mark.parametrize("kind", METHODS)
def test_a_draft_swings_about_as_the_whole_bake_does(tmp_path, kind):
    draft, messages = baked(box(tmp_path / "draft", kind))
    # XPBD's short steps lose little: what SDIRK2 loses, and not what Backward Euler does
    as_lively = {"projective": "backward_euler", "xpbd": "sdirk2"}[kind]
    whole, _ = baked(box(tmp_path / "whole", "vanilla", stage_solver={"kind": "newton_d"},
                         integrator={"kind": as_lively}))
    moved = abs(whole - whole[0]).max()
    assert moved > 0.03
    assert abs(draft - whole).max() < 0.2 * moved
    pinned = whole[0][:, 0] == whole[0][:, 0].min()
    assert abs(draft - whole)[:, pinned].max() < 1e-6
    assert any("stiffness and Poisson ratio, not its kind" in text for text in messages)


@pytest.mark.parametrize("kind", METHODS)
def test_a_resumed_draft_is_the_same_to_the_last_bit(tmp_path, kind):
    whole, _ = baked(box(tmp_path / "whole", kind, integrator={"kind": "bdf2"}))
    job, asked = box(tmp_path / "stopped", kind, integrator={"kind": "bdf2"}), []

    def stop():
        asked.append(1)
        return len(asked) > 35

    with pytest.raises(Stopped):
        simulate.bake(job, Listening(), stop=stop)
    again, _ = baked(job, resume=True)
    assert (again == whole).all()


@pytest.mark.parametrize("kind", METHODS)
def test_cloth_hangs_as_in_the_whole_bake(tmp_path, kind):
    settings = {"scene": {"stage_solver": {"kind": "newton_visible"}}, "pinned": [0, 6], "end": 13}
    draft, _ = baked(with_method(square(tmp_path / "draft", **settings), kind))
    whole, _ = baked(with_method(square(tmp_path / "whole", **settings), "vanilla"))
    moved = abs(whole - whole[0]).max()
    assert moved > 0.2
    assert abs(draft - whole).max() < 0.25 * moved


@pytest.mark.parametrize("kind", METHODS)
def test_a_rope_swings_at_its_length(tmp_path, kind):
    places = np.stack([np.linspace(0.0, 1.0, 11), np.zeros(11), np.zeros(11)], axis=1)
    x, _ = baked(with_method(rope_job(tmp_path / "job", places, pinned=[0]), kind))
    links = np.linalg.norm(np.diff(x, axis=1), axis=2)
    assert x[:, -1, 2].min() < -0.7
    assert links.max() < 0.13


@pytest.mark.parametrize("kind", METHODS)
def test_a_draft_lies_on_the_ground_and_is_pulled_off_it(tmp_path, kind):
    job = box(tmp_path / "job", kind, end=49, motion=False,
              ground={"point": [0, 0, -0.05], "normal": [0, 0, 1],
                      "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.5}}})
    change(job, "bodies.0.pin", {})
    x, _ = baked(job)
    assert -0.055 < x[-1][:, 2].min() < -0.045
    change(job, "bodies.0.pulls", [{"position": [0.0, 0.0, 0.0], "radius": 1.0, "stiffness": 5e3}])
    x, _ = baked(job)
    assert x[-1][:, 2].min() > -0.02


@pytest.mark.parametrize("kind", METHODS)
def test_half_life_calms_a_draft(tmp_path, kind):
    job = box(tmp_path / "job", kind, end=49, motion=False)
    late = []
    for half_life in (0.0, 0.05):
        change(job, "bodies.0.wobble_half_life", half_life)
        x, _ = baked(job)
        late.append(float(np.ptp(x[30:, -1, 2])))
    assert late[1] < 0.2 * late[0]


def test_what_falls_short_is_reported(tmp_path):
    job = box(tmp_path / "job", "projective", integrator={"kind": "sdirk2"}, end=3)
    change(job, "bodies.0.damping", {"kind": "rayleigh", "params": {"stiffness_damping": 0.01}})
    _, messages = baked(job)
    assert any("uses Backward Euler" in text for text in messages)
    assert any("Stiffness Damping has no effect" in text for text in messages)
