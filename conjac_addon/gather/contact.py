"""Contact of soft bodies in scene.json, as far as it depends on settings only."""

from __future__ import annotations

from typing import Any

import bpy

from .. import members
from ..declared import BODY, OBSTACLE, SCENE, TOUCHING
from . import fields, obstacles


def touched(obj: bpy.types.Object, bodies: list[bpy.types.Object], colliders: list[bpy.types.Object]
            ) -> list[bpy.types.Object]:
    """Return the objects of the simulation that a soft body touches, itself among them where it collides with itself.
    """
    if not members.collides(obj):
        return []
    return [*(one for one in bodies if (obj.conjac.contact.itself if one == obj else members.touch(obj, one))),
            *(one for one in colliders if members.wants(obj, one))]


def say(document: dict[str, Any], of: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Add contact, obstacles and the contacts of each body to scene.json, which has its bodies; nothing if none touch.
    Obstacles are added without their meshes."""
    bodies, colliders = members.soft_bodies(of, scene), members.colliders(of, scene)
    found = [[other.name for other in touched(one, bodies, colliders)] for one in bodies]
    if members.touches_soft(of):
        rigid = [of.name, *obstacles.for_soft_bodies(of)]
        for one, names in zip(bodies, found):
            names += rigid if members.collides(one) and members.wants(one, of) else []
    for one, names in zip(bodies, found):
        through = {tie.object.name for tie in one.conjac.constraints if tie.object is not None and not tie.collide}
        through |= {weld.object.name for weld in one.conjac.welds if weld.object is not None and weld.is_sliding}
        names[:] = [name for name in names if name not in through]
    if not any(found):
        return
    fields.add(document, fields.gathered(SCENE, of, scene, TOUCHING))
    for obj, body, others in zip(bodies, document["bodies"], found):
        body["touches"] = others
        if others and len(obj.conjac.cuts) and obj.name not in others:
            others.append(obj.name)  # pieces of what collides with others do so with each other
        body |= fields.gathered(BODY, obj, scene, TOUCHING)
    if colliders:
        document["obstacles"] = [{"name": one.name} | fields.gathered(OBSTACLE, one, scene, TOUCHING)
                                 for one in colliders]
