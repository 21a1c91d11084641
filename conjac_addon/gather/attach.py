"""Attachments of a soft body to bones, or to a soft body: painted groups, each with its holder."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...solver.errors import BadInput, NoSuchThing
from .. import members, part_identity
from .evaluation import Evaluation
from .folder import JobFolder, JobPart
from .maps import PAINTED, group_weights


def attach_settings(obj: bpy.types.Object) -> list[dict[str, Any]]:
    """Return the attachments of scene.json's body that depend on settings only."""
    return [{"mechanism": attachment.object.name, "body": part_identity.renamed(attachment.object)(attachment.part)}
            if members.is_mechanism(attachment.object) else {"body": attachment.object.name}
            for attachment in obj.conjac.attachments
            if members.is_mechanism(attachment.object) or members.is_volume(attachment.object)]


def fill(body: dict[str, Any], evaluation: Evaluation, job: JobFolder | JobPart, still: bool) -> None:
    """Put the painted weights into a body of scene.json. still: where nothing moves, attached vertices count as pinned.

    Raises BadInput, NoSuchThing where an attachment cannot hold anything.
    """
    obj = evaluation.object
    used = list(obj.conjac.attachments)
    for number, attachment in enumerate(used, 1):
        if attachment.object is None:
            raise BadInput(f"its attachment {number} has nothing to follow",
                           "Choose an armature or another holder under Attach, or remove the attachment", obj.name)
    if not used:
        return
    _check(obj, used)
    mesh = evaluation.mesh(all_layers=True)
    groups = [group_of(attachment) for attachment in used]
    for attachment, name in zip(used, groups):
        if name not in obj.vertex_groups:
            raise NoSuchThing(f'there is no vertex group "{name}" for the part that follows '
                              f'"{_carrier_name(attachment)}"',
                              "Paint it, or choose another one under Attach", obj.name)
    weights = group_weights(mesh, {obj.vertex_groups[name].index for name in groups})
    evaluation.release()
    painted = [weights[obj.vertex_groups[name].index] for name in groups]
    for attachment, name, values in zip(used, groups, painted):
        if not (values > PAINTED).any():
            raise BadInput(f'no vertex in its group "{name}" is painted above {PAINTED}, so nothing follows '
                           f'"{_carrier_name(attachment)}"', "Paint what is held, or remove the attachment", obj.name)
    if still:
        body.pop("attach", None)
        pinned = np.maximum.reduce(painted)
        if "weights" not in body["pin"]:
            body["pin"]["weights"] = job.array("attached", pinned)
        return
    for k, (entry, values) in enumerate(zip(body["attach"], painted)):
        entry["weights"] = job.array(f"attach_{k}", values)


def group_of(attachment: bpy.types.PropertyGroup) -> str:
    """Return the name of the vertex group of an attachment."""
    return str(attachment.group or _carrier_name(attachment))


def _carrier_name(attachment: bpy.types.PropertyGroup) -> str:
    """Return the bone, the rigid body or the soft one."""
    return str(attachment.part if members.is_mechanism(attachment.object) else attachment.object.name)


def _check(obj: bpy.types.Object, used: list[bpy.types.PropertyGroup]) -> None:
    holder = members.owner(obj)
    for attachment in used:
        if members.is_volume(attachment.object):
            _check_on_flesh(obj, attachment.object)
            continue
        if not members.is_mechanism(attachment.object):
            raise BadInput(f'it is attached to "{attachment.object.name}", which is not simulated',
                           "Add ConJac to that armature, or remove the attachment", obj.name)
        if attachment.object != holder:
            raise BadInput(f'it is attached to "{holder.name}" and to "{attachment.object.name}", and they are baked '
                           "separately", "Attach it to only one mechanism", obj.name)
        known = attachment.object.pose.bones if attachment.object.type == "ARMATURE" else (
            attachment.object.conjac.mechanism.collection.all_objects
            if attachment.object.conjac.mechanism.collection else ())
        if not attachment.part:
            kind = "bone" if attachment.object.type == "ARMATURE" else "object"
            raise BadInput(f'its attachment to "{attachment.object.name}" names no {kind}',
                           f"Choose the {kind} under Attach", obj.name)
        if attachment.part not in {each.name for each in known}:
            raise NoSuchThing(f'"{attachment.object.name}" has no '
                              f'{"bone" if attachment.object.type == "ARMATURE" else "object"} '
                              f'"{attachment.part}" to attach it to', "Choose another one under Attach", obj.name)


def _check_on_flesh(obj: bpy.types.Object, flesh: bpy.types.Object) -> None:
    if not members.is_sharp(obj):
        raise BadInput(f'it is attached to the soft body "{flesh.name}", and only cloth with Sharp Edges can be '
                       "attached to those", "Enable Sharp Edges, attach it to a bone, or remove the "
                                            "attachment", obj.name)
    if members.owner(flesh) != members.owner(obj):
        raise BadInput(f'it is attached to "{flesh.name}", and they are baked separately',
                       "Let them collide with each other, so that they are baked together", obj.name)


def check_bodies(obj: bpy.types.Object, holder: bpy.types.Object, bodies: set[str]) -> None:
    """Check that a soft body is attached to bodies of its mechanism. Raises BadInput, NoSuchThing."""
    _check(obj, [attachment for attachment in obj.conjac.attachments if attachment.object is not None])
    if obj.parent == holder and obj.parent_type == "BONE":
        raise BadInput(f'it is parented to the bone "{obj.parent_bone}", which the bake moves, so it would move twice',
                       "Clear its parent and keep the transformation, or parent it to the armature as an object",
                       obj.name)
    for attachment in obj.conjac.attachments:
        if attachment.object == holder and attachment.part not in bodies:
            raise BadInput(f'it is attached to "{attachment.part}" of "{holder.name}", which is left out of the '
                           "simulation",
                           "Set its role to Simulated or Animated, or attach it to another one", obj.name)
