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
from ..declared import BODY, OWN_SOLVER, SCENE, SEVERAL
from . import animated, attach, contact, fields, obstacles, placed, rigid, slow, sources, wind
from .alone import Alone
from .armature import Armature
from .body import BodyReader, body_settings
from .colliders import Collider
from .constraints import Constraints, constraint_settings
from .evaluation import Evaluation, view_layer_of
from .folder import JobFolder, JobPart
from .ground import GroundPlane
from .mechanism import MechanismReader, mechanism_settings
from .over_frames import EachBody, EachSample, MovingGround, WholeFrames, read_frames
from .taken_up import TakenUp
from .welds import Glue, welds
from .wind import Wind

Report = Callable[[str], None]


def write_job(obj: bpy.types.Object, scene: bpy.types.Scene, folder: Path, report: Report | None = None) -> None:
    """Write the job of one object. `report` is called with sentences for the artist. Raises ConJacError."""
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
    for member in members.members(obj, scene):
        upgrade.check(member)
    animated.check(obj, scene)
    start, end = frame_range(obj, scene)
    end = start if still or at_start else end
    job = JobFolder(folder, obj.name)
    taken_up: list[TakenUp] = []
    began = time.monotonic()
    try:
        for frame in _write(obj, scene, job, (start, end), report, still, taken_up):
            line = _progress_text(taken_up, time.monotonic() - began)
            resting = lets_in()
            if resting:
                for taken in reversed(taken_up):
                    taken.put_back()
            yield (frame - start + 1) / (end - start + 1), line
            began = time.monotonic()
            if resting:
                for taken in taken_up:
                    taken.take_up()
    finally:
        job.abandon()


def _progress_text(taken_up: list[TakenUp], seconds: float) -> str:
    """Return a line about the present step of gathering; for a slow frame with the object that causes it."""
    alone = next((taken for taken in taken_up if isinstance(taken, Alone)), None)
    return slow.sentence(alone.view_layer.depsgraph if alone else bpy.context.view_layer.depsgraph, seconds)


def _write(obj: bpy.types.Object, scene: bpy.types.Scene, job: JobFolder, frames: tuple[int, int], report: Report,
           still: bool, taken_up: list[TakenUp]) -> Iterator[int]:
    """Write the job of a soft body with all that touch it, or of a mechanism with all that hangs on it, and give every
    frame that has been read.

    taken_up: is extended by what may be put back meanwhile. still: a soft body alone.
    """
    with ExitStack() as stack:
        alone = stack.enter_context(Alone(obj, scene, view_layer_of(obj, scene)))
        evaluation, soft = _evaluations(obj, scene, still, alone, stack)
        source = sources.make(evaluation, stack) if members.is_mechanism(obj) else None
        taken_up += [alone, *([] if evaluation in soft else [evaluation]), *soft]
        taken_up += [source] if isinstance(source, rigid.Objects) else []
        document = job_settings(obj, scene, frames)
        evaluation.go_to(frames[0])
        for body_evaluation in soft if source is None else ():
            if body_evaluation is not evaluation:
                evaluation.check_enabled(body_evaluation.object, f'it is baked together with "{obj.name}"')
        _keep_places(evaluation, job)
        jointed = None if source is None else _Jointed(evaluation, source, job, frames[0])
        surroundings = _Surroundings(evaluation, soft, job, frames, report, still and source is None)
        for body_evaluation in () if source is None else soft:
            attach.check_bodies(body_evaluation.object, obj, set(source.names))
        readers = _readers(evaluation, soft, job, frames, report, still)
        ground = GroundPlane(obj.conjac, evaluation) if obj.conjac.use_ground else None
        for body_evaluation, reader in zip(soft, readers):
            reader.begin(ground if body_evaluation is evaluation else None)
            reader.motion.begin()
        plane = None if ground is None or source is None else MovingGround(ground)
        yield from read_frames(evaluation, [
            *(jointed.readings if jointed else ()), *surroundings.readings, *([plane] if plane else ()),
            *map(EachBody, readers), *([WholeFrames(jointed.playing)] if jointed else ())],
            frames, obj.conjac.samples_per_frame)
        job.close()
        document["bodies"] = [reader.finish() for reader in readers]
        if jointed is not None:
            _let_cloth_go(document)
            document["mechanisms"] = jointed.finish()
        elif len(soft) > 1:
            _say_methods(document, [body_evaluation.object for body_evaluation in soft], scene)
        surroundings.finish(document)
        if ground is not None:
            document["ground"] |= {"point": ground.point.tolist(), "normal": ground.normal.tolist()}
            if plane is None:
                document["ground"] |= readers[soft.index(evaluation)].motion.ground_motion()
            elif ground.moves:
                document["ground"]["motion"] = job.array("ground_motion", np.array(plane.points))
    if source is not None:
        for note in source.notes:
            report(note)
    job.finish(document)


def _evaluations(obj: bpy.types.Object, scene: bpy.types.Scene, still: bool, alone: Alone,
                 stack: ExitStack) -> tuple[Evaluation, list[Evaluation]]:
    """Return the evaluation of an object, and of each soft body that is baked with it, itself among them."""
    own = stack.enter_context(Evaluation(obj, scene, alone)) if members.is_mechanism(obj) else None
    bodies = [obj] if own is None and (still or not members.is_soft_body(obj)) else members.soft_bodies(obj, scene)
    soft = [stack.enter_context(Evaluation(body, scene, alone)) for body in bodies]
    return (soft[bodies.index(obj)] if own is None else own), soft


