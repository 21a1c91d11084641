"""Bake as Played in real Blender: a bake repeats what was recorded, and the next click restores earlier settings."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import add_jelly, rest_of, scene, seen_at  # noqa: E402, F401
from played import play_until  # noqa: E402

from conjac.conjac_addon import by_button, kinds  # noqa: E402
from conjac.conjac_addon.live import as_played, session  # noqa: E402
from conjac.conjac_addon.live.performance import Performance  # noqa: E402


def shown(obj):
    """Return the settings of the solver that the button may change, and the buttons that chose them."""
    solver = obj.conjac.solver
    names = ("method", "integrator", "stage_solver", "step", "projective_iterations")
    return {name: (getattr(solver, name), solver.is_property_set(name), by_button.label_of(solver, name))
            for name in names}


def press(obj):
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.conjac.as_played() == {"FINISHED"}


@pytest.mark.parametrize("engine, method", [("modes", "live"), ("projective", "projective"), ("world", "vanilla")])
def test_each_engine_has_its_method_and_a_second_click_takes_it_back(scene, engine, method):  # noqa: F811
    jelly = add_jelly()
    bpy.context.view_layer.objects.active = jelly
    assert not bpy.ops.conjac.as_played.poll()  # nothing was recorded
    bpy.ops.conjac.set_quality(quality="best")
    jelly.conjac.projective_iterations = 3
    before = shown(jelly)
    as_played.remember(jelly, engine)
    for _ in range(2):
        press(jelly)
        solver = jelly.conjac.solver
        assert as_played.is_chosen(jelly, scene)
        assert solver.method == method and solver.step == pytest.approx(1 / 60)
        assert by_button.label_of(solver, "method") == by_button.label_of(solver, "step") == as_played.LABEL
        assert solver.projective_iterations == (10 if engine == "projective" else 3)
        press(jelly)
        assert not as_played.is_chosen(jelly, scene)
        assert shown(jelly) == before
    # what the artist changes in between is the artist's
    press(jelly)
    jelly.conjac.solver.step = 1 / 30
    assert not as_played.is_chosen(jelly, scene)


def test_what_comes_later_is_chosen_beside_what_was(scene):  # noqa: F811
    jelly = add_jelly()
    jelly.conjac.contact.collides_with = "all"
    before = shown(jelly)
    as_played.remember(jelly, "modes")
    press(jelly)
    other = add_jelly("Other")
    other.conjac.contact.collides_with = "all"
    bpy.context.view_layer.update()
    assert not as_played.is_chosen(jelly, scene)
    press(jelly)
    assert other.conjac.solver.method == "live" and as_played.is_chosen(jelly, scene)
    press(jelly)
    assert shown(jelly) == shown(other) == before


def test_steps_of_a_mechanism_become_those_that_are_played(scene):  # noqa: F811
    from rig import add_chain

    rig = add_chain(2)
    for step, expected in ((1 / 24, 1 / 72), (1 / 200, 1 / 200)):
        rig.conjac.step = step
        as_played.remember(rig, "world")
        press(rig)
        assert rig.conjac.step == pytest.approx(expected)
        press(rig)
        assert rig.conjac.step == pytest.approx(step)


def test_cloth_that_was_recorded_is_repeated(scene):  # noqa: F811
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, size=0.4)
    cloth = bpy.context.object
    assert bpy.ops.conjac.add_cloth() == {"FINISHED"}
    cloth.conjac.contact.collides_with = kinds.NOTHING
    cloth.vertex_groups.new(name="Pin").add(np.flatnonzero(rest_of(cloth)[:, 0] < -0.19).tolist(), 1.0, "REPLACE")
    played = session.Played(cloth, scene)
    played.record(True)
    play_until(played, lambda: played.frame is not None and played.frame["time"] > 0.4)
    played.record(False)
    play_until(played, lambda: played.performed is not None)
    (path, frames), engine = played.performed, played.engine
    played.stop()
    assert engine == "projective"
    as_played.remember(cloth, engine)
    performance = Performance(cloth, scene, path, frames)
    assert performance.wait() == 0, performance.progress
    recorded = seen_at(cloth, 9)
    cloth.conjac.solver.step = 1 / 90  # what nothing has changed of is not baked again
    off = []
    for _ in range(2):
        assert cloth.conjac.bake() == 0
        off.append(np.abs(seen_at(cloth, 9) - recorded).max())
        press(cloth)
    assert off[1] < 0.2 * off[0], off


@pytest.mark.parametrize("before", ['[]', '{"solver.nothing": ["", 1, true]}', '{"solver.method": ["", "live"]}',
                                    '{"name": ["", "live", true]}', '{"solver.step": ["", [1], true]}'])
def test_what_a_strangers_file_says_was_before_is_nothing(before):
    class Settings:
        as_played = f'{{"engine": "modes", "before": {before}}}'

    assert as_played._read(Settings()) == {"engine": "modes"}
