"""`Object.conjac.contact`: what a soft body or a collider touches, and how it rubs."""

import bpy

from ..solver import catalogue
from . import changes
from .identity import OVERRIDABLE
from .menus import default, item, items

NONE, ALL, COLLECTION = "none", "all", "collection"


class CONJAC_Contact(bpy.types.PropertyGroup):
    """What touches, whether soft body or collider."""

    __slots__ = ()

    collides_with: bpy.props.EnumProperty(
        name="Collides With", description="What it does not go through. Soft bodies that touch each other are baked "
        "together", default=NONE, override=OVERRIDABLE,
        items=[item(NONE, "Nothing", "It goes through everything but the ground", 0),
               item(ALL, "All", "All colliders of the scene, and all soft bodies that collide", 1),
               item(COLLECTION, "Collection", "What is in a collection, if that collides with it too", 2)])
    collection: bpy.props.PointerProperty(
        name="Collection", description="The colliders and soft bodies that it collides with", type=bpy.types.Collection,
        override=OVERRIDABLE)
    itself: bpy.props.BoolProperty(
        name="Self Collision", description="Its own parts do not go through each other: what folds needs it, and it "
        "costs time", default=False, override=OVERRIDABLE)
    pins_yield: bpy.props.BoolProperty(
        name="Pins Yield", description="What is pinned or hangs on a bone is held by stiff springs, so that animation "
        "presses it against what is before it and not through, which would end the bake", default=False,
        override=OVERRIDABLE)
    by_mesh: bpy.props.BoolProperty(
        name="Collide by Mesh", description="The faces of this mesh touch, as they are seen, and not those of its "
        "tetrahedra, which are coarser: exact, and slower the more faces there are", default=False,
        override=OVERRIDABLE)
    is_collider: bpy.props.BoolProperty(
        name="Collider to Others", description="Soft bodies that collide bump into it as it plays now; it feels "
        "nothing of them", default=False, override=OVERRIDABLE)
    friction: bpy.props.FloatProperty(
        name="Friction", description="Coulomb's coefficient: 0 slides like ice. Two that touch rub with the geometric "
        "mean of theirs", default=0.5, min=0.0, max=100.0, soft_max=1.0, precision=3, override=OVERRIDABLE)
    thickness: bpy.props.FloatProperty(
        name="Thickness", description="How far out of its faces it begins for others: of a collider "
        "along their normals, of a soft body all around", default=0.0,
        min=0.0, soft_max=0.1, precision=4, unit="LENGTH", override=OVERRIDABLE)
    distance: bpy.props.FloatProperty(
        name="Contact Distance", description="How near surfaces come before they push each other; 0 for what suits the "
        "tetrahedra. Larger is faster, and shows a gap", default=0.0, min=0.0, soft_max=0.1, precision=4,
        unit="LENGTH", override=OVERRIDABLE)
    law: bpy.props.EnumProperty(
        name="Law", description="What keeps surfaces apart; of all that is baked together", default=default("contact"),
        override=OVERRIDABLE, items=items(catalogue.menu("contact").values()))
    push_apart: bpy.props.IntProperty(
        name="Push Apart", description="In how many frames that which crosses at the start is pushed apart, about; 0 "
        "refuses to bake it", default=0, min=0, soft_max=48, override=OVERRIDABLE)
    attributes_follow: bpy.props.BoolProperty(
        name="Attributes Follow", description="At each frame write how hard it is pushed into its mesh, as "
        "contact_force and contact_pressure. ConJac has to be there where it plays or renders", default=False,
        update=changes.note, override=OVERRIDABLE)


classes = (CONJAC_Contact,)
