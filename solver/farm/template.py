"""The one description of a farm job: a template of Open Job Description (jobtemplate-2023-09), as plain values.

Steps are tetrahedralize → simulate → export → render (with a .blend) → contact sheet. A wedge's rows are tasks of each
step. What has to be done in order is a chain of steps: chunks inside of one step have no order.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from ..errors import EXIT_ENVIRONMENT, EXIT_STOPPED

SPECIFICATION = "jobtemplate-2023-09"
GRACE = 120  # s that a step in hand has to end after it was asked to
ROOM = 1.5  # times the memory of the estimate


@dataclass(frozen=True)
class Shot:
    """What a template is made of. Paths are relative to the bundle."""

    name: str
    rows: int
    chunks: tuple[tuple[int, int], ...]  #: first and last frames, in order; one for a bake that is not cut
    memory_mb: float  #: of the estimate, of the row that needs most
    threads: int
    wedge: str | None = None  #: the CSV file
    blend: str | None = None  #: the .blend that is rendered


def template(shot: Shot) -> dict[str, Any]:
    """The template. Every path is a parameter with a data flow, so a cloud knows what to upload and what to bring."""
    parameters = [
        _parameter("Shot", "STRING", shot.name, "What the job is called"),
        _path("JobFolder", "DIRECTORY", "IN", "job", "The job folder with scene.json and arrays"),
        *([_path("WedgeFile", "FILE", "IN", shot.wedge, "Rows of path=value settings")] if shot.wedge else []),
        *([_path("BlendFile", "FILE", "IN", shot.blend, "What is rendered"),
           _path("RenderScript", "FILE", "IN", "render.py", "How it is rendered"),
           _parameter("Blender", "STRING", "blender", "Blender's command on the workers")] if shot.blend else []),
        _path("OutputFolder", "DIRECTORY", "OUT", "out", "Where a folder for every row comes"),
        _parameter("Rows", "STRING", f"1-{shot.rows}", "Rows of the wedge, as 1-3,7"),
        _parameter("Threads", "INT", shot.threads, "Threads of a task", minValue=1),
        _parameter("Solver", "STRING", "conjac-solver", "The command of the solver on the workers"),
    ]
    steps = [_step("Tetrahedralize", shot, "tetrahedralize", [], None)]
    for k, (first, last) in enumerate(shot.chunks):
        name = "Simulate" if len(shot.chunks) == 1 else f"Simulate{k + 1}"
        steps.append(_step(name, shot, "simulate", [f"--frames={first}-{last}", "--threads", "{{Param.Threads}}"],
                           steps[-1]["name"]))
    steps.append(_step("Export", shot, "export", [], steps[-1]["name"]))
    if shot.blend:
        steps.append(_render(shot, steps[-1]["name"]))
    steps.append(_sheet(shot, steps[-1]["name"]))
    return {"specificationVersion": SPECIFICATION, "name": "{{Param.Shot}}", "parameterDefinitions": parameters,
            "steps": steps}


def _parameter(name: str, kind: str, default: Any, says: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "description": says, "default": default, **more}


def _path(name: str, kind: str, flow: str, default: str | None, says: str) -> dict[str, Any]:
    return _parameter(name, "PATH", default, says, objectType=kind, dataFlow=flow)


def _wedge(shot: Shot) -> list[str]:
    return ["--wedge", "{{Param.WedgeFile}}"] if shot.wedge else []


def _step(name: str, shot: Shot, verb: str, more: list[str], after: str | None) -> dict[str, Any]:
    arguments = ["task", verb, "{{Param.JobFolder}}", "--out", "{{Param.OutputFolder}}", *_wedge(shot),
                 "--row", "{{Task.Param.Row}}", *more]
    rows = {"taskParameterDefinitions": [{"name": "Row", "type": "INT", "range": "{{Param.Rows}}"}]}
    return {"name": name, **_after(after), "parameterSpace": rows, "hostRequirements": _needs(shot),
            "script": _script(arguments)}


def _render(shot: Shot, after: str) -> dict[str, Any]:
    """Pictures of a row: Blender alone, without the extension."""
    arguments = ["-b", "{{Param.BlendFile}}", "--python-exit-code", str(EXIT_ENVIRONMENT), "--python",
                 "{{Param.RenderScript}}", "--", "{{Param.OutputFolder}}", "{{Task.Param.Row}}",
                 str(shot.chunks[0][0]), str(shot.chunks[-1][1])]
    rows = {"taskParameterDefinitions": [{"name": "Row", "type": "INT", "range": "{{Param.Rows}}"}]}
    return {"name": "Render", **_after(after), "parameterSpace": rows, "script": _script(arguments, "Blender")}


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
    """What a worker should have [MiB]."""
    return math.ceil(ROOM * shot.memory_mb * 1e6 / 2**20)


def _script(arguments: list[str], command: str = "Solver") -> dict[str, Any]:
    return {"actions": {"onRun": {"command": f"{{{{Param.{command}}}}}", "args": arguments, "cancelation": {
        "mode": "NOTIFY_THEN_TERMINATE", "notifyPeriodInSeconds": GRACE}}}}


def yaml(value: Any, indent: int = 0) -> str:
    """Plain values as YAML that people read: blocks, with words quoted as in JSON."""
    space = "  " * indent
    if isinstance(value, dict) and value:
        return "".join(f"{space}{key}:{_inside(item, indent + 1)}" for key, item in value.items())
    if isinstance(value, list) and value and not all(isinstance(item, str) for item in value):
        return "".join(f"{space}- {yaml(item, indent + 1).lstrip(' ')}" for item in value)
    return f"{space}{json.dumps(value, ensure_ascii=False)}\n"


def _inside(item: Any, indent: int) -> str:
    nested = isinstance(item, dict) or (isinstance(item, list) and not all(isinstance(one, str) for one in item))
    return f"\n{yaml(item, indent)}" if nested and item else f" {json.dumps(item, ensure_ascii=False)}\n"


def slurm_task() -> str:
    """The batch script of one step for the row that Slurm's array gives: `task.sh VERB [arguments]`.

    Above 128 a signal has killed the solver: that may be the machine's memory, so it is tried three times at most.
    """
    return f"""#!/bin/bash
