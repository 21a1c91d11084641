"""`Object.conjac`: every setting of a soft body, made from solver/catalogue.

A parameter of a choice in FAMILIES becomes a property with its own key, and a paintable one a second one, `<key>_high`,
for the value where its map is painted 1. A map becomes `<key>_group`. Settings of the numerics are in a group of their
own, `Object.conjac.solver`; `holder` returns the group of a property. Lengths are in Blender units here; `si` converts
a property to SI.
"""

import functools
from typing import Any

import bpy

from ..solver import catalogue
from ..solver.catalogue import Entry, Param
from . import changes, compat, contact, dials, entries, identity, job_fields, kinds, parts, renamed
from .declared import group_key, properties
from .entry_properties import OVERRIDABLE, finish, menu, number, with_dial
from .handles import has_curves, keep_identifier, painted_names
from .menus import MENUS, default, item

#: families whose choice is a menu and whose parameters are settings
FAMILIES = ("method", "material", "fiber_material", "fiber_field", "damping", "carry", "spot", "friction", "mesher",
            "integrator", "stage_solver", "membrane", "bending", "rope")

#: those of them that are the solver's: how motion is computed, and not what the body is
OF_SOLVER = ("method", "integrator", "stage_solver")

#: of settings as files keep them: raised when some of them change their meaning, with a step in upgrade.py. Files from
#: before there was one have 0
VERSION = 1

#: families with the choice *None*, and its menu item
OPTIONAL = {"fiber_material": item("none", "None", "Equally stiff in every direction", 0),
            "friction": item("none", "None", "No friction on the ground", 0),
            "spot": entries.SINGLE}

#: Blender's units that grow with the scene's unit scale
SCALED_UNITS = frozenset({"LENGTH", "VELOCITY", "ACCELERATION"})

#: the format that has the faces of each frame, where cloth is remeshed; others keep the vertices of the artist's mesh
SHARP_EXPORT = "abc"

#: times stiffer (or heavier) where a map is painted, if the artist has not set it
STIFF_RATIO = 10.0

#: settings that may have keyframes: they are read at every sample. (Targets of motors are not among the settings)
READ_OVER_TIME = (catalogue.ACTIVATION.key, "strength",
                  *(job_field.name for job_field in job_fields.FIELDS if job_field.keyed))
#: the same of a constraint
TIED_OVER_TIME = ("hold", "stiffness", "strength", "length")


def property_name(entry: Entry, param: Param) -> str:
    """Return the name of the property behind a parameter: its key, or "<entry>_<key>" where another entry means
    something else."""
    return param.key if _firsts().get(param.key, param) is param else f"{entry.key}_{param.key}"


def painted_params() -> dict[str, Param]:
    """Return the parameters that a painted map blends, by key."""
    return {param.key: param for entry in catalogue.maps().values() for param in entry.params}


def painted_default(param: Param, unpainted: float | None = None) -> float:
    """Return the number where a map is painted 1, if the artist has not set it: ten times a value with a unit, else the
    slider's end.

    unpainted: what the number is where nothing is painted; its default where it is left out.
    """
    if param.unit:
        times = STIFF_RATIO * (param.default if unpainted is None else unpainted)
        return min(times, param.high) if param.high is not None else times
    ends = (param.soft_high, param.high, param.default)
    return float(next(end for end in ends if end is not None))


def default_group(entry: Entry) -> str:
    """Return the name of a map's group until the artist changes it. None of a field: a group "Density" may be for hair.
    """
    return entry.label if entry.key in catalogue.family("map") else ""


def is_chosen(settings: bpy.types.PropertyGroup, entry: Entry) -> bool:
    """Whether the artist has named the group of a map."""
    return getattr(settings, f"{entry.key}_group") not in ("", default_group(entry))


def fields_in_use(settings: bpy.types.PropertyGroup) -> set[str]:
    """Keys of the parameters that a map may blend with the present choices."""
    chosen = [catalogue.find("material", settings.material)]
    if settings.fiber_material != "none":
        chosen.append(catalogue.find("fiber_material", settings.fiber_material))
    return {param.key for entry in chosen for param in entry.params if param.field} | {catalogue.DENSITY.key}


def maps_in_use(settings: bpy.types.PropertyGroup) -> dict[str, Entry]:
    """Return the maps that have an effect with the present choices, by key."""
    fields = fields_in_use(settings)
    return {key: entry for key, entry in catalogue.maps().items()
            if not entry.params or any(param.key in fields for param in entry.params)}


def holder(settings: bpy.types.PropertyGroup, name: str) -> bpy.types.PropertyGroup:
    """Return the group of settings that contains a property: the solver's, or the given one."""
    return settings.solver if isinstance(settings, CONJAC_Settings) and name in CONJAC_Solver.NAMES else settings


