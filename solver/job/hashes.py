"""Hashes of the inputs of each stage of a bake: mesh -> tets -> fields -> solve.

Settings of the scene, of each body and of each mechanism are flat, {"time.step": 0.004, …}, with defaults filled in and
arrays replaced by the digests of their files. The longest prefix of a setting's name among the fields of the schema
determines the stage that reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np

from .. import catalogue
from . import field_rules, over_time, schema, schema_mechanisms, schema_values
from .files import digest, digest_of
from .folder import Job, parameters
from .kinds import kind_of
from .object_pose import pose_of

STAGES = ("mesh", "tets", "fields", "solve")
FORMAT = {"mesh": 1, "tets": 2, "fields": 1, "solve": 1}  #: raise one when that stage's result changes its meaning

#: stage that reads a setting, by prefix; "" is read by no stage. Beside fields of the schema: friction of the ground,
#: which stands at the top, an object's pose, and "seed", which older caches have from before it went
SCENE_READERS = field_rules.stages(schema.Scene) | {"friction": "solve", "seed": ""}
BODY_READERS = field_rules.stages(schema.Body) | {"surface.place": "fields"}
MECHANISM_READERS = field_rules.stages(schema_mechanisms.Mechanism)

OF_FOLLOWED = ("spot.",)  #: what is not read of a body in which nothing follows dynamic nodes

Flat = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """All inputs on which the result of a bake depends."""

    scene: Flat
    bodies: dict[str, Flat]  #: by name
    digests: dict[str, str]  #: of every array file, by its name in the job folder
    mechanisms: dict[str, Flat]  #: by name
    #: digest of every array over time → its digests if the scene ended after each frame
    so_far: dict[str, list[str]] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return the settings as plain values for the manifest."""
        return {"scene": self.scene, "bodies": self.bodies, "mechanisms": self.mechanisms}

    def until(self, frame: int) -> Settings:
        """Return the settings that affect frames up to `frame`: arrays end there, later cuts and nails are left out."""
        index = frame - self.scene["time.start"]

        def earlier(flat: Flat) -> Flat:
            later = {name.removesuffix("frame") for name, value in flat.items()
                     if name.startswith(("cuts.", "nails.")) and name.endswith(".frame") and value >= frame}
            return {name: self.so_far[value][index] if self._ends_later(value, index) else value
                    for name, value in flat.items() if not name.startswith(tuple(later))}

        return replace(self, scene=earlier(self.scene), bodies={n: earlier(f) for n, f in self.bodies.items()},
                       mechanisms={name: earlier(flat) for name, flat in self.mechanisms.items()})

    def _ends_later(self, value: Any, index: int) -> bool:
        return isinstance(value, str) and 0 <= index < len(self.so_far.get(value, ()))


@dataclass(frozen=True)
class Hashes:
    """Hash of the inputs of each stage, including those of all earlier stages."""

    bodies: dict[str, dict[str, str]]  #: body name -> {"mesh", "tets", "fields"}
    solve: str

    def plain(self) -> dict[str, Any]:
        """Return the hashes as plain values for the manifest."""
        return {"bodies": self.bodies, "solve": self.solve}