def _readers(evaluation: Evaluation, soft: list[Evaluation], job: JobFolder, frames: tuple[int, int], report: Report,
             still: bool) -> list[BodyReader]:
    """Return the reader of each soft body. The arrays of a single body have plain names."""
    is_single, samples = soft == [evaluation], evaluation.object.conjac.samples_per_frame
    return [BodyReader(body_evaluation, job if is_single else JobPart(job, f"body{k}_"), frames, samples, report, still)
            for k, body_evaluation in enumerate(soft)]


class _Jointed:
    """A mechanism, the rigid obstacles that it has, and the poses that playing it needs."""

    def __init__(self, evaluation: Evaluation, source: Armature | rigid.Objects, job: JobFolder, start: int) -> None:
        """Read them at the start frame. Raises BadInput where they cannot be simulated."""
        self._job = job
        self._mechanism = MechanismReader(source, evaluation.object, job, evaluation.scene, start)
        self._mechanism.begin()
        self._obstacles = obstacles.Obstacles(evaluation, job)
        self.readings = [EachSample(self._mechanism), EachSample(self._obstacles)]
        self.playing = source.playback()

    def finish(self) -> list[dict[str, Any]]:
        """Return the mechanisms of scene.json, and write the poses."""
        found = [self._mechanism.finish(), *self._obstacles.finish()]
        for name, values in self.playing.arrays().items():
            self._job.array(name, values)
        return found


class _Surroundings:
    """Wind, constraints, welds and colliders of a whole bake."""

    def __init__(self, evaluation: Evaluation, soft: list[Evaluation], job: JobFolder, frames: tuple[int, int],
                 report: Report, by_itself: bool) -> None:
        """by_itself: a soft body is read alone, without contacts and constraints."""
        self._evaluation, self._soft, self._job, self._start = evaluation, soft, job, frames[0]
        obj, scene = evaluation.object, evaluation.scene
        count = (frames[1] - frames[0]) * obj.conjac.samples_per_frame + 1
        self._colliders = [Collider(each, evaluation, JobPart(job, f"collider{k}_"), count)
                           for k, each in enumerate([] if by_itself else members.colliders(obj, scene))]
        self._air, self._ties = Wind(evaluation), Constraints(soft, job, by_itself)
        self._glue = None if by_itself else Glue(soft, job, report)
        self.readings = [EachSample(self._air), EachSample(self._ties), *map(EachSample, self._colliders)]

    def finish(self, document: dict[str, Any]) -> None:
        """Write their fields and arrays into scene.json."""
        obj, scene = self._evaluation.object, self._evaluation.scene
        document |= self._air.finish(self._job)
        if self._glue is not None:
            contact.say(document, obj, scene)
            _say_own_solvers(document, obj, [body_evaluation.object for body_evaluation in self._soft], scene)
            document |= self._glue.finish(welds(obj, scene, self._start))
            document |= self._ties.finish(constraint_settings(obj, scene, self._start))
        for each, obstacle in zip(self._colliders, document.get("obstacles", ())):
            obstacle |= each.finish()


def _say_methods(document: dict[str, Any], bodies: list[bpy.types.Object], scene: bpy.types.Scene) -> None:
    """Each of several bodies has a method of its own."""
    for obj, body in zip(bodies, document["bodies"]):
        body |= fields.gathered(BODY, obj, scene, SEVERAL)


def _say_own_solvers(document: dict[str, Any], leading: bpy.types.Object, bodies: list[bpy.types.Object],
                     scene: bpy.types.Scene) -> None:
    """Write the integrator and the steps of each body that has its own, which count while it touches no body with
    others."""
    if "contact" not in document or len(bodies) + members.is_mechanism(leading) < 2:
        return
    for obj, body in zip(bodies, document["bodies"]):
        if first_solvers.has_its_own(obj):
            body |= fields.gathered(BODY, obj, scene, OWN_SOLVER)


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
    """Write the positions of everything that is read at the start frame, the present frame of the scene."""
    places = placed.read(evaluation.object, evaluation.scene, evaluation.depsgraph)
    for name, values in placed.arrays(places).items():
        job.array(name, values)


def frame_range(obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[int, int]:
    """Return first and last frame of the bake. Raises BadInput if the last comes first."""
    start, end = timeline.frame_range(members.shared_settings(obj), scene)
    if end < start:
        raise BadInput(f"its last frame {end} is before its first frame {start}", "Correct the frame range", obj.name)
    return start, end


def job_settings(obj: bpy.types.Object, scene: bpy.types.Scene,
                 frames: tuple[int, int] | None = None) -> dict[str, Any]:
    """scene.json without bodies and mechanisms, as far as it follows from the settings of the object alone."""
    document: dict[str, Any] = {"version": catalogue.SCENE_VERSION, "name": scene.name, "uuid": identity.of(obj),
                                "time": {}, "bodies": []}
    fields.add(document, fields.gathered(SCENE, obj, scene, frames=frames or frame_range(obj, scene)))
    return document


def scene_settings(obj: bpy.types.Object, scene: bpy.types.Scene,
                   frames: tuple[int, int] | None = None) -> dict[str, Any]:
    """Return the fields of scene.json that depend on settings only: no arrays, no evaluation, fast."""
    document = job_settings(obj, scene, frames)
    soft = members.soft_bodies(obj, scene)
    document["bodies"] = [body_settings(body, scene) for body in soft]
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
