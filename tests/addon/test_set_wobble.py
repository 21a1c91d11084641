"""Set Jiggle: a body gets the stiffness that its slowest wobble needs under its pins."""

import bpy
import numpy as np
import pytest
from drawn_panels import drawn
from gathered_jobs import paint


@pytest.fixture()
def hung(soft_cube, tmp_path):
    """Return a bar four times as long as wide that hangs from its upper end."""
    bpy.context.scene.unit_settings.scale_length = 0.1
    soft_cube.conjac.cache_folder = str(tmp_path)
    soft_cube.scale = (1, 1, 4)
    paint(soft_cube, "Pin", [v.index for v in soft_cube.data.vertices if v.co.z > 0])
    return soft_cube


def frequency_of(obj):
    """Return the slowest wobble that a bake itself finds [Hz]."""
    from conjac.conjac_addon.operators import still

    with still.still_job(obj) as job:
        steps = still.run(obj, bpy.context.scene, job, ["wobble"], 0.1)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value["hertz"]


def test_it_wobbles_as_asked(hung):
    before, stiffness = frequency_of(hung), hung.conjac.youngs_modulus
    painted = hung.conjac.youngs_modulus_high
    assert bpy.ops.conjac.set_wobble(hertz=4.0) == {"FINISHED"}
    assert frequency_of(hung) == pytest.approx(4.0, rel=0.01)
    times = hung.conjac.youngs_modulus / stiffness
    # its weight, which makes a hanging bar stiffer across, stays as it is
    assert 1.01 * (4.0 / before) ** 2 < times < 1.1 * (4.0 / before) ** 2
    assert hung.conjac.youngs_modulus_high / painted == pytest.approx(times, rel=0.01)


def test_what_is_painted_goes_along(hung):
    """Both ends of a map are scaled: the lower half is ten times as stiff."""
    hung.conjac.youngs_modulus_high = 10.0 * hung.conjac.youngs_modulus
    paint(hung, "Stiffness", [v.index for v in hung.data.vertices if v.co.z < 0])
    bpy.ops.conjac.set_wobble(hertz=4.0)
    assert frequency_of(hung) == pytest.approx(4.0, rel=0.01)
    assert hung.conjac.youngs_modulus_high == pytest.approx(10.0 * hung.conjac.youngs_modulus, rel=0.01)


def test_it_can_be_undone(hung):
    stiffness = hung.conjac.youngs_modulus
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.conjac.set_wobble()
    assert bpy.data.objects["Cube"].conjac.youngs_modulus != stiffness
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert bpy.data.objects["Cube"].conjac.youngs_modulus == np.float32(stiffness)


def test_what_is_pinned_all_over_is_refused_in_one_sentence(hung):
    paint(hung, "Pin", range(len(hung.data.vertices)))
    with pytest.raises(RuntimeError, match='"Cube": every node is pinned, so nothing can move. Unpaint'):
        bpy.ops.conjac.set_wobble()


def test_the_panel_has_it_where_a_body_wobbles(hung):
    log = drawn(hung)
    at = log.index(("operator", "conjac.set_wobble"))
    assert log[at + 1] == ("prop", "wobble_hertz")
    hung.conjac.kind = "cloth"
    assert ("operator", "conjac.set_wobble") not in drawn(hung)
