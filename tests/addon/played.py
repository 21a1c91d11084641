"""A small soft body that is played live, and the window's timer that plays it."""

import shutil
import time

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import add_jelly, scene  # noqa: E402, F401

from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.live import session  # noqa: E402


@pytest.fixture(scope="session")
def kept_tets(tmp_path_factory):
    """Return a folder that stores the few tetrahedra of jellies, which the first test makes."""
    return tmp_path_factory.mktemp("tets")


@pytest.fixture()
def unfilled(scene):  # noqa: F811
    """Return a jelly without tetrahedra, which Play Live fills with cells."""
    yield add_jelly()
    session.stop_all()


@pytest.fixture()
def jelly(unfilled, kept_tets):
    """Return a jelly with few tetrahedra, which Play Live uses. They belong to this position: a moved jelly is meshed
    again by `fill`, or filled with cells."""
    if not list(kept_tets.iterdir()):
        fill(unfilled)
        shutil.copytree(place.job_folder(unfilled) / "stages", kept_tets, dirs_exist_ok=True)
    shutil.copytree(kept_tets, place.own_folder(unfilled) / "stages", dirs_exist_ok=True)
    return unfilled


def fill(obj):
    """Press Tetrahedralize."""
    bpy.context.view_layer.objects.active = obj
    bpy.context.view_layer.update()
    assert bpy.ops.conjac.preview_tets() == {"FINISHED"}
    bpy.ops.conjac.remove_previews()


def seen(obj):
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    co = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", co)
    return co.reshape(-1, 3)


def play_until(played, condition, seconds=240.0):
    """Tick like the window's timer until a condition is met."""
    until = time.monotonic() + seconds
    while not condition():
        assert played.tick(), played.ended
        assert time.monotonic() < until, played.sentence()
        time.sleep(0.01)


def play(obj, seconds=0.25):
    """Play an object for a time of its own clock."""
    played = session.Played(obj, bpy.context.scene)
    play_until(played, lambda: played.frame is not None and played.frame["time"] > seconds)
    return played
