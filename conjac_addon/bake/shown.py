"""Shows results on the artist's objects: the frames of soft bodies and the keyframes of a mechanism."""

from __future__ import annotations

import types
from collections.abc import Mapping
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import ConJacError, NoSuchThing
from ...solver.frames.read import Cache
from .. import gather, identity, members, part_identity, playback
from .. import settings as properties
from . import belongings, place


def show(obj: bpy.types.Object, scene: bpy.types.Scene, folder: Path, cache: Cache, key: str,
         span: tuple[int, int] | None = None) -> list[str]:
    """Play the frames on disk that follow each other from the first one on.

    key: export format of soft bodies, "" for what each of them has chosen. span: first and last frame to play at most;
    None: those of the last bake. Returns sentences for the artist. Raises ConJacError.
    """
    for member in members.members(members.owner(obj), scene):
        gather.check_mode(member)
    # a shorter frame range leaves frames behind it, which are kept and not shown
    done = set(cache.frames_done()) & set(cache.compare().frames)
    first = cache.frames[0] if cache.frames else 0
    if span is not None:
        done = {frame for frame in cache.frames_done() if span[0] <= frame <= span[1]}
        first = max(first, span[0])
    run = playback.run_from(done, first)
    if run is None:
        if cache.frames and first > cache.frames[0]:
            raise NoSuchThing(f"frame {first} of its frame range is not baked", "Bake it first", obj.name)
        raise NoSuchThing("nothing is baked yet", "Bake it first", obj.name)
    holder = members.owner(obj)
    notes = []
    for body, name in players(holder, scene, cache):
        notes += _show_body(body, name, scene, folder, cache, key, run)
    if not members.is_mechanism(holder):
        return notes
    show_mechanism(holder, scene, folder, cache, run)
    pushed = pushed_by(cache, run, names_now(holder, cache))
    return notes + playback.effort.show(holder, pushed) + largest(holder, pushed)


def players(holder: bpy.types.Object, scene: bpy.types.Scene, cache: Cache) -> list[tuple[bpy.types.Object, str]]:
    """Return the soft bodies of a bake with their names in its cache. Raises NoSuchThing if one is missing."""
    names = cache.body_uuids()
    if members.is_soft_body(holder) and len(names) == 1:
        return [(holder, next(iter(names)))]  # it may have a new name, or be a copy
    soft, found = {identity.of(body): body for body in members.soft_bodies(holder, scene)}, []
    for name, uuid in names.items():
        body = (soft.get(uuid) if uuid else None) or scene.objects.get(name)
        if body is None:
            raise NoSuchThing(f'the soft body "{name}" of the bake is missing or was renamed', "Bake again",
                              holder.name)
        found.append((body, name))
    return found


def show_mechanism(holder: bpy.types.Object, scene: bpy.types.Scene, folder: Path, cache: Cache,
                   run: tuple[int, int]) -> None:
    """Show the keyframes of the mechanism only. Raises ConJacError."""
    entry = cache.mechanisms()[0]  # obstacles come after it
    called = names_now(holder, cache)
    first, names = entry["first"], tuple(called[name] for name in entry["bodies"])
    places = playback.Places(*run, names, lambda frame: cache.poses(frame)["pose"][first:first + len(names)])
    playback.mechanism.show(holder, places, folder / "arrays", cache.frames[0], properties.unit_scale(scene))


def names_now(holder: bpy.types.Object, cache: Cache) -> dict[str, str]:
    """Return the present names of the bones or objects of a mechanism, by their names in the bake."""
    assert cache.manifest is not None
    return part_identity.now(holder, [(body["name"], body.get("uuid", ""))
                                      for body in cache.manifest["scene"]["mechanisms"][0]["bodies"]])


def take_parts_back(holder: bpy.types.Object, folder: Path) -> None:
    """Give bones and objects their identities back, of the bake on the disk, where undo or closing without saving took
    them."""
    try:
        manifest = place.cache_of(folder).manifest
        if manifest is None or not manifest["scene"]["mechanisms"]:
            return
        order = [bone.name for bone in gather.plan(holder)[0]]
    except ConJacError:
        return  # the bake reports it, or starts over
    part_identity.take_back(holder, [(body["name"], body.get("uuid", ""))
                                     for body in manifest["scene"]["mechanisms"][0]["bodies"]], order)


