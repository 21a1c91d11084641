"""One bake of one object: gather, run the solver, show the frames as they come. The only state is the process."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import Any

import bpy

from ...solver.errors import (
    EXIT_COMPLETE,
    EXIT_STOPPED,
    BadInput,
    CacheBusy,
    ConJacError,
    Environment,
    NoSuchThing,
    StaleCache,
)
from .. import copies, failures, gather, identity, members, part_identity, playback
from ..events import is_rendering
from ..live import session as live
from . import kernels, moving, place, taken, takes
from .can_play import check_can_play
from .earlier_frames import EarlierFrames
from .ending import check_frames, elsewhere, written
from .live import LiveFrames
from .progress import Progress, after, line
from .shown import show, take_parts_back
from .solver_command import solver_command
from .worker import Worker

SOLVER = "solver"

TICK = 0.1  #: seconds between looks at a bake that runs behind a window
WAIT = 0.2  #: seconds for which a wait in the foreground looks for the next message

#: the bakes of this Blender, by session_uid of the object: it may be renamed meanwhile, and its folder move
running: dict[int, Bake] = {}


class Bake:
    """A bake under way. `tick` carries it on until `exit_code` is there.

    frames: (first, last) that must be on disk at the end, default all. key: export format, default each object's own.
    All that is baked together with the object is, see `members`. Finished frames that are no longer true are kept as a
    take where it `keeps` them, else deleted where it `replaces` them, else it ends with StaleCache. What has not
    changed since is taken from them unless it `solves_all`. Raises ConJacError where it cannot begin.
    """

    def __init__(self, obj: bpy.types.Object, scene: bpy.types.Scene, frames: tuple[int, int] | None = None,
                 key: str | None = None, replaces: bool = True, keeps: bool = False, solves_all: bool = False
                 ) -> None:
        obj = members.owner(obj)
        if not (members.is_soft_body(obj) or members.is_mechanism(obj)):
            raise BadInput("it is not a ConJac soft body or mechanism", "Add one to it in the ConJac tab", obj.name)
        self.name, self.frames, self.key = members.title(obj, scene), frames, key or ""
        self._replaces, self._earlier = replaces or keeps, EarlierFrames(keeps, solves_all)
        self.progress = Progress()
        self.exit_code: int | None = None
        self.worker: Worker | None = None
        # undo moves data-blocks in memory: they are found anew when they are needed
        self.uid, self._scene = obj.session_uid, scene.session_uid
        with failures.remembered(self.uid, failures.BAKE):
            self._prepare(obj, scene)
        self._steps = self._run()
        running[self.uid] = self

    def _prepare(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
        """Take possession of the bake's folder. Raises ConJacError if the bake cannot begin."""
        self._cancelled = self._paused = False
        self._reading: Generator[tuple[float, str], None, None] | None = None
        self._undone = self._waits = False
        self._until = 0.0  # time of the next update of the window, infinity without a window
        for member in members.members(obj, scene):
            check_can_play(member)
            live.stop(member)  # what is read is the object itself
        self._report: Callable[[str], None] = lambda text: None
        self._listen: Callable[[dict[str, Any]], None] = lambda message: None
        found = place.of(obj)
        if self.uid in running or (found.own and place.cache_of(found.folder).status().state == "baking"):
            raise CacheBusy("it is already being baked", "Wait for that bake or cancel it", self.name)
        with ExitStack() as stack:
            try:
                self.folder = taken.take(obj, stack)
            except ConJacError as error:
                error.object = error.object or self.name
                raise
            if members.is_mechanism(obj):
                take_parts_back(obj, self.folder)
                part_identity.give(obj)
                playback.moved.adopt_all(playback.mechanism.playing(obj), scene)
            soft = members.soft_bodies(obj, scene)
            for body in soft:
                identity.give(body)
                identity.lead(body, body == obj and len(soft) > 1)
                copies.own_handles(body)
            self._taken = stack.pop_all()

    def tick(self, budget: float = 0.04) -> bool:
        """Work for about `budget` seconds, less if there is nothing to do. Returns whether the bake continues.
        Afterwards the scene is as the artist left it, also while it is being read."""
        self._until = time.monotonic() + budget
        try:
            if self.exit_code is None and is_rendering():  # it reads the scene, and what plays frames
                self._wait_for("Waiting for the render")
                return True
            while self.exit_code is None:
                if not next(self._steps):
                    return True
        except StopIteration:
            if self.exit_code is None:  # interrupted in the middle of a step
                self._end(EXIT_STOPPED, "Stopped; bake again to continue")
        except ConJacError as error:
            error.object = error.object or self.name
            self._fail(error)
        except Exception as error:
            # the window must live on; the traceback on the console is for the report
            traceback.print_exc()
            self._fail(Environment(f"ConJac failed ({type(error).__name__}: {error})",
                                   "Please report this with what the console says", self.name))
        finally:
            if self.exit_code is not None:
                self.close()
        return False

    def wait(self, report: Callable[[str], None] = lambda text: None,
             listen: Callable[[dict[str, Any]], None] = lambda message: None) -> int:
        """Carry it on to its end in the foreground. Returns the exit code.

        report: called with sentences about all that it does. listen: called with messages about the same, without how
            it ended.
        """
        self._report, self._listen = report, listen
        try:
            if is_rendering():
                raise Environment("a render is running, which reads the scene too", "Wait until it has ended",
                                  self.name)
            while self.tick(math.inf):
                if self.worker is not None and not self.worker.ended():
                    self._tell(*self.worker.messages(WAIT))
        except KeyboardInterrupt:
            self.cancel()
            while self.tick():
                time.sleep(0.02)
        except ConJacError as error:
            self._fail(error)
            self.close()
        return self.exit_code if self.exit_code is not None else EXIT_STOPPED

    def report_to(self, report: Callable[[str], None]) -> None:
        """Tell someone all that it does from now on."""
        self._report = report

    def sentence(self) -> str:
        """Return the state of the bake as one line of text."""
        return f"{self.name}: {line(self.progress)}"

    def pause(self) -> None:
        """Stop after the step in hand, or after the frame that is being read."""
        self._paused = True
        if self.worker is not None:
            self.worker.pause()

    def cancel(self) -> None:
        """Stop within two seconds. Frames and the last snapshot stay."""
        self._cancelled = True
        if self.worker is not None:
            self.worker.cancel()

    def close(self) -> None:
        """Stop everything that still runs, at once."""
        running.pop(self.uid, None)
        self._steps.close()
        if self.worker is not None and self.worker.exit_code is None:
            self.worker.stop()
        self._earlier.put_back(self.folder)
        self._taken.close()
        try:
            self.folder = moving.arrive(self.uid, self.folder)
        except ConJacError as error:
            self._tell({"event": "error", "code": error.code, "text": str(error)})
        if self.exit_code is None:
            self.exit_code = EXIT_STOPPED

    # -- the life of a bake ------------------------------------------------------------------------------------

    def _run(self) -> Iterator[bool]:
        """Run the bake as a generator: each `next` does a little work and yields whether more can be done at once."""
        if place.is_temporary(self.object()):
            self.note("This .blend has never been saved: the bake is in a temporary folder and is deleted when Blender "
                       "closes. Save the file first to keep it")
        yield True
        self._earlier.before(self.folder)
        yield from self._read()
        if self.exit_code is not None:
            return
        cache = place.cache_of(self.folder)
        yield from self._solve(resume=cache.manifest is not None)
        if self.progress.error_code == "stale_cache":
            finished, too = takes.finished(cache), elsewhere(self.object(), self._scene)
            why = self.progress.error.partition("these changed: ")[2].partition(". ")[0]
            if finished and not self._replaces:
                raise StaleCache(f"its {finished} finished frames were baked before these changed: {why}",
                                 f"Set them back, or bake again to replace the frames{too}", self.name)
            again, notes = self._earlier.replace(self.folder, finished, f"{why}{too}")
            self.note(*notes)
            if not again:
                self.note("The settings have changed: the bake starts again")
            self.progress = Progress(notes=self.progress.notes)
            yield from self._solve(resume=again)
        self._earlier.settle(self.folder)
        yield from self._finish()

    def _read(self) -> Iterator[bool]:
        """Write the job folder; from its beginning again where the artist has undone or edited something meanwhile."""
        self._undone = True
        while self._undone:
            self._undone, self._waits = False, False
            if self._until < math.inf:  # else gathering says so
                yield from self._until_object_mode("It continues when you")
            if self._cancelled or self._paused:
                return self._end(EXIT_STOPPED, "Stopped before the simulation began")
            self._reading = gather.write_job_steps(self.object(), self.scene(), self.folder, self.note,
                                                   lets_in=self._lets_in)
            try:
                for fraction, text in self._reading:
                    self._tell({"event": "stage", "stage": "read", "body": self.name, "progress": fraction,
                                "text": text})
                    if self._cancelled or self._paused:
                        return self._end(EXIT_STOPPED, "Stopped before the simulation began")
                    yield not self._waits
                    if self._waits and self._edited() is not None:
                        self._undone = True
                        break
            except ReferenceError as error:
                raise NoSuchThing("it, or something that it is baked with, was deleted while the scene was read",
                                  "Undo that and bake again", self.name) from error
            finally:
                self._reading.close()
                self._reading = None

    def _lets_in(self) -> bool:
        """Whether the window is updated, now that a frame has been read."""
        self._waits = time.monotonic() > self._until
        return self._waits

    def forget_reading(self) -> None:
        """Discard what has been read of the scene, since another scene is about to replace it."""
        if self._reading is not None:
            self._undone = True
            self._reading.close()

    def _command(self, resume: bool) -> list[str]:
        """Return the solver's arguments. resume: whether there is a bake to go on with."""
        return solver_command(self.folder, self.frames, resume, self._earlier.to_reuse(self.folder, resume))

    def _solve(self, resume: bool) -> Iterator[bool]:
        """Run the solver on the job folder and show its frames as they come."""
        self._tell({"event": "stage", "stage": "begin", "body": self.name, "progress": None,
                    "text": "Starting the solver"})
        self.worker = Worker(SOLVER, self._command(resume), env=kernels.environment())
        shown = LiveFrames(self)
        while not self.worker.ended():
            self._tell(*self.worker.messages())
            if self._cancelled:
                self.worker.cancel()
            # before the solver's "start" a cache from other settings may still be there
            yield self.progress.first is not None and shown.next() and time.monotonic() < self._until
        self._tell(*self.worker.messages())

    def _finish(self) -> Iterator[bool]:
        """Show the frames on the object, and report how the bake ended."""
        assert self.worker is not None
        code = self.worker.exit_code
        if self.progress.exit_code is None and not self._cancelled:
            self.note(*self.worker.last_lines)
            raise Environment(f"the solver's process ended unexpectedly (exit code {code})",
                              "Bake again to continue from the last snapshot", self.name)
        code = EXIT_STOPPED if self.progress.exit_code is None else self.progress.exit_code
        stopped = "Stopped; bake again to continue" if code == EXIT_STOPPED else self.progress.text
        text = self.progress.error or stopped
        if code == EXIT_COMPLETE:
            # Blender is blocked while it writes, so the window shows the reason before
            self._tell({"event": "stage", "stage": "write", "body": self.name, "progress": 1.0,
                        "text": f"Writing {written(self.object(), self.key)}"})
            yield False
            if self._until == math.inf and (edited := self._edited()) is not None:
                raise BadInput("it is being edited, so its frames are on the disk and do not play yet",
                               "Leave Edit or Sculpt Mode and bake again", edited.name)
            yield from self._until_object_mode("All frames are there and play when you")
        self.folder = moving.arrive(self.uid, self.folder)
        if code == EXIT_COMPLETE and self._edited() is not None:
            return self._end(EXIT_STOPPED, "All frames are there; bake again in Object Mode to see them")
        self._show()
        if code == EXIT_COMPLETE:
            check_frames(self.folder, self.frames, self.name)
        self._end(code, text)

    def _until_object_mode(self, why: str) -> Iterator[bool]:
        """Wait while the artist edits an object that is read or played on, whose shape Blender would not update."""
        while (edited := self._edited()) is not None and not (self._cancelled or self._paused):
            mode = "Sculpt" if edited.mode == "SCULPT" else "Edit"
            self._wait_for(f"{why} leave the {mode} Mode of {edited.name}")
            yield False

    def _edited(self) -> bpy.types.Object | None:
        """Return an object of the bake that is being edited."""
        return next((member for member in members.members(self.object(), self.scene()) if members.is_edited(member)),
                    None)

    def _wait_for(self, text: str) -> None:
        """Show what the bake is waiting for."""
        if self.progress.text != text:
            self._tell({"event": "stage", "body": self.name, "progress": self.progress.fraction, "text": text})

    def _show(self) -> None:
        """Play all existing frames, in the chosen format if the bake is complete."""
        obj, cache = self.object(), place.cache_of(self.folder)
        if self.progress.exit_code != EXIT_COMPLETE and self._edited() is not None:
            return  # the next bake goes on, and shows them
        key = self.key if self.progress.exit_code == EXIT_COMPLETE else "pc2"
        # a bake that failed before its first new frame does not change the playback
        if self.progress.exit_code == EXIT_COMPLETE or self.progress.frame is not None:
            try:
                self.note(*show(obj, self.scene(), self.folder, cache, key))
            except ConJacError:
                if not self.progress.error:  # else the bake's own error says more
                    raise

    def _tell(self, *messages: dict[str, Any]) -> None:
        for message in messages:
            before, self.progress = self.progress, after(self.progress, message)
            if message["event"] not in ("error", "end", "output"):
                self._listen(message)  # a solver's end may be a beginning: after settings changed it starts anew
            for note in self.progress.notes[len(before.notes):]:
                self._report(note)
            if self.progress.text != before.text and self.progress.exit_code is None:
                self._report(self.sentence())

    def note(self, *texts: str) -> None:
        self._tell(*({"event": "log", "text": text} for text in texts))

    def _fail(self, error: ConJacError) -> None:
        self._tell({"event": "error", "code": error.code, "text": str(error)})
        self._end(error.exit_code, str(error))

    def _end(self, code: int, text: str) -> None:
        if code not in (EXIT_COMPLETE, EXIT_STOPPED) and not self.progress.error:
            self._tell({"event": "error", "code": "", "text": text})
        self._tell({"event": "end", "code": code, "text": text})
        self.exit_code = code
        if code not in (EXIT_COMPLETE, EXIT_STOPPED):
            failures.keep(self.uid, failures.BAKE, self.progress.error, self.progress.error_code)
        elif code == EXIT_COMPLETE or self.progress.frame is not None:  # what was wrong with a start is mended
            failures.mend(self.uid, failures.BAKE)

    def object(self) -> bpy.types.Object:
        """Return the present object. Raises NoSuchThing if it was deleted."""
        return _found(bpy.data.objects, self.uid, self.name)

    def scene(self) -> bpy.types.Scene:
        return _found(bpy.data.scenes, self._scene, self.name)


def before_undo() -> None:
    """Discard what has been read of the scene, since the artist undoes or redoes something."""
    for session in running.values():
        session.forget_reading()


def stop_all() -> None:
    """End every bake of this Blender. Their frames stay."""
    for session in list(running.values()):
        session.close()


def running_bake(obj: bpy.types.Object) -> Bake | None:
    """Return this Blender's bake that includes the object."""
    return running.get(members.owner(obj).session_uid)


def is_read(obj: bpy.types.Object) -> bool:
    """Whether this Blender is gathering the scene for a bake of the object."""
    bake = running_bake(obj)
    return bake is not None and bake.worker is None


def _found(blocks: Any, uid: int, name: str) -> Any:
    if (block := identity.still_there(blocks, uid)) is None:
        raise NoSuchThing("it was deleted while it was baked", "Undo that and bake again; its frames are kept", name)
    return block
