"""`blender -b FILE.blend -c conjac bake`: Blender's own command line.

    blender -b FILE.blend -c conjac bake [--object NAME]... [--format pc2|abc|shapekeys] [--frames A-B] [--save]
                                         [--replace] [--solve-all] [--json]

    blender -b FILE.blend -c conjac farm --out BUNDLE [--object NAME] [--wedge CSV] [--chunk N] [--threads N]
                                         [--draft JOB] [--blend FILE.blend] [--format abc|shapekeys] [--json]

farm writes a bundle of one bake, see the manual's page on farms. Of bake:

Without --object every mechanism and soft body of the scene is baked. Exit code 0 only if every frame asked for is on
disk and plays; else the solver's: 2 bad input, 3 diverged, 4 environment, 75 stopped. Frames go into the cache folder;
what plays them, a modifier, shape keys or keyframes, goes into the .blend, which is written only with --save and exit
code 0: beside the old one, which it replaces only where it is whole.

A finished bake whose settings have changed is begun anew only with --replace; else it is refused with exit code 2, and
its frames stay. A longer frame range goes on from what is there, and a shorter one keeps it. What has not changed since
the earlier bake, and is far from what has, keeps its frames, which are those of a bake of all to the byte; --solve-all
solves it again.

Soft bodies that touch each other are baked together, whichever of them is named.

SIGTERM, as a farm sends it, or Ctrl-C ends the step in hand and exits 75; the second signal kills.

With --json every line of ours on stdout is one JSON object, as `python -m solver` prints them, with the object's name
as "object", and where several are baked together the names of all as "objects"; Blender prints lines of its own
between them. Stages are also "read", "begin" and "write". Of each object the last is "baked", of the command "end":
    {"event": "baked", "object", "code", "error", "text"}     error: its stable code, "" where there is none
    {"event": "end", "code", "text"}
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from ...solver import catalogue
from ...solver.errors import (
    EXIT_BAD_INPUT,
    EXIT_COMPLETE,
    EXIT_ENVIRONMENT,
    EXIT_STOPPED,
    BadInput,
    ConJacError,
    NoSuchThing,
    printable,
)
from .. import members, upgrade
from . import foreground, saving, session


def run(argv: list[str]) -> int:
    """Run the registered command-line handler. argv: arguments after "-c conjac". Returns the exit code, never
    raises."""
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as end:  # argparse has printed why; leaving Python here would skip Blender's own exit
        return end.code if isinstance(end.code, int) else EXIT_BAD_INPUT
    lines = Lines(arguments.json)
    try:
        code, text = arguments.command(arguments, lines)
    except ConJacError as error:
        code, text = error.exit_code, str(error)
        lines.complain(text)
    except Exception as error:
        traceback.print_exc()
        code, text = EXIT_ENVIRONMENT, f"ConJac failed ({type(error).__name__}: {error})"
    lines.event({"event": "end", "code": code, "text": text})
    return code


class Lines:
    """Output of the command: sentences for people, or JSON lines."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    def say(self, text: str) -> None:
        if not self._as_json:
            print(printable(text), flush=True)

    def complain(self, text: str) -> None:
        if not self._as_json:
            print(printable(text), file=sys.stderr, flush=True)

    def event(self, message: dict[str, Any]) -> None:
        if self._as_json:
            print(json.dumps(message), flush=True)  # ASCII: whatever the terminal can show


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="blender -b FILE.blend -c conjac",
                                     description="Soft bodies and mechanisms by ConJac")
    verbs = parser.add_subparsers(required=True, metavar="bake | farm")
    bake = verbs.add_parser("bake", help="bake soft bodies and mechanisms of the scene", description=(
        "Exit codes: 0 complete, 2 bad input, 3 diverged, 4 environment, 75 stopped and resumable."))
    bake.add_argument("--object", metavar="NAME", action="append",
                      help="soft body or mechanism to bake; may be repeated; default: all of the scene")
    bake.add_argument("--format", choices=list(catalogue.family("export")), help="default: the object's own setting")
    bake.add_argument("--frames", type=_frames, metavar="A-B", help="frames to bake; default: all")
    bake.add_argument("--save", action="store_true", help="save the .blend with the modifier that plays the frames, "
                                                          "if all of them are baked")
    bake.add_argument("--replace", action="store_true",
                      help="start a finished bake again if its settings have changed; otherwise that is refused")
    bake.add_argument("--solve-all", action="store_true", help=(
        "solve every object again if any has changed; default: objects that have not changed and are far from those "
        "that have keep their frames; these have the same bytes as in a bake of all"))
    bake.add_argument("--json", action="store_true", help="one JSON object a line on stdout")
    bake.set_defaults(command=_bake)
    farm = verbs.add_parser("farm", help="write a folder with everything that a farm needs to bake without Blender")
    farm.add_argument("--out", metavar="BUNDLE", required=True, help="empty folder, created if missing")
    farm.add_argument("--object", metavar="NAME", help="soft body or mechanism; needed where the scene has several")
    farm.add_argument("--json", action="store_true", help="one JSON object a line on stdout")
    for option, says in FARM_OPTIONS.items():
        farm.add_argument(option, help=says)
    farm.add_argument("--blend", nargs="?", const="", metavar="FILE.blend", help=(
        "render this .blend after the export, saved with relative paths; default: the open file"))
    farm.set_defaults(command=_farm)
    return parser


