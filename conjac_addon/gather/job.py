"""Blender's objects → a job folder: settings, bodies, mechanism and motion, in the order of scene.json.

A job is a soft body with those that touch it, or a mechanism with the soft bodies that hang on it (`members`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...solver import catalogue
from ...solver.errors import BadInput
from .. import first_solvers, identity, members, timeline, upgrade
from .. import settings as properties
from . import animated, attach, contact, obstacles, placed, rigid, slow, sources, wind
from .alone import Alone
from .body import BodyReader, body_settings, choice
from .colliders import Collider
from .constraints import Constraints, constraint_settings
from .evaluation import Evaluation, view_layer_of
from .folder import JobFolder, JobPart
from .ground import GroundPlane
from .mechanism import MechanismReader, mechanism_settings
from .welds import Glue, welds
from .wind import Wind

Report = Callable[[str], None]

#: what changes the scene while it is read, and can put it back in between
Held = Alone | Evaluation | rigid.Objects


def write_job(obj: bpy.types.Object, scene: bpy.types.Scene, folder: Path, report: Report | None = None) -> None:
    """Write the job of one object; `report` takes sentences for the artist. Raises ConJacError."""
    for _ in write_job_steps(obj, scene, folder, report):
        pass


def write_job_steps(obj: bpy.types.Object, scene: bpy.types.Scene, folder: Path, report: Report | None = None,
                    still: bool = False, lets_in: Callable[[], bool] = lambda: False, at_start: bool = False
                    ) -> Generator[tuple[float, str], None, None]:
    """Write a job as a generator: (fraction done, what is being read) after each frame, so that a window stays live.

    Closing it early restores the scene and leaves the folder as it was. still: only the start frame of the object
    alone, nothing moves. at_start: only that frame, of all that is baked together. lets_in: asked before something is
    given, whether the window is let in until the next frame is asked for; then the scene is meanwhile as the artist has
    it.
    """
    report = report or (lambda text: None)
    for one in members.members(obj, scene):
        upgrade.check(one)
    animated.check(obj, scene)
    start, end = frame_range(obj, scene)
    end = start if still or at_start else end
    job = JobFolder(folder, obj.name)
    write = _write_mechanism if members.is_mechanism(obj) else _write_bodies
    held: list[Held] = []
    began = time.monotonic()
    try:
        for frame in write(obj, scene, job, (start, end), report, still, held):
            said = _progress_text(held, time.monotonic() - began)
            resting = lets_in()
            if resting:
                for taken in reversed(held):
                    taken.put_back()
            yield (frame - start + 1) / (end - start + 1), said
            began = time.monotonic()
            if resting:
                for taken in held:
                    taken.take_up()
    finally:
        job.abandon()


def _progress_text(held: list[Held], seconds: float) -> str:
    """Return a line about what is being read; where a frame took long, because of which object."""
    alone = next((one for one in held if isinstance(one, Alone)), None)
    return slow.sentence(alone.view_layer.depsgraph if alone else bpy.context.view_layer.depsgraph, seconds)


def _write_bodies(obj: bpy.types.Object, scene: bpy.types.Scene, job: JobFolder, frames: tuple[int, int],
                  report: Report, still: bool, held: list[Held]) -> Iterator[int]:
    """The job of a soft body and of all that touch it, giving every frame that has been read.

    held: gets what may be put back meanwhile. still: the body alone.
    """
    (start, end), samples = frames, obj.conjac.samples_per_frame
    bodies = [obj] if still or not members.is_soft_body(obj) else members.soft_bodies(obj, scene)
    with ExitStack() as stack:
        alone = stack.enter_context(Alone(obj, scene, view_layer_of(obj, scene)))
        soft = [stack.enter_context(Evaluation(one, scene, alone)) for one in bodies]
        held += [alone, *soft]
        evaluation = soft[bodies.index(obj)]
        document = job_settings(obj, scene, frames)
        evaluation.go_to(start)
        for other in bodies:
            if other != obj:
                evaluation.check_enabled(other, f'it is baked together with "{obj.name}"')
        _keep_places(evaluation, job)
        count = (end - start) * samples + 1
        bumps = [Collider(each, evaluation, JobPart(job, f"collider{k}_"), count)
                 for k, each in enumerate([] if still else members.colliders(obj, scene))]
        readers = [BodyReader(one, job if len(soft) == 1 else JobPart(job, f"body{k}_"), frames, samples, report, still)
                   for k, one in enumerate(soft)]
        ground = GroundPlane(obj.conjac, evaluation) if obj.conjac.use_ground else None
        air, ties, glue = Wind(evaluation), Constraints(soft, job, still), None if still else Glue(soft, job, report)
        for one, reader in zip(soft, readers):
            reader.begin(ground if one == evaluation else None)
            reader.motion.begin()
        for i in range(count):
            sub = i % samples
            # between whole frames there is nothing to see unless something is followed
            if sub and not (any(bump.may_move for bump in bumps) or air.may_move or ties.may_move
                            or any(reader.motion.moves_between for reader in readers)):
                continue
            evaluation.go_to(start + i // samples, sub / samples)
            air.sample()
            ties.sample()
            for bump in bumps:
                bump.sample()
            for reader in readers:
                reader.motion.take(i)
                if not sub:
                    reader.see(start + i // samples)
            if not sub:
                yield start + i // samples
        job.close()
        document["bodies"] = [reader.finish() for reader in readers]
        document |= air.finish(job)
        if len(bodies) > 1:
            _say_methods(document, bodies, scene)
        if glue is not None:
            contact.say(document, obj, scene)
            _say_own_solvers(document, obj, bodies, scene)
            document |= glue.finish(welds(obj, scene, start))
            document |= ties.finish(constraint_settings(obj, scene, start))
        for bump, obstacle in zip(bumps, document.get("obstacles", ())):
            obstacle |= bump.finish()
        if ground is not None:
            document["ground"] |= {"point": ground.point.tolist(), "normal": ground.normal.tolist()}
            document["ground"] |= readers[soft.index(evaluation)].motion.ground_motion()
    job.finish(document)


def _say_methods(document: dict[str, Any], bodies: list[bpy.types.Object], scene: bpy.types.Scene) -> None:
    """Each of several bodies has a method of its own."""
    for obj, body in zip(bodies, document["bodies"]):
        body["method"] = choice(obj.conjac, "method", scene)


def _say_own_solvers(document: dict[str, Any], leading: bpy.types.Object, bodies: list[bpy.types.Object],
                     scene: bpy.types.Scene) -> None:
    """Write the integrator and the steps of each body that has its own, which count while it touches no body with
    others."""
    if "contact" not in document or len(bodies) + members.is_mechanism(leading) < 2:
        return
    for obj, body in zip(bodies, document["bodies"]):
        if first_solvers.has_its_own(obj):
            settings = obj.conjac
            body |= {"integrator": choice(settings, "integrator", scene),
                     "stage_solver": choice(settings, "stage_solver", scene),
                     "step": timeline.whole_steps(properties.si(settings, "step", scene), document["time"]["fps"]),
                     "largest_deformation": properties.si(settings, "largest_deformation", scene)}


def _let_cloth_go(document: dict[str, Any]) -> None:
    """Cloth moves on its own also where flesh follows dynamic nodes by the mechanism's method."""
    method = document["method"]
    if not catalogue.find("method", method["kind"]).follows:
        return
    own = catalogue.find("method", "vanilla")
    params = {param.key: method["params"][param.key] for param in own.params if param.key in method["params"]}
    for body in document["bodies"]:
        if "cloth" in body or "rope" in body:
            body["method"] = {"kind": own.key, "params": params}


