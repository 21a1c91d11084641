"""Bundles: folders with all that a farm needs for a shot, and nothing of the machine that made it.

    conjac.template.yaml    the description, see `template`; template.yaml is the same for AWS Deadline Cloud
    parameter_values.yaml   the values of its parameters
    job/                    scene.json, the arrays that it names, volumes of earlier bakes
    wedge.csv               rows of settings, where there is a wedge
    islands.json            groups of bodies that are baked separately, where a draft was given
    scene.blend             the scene to render, where a .blend was given; in_blender.py: Blender's script
    pack.json               every file, with its size and blake2b
    slurm.sh task.sh        a runner for Slurm;  conjac.flamenco.js: a job type of Flamenco
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
from pathlib import Path

from ..errors import BadInput, NoSuchThing
from ..job.estimate import estimate
from ..job.files import digest, unwritable, write_whole
from ..job.folder import Job
from ..job.load import SCENE, load
from . import islands, runners, template
from .task import chunks_of
from .wedge import array_names, bring, check_rows, make_folders, read_bytes, read_rows

PACK = "pack.json"


def write(job: Path, out: Path, *, wedge: Path | None = None, chunk: str | None = None, threads: int = 1,
          name: str | None = None, blend: Path | None = None, format: str | None = None, draft: Path | None = None
          ) -> list[str]:
    """Write a bundle of a job to the folder `out`; return sentences that describe it.

    wedge: CSV file of rows; None for one row. chunk: a number of frames, or a list of chunks; None for one task per
    row. threads: of a task. name: of the shot; None for the scene's. blend: file that is rendered at the end; None for
    none. format: what Blender exports of it, of `template.FORMATS`. draft: a job folder with a coarse bake; bodies that
    never meet in it become separate tasks.

    Raises a ConJacError where any row cannot be baked, BadInput where `out` is not empty or arguments are inconsistent,
    NoSuchThing where `blend` cannot be copied, CacheUnwritable where a file cannot be written.
    """
    loaded, rows = load(job), read_rows(wedge)
    made = check_rows(loaded, rows)
    time = loaded.scene.time
    lengths = {(path.scene.time.start, path.scene.time.end) for path in made}
    if chunk is not None and len(lengths) > 1:
        raise BadInput("rows of the wedge have other frames, and chunks are the same for all", "Leave the chunks out")
    chunks = (chunks_of(chunk, *lengths.pop(), time.snapshot_every) if chunk is not None
              else [(min(first for first, _ in lengths), max(last for _, last in lengths))])
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(f"{out} is not an empty folder", "Choose another one, so that nothing old is sent")
    if format is not None and blend is None:
        raise BadInput(f"only Blender exports {format}, and no .blend is given", "Give it with --blend")
    island_names = [] if draft is None else islands.find(loaded, draft)
    make_folders(out)
    memory_mb, notes = _estimate(loaded, island_names)
    shot = template.Shot(name or loaded.scene.name, len(rows), tuple(chunks), memory_mb, threads,
                         None if wedge is None else "wedge.csv", None if blend is None else "scene.blend", format,
                         len(island_names))
    _copy_job(loaded, out / "job")
    texts = {"slurm.sh": runners.slurm_submit(shot), "task.sh": runners.slurm_task(),
             "conjac.flamenco.js": runners.flamenco(shot)}
    if island_names:
        texts[template.ISLANDS_FILE] = json.dumps(island_names, ensure_ascii=False, indent=1)
    described = template.template(shot)
    texts |= {file: template.yaml(described) for file in ("conjac.template.yaml", "template.yaml")}
    texts["parameter_values.yaml"] = template.yaml({"parameterValues": [
        {"name": definition["name"], "value": definition["default"]}
        for definition in described["parameterDefinitions"]]})
    if wedge is not None:
        texts["wedge.csv"] = read_bytes(wedge).decode("utf-8-sig")
    if blend is not None:
        texts[template.BLENDER_SCRIPT] = read_bytes(
            Path(__file__).with_name(f"{template.BLENDER_SCRIPT}.txt")).decode()
        try:
            shutil.copyfile(blend, out / "scene.blend")
        except OSError as error:
            raise NoSuchThing(f"{blend} cannot be copied ({error.strerror or error})", "Give a .blend file") from error
    for file, text in texts.items():
        write_whole(out / file, text.encode(), out)
    listed = pack_list(out)
    size = sum(int(file["bytes"]) for file in listed["files"])
    write_whole(out / PACK, json.dumps(listed, indent=1, ensure_ascii=False).encode(), out)
    return [f"{shot.name}: {_count(len(rows), 'row')}, {_count(len(chunks), 'chunk')} each, "
            f"{len(listed['files'])} files, {size / 1e6:.1f} MB",
            *notes, *of_this_machine(out)]


def _estimate(job: Job, island_names: list[list[str]]) -> tuple[float, list[str]]:
    """Return the memory of the largest task [MB], and sentences on the cost of tasks: of the scene, or of each island
    of it."""
    if not island_names:
        estimated = estimate(job.path)
        return estimated.memory_mb, estimated.sentences()[-2:]
    notes, most = [], 0.0
    with tempfile.TemporaryDirectory(prefix="conjac_islands_") as folder:
        for made, names in zip(islands.part(job, island_names, Path(folder)), island_names):
            estimated = estimate(made)
            most = max(most, estimated.memory_mb)
            notes.append(f"{made.name}: {', '.join(names)}. {'. '.join(estimated.sentences()[-2:])}")
    return most, notes


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _copy_job(job: Job, target: Path) -> None:
    """Copy a job folder without its cache: the scene, the arrays that it names, and volumes of earlier bakes."""
    make_folders(target)
    try:
        for name in array_names(job.raw):
            bring(job.array_path(name), target / name)
        for made in sorted(job.stages.glob("*_tets_*.npz")):
            bring(made, target / "stages" / made.name)
    except OSError as error:
        raise unwritable(target / SCENE, error) from error
    write_whole(target / SCENE, json.dumps(job.raw, indent=1, ensure_ascii=False).encode(), target)


def pack_list(folder: Path) -> dict[str, list[dict[str, str | int]]]:
    """Return the list of all files of a bundle, sorted by their paths in it, each with its size [bytes] and blake2b."""
    paths = sorted(Path(at, name) for at, _, names in os.walk(folder) for name in names)
    return {"files": [{"path": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size,
                       "blake2b": digest(path)} for path in paths if path != folder / PACK]}


def find_damaged_files(folder: Path) -> list[str]:
    """Return the files of a bundle that differ from the pack list, or are missing."""
    wrong = []
    for file in json.loads(read_bytes(folder / PACK))["files"]:
        path = folder / file["path"]
        if not path.is_file() or digest(path) != file["blake2b"]:
            wrong.append(str(file["path"]))
    return wrong


def of_this_machine(folder: Path) -> list[str]:
    """Return a sentence on each file that contains this machine's name, the path of the user's home or that of the
    bundle."""
    secrets = {"the name of this machine": socket.gethostname().encode(), "the path of your home": os.fsencode(
        Path.home()), "the path of this bundle": os.fsencode(folder.resolve().parent)}
    messages = []
    for path in sorted(Path(at, name) for at, _, names in os.walk(folder) for name in names):
        content = read_bytes(path)
        messages += [f"{path.relative_to(folder).as_posix()} has {what} in it" for what, text in secrets.items()
                  if len(text) > 5 and text in content]
    return messages