def pushed_by(cache: Cache, run: tuple[int, int],
              called: Mapping[str, str] = types.MappingProxyType({})) -> list[playback.effort.Pushed]:
    """Return the efforts of motors and drives at every frame after the first: that of a drive is known after a step.

    called: what bodies are called now, by their names in the bake, which are those of the joints that hold them.
    """
    assert cache.manifest is not None
    motors = {joint["name"]: joint["motor"] for joint in cache.manifest["scene"]["mechanisms"][0]["joints"]
              if "motor" in joint}
    driven = [joint for joint in cache.mechanisms()[0]["joints"] if joint["count"] and joint["name"] in motors]
    frames = np.arange(max(run[0], cache.frames[0] + 1), run[1] + 1, dtype=np.int32)
    if not driven or not len(frames):
        return []
    effort = np.array([cache.poses(frame)["effort"] for frame in frames.tolist()])
    return [playback.effort.Pushed(called.get(joint["name"], joint["name"]), joint["kind"], frames,
                                   effort[:, joint["first"]:joint["first"] + joint["count"]],
                                   lets_go="until" in motors[joint["name"]]) for joint in driven]


def largest(holder: bpy.types.Object, pushed: list[playback.effort.Pushed]) -> list[str]:
    """Return a sentence with the largest efforts of the motors of hinges and sliders; none without such motors."""
    efforts = [f'"{joint.name}" {np.abs(joint.effort).max():.3g} {joint.units[0]}' for joint in pushed
               if not joint.lets_go and len(joint.units) == 1]
    if not efforts:
        return []
    return [f'"{holder.name}": the largest effort of its motors at whole frames: {", ".join(efforts)}']


def _show_body(obj: bpy.types.Object, name: str, scene: bpy.types.Scene, folder: Path, cache: Cache, key: str,
               run: tuple[int, int]) -> list[str]:
    """Show one soft body, called `name` in the cache. Returns sentences for the artist."""
    key, base = key or obj.conjac.export, place.playback_path(obj, folder)
    if name in cache.sheet_names() and key == playback.SHEET_FORMAT:
        _claim(folder, base)
        meshes = playback.SheetFrames(*run, lambda frame: cache.sheets(frame)[name])
        return playback.show_sheet(obj, scene, meshes, base, *gather.start_mesh(obj, scene, cache.frames[0]))
    frames = playback.Frames(*run, lambda frame: bodies_at(cache, frame)[name])
    cuts = cache.cuts.get(name)
    if cuts is None:
        playback.hide_cut(obj)
        _play(obj, scene, frames, folder, base, key)
    else:
        _play(obj, scene, frames, folder, base, "pc2")
        shown = playback.make_cut(obj, *gather.start_mesh(obj, scene, cache.frames[0]), cuts)
        whole = playback.Frames(*run, lambda frame: cache.read_all_vertices(frame)[name])
        _play(shown, scene, whole, folder, base.with_name(f"{base.name}_cut"), key)
    note = playback.liveliness.show(obj, cache.diagnostics.liveliness().get(name))
    return [note] if note is not None else []


def _play(obj: bpy.types.Object, scene: bpy.types.Scene, frames: playback.Frames, folder: Path, base: Path,
          key: str) -> None:
    _claim(folder, base)
    playback.show(obj, scene, frames, base, key)


def _claim(folder: Path, base: Path) -> None:
    """Name the files before they are made, so that an interrupted export can be freed as well."""
    for kind in playback.formats().values():
        if kind.suffix:
            belongings.add(folder, base.with_name(base.name + kind.suffix))


def bodies_at(cache: Cache, frame: int) -> dict[str, NDArray[np.float32]]:
    """(n, 3) vertices of the artist's meshes at a frame, by their names in the cache."""
    found = cache.frame(frame)
    return {name: found[name][:count] for name, _, count in cache.bodies()}
