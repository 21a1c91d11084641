"""`Object.conjac.contact`: what a soft body or a collider touches, and how it rubs."""

import bpy

from ..solver import catalogue
from . import changes
from .identity import OVERRIDABLE
from .menus import default, item, items

NONE, ALL, COLLECTION = "none", "all", "collection"


class CONJAC_Contact(bpy.types.PropertyGroup):
    """Contact settings of a soft body or a collider; `entry_properties` adds its own."""

    __slots__ = ()

    collides_with: bpy.props.EnumProperty(
        name="Collides With", description="What it collides with. Soft bodies that collide with each other are baked "
        "together", default=NONE, override=OVERRIDABLE,
        items=[item(NONE, "Nothing", "It goes through everything but the ground", 0),
               item(ALL, "All", "All colliders of the scene, and all soft bodies that collide", 1),
               item(COLLECTION, "Collection", "What is in a collection, if that collides with it too", 2)])
    collection: bpy.props.PointerProperty(
        name="Collection", description="The colliders and soft bodies that it collides with", type=bpy.types.Collection,
        override=OVERRIDABLE)
    itself: bpy.props.BoolProperty(
        name="Self Collision", description="Its own parts collide with each other: bodies that fold need it, and it "
        "takes time", default=False, override=OVERRIDABLE)
    is_collider: bpy.props.BoolProperty(
        name="Collider to Others", description="Other soft bodies collide with it as it plays now; it ignores them",
        default=False, override=OVERRIDABLE)
    friction: bpy.props.FloatProperty(
        name="Friction", description="Coulomb's coefficient: 0 slides like ice. Two objects in contact use the "
        "geometric mean of theirs", default=0.5, min=0.0, max=100.0, soft_max=1.0, precision=3, override=OVERRIDABLE)
    distance: bpy.props.FloatProperty(
        name="Contact Distance", description="Distance at which surfaces begin to repel each other; 0 fits the "
        "tetrahedra. A larger one is faster, and shows a gap", default=0.0, min=0.0, soft_max=0.1, precision=4,
        unit="LENGTH", override=OVERRIDABLE)
    law: bpy.props.EnumProperty(
        name="Law", description="How surfaces are kept apart; for all objects that are baked together",
        default=default("contact"),
        override=OVERRIDABLE, items=items(catalogue.menu("contact").values()))
    push_apart: bpy.props.IntProperty(
        name="Push Apart", description="Number of frames, about, in which objects that intersect at the start are "
        "pushed apart; 0 refuses to bake them", default=0, min=0, soft_max=48, override=OVERRIDABLE)
    attributes_follow: bpy.props.BoolProperty(
        name="Attributes Follow", description="Write the contact forces into its mesh at each frame, as "
        "contact_force and contact_pressure. ConJac must be installed where it plays or renders", default=False,
        update=changes.note, override=OVERRIDABLE)


classes = (CONJAC_Contact,)
