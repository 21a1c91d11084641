"""A world of parts: each behaves as if alone, in one state, with its output in the scene's order."""

import json
from dataclasses import replace

import numpy as np
import pytest
from made_up import Pendulum
from small_jobs import box_job, change
from tuned_scenes import SCENES
from worlds import world_of

from solver.errors import BadScene, StepFailed
from solver.integrators.sdirk import SSDIRK2
from solver.job.load import load
from solver.state import State
from solver.world.interface import Subsystem
from solver.world.world import World

H = 1 / 96


def bodies_job(folder, count, kind="conjac", **scene):
    """Boxes that hang from their swinging ends, one heavier than the other."""
    job = box_job(folder, method={"kind": kind}, cells=(3, 2, 2), **scene)
    [body] = json.loads((job / "scene.json").read_text())["bodies"]
    change(job, "bodies", [body, *({**body, "name": f"Ear {k}", "density": 1000.0 * (k + 1)} for k in range(1, count))])
    return job


def run(world, steps, state=None):
    state = world.initial_state() if state is None else state
    for k in range(steps):
        state = world.step(replace(state, time=k * H), H)
    return state


@pytest.mark.parametrize("kind,parts", [("conjac", 3), ("vanilla", 1)])
def test_each_body_moves_as_it_does_alone(tmp_path, kind, parts):
    world = world_of(load(bodies_job(tmp_path / "all", 3, kind)))
    assert len(world.parts) == parts and [name for name, _, _ in world.bodies] == ["Ear", "Ear 1", "Ear 2"]
    state = run(world, 6)
    vertices = world.output(state, 1)
    for k, (name, first, count) in enumerate(world.bodies):
        job = bodies_job(tmp_path / f"{k}", 1, kind)
        change(job, "bodies.0.density", 1000.0 * (k + 1))
        alone = world_of(load(job))
        wanted = alone.output(run(alone, 6), 1)
        if kind == "conjac":
            assert np.array_equal(vertices[first:first + count], wanted), name
        else:
            assert np.abs(vertices[first:first + count] - wanted).max() <= 1e-12, name
    assert np.abs(vertices[:count] - vertices[first:first + count]).max() > 1e-5


def test_bodies_may_have_methods_of_their_own(tmp_path):
    """The scene's is the default; bodies of Vanilla FEM share a part, whichever stand between them."""
    job = bodies_job(tmp_path / "mixed", 4)
    for k in (0, 2):
        change(job, f"bodies.{k}.method", {"kind": "vanilla"})
    world = world_of(load(job))
    assert [[name for name, _, _ in part.bodies] for part in world.parts] == [["Ear", "Ear 2"], ["Ear 1"], ["Ear 3"]]
    assert [name for name, _, _ in world.bodies] == ["Ear", "Ear 1", "Ear 2", "Ear 3"]
    vertices = world.output(run(world, 4), 1)
    for kind, of_kind in (("vanilla", (0, 2)), ("conjac", (1, 3))):
        whole = world_of(load(bodies_job(tmp_path / kind, 4, kind)))
        wanted = whole.output(run(whole, 4), 1)
        for _, first, count in [whole.bodies[k] for k in of_kind]:
            assert np.abs(vertices[first:first + count] - wanted[first:first + count]).max() <= 1e-12
    change(job, "integrator", {"kind": "ere"})
    with pytest.raises(BadScene, match="moves every node on its own, which ConJac does not"):
        load(job)
    change(job, "bodies.1.method", {"kind": "vanila"})
    with pytest.raises(BadScene, match="vanila") as refused:
        load(job)
    assert refused.value.where == "$.bodies[1].method.kind"


def test_a_state_goes_apart_and_together_again(tmp_path):
    world = world_of(load(bodies_job(tmp_path, 2, integrator={"kind": "sbdf2"})))
    state = run(world, 3)
    assert {key.partition("/")[0] for key in state.memory} == {"0", "1"}
    marked = State(state.time, state.q, state.u, {**state.memory, "control.units": np.ones(1)})
    again = world.merge_states(world.split_state(marked), marked)
    assert np.array_equal(again.q, state.q) and np.array_equal(again.u, state.u)
    assert again.memory.keys() == marked.memory.keys()


def test_what_fails_is_reported_by_its_own_part(tmp_path):
    world = world_of(load(bodies_job(tmp_path, 2)))
    state = world.initial_state()
    first, second = world.split_state(state)
    torn = replace(second, q=np.where(np.arange(len(second.q)) % 2, 1e6, -1e6) * np.ones(len(second.q)))
    with pytest.raises(StepFailed) as failed:
        world.step(world.merge_states([first, torn]), H)
    assert failed.value.part == 1
    assert world.explain(failed.value, state, 7).object == "Ear 1"


def test_a_part_from_outside_moves_beside_a_soft_body(tmp_path):
    soft = world_of(load(bodies_job(tmp_path, 1)))
    world = World([*soft.parts, Pendulum(0.2)])
    state = run(world, 96)
    assert "a pendulum of 0.2 m" in world.notes
    assert np.array_equal(world.output(state, 1)[:-2], soft.output(run(soft, 96), 1))
    # T/2 = π √(l/g) (1 + θ²/16) is 0.455 s: it passes its middle twice in a second
    assert world.split_state(state)[1].memory["swings"] == [2]
    end = world.output(state, 1)[-1]
    assert np.linalg.norm(end) == pytest.approx(0.2)


def test_each_part_of_a_world_keeps_its_own_integrator(tmp_path):
    """Parts share no integrator: independent parts are stepped as if each were alone."""
    alone = [world_of(load(box_job(tmp_path / kind, name=kind, method={"kind": "vanilla"}, integrator={"kind": kind})))
             for kind in ("backward_euler", "sdirk2")]
    together = World([part for world in alone for part in world.parts])
    states = together.split_state(run(together, 3))
    for world, state in zip(alone, states):
        world.forget_past()
        own = run(world, 3)
        assert own.q.tobytes() == state.q.tobytes() and own.u.tobytes() == state.u.tobytes()
    assert [type(part.integrator).__name__ for part in together.parts] == ["BackwardEuler", "SDIRK2"]


def test_what_hangs_on_bones_is_stepped_by_the_integrator_of_their_coupling(tmp_path):
    world = world_of(load(SCENES["hung root"](tmp_path / "job")))
    [coupling] = world.couplings
    assert type(coupling.integrator).__name__ == "SDIRK2"
    assert not any(hasattr(part, "integrator") or isinstance(part, Subsystem) for part in world.parts)
    used, step = [], type(coupling.integrator).step
    coupling.integrator.step = lambda system, *rest: used.append(system) or step(coupling.integrator, system, *rest)
    run(world, 1)
    assert used == [coupling.system]


def test_a_part_that_nothing_steps_is_refused(tmp_path):
    soft, bones = world_of(load(SCENES["hung root"](tmp_path / "job"))).parts
    with pytest.raises(BadScene, match="A part has no integrator and is in no coupling"):
        World([soft, bones])


def test_a_part_is_stepped_by_another_integrator_as_another_subsystem(tmp_path):
    """The first one keeps its own."""
    [part] = world_of(load(SCENES["bdf2"](tmp_path / "job"))).parts
    other = part.with_integrator(SSDIRK2({}), None)
    before = part.initial_state()
    by_first, by_other = (stepped.step(before, H) for stepped in (part, other))
    part.forget_past()
    assert type(part.integrator).__name__ == "BDF2" and type(other.integrator).__name__ == "SSDIRK2"
    assert part.step(before, H).q.tobytes() == by_first.q.tobytes() != by_other.q.tobytes()
