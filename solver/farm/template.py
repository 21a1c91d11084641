"""Description of a farm job: a template of Open Job Description (jobtemplate-2023-09), as plain values.

Steps are tetrahedralize → simulate → join (of islands) → export → Blender's export and render (with a .blend) → contact
sheet. A wedge's rows are tasks of each step, of simulate its islands too. Work that must be in order is a chain of
steps, since tasks of one step have no order.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from ..errors import EXIT_ENVIRONMENT

#: name of the step by the format that Blender exports
FORMATS = {"abc": "ExportAlembic", "shapekeys": "ExportShapeKeys"}
SPECIFICATION = "jobtemplate-2023-09"
BLENDER_SCRIPT, ISLANDS_FILE = "in_blender.py", "islands.json"  #: of a bundle
GRACE = 120  #: [s] that a running step has to end after a cancellation
ROOM = 1.5  #: times the memory of the estimate: what a task asks a worker for


@dataclass(frozen=True)
class Shot:
    """Input of a template. Paths are relative to the bundle."""

    name: str
    rows: int
    chunks: tuple[tuple[int, int], ...]  #: first and last frames, in order; one chunk for a bake that is not divided
    memory_mb: float  #: of the estimate, of the row that needs most
    threads: int
    wedge: str | None = None  #: the CSV file
    blend: str | None = None  #: the .blend that is rendered
    format: str | None = None  #: additional export of Blender, of FORMATS
    islands: int = 0  #: number of groups of bodies that are baked separately; 0: all at once


def template(shot: Shot) -> dict[str, Any]:
    """Return the template. Every path is a parameter with a data flow, so that a cloud can upload and download its
    files."""
    parameters = [
        _parameter("Shot", "STRING", shot.name, "What the job is called"),
        _path("JobFolder", "DIRECTORY", "IN", "job", "The job folder with scene.json and arrays"),
        *([_path("WedgeFile", "FILE", "IN", shot.wedge, "Rows of path=value settings")] if shot.wedge else []),
        *([_path("BlendFile", "FILE", "IN", shot.blend, "What is rendered"),
           _path("BlenderScript", "FILE", "IN", BLENDER_SCRIPT, "What Blender does with it"),
           _parameter("Blender", "STRING", "blender", "Blender's command on the workers")] if shot.blend else []),
        *([_path("IslandsFile", "FILE", "IN", ISLANDS_FILE, "Which bodies are separate")] if shot.islands else []),
        _path("OutputFolder", "DIRECTORY", "OUT", "out", "Where a folder for every row comes"),
        _parameter("Rows", "STRING", f"1-{shot.rows}", "Rows of the wedge, as 1-3,7"),
        _parameter("Threads", "INT", shot.threads, "Threads of a task", minValue=1),
        _parameter("Solver", "STRING", "conjac-solver", "The command of the solver on the workers"),
    ]
    steps = [_step("Tetrahedralize", shot, "tetrahedralize", [], None)]
    for k, (first, last) in enumerate(shot.chunks):
        name = "Simulate" if len(shot.chunks) == 1 else f"Simulate{k + 1}"
        island = ["--islands", "{{Param.IslandsFile}}", "--island", "{{Task.Param.Island}}"] if shot.islands else []
        steps.append(_step(name, shot, "simulate", [f"--frames={first}-{last}", "--threads", "{{Param.Threads}}",
                                                    *island], steps[-1]["name"], shot.islands))
    if shot.islands:
        steps.append(_step("Join", shot, "join", ["--islands", "{{Param.IslandsFile}}"], steps[-1]["name"]))
    steps.append(_step("Export", shot, "export", [], steps[-1]["name"]))
    if shot.format:
        steps.append(_blender(FORMATS[shot.format], shot.format, shot, steps[-1]["name"]))
    if shot.blend:
        steps.append(_blender("Render", "render", shot, steps[-1]["name"]))
    steps.append(_sheet(shot, steps[-1]["name"]))
    return {"specificationVersion": SPECIFICATION, "name": "{{Param.Shot}}", "parameterDefinitions": parameters,
            "steps": steps}


def _parameter(name: str, kind: str, default: Any, says: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "description": says, "default": default, **more}


def _path(name: str, kind: str, flow: str, default: str | None, says: str) -> dict[str, Any]:
    return _parameter(name, "PATH", default, says, objectType=kind, dataFlow=flow)


def _wedge(shot: Shot) -> list[str]:
    return ["--wedge", "{{Param.WedgeFile}}"] if shot.wedge else []


def _step(name: str, shot: Shot, verb: str, more: list[str], after: str | None, islands: int = 0) -> dict[str, Any]:
    arguments = ["task", verb, "{{Param.JobFolder}}", "--out", "{{Param.OutputFolder}}", *_wedge(shot),
                 "--row", "{{Task.Param.Row}}", *more]
    return {"name": name, **_after(after), "parameterSpace": _tasks(islands), "hostRequirements": _needs(shot),
            "script": _script(arguments)}


def _tasks(islands: int = 0) -> dict[str, Any]:
    """Return the parameters of a task for each row, or for each island of each row."""
    island_parameter = [{"name": "Island", "type": "INT", "range": f"1-{islands}"}] if islands else []
    return {"taskParameterDefinitions": [{"name": "Row", "type": "INT", "range": "{{Param.Rows}}"}, *island_parameter]}


def _blender(name: str, verb: str, shot: Shot, after: str) -> dict[str, Any]:
    """Return a step in which Blender alone, without the extension, processes a row's export."""
    arguments = ["-b", "{{Param.BlendFile}}", "--python-exit-code", str(EXIT_ENVIRONMENT), "--python",
                 "{{Param.BlenderScript}}", "--", verb, "{{Param.OutputFolder}}", "{{Task.Param.Row}}",
                 str(shot.chunks[0][0]), str(shot.chunks[-1][1])]
    return {"name": name, **_after(after), "parameterSpace": _tasks(), "script": _script(arguments, "Blender")}