def settings(job: Job) -> Settings:
    """Return the settings of a job with defaults filled in and arrays as digests.

    Raises BadScene for a path outside of the job folder, OSError for an array that cannot be read.
    """
    digests: dict[str, str] = {}
    so_far: dict[str, list[str]] = {}
    scene = dict(_flatten(job, job.scene, "", digests, so_far))
    scene.update(_choices(job.scene, ("method", "integrator", "stage_solver")))
    if job.scene.mechanisms:
        scene.update(_choices(job.scene, ("joint_friction",)))
    if job.scene.ground is not None and job.scene.ground.friction is not None:
        scene.update(_choices(job.scene.ground, ("friction",)))
    bodies = {}
    for body in job.scene.bodies:
        of_fibers = ("fiber_material", "fiber_field") if body.fiber_material else ()
        own = tuple(family for family in ("method", "integrator", "stage_solver", "spot")
                    if getattr(body, family) is not None)
        families = ("mesher", "material", "damping", "carry", *own, *of_fibers)
        flat = (dict(_flatten(job, body, "", digests, so_far)) | _choices(body, families)
                | _flatten_placed(job, body, digests))
        # not read: the mesher of a given volume, fibers without a material, interpolation of maps where there are
        # none, numbers that others replace, and the sheet thickness 0
        painted = {name for key in body.painted for name in (key, f"material.{key}", f"fiber_material.{key}")}
        unread = (*(("mesher.",) if body.tets else ()),
                  *kind_of(body).unread, *(() if body.fiber_material else ("fiber",)),
                  *_list_ignored_by_method(job.scene.method_of(body).kind),
                  *(("fiber_material.activation",) if body.fiber_activation else ()),
                  *(() if body.painted else ("carry.",)),
                  *(() if body.pin.weights else ("pin.stiffness",)),
                  *(() if flat.get("mesher.sheet_thickness") else ("mesher.sheet_thickness",)))
        bodies[body.name] = {key: value for key, value in flat.items()
                             if key not in painted and key != "surface.object_vertices" and not key.startswith(unread)}
    mechanisms = {mechanism.name: dict(_flatten(job, mechanism, "", digests, so_far))
                  for mechanism in job.scene.mechanisms}
    return Settings(scene, bodies, digests, mechanisms, so_far)


def _list_ignored_by_method(method: str) -> tuple[str, ...]:
    """Return the beginnings of the names of a body's settings that its method does not read."""
    return () if catalogue.find("method", method).follows else OF_FOLLOWED


def read_recorded(manifest: Mapping[str, Any]) -> Settings:
    """Return the inputs of a cache, from its manifest; `so_far` is empty for caches of older versions."""
    saved, sources = manifest["settings"], manifest["sources"]
    return Settings(saved["scene"], saved["bodies"], {name: source["digest"] for name, source in sources.items()},
                    saved.get("mechanisms", {}),
                    {source["digest"]: source["so_far"] for source in sources.values() if source.get("so_far")})


def _flatten(job: Job, part: msgspec.Struct, prefix: str, digests: dict[str, str],
             so_far: dict[str, list[str]]) -> Iterator[tuple[str, Any]]:
    """Yield (dotted name, plain value) of each field, and add digests of its arrays to `digests` and `so_far`.

    Left out are bodies and mechanisms, which have separate settings, and choices without the mark of a family.
    """
    for attribute in part.__struct_fields__:
        value, name = getattr(part, attribute), prefix + attribute
        if value is None or attribute in field_rules.separate(type(part)):
            continue
        if isinstance(value, schema_values.Choice):
            if family := field_rules.families(type(part)).get(attribute):
                yield f"{name}.kind", value.kind
                for key, number in sorted(parameters(family, value).items()):
                    yield f"{name}.{key}", number
        elif isinstance(value, msgspec.Struct):
            yield from _flatten(job, value, name + ".", digests, so_far)
        elif isinstance(value, dict):
            for key in sorted(value):
                yield from _flatten(job, value[key], f"{name}.{key}.", digests, so_far)
        elif isinstance(value, list) and all(isinstance(item, msgspec.Struct) for item in value):
            for i, item in enumerate(value):
                yield from _flatten(job, item, f"{name}.{i}.", digests, so_far)
        elif isinstance(value, str) and attribute in field_rules.arrays(type(part)):
            if value not in digests:
                if rows := field_rules.rows_per_frame(type(part), attribute, job.scene.time.samples_per_frame):
                    digests[value], frames = over_time.digests(job.array_path(value), rows)
                    so_far[digests[value]] = frames
                elif (type(part), attribute) == (schema.Pin, "until"):
                    digests[value] = digest(job.array_path(value))
                    time = job.scene.time
                    so_far[digests[value]] = over_time.digest_releases(job.array(value),
                                                                       range(time.start, time.end + 1))
                else:
                    digests[value] = digest(job.array_path(value))
            yield name, digests[value]
        else:
            yield name, list(value) if isinstance(value, tuple) else value


