"""Command line, `python -m solver VERB`, for people, render farms and Blender's worker process.

Verbs of farms are in farm/commands.py, live and record in live/command.py, all others here.

Exit codes: 0 complete; 2 bad input; 3 diverged; 4 environment (disk, memory, path) or a defect of ConJac, whose
traceback is on stderr; 75 stopped on request and resumable.

With --json every line on stdout is one JSON object, flushed at once; the last one is always "end":
    {"event": "log", "text"}
    {"event": "stage", "stage", "body", "progress", "text"}    before frames; progress is in [0, 1] or null
    {"event": "start", "frames": [first, last], "steps_per_frame"}    first is on disk, or the next to be written
    {"event": "frame", "frame", "ms", "left_s"}    its file is complete; how long it took, and the others will take
    {"event": "tets", "body", "path", "nodes", "tets", "notes", "fused", "to_world"}    path: an .npz with nodes and
                        tets; to_world: matrix from these nodes to world space, (4, 4), null where they are in it;
                        fused: ends of lines in world space [m] at which sheets of the mesh share tetrahedra
    {"event": "fields", "body", "path", "notes"}   path: an .npz with maps and fibers, see build/fields.py:shown
    {"event": "suggest", "body", "points"}         positions for dynamic nodes [m], best first
    {"event": "wobble", "body", "hertz", "times"}  frequency of the lowest mode, and factor of E for that of --hertz
    {"event": "live", "engine", "efforts"}         a live simulation begins; labels of its levels of effort
    {"event": "recorded", "path", "frames"}        file of what was done in it, which the verb record bakes
    {"event": "summary", ...}                      result of check and info
    {"event": "error", "code", "exit", "object", "frame", "where", "text"}    where: path of a field of scene.json
    {"event": "end", "code", "text"}

SIGTERM, Ctrl-C, Ctrl-Break or a line `pause` on stdin stops the process after the current step, with exit code 75; a
second signal kills it. A program that reads stdin itself calls `main(argv, read_stdin=False)` and, for such a line,
`request_pause()`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import one_thread  # noqa: F401  # isort: skip  # before numpy
from .errors import (
    EXIT_COMPLETE,
    EXIT_ENVIRONMENT,
    BadInput,
    ConJacError,
    Environment,
    NoSuchThing,
    Stopped,
    printable,
)
from .farm import commands as farm
from .live import command as live

if TYPE_CHECKING:
    from .build.fields import Prepared
    from .job.folder import Job
    from .job.schema import Body

VERBS = "bake | check | tets | fields | suggest | wobble | info | wedge | watch | task | farm | islands | live | record"

_stop_requested = threading.Event()


def request_pause() -> None:
    """Stop the bake after the current step, with exit code 75; it can be resumed. May be called from any thread."""
    _stop_requested.set()


class Lines:
    """Reporter of a bake's progress on stdout, as sentences or as JSON lines. See `simulate.Reporter`."""

    def __init__(self, as_json: bool) -> None:
        self.as_json, self.last = as_json, 0
        self._stage = ""

    def say(self, *sentences: str, **event: Any) -> None:
        """Write a line for each sentence, or with --json `event`. Request a pause where stdout is closed."""
        line = json.dumps(event, ensure_ascii=False) if self.as_json else "\n".join(map(printable, sentences))
        try:
            if line:
                # names may hold what the terminal's encoding cannot show
                sys.stdout.buffer.write((line + "\n").encode("utf-8", "replace"))
                sys.stdout.buffer.flush()
        except (BrokenPipeError, ValueError):
            request_pause()

    def log(self, text: str) -> None:
        self.say(text, event="log", text=text)

    def stage(self, stage: str, body: str | None, progress: float | None, text: str) -> None:
        """Write the progress of a stage before the first frame. Raises Stopped after a request to pause."""
        shown = f"{body}: {text}" if body and text else text
        changed, self._stage = shown != self._stage, shown
        self.say(shown if changed else "", event="stage", stage=stage, body=body, progress=progress, text=text)
        if _stop_requested.is_set():
            raise Stopped("stopped before the first frame", "Resume to continue")

    def start(self, first: int, last: int, steps_per_frame: int) -> None:
        self.last = last
        steps = "step" if steps_per_frame == 1 else "steps"
        self.say(f"Frames {first} to {last}, {steps_per_frame} {steps} each",
                 event="start", frames=[first, last], steps_per_frame=steps_per_frame)

    def frame(self, frame: int, ms: float, left_s: float) -> None:
        self.say(f"Frame {frame} of {self.last}   {ms:.0f} ms   {duration(left_s)} left",
                 event="frame", frame=frame, ms=round(ms, 3), left_s=round(left_s, 3))

    def error(self, error: ConJacError) -> None:
        """Write a failure, on stderr unless lines are JSON."""
        if self.as_json:
            self.say("", event="error", code=error.code, exit=error.exit_code, object=error.object, frame=error.frame,
                     where=error.where, text=str(error))
        else:
            print(printable(str(error)), file=sys.stderr, flush=True)

    def end(self, code: int, text: str) -> None:
        self.say(text, event="end", code=code, text=text)


