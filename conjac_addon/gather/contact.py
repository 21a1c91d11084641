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
    return [*(other for other in bodies if (obj.conjac.contact.itself if other == obj else members.touch(obj, other))),
            *(collider for collider in colliders if members.wants(obj, collider))]


def say(document: dict[str, Any], of: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Add contact, obstacles and the contacts of each body to scene.json, which has its bodies; nothing if none touch.
    Obstacles are added without their meshes."""
    bodies, colliders = members.soft_bodies(of, scene), members.colliders(of, scene)
    found = [[other.name for other in touched(obj, bodies, colliders)] for obj in bodies]
    if members.touches_soft(of):
        rigid = [of.name, *obstacles.for_soft_bodies(of)]
        for obj, names in zip(bodies, found):
            names += rigid if members.collides(obj) and members.wants(obj, of) else []
    for obj, names in zip(bodies, found):
        through = {tie.object.name for tie in obj.conjac.constraints if tie.object is not None and not tie.collide}
        through |= {weld.object.name for weld in obj.conjac.welds if weld.object is not None and weld.is_sliding}
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
        document["obstacles"] = [{"name": collider.name} | fields.gathered(OBSTACLE, collider, scene, TOUCHING)
                                 for collider in colliders]