def si(settings: bpy.types.PropertyGroup, name: str, scene: bpy.types.Scene) -> float | int | bool:
    """Return the value of a property in SI: lengths, speeds and accelerations times the scene's unit scale."""
    settings = holder(settings, name)
    value = getattr(settings, name)
    if not isinstance(value, float):
        return value
    definition = settings.bl_rna.properties[name]
    of_catalogue = isinstance(settings, (CONJAC_Settings, CONJAC_Solver)) and name in _DEFAULTS
    if of_catalogue and not settings.is_property_set(name):
        exact = float(_DEFAULTS[name])  # 1/3 and not its nearest float32
    else:
        exact = shortest(value)
    return exact * unit_scale(scene) if definition.unit in SCALED_UNITS else exact


def shortest(value: float) -> float:
    """Return the shortest decimal for a float32, as the artist typed it. Blender stores 0.45 as 0.449999988."""
    return float(f"{value:.7g}")


def unit_scale(scene: bpy.types.Scene) -> float:
    """Metres per Blender unit."""
    return shortest(scene.unit_settings.scale_length)


@functools.cache
def _entries() -> tuple[Entry, ...]:
    return tuple(entry for family in FAMILIES for entry in catalogue.menu(family).values())


@functools.cache
def _firsts() -> dict[str, Param]:
    """Return the first parameter of each key."""
    return {param.key: param for entry in reversed(_entries()) for param in reversed(entry.params)}


class CONJAC_Solver(bpy.types.PropertyGroup):
    """How motion is computed: what an artist needs not know of a body. Methods, integrators and stage solvers come from
    the catalogue, with their parameters, and steps from `scene_fields`.
    """

    __slots__ = ()