def _keep_places(evaluation: Evaluation, job: JobFolder) -> None:
    """Write where all that is read stands at the start frame, which the scene is at."""
    places = placed.read(evaluation.object, evaluation.scene, evaluation.depsgraph)
    for name, values in placed.arrays(places).items():
        job.array(name, values)


def _write_mechanism(owner: bpy.types.Object, scene: bpy.types.Scene, job: JobFolder, frames: tuple[int, int],
                     report: Report, still: bool, held: list[Held]) -> Iterator[int]:
    """The job of a mechanism and all that hangs on it, giving every frame that has been read."""
    (start, end), samples = frames, owner.conjac.samples_per_frame
    with ExitStack() as stack:
        alone = stack.enter_context(Alone(owner, scene, view_layer_of(owner, scene)))
        evaluation = stack.enter_context(Evaluation(owner, scene, alone))
        soft = [stack.enter_context(Evaluation(obj, scene, alone)) for obj in members.soft_bodies(owner, scene)]
        source = sources.make(evaluation, stack)
        held += [alone, evaluation, *soft, *([source] if isinstance(source, rigid.Objects) else [])]
        document = job_settings(owner, scene, frames)
        evaluation.go_to(start)
        _keep_places(evaluation, job)
        mechanism = MechanismReader(source, owner, job, scene, start)
        mechanism.begin()
        bumps = obstacles.Obstacles(evaluation, job)
        colliders = [Collider(each, evaluation, JobPart(job, f"collider{k}_"), (end - start) * samples + 1)
                     for k, each in enumerate(members.colliders(owner, scene))]
        for one in soft:
            attach.check_bodies(one.object, owner, set(source.names))
        readers = [BodyReader(one, JobPart(job, f"body{k}_"), frames, samples, report, still)
                   for k, one in enumerate(soft)]
        ground = GroundPlane(owner.conjac, evaluation) if owner.conjac.use_ground else None
        air, ties, glue = Wind(evaluation), Constraints(soft, job), Glue(soft, job, report)
        for reader in readers:
            reader.begin(None)
            reader.motion.begin()
        playing, plane = source.playback(), []
        for i in range((end - start) * samples + 1):
            frame, sub = start + i // samples, i % samples
            if sub and not (mechanism.moves or bumps.may_move or air.may_move or ties.may_move
                            or (ground is not None and ground.may_move)
                            or any(each.may_move for each in colliders)
                            or any(reader.motion.moves_between for reader in readers)):
                continue
            evaluation.go_to(frame, sub / samples)
            mechanism.sample()
            bumps.sample()
            air.sample()
            ties.sample()
            for each in colliders:
                each.sample()
            if ground is not None and ground.may_move:
                plane.append(ground.follow())
            for reader in readers:
                reader.motion.take(i)
                if not sub:
                    reader.see(frame)
            if not sub:
                playing.sample()
                yield frame
        job.close()
        document["bodies"] = [reader.finish() for reader in readers]
        _let_cloth_go(document)
        document["mechanisms"] = [mechanism.finish(), *bumps.finish()]
        document |= air.finish(job)
        contact.say(document, owner, scene)
        _say_own_solvers(document, owner, [one.object for one in soft], scene)
        document |= glue.finish(welds(owner, scene, start))
        document |= ties.finish(constraint_settings(owner, scene, start))
        for each, obstacle in zip(colliders, document.get("obstacles", ())):
            obstacle |= each.finish()
        if ground is not None:
            document["ground"] |= {"point": ground.point.tolist(), "normal": ground.normal.tolist()}
            if ground.moves:
                document["ground"]["motion"] = job.array("ground_motion", np.array(plane))
        for name, values in playing.arrays().items():
            job.array(name, values)
    for note in source.notes:
        report(note)
    job.finish(document)


