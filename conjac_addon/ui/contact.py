"""The Contact section of soft bodies and colliders, with their contacts in plain words."""

from __future__ import annotations

import bpy

from ...solver import catalogue
from .. import kinds, members
from ..gather import contact as contacts
from ..text import hint, setting
from . import fields

#: how many objects in contact are named
NAMED = 3


def draw(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the collisions of a soft body or collider: partners, friction, and the objects that they are now."""
    obj, contact = context.object, context.object.conjac.contact
    if not members.is_soft_body(obj):
        _draw_collider(layout, contact)
        hint(layout, thin_sentence(obj)
             or "Soft bodies that collide with all, or with a collection that it is in, collide with it")
        return
    setting(layout, contact, "collides_with")
    if contact.collides_with == kinds.COLLECTION:
        row = layout.row()
        row.alert = contact.collection is None
        row.prop(contact, "collection")
    if contact.collides_with == kinds.NOTHING:
        setting(layout, contact, "is_collider")
        if contact.is_collider:
            _draw_collider(layout, contact)
        return
    setting(layout, contact, "itself")
    if not members.is_sharp(obj):
        fields.draw(layout, obj, "pins")
        if contact.pins_yield and not contact.itself:
            hint(layout, "Pressed flat, it passes through itself: enable Self Collision")
    for part in ("friction", "surface", "distance"):
        fields.draw(layout, obj, part)
    hint(layout, _sentence(obj, context.scene))
    if members.shared_settings(obj).use_ground and members.colliders(obj, context.scene):
        hint(layout, "The Ground holds it too: it does not reach colliders below that plane")
    if members.mechanism_of(obj) is not None:
        hint(layout, "It touches only soft bodies that are attached to the same mechanism")
    layout.operator("conjac.select_crossing", icon="RESTRICT_SELECT_OFF")
    layout.operator("conjac.contact_attributes", icon="SPREADSHEET")
    setting(layout, contact, "attributes_follow")
    _draw_what_does_not_go(layout, obj)


def draw_law(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """Draw the contact law of a body that collides."""
    if members.is_soft_body(obj) and obj.conjac.contact.collides_with != kinds.NOTHING:
        fields.draw(layout, obj, "law")


def _draw_collider(layout: bpy.types.UILayout, contact: bpy.types.PropertyGroup) -> None:
    setting(layout, contact, "friction")
    setting(layout, contact, "thickness")


def thin_sentence(obj: bpy.types.Object) -> str | None:
    """Return a sentence about a collider without faces; None where it has some, or modifiers that may make some."""
    mesh = obj.data
    if len(mesh.polygons) or len(obj.modifiers) or not len(mesh.vertices):
        return None
    if len(mesh.edges):
        return "Its edges are wires, thin lines that cloth with Sharp Edges lies on; Thickness has no effect on them"
    return "Its vertices are tips of nails along its Z axis, on which cloth with Sharp Edges hangs"


def _sentence(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Whom it touches."""
    found = contacts.touched(obj, members.soft_bodies(obj, scene), members.colliders(obj, scene))
    names = [other.name for other in found if other != obj] + (["itself"] if obj in found else [])
    holder = members.owner(obj)
    if members.touches_soft(holder) and members.wants(obj, holder):
        names.append(f"the bodies of {holder.name}")
    contact = obj.conjac.contact
    if not names and contact.collides_with == kinds.COLLECTION:
        if contact.collection is None:
            return "It touches nothing yet: choose the Collection that it collides with"
        return (f'It touches nothing yet: "{contact.collection.name}" has no collider and no soft body that collides '
                "with it too")
    if not names:
        return "It touches nothing yet: nothing else here collides with it"
    shown = ", ".join(names[:NAMED])
    return f"It touches {shown}{f' and {len(names) - NAMED} more' if len(names) > NAMED else ''}"


def _draw_what_does_not_go(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """Draw the reasons for which a bake with contact would be refused."""
    holder = members.owner(obj)
    shared = holder.conjac.solver
    integrator = catalogue.find("integrator", shared.integrator)
    if not integrator.able("contact"):
        hint(layout, f"{integrator.label} does not support contact: choose Semi-Implicit Euler, Backward "
             "Euler, BDF2 or SDIRK2")
    law = catalogue.find("contact", holder.conjac.contact.law)
    if law.able("constraints"):
        hint(layout, f"{law.label}: objects in contact slide without friction")
        if catalogue.find("method", obj.conjac.method).follows or members.is_mechanism(holder) or members.is_sharp(obj):
            hint(layout, f"{law.label} work only with Vanilla FEM, without bones and Sharp Edges: choose Barrier")
    if shared.accuracy:
        hint(layout, "Contact needs steps of constant length: set Accuracy to 0")
    if len(obj.conjac.cuts) and obj.conjac.contact.by_mesh:
        hint(layout, "Cuts change the colliding mesh: disable Collide by Mesh")