def _flatten_placed(job: Job, body: schema.Body, digests: dict[str, str]) -> Flat:
    """Return the settings of a body's mesh in object space, with which a moved object retains its tetrahedra.

    These are vertices, and scale and pose where they are not identities; none where the job has no object space.
    """
    pose = None if body.surface is None else pose_of(job, body.surface)
    if body.surface is None or pose is None:
        return {}
    flat: Flat = {"surface.vertices": digests[body.surface.object_vertices or ""]}
    if not np.array_equal(pose.scale, np.eye(3)):
        flat["surface.scale"] = pose.scale[np.triu_indices(3)].tolist()
    if not np.array_equal(pose.to_world, np.eye(4)):
        flat["surface.place"] = pose.to_world[:3].ravel().tolist()
    return flat


def _choices(part: schema.Scene | schema.Body | schema.Ground, families: tuple[str, ...]) -> Flat:
    flat: Flat = {}
    for family in families:
        choice: schema_values.Choice = getattr(part, family)
        flat[f"{family}.kind"] = choice.kind
        flat |= {f"{family}.{key}": value for key, value in parameters(family, choice).items()}
    return flat


def hashes(read: Settings) -> Hashes:
    """Return the hash of the inputs of each stage: its settings, its arrays, and the hash of the previous stage."""
    bodies: dict[str, dict[str, str]] = {}
    for name, flat in read.bodies.items():
        above, of = "", {}
        for stage in STAGES[:-1]:
            of[stage] = above = _hash(stage, above, _reads(stage, flat, BODY_READERS))
        bodies[name] = of
    return Hashes(bodies, _solve(bodies, without_names(read)))


def _solve(above: Mapping[str, dict[str, str]], read: Settings) -> str:
    settings = {"scene": _reads("solve", read.scene, SCENE_READERS),
                "bodies": [_reads("solve", flat, BODY_READERS) for flat in read.bodies.values()],
                "mechanisms": [_reads("solve", flat, MECHANISM_READERS) for flat in read.mechanisms.values()]}
    return _hash("solve", json.dumps([of["fields"] for of in above.values()]), settings)


#: fields that refer to a body of the mechanism by name, and fields that only name an item
_POINTS_AT, _CALLED = ("child", "parent", "body_a", "body_b"), ("name", "uuid")


def without_names(read: Settings) -> Settings:
    """Return the settings with indices instead of references by name, since names have no effect on the motion."""
    soft, indices = _indices(read.bodies), _indices(read.mechanisms)
    rigid = {name: {value: key.split(".")[1] for key, value in flat.items() if _is_name_of_body(key)}
             for name, flat in read.mechanisms.items()}

    labels = soft | {value: f"obstacle {key.split('.')[1]}" for key, value in read.scene.items()
                  if key.startswith("obstacles.") and key.endswith(".name")}
    labels |= {name: f"mechanism {index}" for name, index in indices.items()}

    def in_body(flat: Flat) -> Flat:
        renamed = dict(flat)
        if "touches" in flat:
            renamed["touches"] = sorted(str(labels.get(name, name)) for name in flat["touches"])
        for key in flat:
            if key.startswith("attach.") and key.endswith(".body"):
                mechanism = key.removesuffix("body") + "mechanism"
                if flat.get(mechanism):
                    renamed[mechanism] = indices.get(flat[mechanism], flat[mechanism])
                    renamed[key] = rigid.get(flat[mechanism], {}).get(flat[key], flat[key])
                else:
                    renamed[key] = soft.get(flat[key], flat[key])
        return renamed

    def in_mechanism(name: str, flat: Flat) -> Flat:
        renamed = {}
        for key, value in flat.items():
            end = key.rpartition(".")[2]
            if "." not in key or end not in _CALLED:
                renamed[key] = rigid[name].get(value, value) if "." in key and end in _POINTS_AT else value
        return renamed

    def in_scene(key: str, value: Any) -> Any:
        if key.startswith("forces.") and key.endswith(".bodies"):
            return [soft.get(name, name) for name in value]
        if key.startswith("constraints.") and key.endswith(".mechanism"):
            return indices.get(value, value)
        if key.startswith("constraints.") and key.endswith(".body"):
            mechanism = read.scene.get(key.removesuffix("body") + "mechanism")
            return (rigid.get(mechanism, {}) if mechanism else soft).get(value, value)
        return value

    scene = {key: in_scene(key, value) for key, value in read.scene.items()
             if not (key.startswith(("obstacles.", "constraints.")) and key.endswith(".name"))}
    return replace(read, scene=scene, bodies={name: in_body(flat) for name, flat in read.bodies.items()},
                   mechanisms={name: in_mechanism(name, flat) for name, flat in read.mechanisms.items()})