def main(argv: Sequence[str] | None = None, *, read_stdin: bool = True) -> int:
    """Run one command and return its exit code. argv: without the program's name; this process's where left out."""
    arguments = _parser().parse_args(argv)
    lines = Lines(arguments.json)
    _stop_requested.clear()
    try:
        text = arguments.command(arguments, lines, read_stdin) or "Done"
        code = EXIT_COMPLETE
    except Stopped as stopped:
        code, text = stopped.exit_code, str(stopped)
    except ConJacError as error:
        lines.error(error)
        code, text = error.exit_code, str(error)
    except MemoryError:
        short = Environment("there is not enough memory", "Use a larger edge length, or close other programs")
        lines.error(short)
        code, text = short.exit_code, str(short)
    except Exception as error:
        traceback.print_exc()
        defect = Environment(f"ConJac failed ({type(error).__name__}: {error})", "Please report this with its log")
        lines.error(defect)
        code, text = EXIT_ENVIRONMENT, str(defect)
    lines.end(code, text if lines.as_json or code not in (2, 3, 4) else "")
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="solver", description="ConJac's solver. Exit codes: 0 complete, 2 bad input, "
                                     "3 diverged, 4 environment, 75 stopped and resumable.")
    verbs = parser.add_subparsers(required=True, metavar=VERBS)

    bake = verbs.add_parser("bake", help="simulate a job folder into its cache")
    bake.add_argument("job", type=Path, help="folder with scene.json")
    bake.add_argument("--frames", type=_frames, metavar="A-B", help="frames to bake (default: all)")
    bake.add_argument("--resume", action="store_true", help="resume from the last snapshot with the same settings")
    bake.add_argument("--threads", type=_count, metavar="N", help="threads of the kernels (default: one a core)")
    bake.add_argument("--cores-left-free", type=_parse_whole, metavar="N", default=0,
                      help="cores left to other programs if --threads is not given (default: 0)")
    bake.add_argument("--reuse", type=Path, metavar="FOLDER",
                      help="an earlier bake: unchanged bodies are solved again only where they meet changed ones")
    bake.set_defaults(command=_bake)

    check = verbs.add_parser("check", help="validate a job, estimate its memory and time")
    check.add_argument("job", type=Path, help="folder with scene.json")
    check.set_defaults(command=_check)

    tets = verbs.add_parser("tets", help="tetrahedralize the bodies of a job and keep the result for its bake")
    tets.add_argument("job", type=Path, help="folder with scene.json")
    tets.set_defaults(command=_tets)

    fields = verbs.add_parser("fields", help="evaluate maps and fibers in each tetrahedron, for a preview")
    fields.add_argument("job", type=Path, help="folder with scene.json")
    fields.set_defaults(command=_fields)

    suggest = verbs.add_parser("suggest", help="find positions for dynamic nodes from the bodies' vibrations")
    suggest.add_argument("job", type=Path, help="folder with scene.json")
    suggest.add_argument("--count", type=_count, metavar="N", default=4, help="how many for each body (default: 4)")
    suggest.set_defaults(command=_suggest)

    wobble = verbs.add_parser("wobble", help="find slowest wobbles, and the stiffness for a wanted frequency")
    wobble.add_argument("job", type=Path, help="folder with scene.json")
    wobble.add_argument("--hertz", type=_above_zero, metavar="F", default=2.5, help="wanted [Hz] (default: 2.5)")
    wobble.set_defaults(command=_wobble)

    info = verbs.add_parser("info", help="describe a cache and check that it is complete")
    info.add_argument("cache", type=Path, help="cache folder, or the job folder around it")
    info.set_defaults(command=_info)
    many = [*farm.add(verbs, _listen, _frames, _count), *live.add(verbs, _listen, _count)]
    for verb in (bake, check, tets, fields, suggest, wobble, info, *many):
        verb.add_argument("--json", action="store_true", help="one JSON object a line on stdout")
    return parser


