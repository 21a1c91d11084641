"""Runners of a bundle without Open Job Description: scripts for Slurm, and a job type for Flamenco."""

from __future__ import annotations

import json

from ..errors import EXIT_STOPPED
from .template import GRACE, ISLANDS_FILE, Shot, memory_mib


def slurm_task() -> str:
    """Return the batch script of one step for the row that is Slurm's array index: `task.sh VERB [arguments]`.

    An exit code above 128 means that a signal, maybe for lack of memory, ended the solver: it is restarted at most
    thrice.
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
    """Return the script that submits a bundle to Slurm: arrays are the rows of the wedge, and each row's steps are a
    chain."""
    wedge = f" --wedge {shot.wedge}" if shot.wedge else ""
    simulated = "\n".join(_chain(shot, wedge, k) for k in range(1, shot.islands + 1)) or _chain(shot, wedge, None)
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
{simulated}
after=$(submit "--dependency=aftercorr:$after" export{wedge})
sbatch --parsable --requeue --open-mode=append --output=logs/%x.txt --job-name=sheet --dependency="afterok:$after" \\
    task.sh sheet{f" {shot.wedge}" if shot.wedge else ""}
"""


def _chain(shot: Shot, wedge: str, island: int | None) -> str:
    """Return lines that submit all chunks of a row, or of one island of it, in order; for the last island, also the
    join.

    Islands begin after the volumes, and the join waits for all of them.
    """
    more = f" --threads {shot.threads}" + ("" if island is None else f" --islands {ISLANDS_FILE} --island {island}")
    lines = [] if island is None else ["made=$after joined="] if island == 1 else ["after=$made"]
    lines += [f'after=$(submit "--dependency=aftercorr:$after" simulate{wedge} --frames={first}-{last}{more})'
              for first, last in shot.chunks]
    if island is not None:
        lines.append('joined="$joined,aftercorr:$after"')
    if island == shot.islands:
        lines.append(f'after=$(submit "--dependency=${{joined#,}}" join{wedge} --islands {ISLANDS_FILE})')
    return "\n".join(lines)


def flamenco(shot: Shot) -> str:
    """Return a job type of Flamenco, in JavaScript: a task for every row and step, each after that row's previous
    step."""
    wedge = ["--wedge", shot.wedge] if shot.wedge else []
    chunks = [["simulate", [f"--frames={first}-{last}", "--threads", str(shot.threads)]]
              for first, last in shot.chunks]
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

const CHUNKS = {json.dumps(chunks)};
const WEDGE = {json.dumps(wedge)};
const ISLANDS = {shot.islands};  // groups of bodies that are baked separately; 0: all at once

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
    const list = ["--islands", at + "/{ISLANDS_FILE}"];
    for (let row = 1; row <= job.settings.rows; row++) {{
        const add = (name, verb, more, before) => {{
            const task = run("row " + row + " " + name, ["task", verb, at + "/job", "--out", at + "/out",
                ...WEDGE.map(inside), "--row", String(row), ...more]);
            before.forEach((one) => task.addDependency(one));
            job.addTask(task);
            return task;
        }};
        const made = add("tetrahedralize", "tetrahedralize", [], []);
        const baked = [];
        for (let island = ISLANDS ? 1 : 0; island <= ISLANDS; island++) {{
            const apart = island ? [...list, "--island", String(island)] : [];
            baked.push(CHUNKS.reduce((before, [verb, more]) => add(verb + " " + more[0].slice("--frames=".length)
                + (island ? " island " + island : ""), verb, [...more, ...apart], [before]), made));
        }}
        const whole = ISLANDS ? add("join", "join", list, baked) : baked[0];
        sheet.addDependency(add("export", "export", [], [whole]));
    }}
    job.addTask(sheet);
}}
"""
