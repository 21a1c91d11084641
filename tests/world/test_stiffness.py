"""Young's modulus by how slowly a body is to wobble."""

import numpy as np
import pytest
from small_jobs import box_job, change
from wobbles import Modes
from worlds import nodes_of

from benchmarks.half_life import Slowest
from solver.build.soft_bodies import prepare_all
from solver.build.stiffness import fit_stiffness
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


def stiffer(times):
    return {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 2e4 * times, "poisson_ratio": 0.4}}


def asked(job, hertz):
    return fit_stiffness(job, prepare_all(job, silent)[0], hertz)


def swung(world, slowest):
    """Return the frequency of its oscillation [Hz], released slightly bent."""
    bend = 0.002 * slowest.mode / np.abs(slowest.mode).max()
    state, seen = world.initial_state(), []
    state = State(0.0, state.q + bend, state.u, state.memory)
    for _ in range(round(1.5 / H)):
        seen.append((state.q - world.rest[world.coordinates.free].ravel()) @ bend)
        state = world.step(state, H)
    seen = np.array(seen)
    crossed = np.flatnonzero(np.diff(np.sign(seen)))
    at = crossed + seen[crossed] / (seen[crossed] - seen[crossed + 1])
    return 0.5 / (H * np.diff(at).mean())


def test_it_wobbles_as_asked(tmp_path):
    job = bar(tmp_path / "before")
    before, times = asked(job, 3.0)
    assert before < 2.5 and times > 1.4
    after = nodes_of(bar(tmp_path / "after", material=stiffer(times)))
    slowest = Slowest(after)
    assert slowest.hertz == pytest.approx(3.0, rel=0.01)
    assert swung(after, slowest) == pytest.approx(3.0, rel=0.02)


def test_it_wobbles_as_asked_where_it_hangs(tmp_path):
    """A bar that hangs down is stiffer across by its weight, as a string is."""
    bar(tmp_path / "before", material=stiffer(0.1))
    change(tmp_path / "before", "gravity", [9.81, 0.0, 0.0])
    down = load(tmp_path / "before")
    alone = asked(bar(tmp_path / "alone", material=stiffer(0.1)), 1.5)[0]
    hung, _ = asked(down, 1.5)
    assert hung > 1.5 * alone
    world = nodes_of(down)
    assert Modes(world, hangs=True).hertz[0] == pytest.approx(hung, rel=1e-3)


def test_what_follows_one_node_wobbles_by_that(tmp_path):
    """As the log of a bake says it of the same body."""
    full, (before, times) = asked(bar(tmp_path / "full"), 3.0), asked(bar(tmp_path / "before", method="conjac"), 3.0)
    assert before > 1.05 * full[0]  # the node dents
    after = bar(tmp_path / "after", method="conjac", material=stiffer(times), wobble_half_life=0.5)
    [sentence] = [note for note in nodes_of(after).notes if "Wobble" in note]
    assert "its slowest wobble has 3 Hz" in sentence


def test_what_follows_nothing_is_asked_how_it_would_wobble(tmp_path):
    full, still = asked(bar(tmp_path / "full"), 3.0), asked(bar(tmp_path / "still", method="conjac", dynamic={}), 3.0)
    assert still == (pytest.approx(full[0], rel=1e-6), pytest.approx(full[1], rel=1e-6))


def test_bones_hold_it_as_pins_do(tmp_path):
    folder = tmp_path / "on a bone"
    box_job(folder, cells=(8, 2, 2), end=9, motion=False, gravity=[0, 0, 0], integrator={"kind": "sdirk2"},
            mechanisms=[{"name": "Arm", "bodies": [{"name": "Bone"}]}])
    change(folder, "bodies.0.method", {"kind": "vanilla"})
    change(folder, "bodies.0.pin", {})
    change(folder, "bodies.0.attach", [{"body": "Bone", "mechanism": "Arm", "nodes": "arrays/pinned.npy"}])
    assert asked(load(folder), 3.0) == pytest.approx(asked(bar(tmp_path / "pinned"), 3.0), rel=1e-6)


def test_fibers_stay_as_they_are(tmp_path):
    fibers = {"fiber_material": {"kind": "astvk", "params": {"fiber_modulus": 2e4}},
              "fiber_field": {"kind": "straight", "params": {"fiber_x": 1.0, "fiber_z": 0.0}}}
    job = bar(tmp_path / "before", **fibers)
    before, times = asked(job, 6.0)
    assert times > 1.1 * (6.0 / before) ** 2
    stiffened_by_that = bar(tmp_path / "after", material=stiffer(times), **fibers)
    assert asked(stiffened_by_that, 6.0) == (pytest.approx(6.0, rel=0.01), pytest.approx(1.0, rel=0.05))


def test_what_cannot_be_is_refused(tmp_path):
    stiff = {"fiber_material": {"kind": "afung", "params": {"fiber_modulus": 1e7, "activation": 0.5}},
             "fiber_field": {"kind": "straight", "params": {"fiber_x": 1.0, "fiber_z": 0.0}}}
    with pytest.raises(BadInput, match="Lower the stiffness of its fibers"):
        asked(bar(tmp_path / "fibers", **stiff), 0.01)