class CONJAC_Settings(bpy.types.PropertyGroup):
    """Everything an artist sets for one soft body, and the names of solver settings, as scripts know them. Results are
    never kept here; `bake` adds its own method."""

    __slots__ = ()

    property_unset, is_property_set = renamed.property_unset, renamed.is_property_set

    version: bpy.props.IntProperty(
        name="Version", description="Version of the settings with which these were saved",
        default=0, override=OVERRIDABLE)
    kind: bpy.props.EnumProperty(
        name="Kind", description="What ConJac simulates this object as", default=kinds.NONE, override=OVERRIDABLE,
        items=[item(kinds.NONE, "None", "Not simulated", kinds.NUMBERS[kinds.NONE]),
               item(kinds.SOFT_BODY, "Soft Body", "A mesh that bends and swings", kinds.NUMBERS[kinds.SOFT_BODY]),
               item(kinds.CLOTH, "Cloth", "A mesh whose faces stretch, shear and fold", kinds.NUMBERS[kinds.CLOTH]),
               item(kinds.ROPE, "Rope", "A mesh whose edges are ropes or wires", kinds.NUMBERS[kinds.ROPE]),
               item(kinds.COLLIDER, "Collider", "A mesh that soft bodies collide with",
                    kinds.NUMBERS[kinds.COLLIDER]),
               item(kinds.MECHANISM, "Mechanism", "Jointed rigid bodies: an armature, or an Empty that represents "
                    "rigid body objects", kinds.NUMBERS[kinds.MECHANISM])])
    enabled: bpy.props.BoolProperty(
        name="ConJac", description="The old name of a kind that is not None", get=renamed.is_enabled,
        set=renamed.set_enabled, override=OVERRIDABLE)
    solver: bpy.props.PointerProperty(
        name="Solver", description="How its motion is computed", type=CONJAC_Solver, override=OVERRIDABLE)

    quality: entries.quality()
    by_button: entries.by_button()
    as_played: entries.as_played()
    use_scene_range: bpy.props.BoolProperty(
        name="Scene Frame Range", description="Bake the frame range of the scene", default=True, override=OVERRIDABLE)

    simulate_after: bpy.props.StringProperty(
        name="Simulate After", description="The modifier whose result is simulated, by its name; MESH for the mesh "
        "itself; empty to choose it by the stack", default="", update=keep_identifier, override=OVERRIDABLE)
    simulate_after_uid: bpy.props.IntProperty(
        name="Simulate After", description="Blender's identifier of that modifier, which renaming does not change",
        default=0, options={"HIDDEN"}, override=OVERRIDABLE)

    use_ground: bpy.props.BoolProperty(
        name="Ground", description="Add a plane on which the body lands", default=False, override=OVERRIDABLE)
    ground_object: bpy.props.PointerProperty(
        name="Object", description="Object whose origin and local Z axis give the plane; it may move",
        type=bpy.types.Object, override=OVERRIDABLE)
    ground_height: bpy.props.FloatProperty(
        name="Height", description="Height of the ground if no object gives it", default=0.0, unit="LENGTH",
        precision=3, override=OVERRIDABLE)

    cloth_shape: bpy.props.EnumProperty(
        name="Rest Shape", description="Shape that the cloth is cut in and tries to return to", default="mesh",
        override=OVERRIDABLE, items=[
            item("mesh", "Mesh", "Each face keeps the shape that it has at the first frame; the warp runs along the "
                 "object's X", 0),
            item("uv", "UV Map", "Faces have the rest shape that the active UV map gives them, scaled to the area "
                 "of the mesh; the warp runs along U", 1)])

    soft_pins: bpy.props.BoolProperty(
        name="Soft Pins", description="Weights of Pin are strengths: 1 is hard, and lower weights give way more. "
        "If off, weights above 0.5 are hard and others have no effect, as in files of earlier versions",
        default=False, override=OVERRIDABLE)
    follow_object: bpy.props.PointerProperty(
        name="Follow", description="Object whose motion carries the body along, which reduces the effect of "
        "inertia", type=bpy.types.Object, override=OVERRIDABLE)
    use_sewing: bpy.props.BoolProperty(
        name="Sewing", description="Edges without a face are seams: they pull the cloth together and keep it together",
        default=False, override=OVERRIDABLE)

    fiber_curves_object: bpy.props.PointerProperty(
        name="Curves", description="Hair, a curve, or a mesh of edges that the fibers follow",
        type=bpy.types.Object, poll=has_curves, override=OVERRIDABLE)

    handles: bpy.props.CollectionProperty(
        name="Dynamic Handles", description="Empties that pick dynamic nodes", type=entries.CONJAC_Handle,
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})

    spots: bpy.props.CollectionProperty(
        name="Spots of Their Own", description="Groups of painted spots, each with its own way of moving",
        type=entries.CONJAC_Spots, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
    suggest_spots: bpy.props.BoolProperty(
        name="Suggest Where None", description="If there are no spots or handles, begin a bake with Nodes "
        "spots, where the body swings most", default=False, override=OVERRIDABLE)

    cuts: bpy.props.CollectionProperty(
        name="Cuts", description="Cuts through the body while it moves", type=entries.CONJAC_Cut,
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
    nails: bpy.props.CollectionProperty(
        name="Nails", description="Nails that hold parts of the body from some frame on", type=entries.CONJAC_Nail,
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
    pulls: bpy.props.CollectionProperty(
        name="Pulls", description="Pulls on spots of the body", type=entries.CONJAC_Pull,
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
    welds: bpy.props.CollectionProperty(
        name="Welds", description="Welds of the body to others", type=entries.CONJAC_Weld,
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
    constraints: bpy.props.CollectionProperty(
        name="Constraints", description="Constraints of points of the body", type=entries.CONJAC_Constraint,
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
    attachments: bpy.props.CollectionProperty(
        name="Attachments", description="Parts of the soft body that follow bones", type=parts.CONJAC_Attachment,
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
    contact: bpy.props.PointerProperty(
        name="Contact", description="Collisions of the body", type=contact.CONJAC_Contact, override=OVERRIDABLE)
    mechanism: bpy.props.PointerProperty(
        name="Mechanism", description="Settings of jointed rigid bodies", type=parts.CONJAC_Mechanism,
        override=OVERRIDABLE)
    part: bpy.props.PointerProperty(
        name="Joint", description="Settings of a rigid body object, or of an Empty that joins two",
        type=parts.CONJAC_Part, override=OVERRIDABLE)
    inside_material: bpy.props.PointerProperty(
        name="Inside Material", description="Material of the faces that a cut exposes, in a slot of their own",
        type=bpy.types.Material, override=OVERRIDABLE)
    suggestions: bpy.props.IntProperty(
        name="Suggestions", description="Number of dynamic nodes that Suggest Dynamic Nodes adds", default=4, min=1,
        soft_max=16, max=1000, override=OVERRIDABLE)

    wobble_hertz: bpy.props.FloatProperty(
        name="Wobble", description="Frequency of the slowest wobble [Hz], for Set Jiggle", default=2.5, min=0.01,
        soft_max=20.0, max=1.0e4, precision=2, override=OVERRIDABLE)

    export: menu("export", "Format", "Format of the bake for playback and rendering", default("export"))
    cache_folder: bpy.props.StringProperty(
        name="Cache Folder", description="Folder that holds a folder of results for each baked object",
        default="//conjac_cache/", subtype="DIR_PATH", override=OVERRIDABLE, **compat.RELATIVE_PATH)
    cache: bpy.props.PointerProperty(
        name="Cache", description="Which bake it plays", type=identity.CONJAC_Cache, override=OVERRIDABLE)


def _choose_alembic(settings: Any, context: bpy.types.Context) -> None:
    """Choose Alembic when Sharp Edges are enabled, unless a format was chosen: it is the one that shows each frame's
    faces."""
    changes.note(settings, context)
    if getattr(settings, catalogue.SHARP.key) and not settings.is_property_set("export"):
        settings.export = SHARP_EXPORT


def _choices(families: tuple[str, ...]) -> dict[str, Any]:
    """Menus of families, and the parameters of all that they offer, by name."""
    made = {}
    for family in families:
        first = (OPTIONAL[family],) if family in OPTIONAL else ()
        made[family] = menu(family, *MENUS[family], first[0][0] if first else default(family), first)
    for entry in _entries():
        if entry.family in families:
            for param in entry.params:
                made |= with_dial(param, property_name(entry, param))
    return made


def _maps() -> dict[str, Any]:
    """Return the properties of maps: groups, second values of painted parameters, and numbers with a dial, by name."""
    besides = (catalogue.DENSITY, catalogue.WOBBLE_HALF_LIFE, catalogue.PIN_STIFFNESS, *catalogue.CLOTH_NUMBERS,
               *catalogue.ROPE_NUMBERS, *catalogue.SHARP_NUMBERS, *catalogue.SHARP_OPTIONS)
    made = {name: definition for param in besides for name, definition in with_dial(param, param.key).items()}
    made[catalogue.SHARP.key] = number(catalogue.SHARP, update=_choose_alembic)
    for param in painted_params().values():
        made |= with_dial(
            param, f"{param.key}_high", name=f"{param.label} (Painted)", default=painted_default(param),
            description=f"{param.sentence}: where the map is painted 1")
    for entry in catalogue.maps().values():
        made[f"{entry.key}_group"] = bpy.props.StringProperty(
            name=f"{entry.label} Group", description=f"{entry.sentence}: the vertex group, or the float attribute of "
            "the vertices", default=default_group(entry), search=painted_names, search_options={"SORT", "SUGGESTION"},
            override=OVERRIDABLE)
        made[f"{entry.key}_invert"] = bpy.props.BoolProperty(
            name=f"Invert {entry.label}", description="Invert the weights: 0 where it is fully painted, 1 where it "
            "is not painted", default=False, override=OVERRIDABLE)
    return made


def _exact_defaults() -> dict[str, float | int | bool]:
    """Return the catalogue's defaults by property name, in double precision."""
    known = {property_name(entry, param): param.default for entry in _entries() for param in entry.params}
    numbers = (catalogue.DENSITY, catalogue.PIN_STIFFNESS, *catalogue.CLOTH_NUMBERS, *catalogue.ROPE_NUMBERS,
               *catalogue.SHARP_NUMBERS, *catalogue.SHARP_OPTIONS)
    return known | {param.key: param.default for param in numbers} | {"step": 1.0 / 120.0}


_DEFAULTS = _exact_defaults()
CONJAC_Solver.__annotations__.update(_choices(OF_SOLVER) | properties(job_fields.FIELDS, "solver"))
CONJAC_Solver.NAMES = frozenset(name for name in CONJAC_Solver.__annotations__
                                if not name.startswith(dials.PREFIX))
CONJAC_Settings.__annotations__.update(
    _choices(tuple(family for family in FAMILIES if family not in OF_SOLVER)) | _maps()
    | properties(job_fields.FIELDS, "")
    | renamed.moved({name: CONJAC_Solver.__annotations__[name] for name in CONJAC_Solver.NAMES}, "solver"))

classes = (*parts.classes, *identity.classes, *entries.classes, *contact.classes, CONJAC_Solver, CONJAC_Settings)

for _group in set(classes) - set(identity.classes):
    if _group not in (CONJAC_Solver, CONJAC_Settings):
        _group.__annotations__.update(properties(job_fields.FIELDS, group_key(_group.__name__)))
    finish(_group.__name__, _group.__annotations__, job_fields.FIELDS)
    _over_time = TIED_OVER_TIME if _group is entries.CONJAC_Constraint else READ_OVER_TIME
    for _name, _property in _group.__annotations__.items():
        # keyframes would be read once and change what is baked with the frame that the artist looks at
        if _name not in _over_time:
            _property.keywords["options"] = _property.keywords.get("options", set()) - {"ANIMATABLE"}
        # Blender notifies nobody else of changes by scripts
        if _property.function is not bpy.props.CollectionProperty and "get" not in _property.keywords:
            _property.keywords.setdefault("update", changes.note)


def register() -> None:
    parts.register()
    bpy.types.Object.conjac = bpy.props.PointerProperty(type=CONJAC_Settings, override=OVERRIDABLE)


def unregister() -> None:
    if hasattr(bpy.types.Object, "conjac"):
        del bpy.types.Object.conjac
    parts.unregister()
