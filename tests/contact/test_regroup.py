"""Bodies that cannot meet are solved as if the others were not there; those that come near are one group then."""

import numpy as np
import pytest
from small_jobs import change
from touching import Quiet, box, contact_job, obstacle, resumed_alike, sheet, soft

from solver.build.world import build
from solver.errors import BadScene
from solver.frames.read import Cache
from solver.groups import GroupSteps
from solver.job.load import load
from solver.reshape.regroup import GROUPS, Regroup
from solver.simulate import Halved, Timeline, bake
from solver.world.nodes import Nodes

FAR = 50.0  #: [m]
BALL = {"name": "Ball", "position": [FAR, 0.0, 3.0], "density": 1000.0,
        "shape": {"kind": "sphere", "params": {"radius": 0.1}}}


def jelly(arrays, **more):
    return soft("Jelly", *box((3, 3, 3), (0.3, 0.3, 0.3), (-0.1, -0.12, 0.1)), arrays, modulus=1e4, **more)


def job(folder, beside=(), **scene):
    """A jelly that falls on a sheet, and what is beside it."""
    arrays = {}
    bodies = [jelly(arrays), *(make_body(arrays) for make_body in beside)]
    return contact_job(folder, bodies, [obstacle("Floor", *sheet(2.0, 3), arrays)], arrays, end=13, **scene)


def far_soft(arrays):
    """Finer, stiffer, and with steps, an integrator and an end of stages of its own."""
    return soft("Far", *box((3, 3, 3), (0.05, 0.05, 0.05), (FAR, 0.0, 3.0)), arrays, modulus=1e6, step=1 / 240,
                integrator={"kind": "sdirk2"}, stage_solver={"kind": "quick"}, largest_deformation=0.1)


def frames(folder, name="Jelly"):
    bake(folder, Quiet())
    cache = Cache(folder / "cache")
    return np.array([cache.frame(k)[name] for k in range(1, 14)])


@pytest.fixture
def alone(once, tmp_path):
    """The jelly's frames with nothing beside it."""
    return once("jelly-on-a-sheet", lambda: frames(job(tmp_path / "alone")))


def test_what_is_far_off_changes_nothing(tmp_path, alone):
    """Soft and rigid bodies, on either side."""
    scene = {"beside": [far_soft], "mechanisms": [{"name": "M", "bodies": [{**BALL, "position": [-FAR, 0.0, 3.0]}]}]}
    assert np.array_equal(frames(job(tmp_path / "beside", **scene)), alone)
    assert alone[-1, :, 2].min() > 0.0


def nodes_evaluated(monkeypatch, folder, last):
    """Nodes whose forces were evaluated up to that frame, summed over all evaluations."""
    count, was, loaded = [0], Nodes.evaluate, load(folder)

    def evaluate(self, x, *arguments, **more):
        count[0] += len(x)
        return was(self, x, *arguments, **more)

    regroup = Regroup(loaded)
    world = build(loaded, lambda *_: None, grouping=regroup.begin).world
    steps, timeline = GroupSteps(regroup), Timeline.of(loaded.scene.time)
    state = steps.begin(world.initial_state())
    monkeypatch.setattr(Nodes, "evaluate", evaluate)
    for frame in range(2, last + 1):
        world, state = steps.advance_frame(world, state, timeline, frame, lambda: False, Halved())
    monkeypatch.undo()
    return count[0]


def test_both_cost_as_much_as_each_alone(tmp_path, monkeypatch):
    """A single world, in the shorter steps of the far body, evaluated twice as many nodes."""
    arrays = {}
    one, other, floor = jelly(arrays), far_soft(arrays), [obstacle("Floor", *sheet(2.0, 3), arrays)]
    near, far, both = (nodes_evaluated(monkeypatch, contact_job(tmp_path / name, bodies, on, arrays, end=13), 3)
                       for name, bodies, on in (("near", [one], floor), ("far", [other], []),
                                                ("both", [one, other], floor)))
    assert min(near, far) > 0
    assert both <= 1.1 * (near + far)


def falling(folder, **scene):
    """A box that falls 60 cm onto one that hangs, beside the jelly on its sheet."""
    def hangs(arrays):
        nodes, tets = box((2, 2, 2), (0.2, 0.2, 0.2), (3.0, 0.0, 1.0))
        return soft("Hangs", nodes, tets, arrays, modulus=5e4, pinned=np.flatnonzero(nodes[:, 2] < 1.01))

    def falls(arrays):
        return soft("Falls", *box((2, 2, 2), (0.1, 0.1, 0.1), (3.04, 0.06, 1.8)), arrays, modulus=5e4)

    return job(folder, [hangs, falls], **scene)


