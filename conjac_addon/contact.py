"""`Object.conjac.contact`: contacts and friction of a soft body or a collider. Which objects touch depends on the
settings of both; settings of a single object are declared once, in FIELDS."""

from typing import Any

import bpy

from ..solver import catalogue
from . import changes, kinds, members, timeline
from .declared import BOOL, ENUM, FLOAT, INT, OBSTACLE, SCENE, TOUCHING, UNWRITTEN, JobField
from .identity import OVERRIDABLE
from .menus import default, item, items


class CONJAC_Contact(bpy.types.PropertyGroup):
    """Contact settings of a soft body or a collider; FIELDS are its own too."""

    __slots__ = ()

    collides_with: bpy.props.EnumProperty(
        name="Collides With", description="What it collides with. Soft bodies that collide with each other are baked "
        "together", default=kinds.NOTHING, override=OVERRIDABLE,
        items=[item(kinds.NOTHING, "Nothing", "It passes through everything but the ground", 0),
               item(kinds.ALL, "All", "All colliders and all colliding soft bodies of the scene", 1),
               item(kinds.COLLECTION, "Collection", "The colliders and soft bodies of a collection, if they collide "
                                                    "with it too", 2)])
    collection: bpy.props.PointerProperty(
        name="Collection", description="The colliders and soft bodies that it collides with", type=bpy.types.Collection,
        override=OVERRIDABLE)
    itself: bpy.props.BoolProperty(
        name="Self Collision", description="Its own parts collide with each other. Bodies that fold need it, but it "
        "takes time", default=False, override=OVERRIDABLE)
    is_collider: bpy.props.BoolProperty(
        name="Collider to Others", description="Other soft bodies collide with it as it plays now; it ignores them",
        default=False, override=OVERRIDABLE)
    attributes_follow: bpy.props.BoolProperty(
        name="Attributes Follow", description="Write the contact forces into its mesh at each frame, as "
        "contact_force and contact_pressure. ConJac must be installed where it plays or renders", default=False,
        update=changes.note, override=OVERRIDABLE)


classes = (CONJAC_Contact,)


def _is_volume(obj: bpy.types.Object) -> bool:
    """Whether an object is a volume. It does not import `members`, for a fast start of Blender."""
    return members.is_volume(obj)


def _leading(obj: bpy.types.Object) -> Any:
    """Return the settings of the object that leads an object's bake."""
    return members.owner(obj).conjac


def _law(obj: bpy.types.Object) -> catalogue.Entry:
    """Return the contact law of a bake. obj: any object of it."""
    return catalogue.find("contact", members.owner(obj).conjac.contact.law)


def pushes_apart(obj: bpy.types.Object) -> bool:
    """Whether the contact law of a bake can push apart objects that intersect at the start. obj: any object of it."""
    return any(param.key == "push_apart" for param in _law(obj).params)


#: of what touches, where anything does
FIELDS = [
    JobField("contact.law.kind", ENUM(
        name="Law", description="How surfaces are kept apart; for all objects that are baked together",
        default=default("contact"),
        override=OVERRIDABLE, items=items(catalogue.menu("contact").values())),
        "law", "contact", "law", of=SCENE, when=TOUCHING, whose=_leading, always=True),
    JobField("contact.law.params.distance", FLOAT(
        name="Contact Distance", description="Distance at which surfaces begin to repel each other; 0 fits the "
        "tetrahedra. A larger one is faster, and shows a gap", default=0.0, min=0.0, soft_max=0.1, precision=4,
        unit="LENGTH", override=OVERRIDABLE), "distance", "contact", of=SCENE, when=TOUCHING, whose=_leading,
        always=True),
    JobField("contact.law.params.push_apart", INT(
        name="Push Apart", description="Approximate number of frames in which objects that intersect at the start are "
        "pushed apart; 0 refuses to bake them", default=0, min=0, soft_max=48, override=OVERRIDABLE),
        "distance", "contact", of=SCENE, when=TOUCHING, whose=_leading, suits=pushes_apart, shows=pushes_apart,
        value=lambda reading: reading.holder.push_apart / timeline.frame_rate(reading.scene) or UNWRITTEN),
    JobField("friction", FLOAT(
        name="Friction", description="Coulomb friction coefficient: 0 slides like ice. Two objects in contact use the "
        "geometric mean of their values", default=0.5, min=0.0, max=100.0, soft_max=1.0, precision=3,
        override=OVERRIDABLE),
        "friction", "contact", when=TOUCHING, always=True, grey="the contact law has no friction",
        counts=lambda obj: not members.is_soft_body(obj) or not _law(obj).able("constraints")),
    JobField("friction", group="contact", of=OBSTACLE, when=TOUCHING, always=True),
    JobField("pins_yield", BOOL(
        name="Pins Yield", description="Hold pinned parts, and parts on bones, by stiff springs, so that animation "
        "presses them against an obstacle instead of moving them through it, which would stop the bake", default=False,
        override=OVERRIDABLE),
        "pins", "contact", when=TOUCHING, suits=lambda obj: members.collides(obj) and not members.is_sharp(obj)),
    JobField("thickness", FLOAT(
        name="Thickness", description="Distance outside of its faces at which others collide with it: of a collider "
        "along the normals, of a soft body all around", default=0.0,
        min=0.0, soft_max=0.1, precision=4, unit="LENGTH", override=OVERRIDABLE),
        "surface", "contact", when=TOUCHING, suits=_is_volume),
    JobField("touches_by_mesh", BOOL(
        name="Collide by Mesh", description="The visible faces of this mesh collide, instead of those of its "
        "tetrahedra, which are coarser: exact, and slower the more faces there are", default=False,
        override=OVERRIDABLE),
        "surface", "contact", "by_mesh", when=TOUCHING, suits=_is_volume),
    JobField("simplify", FLOAT(
        name="Simplify", description="Collide by fewer faces, which enclose the visible mesh and stand off by up to "
        "this share of the object's size. Faster where the mesh is finer than its tetrahedra; 0 makes all faces "
        "collide",
        default=0.0, min=0.0, max=0.1, soft_max=0.01, precision=4, override=OVERRIDABLE),
        "surface", "contact", when=TOUCHING, needs="by_mesh", suits=_is_volume),
]
