"""Young's modulus by how slowly a body is to wobble."""

import numpy as np
import pytest
from small_jobs import box_job, change
from worlds import nodes_of

from solver.build.soft_bodies import prepare_all
from solver.build.stiffness import stiffened
from solver.errors import BadInput
from solver.job.load import load
from solver.state import State

H = 1 / 192


def silent(*_):
    pass


def bar(folder, *, method="vanilla", **body):
    """A bar of 0.2 m that is held at one end, without gravity and damping."""
    job = box_job(folder, cells=(8, 2, 2), end=9, step=H, motion=False, gravity=[0, 0, 0], method={"kind": method},
                  integrator={"kind": "midpoint" if method == "vanilla" else "sdirk2"})
    for key, value in body.items():
        change(job, f"bodies.0.{key}", value)
    return load(job)


def asked(job, hertz):
    return stiffened(job, prepare_all(job, silent)[0], hertz)


def swung(world):
    """How often its tip goes back and forth in a second, let go a little bent."""
    x = world.rest + [0.0, 0.0, 1.0] * (0.02 * world.rest[:, :1] ** 2 / 0.2)
    state = State(0.0, x[world.coordinates.free].ravel(), world.initial_state().u, {})
    tip, seen = int(np.argmax(world.rest[:, 0])), []
    for _ in range(round(1.5 / H)):
        seen.append(world.coordinates.place(state.q, state.time)[tip, 2] - world.rest[tip, 2])
        state = world.step(state, H)
    seen = np.array(seen)
    crossed = np.flatnonzero(np.diff(np.sign(seen)))
    at = crossed + seen[crossed] / (seen[crossed] - seen[crossed + 1])
    return 0.5 / (H * np.diff(at).mean())


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_it_wobbles_as_asked(tmp_path, method):
    job = bar(tmp_path / "before", method=method)
    before, times = asked(job, 3.0)
    assert before > 3.0 and times < 1.0
    params = {"youngs_modulus": 2e4 * times, "poisson_ratio": 0.4}
    after = nodes_of(bar(tmp_path / "after", method=method, material={"kind": "stable_neo_hookean", "params": params}))
    assert swung(after) == pytest.approx(3.0, rel=0.03)


def test_fibers_stay_as_they_are(tmp_path):
    fibers = {"fiber_material": {"kind": "astvk", "params": {"fiber_modulus": 2e4}},
              "fiber_field": {"kind": "straight", "params": {"fiber_x": 1.0, "fiber_z": 0.0}}}
    job = bar(tmp_path / "before", **fibers)
    before, times = asked(job, 6.0)
    assert times < 0.9 * (6.0 / before) ** 2
    params = {"youngs_modulus": 2e4 * times, "poisson_ratio": 0.4}
    softer = bar(tmp_path / "after", material={"kind": "stable_neo_hookean", "params": params}, **fibers)
    assert asked(softer, 6.0) == (pytest.approx(6.0, rel=0.01), pytest.approx(1.0, rel=0.05))


def test_what_cannot_be_is_refused(tmp_path):
    stiff = {"fiber_material": {"kind": "astvk", "params": {"fiber_modulus": 1e7}},
             "fiber_field": {"kind": "straight", "params": {"fiber_x": 1.0, "fiber_z": 0.0}}}
    held = bar(tmp_path / "held")
    np.save(tmp_path / "held" / "arrays" / "pinned.npy", np.arange(len(held.array("arrays/nodes.npy")), dtype=np.int32))
    change(tmp_path / "held", "bodies.0.dynamic", {})
    with pytest.raises(BadInput, match="all of it is held"):
        asked(load(tmp_path / "held"), 2.5)
    with pytest.raises(BadInput, match="Lower the stiffness of its fibers"):
        asked(bar(tmp_path / "fibers", **stiff), 0.01)