def _indices(names: Iterable[str]) -> dict[str, int]:
    return {name: index for index, name in enumerate(names)}


def _is_name_of_body(key: str) -> bool:
    return key.startswith("bodies.") and key.endswith(".name")


def is_same_solve(manifest: Mapping[str, Any], read: Settings) -> bool:
    """Return whether baked frames are valid for these settings, up to the last frame of both the cache and the job."""
    if manifest["hashes"]["solve"] == hashes(read).solve:
        return True
    before, after = in_common(manifest, read)
    return hashes(before).solve == hashes(after).solve and means_the_same(manifest)


def means_the_same(manifest: Mapping[str, Any]) -> bool:
    """Return whether this version of ConJac computes the motion of a cache from the cache's settings."""
    old = read_recorded(manifest)
    return manifest["hashes"]["solve"] in (hashes(old).solve, _hash_named_solve(old), _older_solve(old))


def in_common(manifest: Mapping[str, Any], read: Settings) -> tuple[Settings, Settings]:
    """Return the inputs of a cache and of a job, both limited to the frames that both have."""
    old, until = as_read(read_recorded(manifest)), min(manifest["end"], read.scene["time.end"])
    if not old.so_far:  # older manifests have digests of whole arrays, or no times
        read = replace(read, so_far={})
    return old.until(until), read.until(until)


def as_read(old: Settings) -> Settings:
    """Return the inputs of a cache without those that this version does not read; older versions recorded them."""
    def body(flat: Flat) -> Flat:
        unread = _list_ignored_by_method(flat["method.kind"] if "method.kind" in flat else old.scene["method.kind"])
        return {key: value for key, value in flat.items() if not key.startswith(unread)}

    return replace(old, bodies={name: body(flat) for name, flat in old.bodies.items()})


def _hash_named_solve(read: Settings) -> str:
    """Return the hash of the stage "solve" as older versions computed it: with names of rigid bodies only."""
    named = replace(without_names(read), mechanisms=read.mechanisms)
    for name, flat in read.bodies.items():
        attached = {key: value for key, value in flat.items() if key.startswith("attach.") and key.endswith(".body")}
        named.bodies[name].update(attached)
    return _solve(hashes(read).bodies, named)


def _older_solve(read: Settings) -> str:
    """Return the hash of the stage "solve" as the oldest versions computed it: with all names and the last frame."""
    own = {name: _reads("solve", flat, BODY_READERS | {"name": "solve"}) for name, flat in read.bodies.items()}
    above = json.dumps([[name, of["fields"]] for name, of in hashes(read).bodies.items()])
    settings: dict[str, Any] = {"scene": _reads("solve", read.scene, SCENE_READERS | {"time.end": "solve"}),
                                "bodies": own}
    if read.mechanisms:
        settings["mechanisms"] = {name: _reads("solve", flat, MECHANISM_READERS | {"name": "solve"})
                                  for name, flat in read.mechanisms.items()}
    return _hash("solve", above, settings)


def _hash(stage: str, above: str, values: Mapping[str, Any]) -> str:
    text = json.dumps([stage, FORMAT[stage], above, values], sort_keys=True, separators=(",", ":"), allow_nan=False)
    return digest_of(text.encode())


def _reads(stage: str, flat: Flat, readers: Mapping[str, str]) -> Flat:
    return {name: value for name, value in flat.items() if reader(name, readers) == stage}


def reader(name: str, readers: Mapping[str, str]) -> str:
    """Return the name of the stage that reads a setting, by its longest prefix in `readers`. Raises KeyError."""
    return readers[longest_prefix(name, readers)]


def longest_prefix(name: str, table: Mapping[str, Any]) -> str:
    """Return the longest prefix of a dotted name that is a key of the table. Raises KeyError where none is."""
    while name not in table:
        name, dot, _ = name.rpartition(".")
        if not dot:
            raise KeyError(name)
    return name