def _frames(text: str) -> tuple[int, int]:
    """"A-B" or "A" as numbers; either may be negative."""
    first, dash, last = text[1:].partition("-")
    try:
        start = int(text[:1] + first)
        return start, int(last) if dash else start
    except ValueError as error:
        raise argparse.ArgumentTypeError(f'"{text}" is not a range such as 1-72') from error


def _bake(arguments: argparse.Namespace, lines: Lines) -> tuple[int, str]:
    """Bake one object after the other. Returns the first failure's exit code, and a sentence."""
    scene = bpy.context.scene
    objects = _named(scene, arguments.object) if arguments.object else _bakes(scene)
    if arguments.save and not bpy.data.filepath:
        raise BadInput("there is no .blend to save", "Give a file before -c, or leave --save out")
    codes = []
    with _stops_on_signals() as stopped:
        for obj in objects:
            if stopped():
                codes.append(EXIT_STOPPED)
                continue
            together = [body.name for body in members.soft_bodies(obj, scene)]
            subject = {"object": obj.name, **({"objects": together} if len(together) > 1 else {})}
            codes.append(foreground.bake(obj, scene, arguments.frames, arguments.format, lines.say,
                                         lambda message, subject=subject: lines.event(message | subject),
                                         replaces=arguments.replace, solves_all=arguments.solve_all))
    first_failure = next((code for code in codes if code != EXIT_COMPLETE), EXIT_COMPLETE)
    if not first_failure:
        if arguments.save:
            saving.save()
        return EXIT_COMPLETE, f"{len(objects)} baked"
    text = f"{sum(map(bool, codes))} of {len(objects)} are not complete"
    if arguments.save:
        text = f"{bpy.data.filepath} is not saved, as not every bake is complete"
        lines.say(text)
    return first_failure, text


#: options of `farm` that the solver reads
FARM_OPTIONS = {"--wedge": "CSV file with a line of path=value cells for each bake",
                "--chunk": "frames of one task, or a list such as 1-24,25-48", "--threads": "threads of a task",
                "--draft": "job folder of a baked draft: bodies that never meet in it become separate tasks",
                "--format": "abc or shapekeys: a format that Blender exports as well"}


def _farm(arguments: argparse.Namespace, lines: Lines) -> tuple[int, str]:
    """Write the bundle of one bake. Raises ConJacError."""
    from ..operators import farm

    scene = bpy.context.scene
    found = _named(scene, [arguments.object]) if arguments.object else _bakes(scene)
    if len(found) > 1:
        raise BadInput(f'the scene "{scene.name}" has {len(found)} bakes', "Name one of them with --object")
    given = ((option, getattr(arguments, option[2:])) for option in FARM_OPTIONS)
    options = [word for option, value in given if value is not None for word in (option, value)]
    if arguments.blend is not None:
        options += ["--blend", arguments.blend or farm.open_file()]
    steps = farm.export(found[0], scene, farm.absolute(arguments.out), options, session.TICK)
    try:
        while True:
            next(steps)
    except StopIteration as end:
        for note in end.value:
            lines.say(note)
        return EXIT_COMPLETE, end.value[-1]


@contextmanager
def _stops_on_signals() -> Iterator[Callable[[], bool]]:
    """Context in which the first SIGTERM or Ctrl-C ends the step in hand: Blender itself dies of the one, unheard, and
    only takes note of the other. Gives whether one came."""
    asked: list[int] = []
    before: dict[int, Any] = {}

    def stop(number: int, _frame: Any) -> None:
        asked.append(number)
        signal.signal(number, signal.SIG_DFL)  # the second one kills
        for bake in session.running.values():
            bake.pause()

    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGINT", "SIGBREAK"):
            if number := getattr(signal, name, None):
                before[number] = signal.signal(number, stop)
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)  # None: not Python's


def _named(scene: bpy.types.Scene, names: list[str]) -> list[bpy.types.Object]:
    for name in names:
        if name not in scene.objects:
            raise NoSuchThing(f'the scene "{scene.name}" has no object "{name}"', "Check the name")
        obj = scene.objects[name]
        upgrade.check(obj)
        if not (members.is_soft_body(obj) or members.is_mechanism(obj)):
            raise BadInput("it is not a ConJac soft body or mechanism", "Add one to it in the ConJac tab", name)
    # what is baked together is baked once
    return list(dict.fromkeys(members.owner(scene.objects[name]) for name in names))


def _bakes(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return the mechanisms, and the owner of each bake of soft bodies that touch each other. Raises BadInput where one
    may be and cannot be read."""
    for obj in scene.objects:
        upgrade.check(obj)
    found = [obj for obj in scene.objects if members.is_mechanism(obj)
             or (members.is_soft_body(obj) and members.owner(obj) == obj)]
    if not found:
        raise NoSuchThing(f'the scene "{scene.name}" has no ConJac soft body or mechanism',
                          "Add one in the ConJac tab")
    return found
