"""Play Live of everything baked together: the worker that moves it, its commands, and the displayed shapes."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import traceback
from collections.abc import Generator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput, ConJacError, Environment, NoSuchThing
from ...solver.live import board
from .. import identity, members, prefs, settings
from ..affine import inverse
from ..bake import kernels, place
from ..bake.worker import Worker
from ..events import is_rendering
from ..operators import still
from . import bumps, grasped, led, posed, shape
from . import job as jobs
from .bumps import to_metres

LOOK = 0.1  #: seconds between looks at the settings

#: what is played in this Blender, by session_uid of each object
playing: dict[int, Played] = {}


class Played:
    """An object in Play Live with everything baked together with it. `tick` advances it until `ended` has a reason."""

    def __init__(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
        """Raises ConJacError where it cannot begin."""
        jobs.check(obj)
        owner = members.owner(obj)
        together = members.members(owner, scene)
        if len(together) > board.BODIES:
            raise BadInput(f"{len(together)} objects are baked together, and at most {board.BODIES} can be played live",
                           "Let fewer of them collide", obj.name)
        self.uid, self.name, self._scene = owner.session_uid, owner.name, scene.session_uid
        self.uids = [member.session_uid for member in together]  #: of the object and all that are played with it
        for member in together:
            stop(member)
        self.ended: str | None = None  #: a sentence, "" where the artist ended it
        self.failed = False  #: whether it was no wish of the artist
        self.text = "Reading the scene"  #: present state
        self.notes: list[str] = []
        self.frame: Any = None  #: the last record of board.FRAME
        self.records = False  #: whether the performance is recorded
        self.performed: tuple[Path, int] | None = None  #: a file of it, and how many frames it has
        self.grabs: dict[int, NDArray[Any]] = {}  #: records of board.GRAB by id
        self._taken = 0
        self._folder = Path(tempfile.mkdtemp(prefix="conjac_live_", dir=bpy.app.tempdir or None))
        self._worker: Worker | None = None
        self._board: board.Board | None = None
        self._shapes: list[shape.Shape] = []  #: of the soft bodies in the order of the job
        self._posed: posed.Posed | None = None
        self._job: jobs.LiveJob | None = None
        self._bumps: bumps.Bumps | None = None
        self._led: led.Led | None = None
        self.engine = ""  #: key of what moves it, among the catalogue's family live_engine
        self._efforts: list[str] = []  #: what the worker may save on, in the artist's words
        self._written, self._settings, self._looked = b"", 0, 0.0
        self._faces: list[tuple[int, int]] = []  #: of the soft bodies' meshes
        self._steps = self._begin()
        playing.update(dict.fromkeys(self.uids, self))

    @property
    def is_moving(self) -> bool:
        """Whether the body has been seen to move."""
        return self.frame is not None

    def tick(self) -> bool:
        """Do the pending work. Returns whether the session continues."""
        if self.ended is None and not is_rendering():
            try:
                if self._board is None or self._steps is not None:
                    self._advance()
                else:
                    self._play()
            except ConJacError as error:
                error.object = error.object or self.name
                self.stop(str(error), failed=True)
            except Exception as error:
                traceback.print_exc()  # the window must live on
                self.stop(f"Play Live failed ({type(error).__name__}: {error}). Please report this with what the "
                          "console says", failed=True)
        return self.ended is None

    def stop(self, why: str = "", failed: bool = False) -> None:
        """End the session of an object, if there is one."""
        if self.ended is not None:
            return
        self.ended, self.failed = why, failed
        for uid in self.uids:
            playing.pop(uid, None)
        if self._steps is not None:
            self._steps.close()
        if self._worker is not None:
            self._worker.cancel()
        take_off(set(playing))
        for shown in self._shapes:
            shown.close()
        if self._board is not None:
            self._board.close()
        if self._worker is not None:
            self._worker.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def object(self) -> bpy.types.Object:
        """Return the present object, as undo moves data-blocks in memory. Raises NoSuchThing where it was deleted."""
        return _found(bpy.data.objects, self.uid, self.name)

    def scene(self) -> bpy.types.Scene:
        return _found(bpy.data.scenes, self._scene, self.name)

    def bodies(self) -> list[bpy.types.Object]:
        """Return the soft bodies, in the order of the job. Raises NoSuchThing."""
        return [] if self._job is None else jobs.bodies(self.object(), self.scene(), self._job.names)

    def pullable(self) -> tuple[list[bpy.types.Object], list[NDArray[np.float64]]]:
        """Return the soft bodies with the positions of their vertices at the start in the world [m], (n, 3)."""
        return self.bodies(), [] if self._job is None else self._job.places

    def rigid_at(self, obj: bpy.types.Object, place: NDArray[np.float64]) -> int:
        """Return the number of the rigid body of an object at a place in world [Blender units], -1 for none."""
        if self._job is None or self._posed is None:
            return -1
        return grasped.rigid_at(self.object(), obj, self._job.rigid, place)

    def take(self, place: NDArray[np.float64], strength: float = 1.0, rigid: int = -1) -> int:
        """Grab a body at a place [m], (3,). rigid: number of the rigid body, -1 for a soft one. Returns the number of
        the grab, 0 if no hand is free."""
        if len(self.grabs) == board.GRABS:
            return 0
        self._taken += 1
        one = np.zeros(1, board.GRAB)
        one["id"], one["start"], one["target"], one["strength"] = self._taken, place, place, strength
        one["rigid"] = rigid + 1
        self.grabs[self._taken] = one
        self._tell()
        return self._taken

    def pull(self, grab: int, target: NDArray[np.float64] | None = None, harder: float = 1.0) -> None:
        """Move the grabbed point to another place [m], (3,), or scale the force of the pull."""
        if target is not None:
            self.grabs[grab]["target"] = target
        self.grabs[grab]["strength"] *= harder
        self._tell()

    def let_go(self, grab: int) -> None:
        self.grabs.pop(grab, None)
        self._tell()

    def record(self, on: bool) -> None:
        """Start or stop recording; after a stop, `performed` follows soon."""
        self.records = on
        self._tell()

    def _keep(self, path: Path, frames: int) -> None:
        """Move a recording out of the temporary folder of the session."""
        handle, target = tempfile.mkstemp(prefix="conjac_performed_", suffix=".npz", dir=bpy.app.tempdir or None)
        os.close(handle)
        shutil.move(path, target)
        self.performed = Path(target), frames

    def show_again(self) -> None:
        """Show live shapes on the objects again after they were removed."""
        if self.ended is None:
            for body, shown in zip(self.bodies(), self._shapes):
                shown.attach(body)

    # -- how it begins -----------------------------------------------------------------------------------------

    def _advance(self) -> None:
        assert self._steps is not None
        try:
            self.text = next(self._steps)
        except StopIteration:
            self._steps = None

    def _begin(self) -> Generator[str, None, None]:
        """Read the object and start the worker; yields progress texts."""
        obj = self.object()
        self._job = job = yield from jobs.read(obj, self.scene(), self._folder, self.notes)
        job.follow(obj, self.scene())
        self._faces = [_faces(body) for body in self.bodies()]
        still.bring_tets(place.job_folder(obj) / "stages", self._folder / "stages")
        self._bumps = bumps.Bumps(obj, self.scene(), self._folder, settings.unit_scale(self.scene()))
        self._led = led.Led(self.bodies(), job.pinned(), self._folder)
        path = self._folder / "board"
        places = np.concatenate([np.zeros((0, 3)), *job.places])
        middle = places.mean(axis=0) if len(places) else np.zeros(3)
        self._board = board.create_board(path, len(places), middle, job.rigid_count, self._led.count)
        threads = prefs.threads()
        argv = ["live", str(self._folder), "--board", str(path), "--json",
                *(["--threads", str(threads)] if threads else [])]
        self._worker = Worker("solver", argv, env=kernels.environment())
        yield "Starting the solver"
        self._shapes = [shape.Shape(self._folder / f"live_{k}.pc2", len(own)) for k, own in enumerate(job.places)]
        if members.is_mechanism(self.object()):
            self._posed = posed.Posed(self.object(), job.rigid, self._folder / "arrays", job.start)
        self._tell()

    # -- while it plays ----------------------------------------------------------------------------------------

    def _play(self) -> None:
        assert self._worker is not None and self._board is not None
        obj = self.object()
        self._check()
        for message in self._worker.messages():
            self._listen(message)
        if self._worker.ended():
            raise Environment(f"the process that moves it ended unexpectedly (exit code {self._worker.exit_code})",
                              "Press Play Live again", self.name)
        now = time.monotonic()
        if now - self._looked > LOOK:
            self._looked = now
            assert self._job is not None
            if self._job.follow(obj, self.scene()):
                self._settings += 1
        self._tell()
        shown = self._board.read_frame()
        if shown is not None:
            self._show(*shown)

    def _check(self) -> None:
        """Raises BadInput where a mesh is being edited, or is another one."""
        jobs.check(self.object())
        for body, faces in zip(self.bodies(), self._faces):
            jobs.check(body)
            if _faces(body) != faces:
                raise BadInput("its mesh has changed", "Press Play Live again", body.name)

    def _listen(self, message: dict[str, Any]) -> None:
        if message["event"] == "error":
            raise _SolverRefusal(message["text"])
        if message["event"] == "stage":
            self.text = message["text"]
        elif message["event"] == "live":
            self.engine, self._efforts = message["engine"], message["efforts"]
        elif message["event"] == "recorded":
            self._keep(Path(message["path"]), message["frames"])
        elif message["event"] == "log":
            self.notes.append(message["text"])

    def _tell(self) -> None:
        """Send changes of the scene to the worker."""
        if self._board is None or self._job is None:
            return
        scene, obj = self.scene(), self.object()
        control = np.zeros(1, board.CONTROL)
        unit = settings.unit_scale(scene)
        if scene.use_gravity:
            control["gravity"] = np.array(scene.gravity) * unit
        control["settings"], control["run"] = self._settings, board.RECORDED if self.records else board.PLAYED
        control["carriers"] = np.eye(4)
        for k, (body, to_object) in enumerate(zip(self.bodies(), self._job.to_object)):
            control["carriers"][0, k] = to_metres(body, unit) @ to_object
        if self._bumps is not None:
            control["bumps"] = self._bumps.matrices(scene, unit)
        control["ground"] = jobs.ground(obj, scene, unit)
        for row, grab in zip(control["grabs"][0], self.grabs.values()):
            for field in board.GRAB.names or ():
                row[field] = grab[field][0]
        pinned = np.zeros((0, 3)) if self._led is None else self._led.places(self.bodies(), scene)
        raw = control.tobytes() + pinned.tobytes()
        if raw != self._written:
            self._written = raw
            self._board.write_control(control, pinned)

    def _show(self, frame: NDArray[Any], places: NDArray[np.float32], poses: NDArray[np.float64]) -> None:
        assert self._board is not None and self._job is not None
        unit, first = settings.unit_scale(self.scene()), 0
        for obj, shown in zip(self.bodies(), self._shapes):
            matrix = inverse(to_metres(obj, unit))
            matrix[:3, 3] += matrix[:3, :3] @ self._board.origin
            shown.put(places[first:first + shown.vertices], matrix)
            first += shown.vertices
            if shape.find(obj) is None:
                shown.attach(obj)
            obj.update_tag(refresh={"DATA"})
        if self._posed is not None:
            self._posed.show(self.object(), self.scene(), poses[:len(self._job.rigid)])
        self.frame = frame[0]
        self.text = ""

    def sentence(self) -> str:
        """Return the state of the session as one line of text."""
        if self.frame is None:
            return f"{self.name}: {self.text}"
        phrases = [f"{'Recording' if self.records else 'Playing'} {self.name}"]
        effort = int(self.frame["effort"])
        if effort < len(self._efforts) and self._efforts[effort]:
            phrases.append(self._efforts[effort])
        if self.frame["pace"] < 1.0:
            phrases.append(f"×{self.frame['pace']:.2g}")
        return ", ".join(phrases)


class _SolverRefusal(ConJacError):
    """Refusal of the solver, in its own words."""

    def __str__(self) -> str:
        return self.what


def take_off(but: set[int] | frozenset[int] = frozenset()) -> None:
    """Show all objects without live motion. but: session_uids of those that continue."""
    shape.remove_all(but)
    posed.put_all_back(but)


def _faces(obj: bpy.types.Object) -> tuple[int, int]:
    return len(obj.data.vertices), len(obj.data.polygons)


def stop(obj: bpy.types.Object) -> None:
    """End what is played of an object, if anything is."""
    if obj.session_uid in playing:
        playing[obj.session_uid].stop()


def stop_all(why: str = "") -> None:
    """End all that is played in this Blender."""
    for session in list(playing.values()):
        session.stop(why)


def show_again() -> None:
    """Put live shapes back on the objects, after what took them off."""
    for session in list(playing.values()):
        try:
            session.show_again()
        except ConJacError as error:
            session.stop(str(error), failed=True)


def _found(blocks: Any, uid: int, name: str) -> Any:
    if (block := identity.still_there(blocks, uid)) is None:
        raise NoSuchThing("it was deleted while it was played live", "Undo that and press Play Live again", name)
    return block
