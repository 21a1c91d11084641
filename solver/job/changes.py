"""Differences between the settings of two bakes, in an artist's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import catalogue
from .hashes import BODY_READERS, MECHANISM_READERS, SCENE_READERS, Flat, longest_prefix, reader

#: plain names of what is not a catalogue parameter; the rest is called by its path
WORDS = {"time.start": "first frame", "time.end": "last frame", "time.fps": "frame rate", "time.step": "step",
         "step": "step", "time.samples_per_frame": "samples per frame", "time.snapshot_every": "snapshot interval",
         "time.tolerance": "accuracy", "time.largest_deformation": "largest deformation",
         "largest_deformation": "largest deformation",
         "method.kind": "method", "integrator.kind": "integrator",
         "stage_solver.kind": "stage solver", "linear_solver": "linear solver",
         "gravity": "gravity", "ground": "ground", "ground.motion": "motion of the ground",
         "ground.tangential_share": "tangential share", "ground.stiffness_per_area": "stiffness per area",
         "friction.kind": "friction",
         "surface": "mesh", "surface.to_object": "motion", "surface.place": "place", "surface.scale": "scale",
         "tets": "volume mesh",
         "mesher.kind": "mesher", "material.kind": "material", "damping.kind": "damping law",
         "wobble_half_life": "wobble half-life",
         "carry.kind": "inside of maps", "density": "density",
         "dynamic": "dynamic nodes", "spot.kind": "how spots move", "pin": "pins", "pin.motion": "motion of the pins",
         "pin.until": "when pins let go", "pin.stiffness": "stiffness of the pins",
         "pin.strengths": "strength of the pins", "pin.strength_vertices": "strength of the pins",
         "pin.node_motion": "motion of the pins", "name": "name",
         "fiber_material.kind": "fibers", "fiber_field.kind": "direction of the fibers", "fibers": "paint of fibers",
         "friction_weights": "paint of friction",
         "fiber_vectors": "direction of the fibers", "fiber_curves": "curves of the fibers",
         "fiber_activation": "activation", "cuts": "cuts", "nails": "nails",
         "pulls": "pulls", "follow": "what it follows",
         "attach": "bones that it hangs on", "joint_friction.kind": "friction inside joints",
         "bodies": "rigid bodies", "joints": "joints", "loops": "loops", "springs": "springs",
         "rate_forces": "forces on joints",
         "self_collisions": "self collisions", "forces": "forces between bodies",
         "constraints": "constraints", "contact": "contact of surfaces",
         "obstacles": "obstacles", "touches": "what it touches", "touches_by_mesh": "by what it touches",
         "stress_output": "stress and stretch",
         "thickness": "thickness", "wind": "wind",
         "cloth": "cloth", "cloth.membrane.kind": "membrane of the cloth",
         "cloth.bending.kind": "bending of the cloth", "cloth.area_density": "area density",
         "cloth.thickness": "thickness", "cloth.uv": "UV map of the cloth", "cloth.warp": "warp of the cloth",
         "cloth.drag": "air drag", "cloth.air_friction": "air friction", "cloth.pressure": "pressure",
         "cloth.length_limit": "length limit", "cloth.area_limit": "area limit",
         "cloth.seams": "seams", "cloth.seam_stiffness": "seam stiffness", "cloth.seam_time": "time of the seams",
         "cloth.quads": "mesh",
         "cloth.eulerian": "sharp edges",
         "cloth.eulerian.angle": "feature angle", "cloth.eulerian.finest": "finest edges",
         "cloth.eulerian.coarsest": "coarsest edges", "cloth.eulerian.friction": "friction at sharp edges",
         "cloth.eulerian.coarser": "preview", "cloth.eulerian.capstan": "friction as of a rope"}


def changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Plain names of the settings that differ between two Settings.plain(), those that no stage reads left out.

    What only follows from another of them is left out too: all that is said among several bodies where some come or go,
    and motion where an object begins at another place.
    """
    more = any(len(old.get(family, ())) != len(new.get(family, ())) for family in ("bodies", "mechanisms"))
    found = _differences(old["scene"], new["scene"], SCENE_READERS, "", more)
    for family, thing, readers in (("bodies", "body", BODY_READERS), ("mechanisms", "mechanism", MECHANISM_READERS)):
        # caches from before there were mechanisms do not have them
        was, now = old.get(family, {}), new.get(family, {})
        called = {flat["uuid"]: name for name, flat in now.items() if flat.get("uuid")}
        if set(was) != set(now):  # a renamed one is identified by its UUID
            was = {(name if name in now else called.get(flat.get("uuid"), name)): flat for name, flat in was.items()}
        if len(was) == len(now) and not set(was) & set(now):  # renamed: what else differs is worth more than that
            renamed = [difference for name, old_one in zip(now, was.values())
                       for difference in _differences(old_one, now[name], readers, f' of "{name}"', more)]
            if renamed:
                found += renamed
                continue
        for name in now:
            if name in was:
                found += _differences(was[name], now[name], readers, f' of "{name}"', more)
            else:
                found.append(f'{thing} "{name}" (new)')
        found += [f'{thing} "{name}" (gone)' for name in was if name not in now]
    if not found and list(old["bodies"]) != list(new["bodies"]):
        found.append("order of the bodies")
    return list(dict.fromkeys(found))


#: what is said only where there are several bodies
AMONG_SEVERAL = {"contact", "touches", "friction", "friction_weights", "thickness", "pins_yield", "touches_by_mesh",
                 "method", "integrator", "stage_solver", "step", "largest_deformation"}


def _differences(old: Flat, new: Flat, readers: Mapping[str, str], whose: str, more: bool) -> list[str]:
    """more: whether there are more bodies now, or fewer."""
    names, both = [*new, *(name for name in old if name not in new)], {**old, **new}
    # caches from before there was a parameter do not have it: it was at its default
    names = [name for name in names if old.get(name, _default(name, both)) != new.get(name) and reader(name, readers)]
    # what another kind has, and this one has not, comes and goes with the kind
    others = {name.removesuffix("kind") for name in names if name.endswith(".kind")}
    names = [name for name in names if name.endswith(".kind") or (name in old and name in new)
             or name[: name.rfind(".") + 1] not in others]
    if more:
        names = [name for name in names if name.partition(".")[0] not in AMONG_SEVERAL
                 or (name != "touches" and name in old and name in new)]
    if "surface.place" in names:
        names = [name for name in names if name != "surface.to_object"]
    return [plain_name(name, both) + whose for name in names]


def _default(name: str, flat: Flat) -> Any:
    """Return the default of a parameter of the chosen entry, None for all other settings."""
    family, _, key = name.rpartition(".")
    return catalogue.default(family, flat.get(f"{family}.kind", ""), key)


def plain_name(name: str, flat: Flat) -> str:
    """Return the artist's name of a setting: the catalogue's label, else the words above, else its path."""
    head, _, key = name.partition(".")
    if head == "painted":
        key = key.partition(".")[0]
        return f"paint of {key.replace('_', ' ')}"
    if f"{head}.kind" in flat and key != "kind":
        for param in catalogue.find(head, flat[f"{head}.kind"]).params:
            if param.key == key:
                return param.label
    try:
        return WORDS[longest_prefix(name, WORDS)]
    except KeyError:
        return name