def _frames(text: str) -> tuple[int, int]:
    """Return the first and last frame of "A-B", or of "A" as both; either may be negative."""
    first, dash, last = text[1:].partition("-")
    try:
        start = int(text[:1] + first)
        return start, int(last) if dash else start
    except ValueError as error:
        raise argparse.ArgumentTypeError(f'"{text}" is not a range such as 1-72') from error


def _count(text: str) -> int:
    return _parse_whole(text, 1)


def _parse_whole(text: str, least: int = 0) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number from {least} on')
    return int(text)


def _above_zero(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f'"{text}" is not a number above 0')
    return value


def _bake(arguments: argparse.Namespace, lines: Lines, read_stdin: bool) -> str:
    from . import simulate

    _listen(read_stdin)
    simulate.bake(arguments.job, lines, frames=arguments.frames, resume=arguments.resume, threads=arguments.threads,
                  left_free=arguments.cores_left_free, stop=_stop_requested.is_set, reuse=arguments.reuse)
    return "All frames are baked" if arguments.frames is None else "The frames asked for are baked"


def _check(arguments: argparse.Namespace, lines: Lines, read_stdin: bool) -> str:
    from .build.volumes import check_surfaces
    from .job import load
    from .job.estimate import estimate

    estimated = estimate(arguments.job)
    notes = check_surfaces(load.load(arguments.job))
    lines.say(*estimated.sentences(), *notes, event="summary", **estimated.plain(), notes=notes)
    return "The job can be baked"


def _with_inside(job: Job, lines: Lines) -> list[Body]:
    """Return bodies that are filled with tetrahedra; write of others that they have no inside."""
    from .job.kinds import kind_of
    for kind in map(kind_of, job.scene.bodies):
        if not kind.is_filled:
            lines.say(f"{kind.name}: it is {kind.noun}, so there is nothing inside", event="cloth", body=kind.name)
    return [body for body in job.scene.bodies if kind_of(body).is_filled]


def _tets(arguments: argparse.Namespace, lines: Lines, read_stdin: bool) -> str:
    from .build.fields import describe_fused_lines, find_fused_lines_of_body
    from .build.volumes import volume_of
    from .job import hashes, load, stages
    from .job.object_pose import pose_of

    _listen(read_stdin)
    job = load.load(arguments.job)
    keys = hashes.hashes(hashes.settings(job)).bodies
    for body in _with_inside(job, lines):
        volume = volume_of(job, body, keys[body.name]["tets"], lines.stage)
        stored = stages.stage_path(job, "tets", body.name, keys[body.name]["tets"])
        pose = None if body.tets is not None or body.surface is None else pose_of(job, body.surface)
        text = f"{body.name}: {len(volume.nodes)} nodes, {len(volume.tets)} tetrahedra"
        across, edge_length = find_fused_lines_of_body(job, body, volume)
        notes = [*volume.notes, *describe_fused_lines(across, edge_length)]
        lines.say(text, *notes, event="tets", body=body.name,
                  path=None if body.tets is not None else str(stored),  # a volume mesh given by hand is not stored
                  nodes=len(volume.nodes), tets=len(volume.tets), notes=notes, fused=across.tolist(),
                  to_world=None if pose is None else pose.to_world.tolist())
    return "The volume is kept for the bake"


def _fields(arguments: argparse.Namespace, lines: Lines, read_stdin: bool) -> str:
    from .build.fields import prepare, preview
    from .build.volumes import volumes_of
    from .job import hashes, load, stages

    _listen(read_stdin)
    job = load.load(arguments.job)
    keys = hashes.hashes(hashes.settings(job)).bodies
    volumes = dict(zip((body.name for body in job.scene.bodies), volumes_of(job, lines.stage)))
    for body in _with_inside(job, lines):
        prepared = prepare(job, body, volumes[body.name], lines.stage)
        path, notes = stages.stage_path(job, "fields", body.name, keys[body.name]["fields"]), prepared.fields.notes
        stages.write_arrays(path, preview(prepared), job.path)
        lines.say(f"{body.name}: {path}", *notes, event="fields", body=body.name, path=str(path),
                  notes=[*prepared.volume.notes, *notes])
    return "The fields can be looked at"


def _prepare_bodies(arguments: argparse.Namespace, lines: Lines, read_stdin: bool) -> Iterator[tuple[Job, Prepared]]:
    """Yield the job and each body that is filled with tetrahedra, with its maps and fibers."""
    from .build.fields import prepare
    from .build.volumes import volumes_of
    from .job import load

    _listen(read_stdin)
    job = load.load(arguments.job)
    volumes = dict(zip((body.name for body in job.scene.bodies), volumes_of(job, lines.stage)))
    lines.stage("world", None, None, "Loading the solver")
    for body in _with_inside(job, lines):
        yield job, prepare(job, body, volumes[body.name], lines.stage)


