"""Subcommands `live` and `record` of the command line. The solver is imported only when they run."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import catalogue

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]

Listen = Callable[[bool], Callable[[], bool]]


def add(verbs: Verbs, listen: Listen, count: Callable[[str], int]) -> list[argparse.ArgumentParser]:
    """Add the subcommands `live` and `record` and return their parsers.

    listen: returns a function for whether a pause was requested; its argument: whether standard input is read, too.
    count: parses a number of threads.
    """
    engines = tuple(catalogue.family("live_engine"))
    live = verbs.add_parser("live", help="play bodies in real time into the memory that another program created")
    live.add_argument("job", type=Path, help="folder with scene.json")
    live.add_argument("--board", type=Path, required=True, metavar="FILE", help="the memory that both share")
    live.add_argument("--engine", choices=engines, default="", help="engine (default: the first that can play the "
                                                                    "whole job)")
    live.add_argument("--threads", type=count, metavar="N", default=1,
                      help="threads of the kernels (default: %(default)s, as bodies are small)")

    def run(arguments: argparse.Namespace, lines: Any, read_stdin: bool) -> str:
        return _run_live(arguments, lines, listen(read_stdin))

    live.set_defaults(command=run)

    record = verbs.add_parser("record", help="write a live performance into the cache of a job, as if it were baked")
    record.add_argument("job", type=Path, help="folder with scene.json")
    record.add_argument("performed", type=Path, help="file that the verb live has printed")

    record.add_argument("--replace", action="store_true", help="replace an existing bake")

    def run_record(arguments: argparse.Namespace, lines: Any, read_stdin: bool) -> str:
        from .recording import keep

        keep(arguments.job, arguments.performed, lines, listen(read_stdin), arguments.replace)
        return "All frames are kept"

    record.set_defaults(command=run_record)
    return [live, record]


def _run_live(arguments: argparse.Namespace, lines: Any, stop: Callable[[], bool]) -> str:
    """Run the live loop of a job until it is stopped, and return the last message. lines: progress. stop: whether to
    stop."""
    from .. import threads

    threads.configure(arguments.threads)
    from .board import open_board
    from .clock import WallClock
    from .run import Live, engine_key, engine_of

    with open_board(arguments.board) as board:
        lines.stage("world", None, None, "Loading the solver")
        key = engine_key(arguments.engine, arguments.job)
        engine = engine_of(key, arguments.job, lines.stage)
        lines.say("Playing", event="live", engine=key, efforts=[effort.label for effort in engine.efforts])

        def saved(path: Path, frames: int) -> None:
            lines.say(f"{frames} frames were recorded: {path}", event="recorded", path=str(path), frames=frames)

        Live(arguments.job, engine, board, WallClock(), lines.log, saved).run(stop)
    return "It was stopped"
