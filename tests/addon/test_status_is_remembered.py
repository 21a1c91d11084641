"""The status of a bake is looked up once after a change, and not while panels are drawn."""

import pytest

bpy = pytest.importorskip("bpy")

from drawn_panels import drawn  # noqa: E402
from jelly import add_jelly, scene  # noqa: E402, F401
from rig import add_chain  # noqa: E402

from conjac.conjac_addon import bake, gather  # noqa: E402
from conjac.conjac_addon.bake import standing, watch  # noqa: E402


@pytest.fixture()
def looks(monkeypatch):
    """Return names of the objects whose status was looked up, and of those whose settings were compared."""
    calls = {"status": [], "settings": []}
    look, compare = standing.status, gather.changed_settings

    def looked(obj):
        calls["status"].append(obj.name)
        return look(obj)

    def compared(obj, *rest):
        calls["settings"].append(obj.name)
        return compare(obj, *rest)

    monkeypatch.setattr(standing, "status", looked)
    monkeypatch.setattr(gather, "changed_settings", compared)
    return calls


def panel_text(obj):
    """Return the text of its main panel."""
    return " ".join(str(text) for kind, text in drawn(obj) if kind == "label")


def test_a_rig_of_300_bones_is_looked_at_once_until_something_changes(scene, looks):  # noqa: F811
    rig = add_chain(300)
    bpy.ops.object.empty_add()
    other = bpy.context.object
    for _ in range(20):
        drawn(rig)
    assert looks["status"] == [rig.name]
    for frame in (3, 7, 1):  # scrubbing
        scene.frame_set(frame)
        drawn(rig)
    assert len(looks["status"]) == 1
    changes = (lambda: setattr(rig.pose.bones["B7"].conjac, "damping", 0.5),
               lambda: setattr(rig.conjac.solver, "step", 0.01), lambda: setattr(rig.conjac, "beta", 0.7),
               lambda: setattr(rig.pose.bones["B7"], "ik_max_x", 0.5), lambda: setattr(scene, "frame_end", 50),
               lambda: setattr(scene, "gravity", (0, 0, -1)), lambda: setattr(other, "location", (1, 2, 3)),
               lambda: setattr(rig.conjac, "cache_folder", "//elsewhere"))
    for count, change in enumerate(changes, 2):
        change()
        for _ in range(5):
            drawn(rig)
        assert len(looks["status"]) == count


def test_what_is_shown_is_what_stands(scene, looks):  # noqa: F811
    obj = add_jelly()
    assert "Nothing is baked" in panel_text(obj)
    assert obj.conjac.bake() == 0
    assert "All 12 frames are baked" in panel_text(obj)
    before = len(looks["settings"])
    for frame in (1, 5, 12):
        scene.frame_set(frame)
        assert "All 12 frames are baked" in panel_text(obj)
    assert len(looks["settings"]) <= before + 1
    obj.conjac.youngs_modulus = 2.0e4
    assert "Baked before Young's Modulus changed" in panel_text(obj)
    obj.conjac.youngs_modulus = 5.0e3
    assert "All 12 frames are baked" in panel_text(obj)
    (bake.job_folder(obj) / "cache" / "manifest.json").unlink()  # as another program may
    assert "All 12 frames are baked" not in panel_text(obj)


def test_undo_is_a_change(scene):  # noqa: F811
    obj = add_jelly()
    assert obj.conjac.bake() == 0
    bpy.ops.ed.undo_push(message="baked")
    obj.conjac.youngs_modulus = 2.0e4
    bpy.ops.ed.undo_push(message="stiffer")
    assert "Young's Modulus" in panel_text(obj)
    bpy.ops.ed.undo()
    assert "All 12 frames are baked" in panel_text(bpy.data.objects["Jelly"])


def test_handlers_are_there_once_and_go(addon):
    def counted():
        return {getattr(bpy.app.handlers, name).count(watch._note) for name in watch._MOMENTS}

    watch.register()
    assert counted() == {1}
    addon.unregister()
    assert counted() == {0} and not bpy.app.timers.is_registered(watch.look)
    addon.register()
