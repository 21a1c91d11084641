"""Bodies of a job whose own inputs equal those of an earlier bake, even if other bodies have changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..job.hashes import Flat, Settings

#: settings of the integrator and its steps, of the scene or of a body
STEPS = ("method", "integrator", "stage_solver")
STEP_SIZES = ("step", "largest_deformation")
#: settings of a body for contact, which matter only where it can touch another surface
IN_CONTACT = ("friction", "friction_weights", "thickness", "touches_by_mesh", "simplify")
IDENTITY = ("name", "uuid", "version")


@dataclass(frozen=True)
class Unchanged:
    """Unchanged inputs of a job, compared with an earlier bake."""

    bodies: dict[str, str]  #: names of soft bodies with equal inputs, now → in the earlier bake
    mechanisms: bool  #: whether all mechanisms are as they were
    scene_steps: bool  #: whether method, integrator and steps of the scene are as they were
    contact: bool  #: whether contact of surfaces is as it was; False where only one of both has contact
    obstacles: frozenset[str] = frozenset()  #: names of added, removed or changed obstacles


def compare(old: Settings, new: Settings, uuids: tuple[Mapping[str, str], Mapping[str, str]]) -> Unchanged:
    """Return the unchanged inputs: bodies of `new` that move as in `old` as long as no other body comes near them.

    uuids: UUIDs of the soft bodies by name, of the earlier bake and of the job.
    """
    nothing = Unchanged({}, False, False, False)
    before, now = (_group_settings(settings.scene) for settings in (old, new))
    if before.rest != now.rest:
        return nothing
    contact = before.contact == now.contact
    if not contact and (before.contact and now.contact or before.obstacles or now.obstacles):
        return nothing
    both = [name for name in before.obstacles if name in now.obstacles]
    if both != [name for name in now.obstacles if name in before.obstacles]:
        return nothing  # forces are added in the order of obstacles
    changed = {*before.obstacles, *now.obstacles} - {
        name for name in both if before.obstacles[name] == now.obstacles[name]}
    pairs = _pairs(old, new, uuids)
    called = {was: name for name, was in pairs.items()}
    known = {*called.values(), *both, *new.mechanisms}
    mechanisms = bool(new.mechanisms) and before.joints == now.joints and _without_identity(
        old.mechanisms) == _without_identity(new.mechanisms)
    unchanged = {}
    for name, was in pairs.items():
        earlier, other = _of_body(old, was), _of_body(new, name)
        touched = [None if flat.touches is None else {called.get(body, body) if flat is earlier else body
                                                      for body in flat.touches} & known for flat in (earlier, other)]
        same = touched[0] == touched[1] if contact else (
            _touches_nothing(earlier, was, bool(before.contact)) and _touches_nothing(other, name, bool(now.contact)))
        if contact:
            same = same and earlier.in_contact == other.in_contact and (
                _has_contact(earlier, was, before.obstacles) == _has_contact(other, name, now.obstacles))
        joined = _joining(old.scene, was, called) == _joining(new.scene, name, {body: body for body in new.bodies})
        if same and joined and earlier.own == other.own:
            unchanged[name] = was
    return Unchanged(unchanged, mechanisms, before.steps == now.steps, contact, frozenset(changed))


@dataclass(frozen=True)
class _Scene:
    """Settings of a scene that apply to all bodies, by the inputs that depend on them."""

    rest: Flat
    steps: Flat
    contact: Flat
    obstacles: dict[str, Flat]  #: by name, in their order
    joints: Flat  #: settings that only mechanisms read


def _group_settings(scene: Flat) -> _Scene:
    """Return the settings of a scene by what they affect: all bodies, steps, contact, obstacles by name, joints."""
    steps = {key: value for key, value in scene.items()
             if _is_of(key, STEPS) or key in [f"time.{size}" for size in STEP_SIZES]}
    contact = {key: value for key, value in scene.items() if _is_of(key, ("contact",))}
    obstacles: dict[str, Flat] = {}
    for key, value in scene.items():
        if _is_of(key, ("obstacles",)):
            _, number, field = key.split(".", 2)
            obstacles.setdefault(number, {})[field] = value
    named = {str(flat.pop("name")): flat for flat in obstacles.values()}
    joints = {key: value for key, value in scene.items() if _is_of(key, ("joint_friction",))}
    separate = {*steps, *contact, *joints, *IDENTITY}
    rest = {key: value for key, value in scene.items()
            if key not in separate and not _is_of(key, ("forces", "constraints", "obstacles"))}
    return _Scene(rest, steps, contact, named, joints)


@dataclass(frozen=True)
class _Body:
    """Inputs of a soft body, by what depends on them."""

    own: Flat  #: with its method and its steps, its own or the scene's
    in_contact: Flat
    touches: list[str] | None


def _of_body(read: Settings, name: str) -> _Body:
    """Return the settings of a body, its own and those that it has from the scene, without its identity."""
    flat, scene = read.bodies[name], read.scene
    own = {key: value for key, value in flat.items()
           if not _is_of(key, (*STEPS, *STEP_SIZES, *IN_CONTACT, *IDENTITY, "touches"))}
    for family in STEPS:
        source = flat if f"{family}.kind" in flat else scene
        own |= {key: value for key, value in source.items() if _is_of(key, (family,))}
    own |= {size: flat[size] if flat.get(size) is not None else scene[f"time.{size}"] for size in STEP_SIZES}
    in_contact = {key: value for key, value in flat.items() if _is_of(key, IN_CONTACT)}
    return _Body(own, in_contact, flat.get("touches"))


def _touches_nothing(one: _Body, name: str, has_contact: bool) -> bool:
    """Return whether a solid, in a scene without obstacles, is in no contact until another body comes near.

    has_contact: whether the scene has contact, in which a body without a list of what it touches touches itself.
    """
    solid = not any(_is_of(key, ("cloth", "rope")) for key in one.own)
    return solid and (not has_contact or (one.touches is not None and name not in one.touches))


def _has_contact(one: _Body, name: str, obstacles: Iterable[str]) -> bool:
    """Return whether the settings of a body allow contact with itself or an obstacle."""
    return one.touches is None or bool({*one.touches} & {name, *obstacles})


def _pairs(old: Settings, new: Settings, uuids: tuple[Mapping[str, str], Mapping[str, str]]) -> dict[str, str]:
    """Return the name in the earlier bake of each body of the job, by its name: by UUID, or by name without a UUID."""
    by_uuid = {uuid: name for name, uuid in uuids[0].items() if uuid and name in old.bodies}
    earlier = dict[str, str]()
    for name in new.bodies:
        uuid = uuids[1].get(name, "")
        was = by_uuid.get(uuid) if uuid else name if name in old.bodies else None
        if was is not None and was not in earlier.values():
            earlier[name] = was
    return earlier


def _joining(scene: Flat, name: str, called: Mapping[str, str]) -> list[Flat]:
    """Return the forces and constraints that act on a soft body, with its bodies renamed by `called`."""
    entries: dict[str, Flat] = {}
    for key, value in scene.items():
        if _is_of(key, ("forces", "constraints")):
            family, number, field = key.split(".", 2)
            entries.setdefault(f"{family}.{number}", {})[field] = value
    joining = []
    for entry in entries.values():
        soft = [*entry.get("bodies", ())]
        soft += [value for field, value in entry.items()
                 if field.endswith(".body") and not entry.get(field.removesuffix("body") + "mechanism")]
        if name in soft:
            joining.append({field: _rename(entry, field, value, called) for field, value in entry.items()
                            if field != "name"})
    return joining


def _rename(entry: Flat, field: str, value: Any, called: Mapping[str, str]) -> Any:
    """Return a field's value with present names of bodies for those of the earlier bake; None for other bodies."""
    if field == "bodies":
        return [called.get(name) for name in value]
    if field.endswith(".body") and not entry.get(field.removesuffix("body") + "mechanism"):
        return called.get(value)
    return value


def _without_identity(mechanisms: Mapping[str, Flat]) -> dict[str, Flat]:
    """Return the settings of mechanisms without their objects' identifiers."""
    return {name: {key: value for key, value in flat.items() if key.rpartition(".")[2] != "uuid"}
            for name, flat in mechanisms.items()}


def _is_of(key: str, fields: tuple[str, ...]) -> bool:
    """Return whether a dotted key belongs to one of some fields or to an entry inside it."""
    return key.partition(".")[0] in fields