# One step of one row. Stopped, the solver ends the step in hand and exits with {EXIT_STOPPED}: the task is queued again
# and goes on where it was. So is one whose solver was killed, three times at most.
verb=$1; shift
if [ "$verb" = sheet ]; then
    "${{CONJAC_SOLVER:-conjac-solver}}" wedge job "$@" --out out --look &
else
    "${{CONJAC_SOLVER:-conjac-solver}}" task "$verb" job --out out --row "$SLURM_ARRAY_TASK_ID" "$@" &
fi
child=$!
trap 'kill -TERM $child' TERM INT
wait $child; code=$?
# a signal ends the first wait, not the solver
while kill -0 $child 2>/dev/null; do wait $child; code=$?; done
if [ $code = {EXIT_STOPPED} ] || {{ [ $code -gt 128 ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt 3 ]; }}; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit $code
"""


def slurm_submit(shot: Shot) -> str:
    """The script that submits a bundle to Slurm: arrays are the rows of the wedge, and each row's steps a chain."""
    wedge = f" --wedge {shot.wedge}" if shot.wedge else ""
    chunks = "\n".join(f'after=$(submit "--dependency=aftercorr:$after" simulate{wedge} --frames={first}-{last}'
                       f' --threads {shot.threads})' for first, last in shot.chunks)
    return f"""#!/bin/bash
# Submits this bundle to Slurm: bash slurm.sh [ROWS]; SBATCH_... variables set the partition and the like.
set -e
cd "$(dirname "$0")"
rows=${{1:-1-{shot.rows}}}
mkdir -p logs
submit() {{
    sbatch --parsable --array="$rows" --requeue --open-mode=append --output=logs/%x-%a.txt --signal=B:TERM@{GRACE} \\
        --cpus-per-task={shot.threads} --mem={memory_mib(shot)}M --job-name="$2" $1 task.sh "${{@:2}}"
}}
after=$(submit "" tetrahedralize{wedge})
{chunks}
after=$(submit "--dependency=aftercorr:$after" export{wedge})
sbatch --parsable --requeue --open-mode=append --output=logs/%x.txt --job-name=sheet --dependency="afterok:$after" \\
    task.sh sheet{f" {shot.wedge}" if shot.wedge else ""}
"""


def flamenco(shot: Shot) -> str:
    """A job type of Flamenco, in JavaScript: a task for every row and step, each after that row's step before it."""
    wedge = ["--wedge", shot.wedge] if shot.wedge else []
    steps = [["tetrahedralize", []], *[["simulate", [f"--frames={first}-{last}", "--threads", str(shot.threads)]]
                                       for first, last in shot.chunks], ["export", []]]
    label = json.dumps(f"ConJac: {shot.name}", ensure_ascii=False)
    return f"""// A job type of Flamenco: put it into the manager's folder `scripts`. The bundle lies on shared storage.
const JOB_TYPE = {{
    label: {label},
    settings: [
        {{ key: "bundle", type: "string", subtype: "dir_path", required: true, description: "The bundle's folder" }},
        {{ key: "rows", type: "int32", default: {shot.rows}, description: "How many rows of the wedge" }},
        {{ key: "solver", type: "string", default: "conjac-solver", description: "The solver's command" }},
    ],
}};

const STEPS = {json.dumps(steps)};
const WEDGE = {json.dumps(wedge)};

function compileJob(job) {{
    const at = job.settings.bundle.replace(/[\\\\/]+$/, "");
    const inside = (name) => (name === WEDGE[1] ? at + "/" + name : name);
    const run = (name, args) => {{
        const task = author.Task(name, "misc");
        task.addCommand(author.Command("exec", {{ exe: job.settings.solver, args: args }}));
        return task;
    }};
    const sheet = run("contact sheet", ["wedge", at + "/job", ...WEDGE.slice(1).map(inside),
        "--out", at + "/out", "--look"]);
    for (let row = 1; row <= job.settings.rows; row++) {{
        let before = null;
        for (const [verb, more] of STEPS) {{
            const frames = more.length ? " " + more[0].slice("--frames=".length) : "";
            const task = run("row " + row + " " + verb + frames, ["task", verb, at + "/job", "--out", at + "/out",
                ...WEDGE.map(inside), "--row", String(row), ...more]);
            if (before) {{
                task.addDependency(before);
            }}
            job.addTask(task);
            before = task;
        }}
        sheet.addDependency(before);
    }}
    job.addTask(sheet);
}}
"""