def frame_range(obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[int, int]:
    """First and last frame of the bake. Raises BadInput if the last comes first."""
    start, end = timeline.frame_range(members.shared_settings(obj), scene)
    if end < start:
        raise BadInput(f"its last frame {end} is before its first frame {start}", "Correct the frame range", obj.name)
    return start, end


def job_settings(obj: bpy.types.Object, scene: bpy.types.Scene,
                 frames: tuple[int, int] | None = None) -> dict[str, Any]:
    """scene.json without bodies and mechanisms, as far as it follows from the settings of the object alone."""
    settings = obj.conjac
    bodies = [obj] if members.is_mechanism(obj) else members.soft_bodies(obj, scene)
    fps = scene.render.fps / scene.render.fps_base
    start, end = frames or frame_range(obj, scene)
    kinds = first_solvers.shared(obj, bodies)
    document: dict[str, Any] = {
        "version": catalogue.SCENE_VERSION,
        "name": scene.name, "uuid": identity.of(obj),
        "time": {"start": start, "end": end, "fps": fps, "samples_per_frame": settings.samples_per_frame,
                 "step": timeline.whole_steps(min(properties.si(one.conjac, "step", scene) for one in bodies), fps),
                 "tolerance": properties.si(settings, "accuracy", scene),
                 "largest_deformation": min(filter(None, (properties.si(one.conjac, "largest_deformation", scene)
                                                          for one in bodies)), default=0.0)},
        "bodies": [],
        "method": choice(settings, "method", scene),
        "integrator": choice(settings, "integrator", scene, kinds["integrator"]),
        "stage_solver": choice(settings, "stage_solver", scene, kinds["stage_solver"]),
        "linear_solver": settings.solver.linear_solver,
        # Blender shows gravity in m/s², its number times the unit scale
        "gravity": [properties.shortest(g) * properties.unit_scale(scene) for g in scene.gravity]
        if scene.use_gravity else [0.0, 0.0, 0.0],
    }
    if settings.use_ground:
        document["ground"] = {"stiffness": properties.si(settings, "ground_stiffness", scene),
                              "tangential_share": properties.shortest(settings.ground_tangential_share)}
        if settings.ground_stiffness_per_area:
            document["ground"]["stiffness_per_area"] = properties.shortest(settings.ground_stiffness_per_area)
        if settings.friction != "none":
            document["ground"]["friction"] = choice(settings, "friction", scene)
    if members.is_mechanism(obj):
        document["joint_friction"] = {"kind": settings.mechanism.joint_friction}
    return document


def scene_settings(obj: bpy.types.Object, scene: bpy.types.Scene,
                   frames: tuple[int, int] | None = None) -> dict[str, Any]:
    """scene.json as far as it follows from settings alone: no array, nothing evaluated, cheap."""
    document = job_settings(obj, scene, frames)
    soft = members.soft_bodies(obj, scene)
    document["bodies"] = [body_settings(one, scene) for one in soft]
    if len(soft) > 1 and not members.is_mechanism(obj):
        _say_methods(document, soft, scene)
    contact.say(document, obj, scene)
    _say_own_solvers(document, obj, soft, scene)
    if members.is_mechanism(obj):
        _let_cloth_go(document)
        plan, part_of = sources.plan(obj)
        document["mechanisms"] = [mechanism_settings(obj, plan, part_of, scene), *obstacles.named(obj)]
    document |= wind.settings(obj, scene)
    document |= welds(obj, scene, document["time"]["start"])
    document |= constraint_settings(obj, scene, document["time"]["start"])
    return document
