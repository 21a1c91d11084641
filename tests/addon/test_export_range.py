"""Export Bake writes the frame range; scripts may ask for an exception."""

import pytest

bpy = pytest.importorskip("bpy")

from jelly import add_jelly, assert_plays, scene  # noqa: E402, F401

from conjac.conjac_addon import playback  # noqa: E402


def test_an_export_takes_the_frame_range_and_says_what_it_wrote(scene, capfd):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    scene.frame_end = 5
    capfd.readouterr()
    assert bpy.ops.conjac.export(format="shapekeys") == {"FINISHED"}
    assert [key.name for key in obj.data.shape_keys.key_blocks] == ["Basis", *(f"Frame {k}" for k in range(1, 6))]
    assert '"Jelly": 5 frames, 1 to 5, were written to shape keys' in capfd.readouterr().out
    scene.frame_start = 3
    assert bpy.ops.conjac.export(format="pc2") == {"FINISHED"}
    assert f'3 frames, 3 to 5, were written to "{playback.file_of(obj)}"' in capfd.readouterr().out
    assert_plays(obj, (3, 4, 5))
    scene.frame_end, scene.frame_start = 40, 30
    with pytest.raises(RuntimeError, match="frame 30 of its frame range is not baked"):
        bpy.ops.conjac.export(format="pc2")


def test_a_script_may_ask_for_an_exception(scene):  # noqa: F811
    obj = add_jelly()
    scene.frame_end = 2
    obj.conjac.bake(raise_on_failure=True)
    obj.conjac.pin_group = "Missing"
    assert obj.conjac.bake() == 2
    with pytest.raises(RuntimeError, match="no vertex group") as failed:
        obj.conjac.bake(raise_on_failure=True)
    assert failed.value.exit_code == 2 and failed.value.code
