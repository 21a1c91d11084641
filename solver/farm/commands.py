"""Subcommands for many bakes: wedge, watch, task, farm, islands. Imports of the solver are deferred until one runs."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import BadInput, printable
from .template import FORMATS

Verbs = Any  #: argparse's, whose type has no public name
Listen = Callable[[bool], Callable[[], bool]]  #: starts to listen to signals; returns a function whether one came

_HELP = {"job": "folder with scene.json", "wedge": "CSV file with a line of path=value cells for each bake"}


def add(verbs: Verbs, listen: Listen, frames: Callable[[str], tuple[int, int]], count: Callable[[str], int]
        ) -> list[argparse.ArgumentParser]:
    """Add the subcommands to an argument parser; return their parsers.

    verbs: the parser's subparsers. listen: starts to listen to signals, and returns a function whether one came.
    frames, count: types of arguments.
    """
    wedge = verbs.add_parser("wedge", help="check the rows of a wedge, write their jobs, show their results")
    wedge.add_argument("job", type=Path, help=_HELP["job"])
    wedge.add_argument("wedge", type=Path, nargs="?", help=f"{_HELP['wedge']}; left out: the job as it is")
    wedge.add_argument("--out", type=Path, metavar="FOLDER", help="write a job folder for each row into this folder")
    wedge.add_argument("--look", action="store_true", help="write FOLDER/wedge.png and wedge.csv of what is there")
    wedge.set_defaults(command=_wedge)

    watch = verbs.add_parser("watch", help="a table of all bakes below a folder, until Ctrl-C")
    watch.add_argument("folder", type=Path, help="folder above the job folders")
    watch.add_argument("--every", type=count, metavar="S", default=2, help="seconds between two updates (default: 2)")
    watch.add_argument("--once", action="store_true", help="print once; implied by --json and without a terminal")
    watch.set_defaults(command=_watch)

    task = verbs.add_parser("task", help="one task of a farm: a step of one row of a wedge")
    task.add_argument("step", choices=("tetrahedralize", "simulate", "join", "export"))
    task.add_argument("job", type=Path, help=_HELP["job"])
    task.add_argument("--out", type=Path, metavar="FOLDER", required=True, help="folder of the rows' job folders")
    task.add_argument("--wedge", type=Path, metavar="CSV", help=_HELP["wedge"])
    task.add_argument("--row", type=count, metavar="N", default=1, help="row of the wedge, from 1 (default: 1)")
    task.add_argument("--frames", type=frames, metavar="A-B", help="of simulate: the chunk (default: all)")
    task.add_argument("--threads", type=count, metavar="N", help="threads of the kernels (default: one a core)")
    task.add_argument("--islands", type=Path, metavar="FILE", help="list of groups of bodies that are baked separately")
    task.add_argument("--island", type=count, metavar="N", help="of simulate: number of the group, from 1 (default: "
                                                                "all)")

    def run_task(arguments: argparse.Namespace, lines: Any, read_stdin: bool) -> str:
        return _task(arguments, lines, listen(read_stdin))

    task.set_defaults(command=run_task)

    farm = verbs.add_parser("farm", help="write a bundle for a farm: the job, its description, a list of all files")
    farm.add_argument("job", type=Path, help=_HELP["job"])
    farm.add_argument("--out", type=Path, metavar="BUNDLE", required=True, help="empty folder, created if missing")
    farm.add_argument("--wedge", type=Path, metavar="CSV", help=_HELP["wedge"])
    farm.add_argument("--chunk", metavar="N", help="frames of one task, or a list such as 1-24,25-48 (default: all "
                                                   "of a row)")
    farm.add_argument("--threads", type=count, metavar="N", default=1, help="threads of a task (default: 1)")
    farm.add_argument("--name", help="of the shot (default: the scene's)")
    farm.add_argument("--blend", type=Path, metavar="FILE", help="render this .blend after the export")
    farm.add_argument("--format", choices=tuple(FORMATS), help="of the .blend's objects: export this too, by Blender")
    farm.add_argument("--draft", type=Path, metavar="JOB", help="a baked draft: bodies that never meet become "
                                                                "separate tasks")
    farm.set_defaults(command=_farm)

    islands = verbs.add_parser("islands", help="split a job into groups of bodies that never meet, and join their "
                                               "bakes")
    islands.add_argument("job", type=Path, help=_HELP["job"])
    islands.add_argument("--out", type=Path, metavar="FOLDER", required=True, help="folder for the islands' jobs")
    islands.add_argument("--draft", type=Path, metavar="JOB", help="a baked draft that shows which bodies meet")
    islands.add_argument("--join", action="store_true", help="join the bakes of all islands into the job's cache")
    islands.set_defaults(command=_islands)
    return [wedge, watch, task, farm, islands]


def _wedge(arguments: argparse.Namespace, lines: Any, _: bool) -> str:
    """Check or expand a wedge, or look at its results, and return the last sentence."""
    from ..job.load import load
    from . import looks
    from .wedge import check_rows, expand, read_rows

    job, rows = load(arguments.job), read_rows(arguments.wedge)
    made = check_rows(job, rows)
    if arguments.out is None:
        if arguments.look:
            raise BadInput("there is no folder to look into", "Give it with --out")
        lines.say(*(f"Row {row.number}: {row.sentence}" for row in rows), event="summary",
                  rows=[{"row": row.number, "settings": dict(row.settings)} for row in rows])
        return f"All {len(rows)} rows can be baked"
    if not arguments.look:
        from .wedge import make_folders

        make_folders(arguments.out)
        for row, wedge_job in zip(rows, made):
            expand(job, row, arguments.out, wedge_job)
        lines.say(event="summary", rows=[row.folder for row in rows])
        return f"{len(rows)} job folders stand in {arguments.out}"
    from ..job.files import write_whole

    results = [looks.result(row, arguments.out) for row in rows]
    lines.say(*looks.table(results), event="summary", rows=looks.as_plain(results))
    write_whole(arguments.out / "wedge.csv", looks.as_csv(results))
    write_whole(arguments.out / "wedge.png", looks.draw_rows(rows, arguments.out))
    return f"{arguments.out / 'wedge.png'} shows {len(rows)} rows"


def _watch(arguments: argparse.Namespace, lines: Any, _: bool) -> str:
    """Show a table of all bakes below a folder, once or until Ctrl-C, and return the last sentence."""
    from .standing import all_below, format_standing

    once = arguments.once or lines.as_json or not sys.stdout.isatty()
    while True:
        bakes = all_below(arguments.folder)
        table = "\n".join(map(printable, format_standing(bakes)))
        if once:
            lines.say(*table.split("\n"), event="summary", bakes=[bake.plain() for bake in bakes])
            return f"{len(bakes)} bakes"
        try:
            sys.stdout.write(f"\x1b[H\x1b[2J{table}\n")  # moves the cursor to the corner and clears the screen
            sys.stdout.flush()
            time.sleep(arguments.every)
        except KeyboardInterrupt:
            return f"{len(bakes)} bakes"


def _farm(arguments: argparse.Namespace, lines: Any, _: bool) -> str:
    from . import bundle

    notes = bundle.write(arguments.job, arguments.out, wedge=arguments.wedge, chunk=arguments.chunk,
                         threads=arguments.threads, name=arguments.name, blend=arguments.blend,
                         format=arguments.format, draft=arguments.draft)
    lines.say(*notes, event="summary", bundle=str(arguments.out), notes=notes)
    return f"The bundle is in {arguments.out}"


def _islands(arguments: argparse.Namespace, lines: Any, _: bool) -> str:
    """Divide a job into islands, or join their bakes, and return the last sentence."""
    from ..job.estimate import estimate
    from ..job.load import load
    from . import islands

    job = load(arguments.job)
    if arguments.join:
        folders = sorted(arguments.out.glob(islands.ISLAND.format(0).replace("000", "*")))
        if not folders:
            raise BadInput(f"there is no island in {arguments.out}", "Split the job first, with --draft")
        islands.join(job, folders, lines.log)
        return f"{len(folders)} islands are joined in {job.cache}"
    if arguments.draft is None:
        raise BadInput("which bodies meet is not known", "Give a baked draft with --draft, or --join")
    island_names = islands.find(job, arguments.draft)
    for folder, names in zip(islands.part(job, island_names, arguments.out), island_names):
        lines.say(f"{folder.name}: {', '.join(names)}", *estimate(folder).sentences()[-2:], event="island",
                  folder=folder.name, bodies=names)
    return f"{len(island_names)} islands stand in {arguments.out}"


def _task(arguments: argparse.Namespace, lines: Any, stop: Callable[[], bool]) -> str:
    from . import task

    return task.run(arguments.step, task.Task(arguments.job, arguments.out, arguments.wedge, arguments.row,
                                              arguments.frames, arguments.threads, arguments.islands,
                                              arguments.island), lines, stop)
