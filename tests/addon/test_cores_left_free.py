"""The number of cores that a bake leaves to Blender's window and to other programs."""

import types

import pytest

bpy = pytest.importorskip("bpy")

from jelly import add_jelly, scene  # noqa: E402, F401

from conjac.conjac_addon import prefs  # noqa: E402
from conjac.conjac_addon.bake import session  # noqa: E402


@pytest.mark.parametrize("background, free", [(True, 0), (False, 1)])
def test_one_is_left_to_a_window_and_none_without(monkeypatch, background, free):
    there = types.SimpleNamespace(app=types.SimpleNamespace(background=background),
                                  context=types.SimpleNamespace(
                                      preferences=types.SimpleNamespace(addons={})))
    monkeypatch.setattr(prefs, "bpy", there)
    assert prefs.cores_left_free() == free


def test_the_artists_number_counts_in_a_window(monkeypatch):
    ours = types.SimpleNamespace(preferences=types.SimpleNamespace(cores_left_free=3))
    there = types.SimpleNamespace(app=types.SimpleNamespace(background=False),
                                  context=types.SimpleNamespace(
                                      preferences=types.SimpleNamespace(addons={prefs.ROOT_PACKAGE: ours})))
    monkeypatch.setattr(prefs, "bpy", there)
    assert prefs.cores_left_free() == 3


def test_the_solver_gets_all_cores_but_these_or_a_number_of_threads(scene, monkeypatch):  # noqa: F811
    monkeypatch.setattr(prefs, "cores_left_free", lambda: 2)
    bake = session.Bake(add_jelly(), scene)
    assert bake._command(False)[-2:] == ["--cores-left-free", "2"]
    monkeypatch.setattr(prefs, "threads", lambda: 5)
    assert bake._command(False)[-2:] == ["--threads", "5"]
