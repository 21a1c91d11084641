"""The cache of an object whose bake runs elsewhere, or died there: its owner and start are shown, and its lock can be
broken."""

import json
import os
import time
from dataclasses import asdict

import pytest

bpy = pytest.importorskip("bpy")

from jelly import add_jelly, assert_plays, scene  # noqa: E402, F401

from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.solver.frames import lock  # noqa: E402

FARM = lock.Holder(4711, "farm-7", "", "another boot 1", beats=True)


def leave(obj, who: lock.Holder, age: float) -> None:
    folder = place.job_folder(obj) / "cache"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / lock.LOCK).write_text(json.dumps(asdict(who)))
    os.utime(folder / lock.LOCK, (time.time() - age,) * 2)


def test_the_lock_of_another_machine_can_be_broken(scene):  # noqa: F811
    obj, scene.frame_end = add_jelly(), 3
    assert not bpy.ops.conjac.break_lock.poll()
    leave(obj, FARM, 125.0)
    status = addon_bake.status(obj)
    assert (status.state, status.mine) == ("baking", False)
    assert "process 4711 on farm-7, last heard of 2 min ago" in status.other_baker
    with pytest.raises(RuntimeError, match="being baked"):
        bpy.ops.conjac.bake()
    assert bpy.ops.conjac.break_lock.poll()
    assert bpy.ops.conjac.break_lock() == {"FINISHED"}
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    assert_plays(obj, range(1, 4))
    assert not bpy.ops.conjac.break_lock.poll()


@pytest.mark.long  # it listens for the other for 12 s; what it then does is frames/test_lock's
def test_one_that_was_not_heard_of_is_taken_over(scene, monkeypatch):  # noqa: F811
    obj, scene.frame_end = add_jelly(), 3
    leave(obj, FARM, 4000.0)
    assert addon_bake.status(obj).state == "none" and not bpy.ops.conjac.break_lock.poll()
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    assert addon_bake.status(obj).state == "complete"