def _suggest(arguments: argparse.Namespace, lines: Lines, read_stdin: bool) -> str:
    for job, prepared in _prepare_bodies(arguments, lines, read_stdin):
        from .build.suggest import suggest  # which takes a while, as was reported above

        body = prepared.body
        lines.stage("suggest", body.name, None, "Finding its slowest wobbles")
        points = suggest(job, prepared, arguments.count).tolist()
        positions = (f"  {x:g} {y:g} {z:g}" for x, y, z in points)
        lines.say(f"{body.name}:", *positions, event="suggest", body=body.name, points=points)
    return "Dynamic nodes are suggested"


def _wobble(arguments: argparse.Namespace, lines: Lines, read_stdin: bool) -> str:
    for job, prepared in _prepare_bodies(arguments, lines, read_stdin):
        from .build.stiffness import fit_stiffness  # which takes a while, too

        body = prepared.body
        lines.stage("wobble", body.name, None, "Finding its slowest wobble")
        hertz, times = fit_stiffness(job, prepared, arguments.hertz)
        lines.say(f"{body.name}: its slowest wobble has {hertz:.3g} Hz; {arguments.hertz:g} Hz with {times:.3g} times "
                  "its Young's Modulus", event="wobble", body=body.name, hertz=hertz, times=times)
    return "The slowest wobbles are found"


def _info(arguments: argparse.Namespace, lines: Lines, read_stdin: bool) -> str:
    from .frames.layout import MANIFEST, SNAPSHOT
    from .frames.read import Cache

    folder = arguments.cache
    if not (folder / MANIFEST).exists() and (folder / "cache" / MANIFEST).exists():
        folder = folder / "cache"
    cache = Cache(folder)
    manifest, status = cache.manifest, cache.status()
    if manifest is None:
        raise NoSuchThing(f"there is no cache in {folder}", "Give the cache folder of a job")
    damaged = cache.verify()
    if damaged and status.state != "baking":
        raise BadInput(f"{len(damaged)} baked frames are missing or damaged, the first is {damaged[0]}",
                       "Bake with --resume to make them again")
    runs, torn = manifest["runs"], cache.find_damaged_frames(SNAPSHOT)
    text = [f"{manifest['name']}: {status.text}",
            f"Frames {manifest['start']} to {manifest['end']} at {manifest['fps']:g} fps",
            *(f'Body "{name}": {count} vertices' for name, _, count in cache.bodies()),
            *(f'Mechanism "{mechanism["name"]}": {len(mechanism["bodies"])} bodies, {len(mechanism["joints"])} joints'
              for mechanism in cache.mechanisms()),
            *(f"The snapshot of frame {frame} is damaged: a resumed bake begins before it" for frame in torn),
            *(f"From frame {run['from']} on {run.get('machine') or 'another machine'} with {run['backend']}, "
              f"{run['at']}" for run in runs)]
    lines.say(*text, event="summary", state=status.state, done=status.done, total=status.total,
              text=status.text, changed=status.changed, name=manifest["name"], fps=manifest["fps"],
              frames=[manifest["start"], manifest["end"]], bodies=manifest["bodies"], mechanisms=cache.mechanisms(),
              runs=runs)
    return status.text


def _listen(read_stdin: bool) -> Callable[[], bool]:
    """Let signals and a line `pause` on stdin request a pause; return a function for whether one was requested."""
    def request_stop(number: int, _: Any) -> None:
        request_pause()
        signal.signal(number, signal.SIG_DFL)  # the second one kills

    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGINT", "SIGBREAK"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), request_stop)
    if read_stdin:
        threading.Thread(target=_read_stdin, daemon=True).start()
    return _stop_requested.is_set


def _read_stdin() -> None:
    """Request a pause at a line `pause` on stdin. The end of input is none: cron and queues give an empty stdin. A
    terminal is not read, as the shell would suspend a background job that reads it."""
    # os.read, as a buffered read in a daemon thread aborts the interpreter at exit
    try:
        if os.isatty(0):
            return
        text = b""
        while block := os.read(0, 4096):
            *whole, text = (text + block).split(b"\n")
            if any(line.strip() == b"pause" for line in whole):
                request_pause()
    except OSError:
        return


def duration(seconds: float) -> str:
    """Return a duration as text with one unit: "8 s", "3 min" or "2.5 h"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