def _sheet(shot: Shot, after: str) -> dict[str, Any]:
    wedge = ["{{Param.WedgeFile}}"] if shot.wedge else []
    return {"name": "ContactSheet", **_after(after),
            "script": _script(["wedge", "{{Param.JobFolder}}", *wedge, "--out", "{{Param.OutputFolder}}", "--look"])}


def _after(step: str | None) -> dict[str, Any]:
    return {} if step is None else {"dependencies": [{"dependsOn": step}]}


def _needs(shot: Shot) -> dict[str, Any]:
    return {"amounts": [{"name": "amount.worker.vcpu", "min": shot.threads},
                        {"name": "amount.worker.memory", "min": memory_mib(shot)}]}


def memory_mib(shot: Shot) -> int:
    """Return the memory that a worker needs [MiB]."""
    return math.ceil(ROOM * shot.memory_mb * 1e6 / 2**20)


def _script(arguments: list[str], command: str = "Solver") -> dict[str, Any]:
    return {"actions": {"onRun": {"command": f"{{{{Param.{command}}}}}", "args": arguments, "cancelation": {
        "mode": "NOTIFY_THEN_TERMINATE", "notifyPeriodInSeconds": GRACE}}}}


def yaml(value: Any, indent: int = 0) -> str:
    """Return plain values as readable YAML: blocks, with strings quoted as in JSON."""
    space = "  " * indent
    if isinstance(value, dict) and value:
        return "".join(f"{space}{key}:{_inside(item, indent + 1)}" for key, item in value.items())
    if isinstance(value, list) and value and not all(isinstance(item, str) for item in value):
        return "".join(f"{space}- {yaml(item, indent + 1).lstrip(' ')}" for item in value)
    return f"{space}{json.dumps(value, ensure_ascii=False)}\n"


def _inside(item: Any, indent: int) -> str:
    nested = isinstance(item, dict) or (isinstance(item, list) and not all(isinstance(value, str) for value in item))
    return f"\n{yaml(item, indent)}" if nested and item else f" {json.dumps(item, ensure_ascii=False)}\n"