def test_groups_that_come_near_merge_and_touch(tmp_path, alone):
    folder = falling(tmp_path / "job")
    loaded = load(folder)
    regroup = Regroup(loaded)
    world = build(loaded, lambda *_: None, grouping=regroup.begin).world
    steps, timeline = GroupSteps(regroup), Timeline.of(loaded.scene.time)
    state = steps.begin(world.initial_state())
    assert state.memory[GROUPS].tolist() == [0, 1, 2] and len(world.parts) == 3
    merged = None
    for frame in range(2, 14):
        world, state = steps.advance_frame(world, state, timeline, frame, lambda: False, Halved())
        if len(world.parts) == 2 and merged is None:
            merged = frame
            assert state.memory[GROUPS].tolist() == [0, 1, 1]
        if len(world.parts) == 2:
            part, own = world.parts[1], world.split_state(state)[1]
            assert part.contacts[0].surfaces.intersection(part.nodes_at(own)[0]) is None
    assert merged is not None and 7 < merged < 12
    x = world.output(state, 12)
    names = [name for name, _, _ in world.bodies]
    assert names == ["Jelly", "Hangs", "Falls"]
    first, count = world.bodies[2][1:]
    assert x[first:first + count, 2].mean() > 1.2  # it lies on the other, where it would have fallen past it
    first, count = world.bodies[0][1:]
    assert np.array_equal(x[first:first + count].astype(np.float32), alone[-1].astype(np.float32))


def test_a_resumed_bake_has_the_groups_of_an_unbroken_one(tmp_path):
    """Stopped before and after two of them have become one."""
    jobs = [falling(tmp_path / name) for name in ("whole", "resumed")]
    resumed_alike(jobs, 6, 13, then=(12,))


def test_a_rigid_ball_that_comes_near_has_an_effect(tmp_path):
    ball = {**BALL, "position": [0.05, 0.03, 1.2]}
    folder = job(tmp_path / "job", mechanisms=[{"name": "M", "bodies": [ball]}])
    loaded = load(folder)
    regroup = Regroup(loaded)
    assert len(build(loaded, lambda *_: None, grouping=regroup.begin).world.couplings) == 0
    bake(folder, Quiet())
    cache = Cache(folder / "cache")
    height = [cache.poses(k)["pose"][0, 2, 3] for k in range(1, 14)]
    assert np.allclose(height[:6], [1.2 - 4.905 * (k / 24) ** 2 for k in range(6)], atol=0.02)
    assert height[-1] > 0.3  # without the jelly it would be below the floor


def test_what_each_asks_for_holds_until_they_touch(tmp_path):
    arrays = {}
    far = far_soft(arrays)
    near = soft("Near", *box((2, 2, 2), (0.2, 0.2, 0.2), (0.3, 0.0, 0.1)), arrays, step=1 / 48)
    folder = contact_job(tmp_path / "job", [jelly(arrays), near, far], [], arrays)
    loaded = load(folder)
    regroup = Regroup(loaded)
    world = build(loaded, lambda *_: None, grouping=regroup.begin).world
    together, alone = regroup.groups(world)
    assert (together.tokens, together.step, together.largest_deformation) == ((0, 1), 1 / 96, 0.5)
    assert (alone.tokens, alone.step, alone.largest_deformation) == ((2,), 1 / 240, 0.1)
    kinds = [type(part.integrator).__name__ for part in world.parts]
    assert kinds == ["BackwardEuler", "SDIRK2"]


def test_an_integrator_that_does_not_bound_its_steps_is_refused(tmp_path):
    folder = job(tmp_path / "job", [far_soft])
    change(folder, "bodies.1.integrator.kind", "ere")
    with pytest.raises(BadScene, match="does not support contact") as caught:
        load(folder)
    assert caught.value.where == "$.bodies[1].integrator.kind"


def test_what_is_cut_between_two_frames_has_no_groups_and_what_is_alone_is_one(tmp_path):
    assert Regroup.suits(load(job(tmp_path / "alone")))
    two = job(tmp_path / "two", [far_soft])
    assert Regroup.suits(load(two))
    change(two, "bodies.0.cuts", [{"frame": 3, "kind": "plane", "point": [0.0, 0.0, 0.2], "normal": [0.0, 0.0, 1.0]}])
    assert Regroup.suits(load(two))
    change(two, "bodies.0.cuts.0.subframe", 0.5)
    assert not Regroup.suits(load(two))
