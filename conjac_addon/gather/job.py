"""Blender's object → a job folder: settings, surface, maps and motion, in the order of scene.json."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...solver import catalogue
from ...solver.errors import BadInput
from .. import settings as properties
from . import fibers, maps
from .cuts import Cuts, cut_settings
from .evaluation import Evaluation
from .folder import JobFolder
from .ground import GroundPlane
from .mesh import check_stack, surface
from .motion import Motion
from .nails import Nails, nail_settings

Report = Callable[[str], None]


def write_job(obj: bpy.types.Object, scene: bpy.types.Scene, folder: Path, report: Report | None = None) -> None:
    """Write the job of one object; `report` takes sentences for the artist. Raises ConJacError."""
    for _ in write_job_steps(obj, scene, folder, report):
        pass


def write_job_steps(obj: bpy.types.Object, scene: bpy.types.Scene, folder: Path, report: Report | None = None,
                    still: bool = False) -> Iterator[tuple[float, str]]:
    """The same, giving (fraction done, what is being read) after each frame so that a window stays live.

    Closing it early restores the scene and leaves the folder as it was. still: only the start frame, nothing moves.
    """
    report = report or (lambda text: None)
    start, end = frame_range(obj, scene)
    end = start if still else end
    job = JobFolder(folder, obj.name)
    try:
        with Evaluation(obj, scene) as evaluation:
            document = scene_settings(obj, scene, (start, end))
            evaluation.go_to(start)
            vertices, pinned = _fill_body(document["bodies"][0], evaluation, job, report)
            if not document["bodies"][0]["dynamic"] and not still:
                report(f'"{obj.name}" has no dynamic node: it is quasistatic, in balance at every frame without '
                       "swinging")
            ground = GroundPlane(obj.conjac, evaluation) if obj.conjac.use_ground else None
            nails = None if still else Nails(evaluation, (start, end))
            motion = Motion(evaluation, job, (start, end), obj.conjac.samples_per_frame, vertices, pinned, ground,
                            nails)
            cuts = None if still else Cuts(evaluation, job.array, (start, end))
            for frame in motion.read():
                if cuts is not None:
                    cuts.see(frame)
                yield (frame - start + 1) / (end - start + 1), f"Reading frame {frame} of {end}"
        body = document["bodies"][0]
        body["surface"] |= motion.to_object()
        body["pin"] |= motion.pin_motion()
        body |= motion.activation()
        body.pop("cuts", None)
        body.pop("nails", None)
        if nails is not None:
            body |= nails.fields(job.array)
        if cuts is not None:
            body |= cuts.fields()
        if ground is not None:
            document["ground"] |= {"point": ground.point.tolist(), "normal": ground.normal.tolist()}
            document["ground"] |= motion.ground_motion()
        job.finish(document)
    finally:
        job.abandon()


def frame_range(obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[int, int]:
    """First and last frame of the bake. Raises BadInput if the last comes first."""
    start, end = properties.frame_range(obj.conjac, scene)
    if end < start:
        raise BadInput(f"its last frame {end} is before its first frame {start}", "Correct the frame range", obj.name)
    return start, end


def scene_settings(obj: bpy.types.Object, scene: bpy.types.Scene,
                   frames: tuple[int, int] | None = None) -> dict[str, Any]:
    """scene.json as far as it follows from settings alone: no array, nothing evaluated, cheap."""
    settings = obj.conjac
    fps = scene.render.fps / scene.render.fps_base
    start, end = frames or frame_range(obj, scene)

    def choice(family: str) -> dict[str, Any]:
        entry = catalogue.find(family, getattr(settings, family))
        return {"kind": entry.key, "params": {
            param.key: properties.si(settings, properties.property_name(entry, param), scene)
            for param in entry.params}}

    document: dict[str, Any] = {
        "version": catalogue.SCENE_VERSION,
        "name": scene.name,
        "time": {"start": start, "end": end, "fps": fps, "samples_per_frame": settings.samples_per_frame,
                 "step": properties.whole_steps(properties.si(settings, "step", scene), fps),
                 "tolerance": properties.si(settings, "accuracy", scene),
                 "largest_deformation": properties.si(settings, "largest_deformation", scene)},
        "bodies": [{
            "name": obj.name, "surface": {}, "mesher": choice("mesher"), "material": choice("material"),
            "damping": choice("damping"), "carry": choice("carry"),
            "density": properties.si(settings, catalogue.DENSITY.key, scene),
            "painted": {}, "dynamic": {}, "pin": {}, **fibers.fiber_settings(obj, choice),
        }],
        "method": choice("method"), "integrator": choice("integrator"),
        "stage_solver": choice("stage_solver"), "linear_solver": settings.linear_solver,
        # Blender shows gravity in m/s², its number times the unit scale
        "gravity": [properties.shortest(g) * properties.unit_scale(scene) for g in scene.gravity]
        if scene.use_gravity else [0.0, 0.0, 0.0],
    }
    if cuts := cut_settings(obj):
        document["bodies"][0]["cuts"] = cuts
    if nails := nail_settings(obj, scene):
        document["bodies"][0]["nails"] = nails
    if settings.use_ground:
        document["ground"] = {"stiffness": properties.si(settings, "ground_stiffness", scene)}
        if settings.friction != "none":
            document["ground"]["friction"] = choice("friction")
    return document


def changed_settings(obj: bpy.types.Object, scene: bpy.types.Scene, folder: Path) -> list[str]:
    """Labels of the settings that differ from those in the folder's scene.json. Painting and shape are not compared.

    Empty where there is no scene.json. Cheap: one small file is read, nothing is evaluated.
    """
    try:
        old = json.loads((Path(folder) / "scene.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    before, now = _flat(old), _flat(scene_settings(obj, scene))
    compared = {path for path in before.keys() | now.keys()
                if not path.startswith(_NOT_COMPARED) and not _IS_PLACE.match(path)}
    changed = {path for path in compared if before.get(path) != now.get(path)}
    painted = old["bodies"][0].get("painted", {}) if old.get("bodies") else {}
    for key, blend in painted.items():
        for end, name in (("low", key), ("high", f"{key}_high")):
            if blend.get(end) != _end(obj, scene, name):
                changed.add(name)
    return labels(changed)


def _end(obj: bpy.types.Object, scene: bpy.types.Scene, name: str) -> float:
    """What a map blends from or to, in SI. Keyframes of an activation are times what is painted: from nothing on."""
    return 0.0 if name == fibers.ACTIVATION and fibers.is_activated(obj) else properties.si(obj.conjac, name, scene)


def labels(paths: Iterable[str]) -> list[str]:
    """What the artist calls the settings behind paths of scene.json, in order: "time.step" → "Time Step"."""
    return sorted({_label(path) for path in paths})


#: what scene_settings does not know: it is read from the scene
_NOT_COMPARED = ("bodies.0.surface", "bodies.0.painted", "bodies.0.dynamic", "bodies.0.pin", "bodies.0.fibers",
                 "bodies.0.fiber_vectors", "bodies.0.fiber_curves", "bodies.0.fiber_activation",
                 "ground.point", "ground.normal", "ground.motion")
_IS_PLACE = re.compile(r"bodies\.0\.(cuts|nails)\.\d+\.(?!frame|kind|until|radius)")


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Every leaf of nested dicts and lists by its dotted path."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {leaf: found for key, child in items for leaf, found in _flat(child, f"{path}.{key}".strip(".")).items()}
    return {path: value}


#: properties that are not called as their field in scene.json
_PROPERTIES = {"ground.stiffness": "ground_stiffness", "time.tolerance": "accuracy"}


def _label(path: str) -> str:
    """One of them. The cache names arrays by their file, and settings of a body as `density of "Cube"`."""
    if path.endswith(".npy"):
        return path.rpartition("/")[2].removesuffix(".npy").replace("_", " ").title()
    parts = [part for part in path.partition(' of "')[0].split(".") if part != "kind" and not part.isdigit()]
    name = _PROPERTIES.get(".".join(parts), parts[-1])
    known = bpy.types.Object.bl_rna.properties["conjac"].fixed_type.properties
    return known[name].name if name in known else name.replace("_", " ").title()


def _fill_body(body: dict[str, Any], evaluation: Evaluation, job: JobFolder,
               report: Report) -> tuple[np.ndarray, np.ndarray]:
    """Surface and maps at the present frame. Returns the vertices [m], (n, 3), and the indices of those whose motion
    is the simulation's input, (s,)."""
    obj, settings = evaluation.object, evaluation.object.conjac
    mesh = evaluation.mesh(all_layers=True)
    vertices, triangles = surface(mesh, evaluation.to_world(), obj.name)
    check_stack(evaluation, len(vertices), settings.export)
    painted = maps.read(evaluation.evaluated(obj), mesh, settings, obj.name, report)
    body |= fibers.directions(evaluation, mesh, job.array)
    evaluation.release()

    body["surface"] = {"vertices": job.array("vertices", vertices), "triangles": job.array("triangles", triangles)}
    number: Callable[[str], float] = lambda name: _end(obj, evaluation.scene, name)  # noqa: E731
    animated = np.zeros(len(vertices), dtype=bool)
    for one in painted:
        kind: maps.MapKind = one.entry.load(_PACKAGE)()
        kind.fill(body, one, job.array, number)
        if kind.animated:
            animated |= one.weights > maps.PAINTED
    handles = [handle.object for handle in settings.handles if handle.object is not None]
    if handles:
        body["dynamic"]["points"] = job.array("handles", np.array([evaluation.origin(empty) for empty in handles]))
    return vertices, np.flatnonzero(animated).astype(np.int32)


_PACKAGE = __package__.rpartition(".")[0]  # conjac_addon, where the catalogue's paths of maps start
