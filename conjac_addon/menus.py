"""Items of Blender's menus. A .blend keeps the number of the one that was chosen, so each has one for ever."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ..solver import catalogue
from ..solver.catalogue import Entry

FIBERS = "fibers"  #: identifier in the menu of previews

#: choices for bakes of another file: identifier → label and description
SHARING = {
    "SHARE": ("Share", "Go on playing the other file's bake until the first bake in this file."),
    "COPY": ("Copy", "Copy the frames, so that this file has bakes of its own."),
    "EMPTY": ("Start Empty", "Play nothing until the first bake here. The other file keeps its own."),
}

#: name and tooltip of the menu of each family
MENUS = {
    "method": ("Method", "How the motion is computed"),
    "integrator": ("Integrator", "How a step advances in time"),
    "stage_solver": ("Stage Solver", "How an integrator that iterates finds its steps"),
    "material": ("Material", "How the body resists deformation"),
    "damping": ("Damping Law", "What the material itself loses when it moves"),
    "carry": ("Inside", "What maps of the material do below the surface"),
    "spot": ("Spots Move", "How a painted spot, or the surroundings of a handle, moves"),
    "fiber_material": ("Fibers", "What fibers add to the material"),
    "friction": ("Friction", "What holds the body against sliding on the ground"),
    "fiber_field": ("Fiber Direction", "Which way the fibers run in the rest shape"),
    "membrane": ("Weave", "How cloth resists stretch and shear in its plane"),
    "bending": ("Bending", "How cloth resists bending"),
    "rope": ("Length", "How a rope keeps its length"),
    "mesher": ("Mesher", "How the volume is filled with tetrahedra"),
}

#: how a constraint holds
HOLDS: tuple[tuple[str, str, str], ...] = (
    ("hard", "Hard", "Exactly, however strong the pull"),
    ("soft", "Soft", "It gives way: by the force divided by its stiffness"),
)

#: scenes of Add > ConJac > Examples: file of ready/ → label and tooltip. No label has the word jelly: F3 would find it
#: before the quick effect
READY: dict[str, tuple[str, str]] = {
    "jelly_cube": ("Tumbling Cube", "A rounded cube of jelly that falls on a ground and wobbles"),
    "jelly_ball": ("Bouncing Ball", "A ball of jelly that bounces"),
    "nodding_head": ("Nodding Head", "A soft monkey head that is moved by its chin and stopped, and keeps swinging"),
    "tablecloth": ("Tablecloth", "A round table and a cloth that falls on it"),
    "flag": ("Flag", "A flag on a pole in the wind"),
    "rope_and_ball": ("Ball on a Rope", "A rope across two pegs and a ball of jelly that falls on it"),
}

#: quality of a bake → label and tooltip
QUALITIES: dict[str, tuple[str, str]] = {
    "draft": ("Draft", "Edges 1.5 times and steps twice as long as a new body's: quick to bake"),
    "good": ("Good", "The edges and steps of a new body"),
    "best": ("Best", "Edges two thirds and steps half as long as a new body's: slow to bake"),
}

#: kinds of bodies that have presets: folder of presets/conjac → label, and what its samples are called
SAMPLES: dict[str, tuple[str, str]] = {
    "soft_body": ("Soft Body", "Ball"), "cloth": ("Cloth", "Swatch"), "rope": ("Rope", "Cord")}
PRESETS = Path(__file__).resolve().parent / "presets" / "conjac"

#: identifier, label, tooltip, icon, number
Item = tuple[str, str, str, str, int | None]


def item(key: str, label: str, sentence: str, number: int | None) -> Item:
    return key, label, sentence, "NONE", number


def items(entries: Iterable[Entry]) -> list[Item]:
    """Return a menu of catalogue entries, by their keys."""
    return [item(entry.key, entry.label, entry.sentence, entry.number) for entry in entries]


def sample_name(kind: str, preset: str) -> str:
    """Return the name of the sample of a preset, which is called as its file is: "Muscle Relaxed Ball"."""
    words, noun = preset.replace("_", " "), SAMPLES[kind][1]
    return words if kind == "rope" and words != "Elastic" else f"{words} {noun}"


@cache
def samples() -> list[tuple[str, str, str]]:
    """Return one item for each preset that ConJac has: identifier "kind/preset", label and tooltip."""
    return [(f"{kind}/{path.stem}", sample_name(kind, path.stem), f"{SAMPLES[kind][0]} with the preset "
             f"{path.stem.replace('_', ' ')}") for kind in SAMPLES for path in sorted((PRESETS / kind).glob("*.py"))]


def worded(family: str, key: str, sentence: str) -> Item:
    """Return the menu item of one catalogue entry with a different tooltip."""
    entry = catalogue.find(family, key)
    return item(key, entry.label, sentence, entry.number)


def default(family: str) -> str:
    """Return the item that a menu begins with: number 0, as a file does not keep untouched values."""
    return next(entry.key for entry in catalogue.menu(family).values() if entry.number == 0)
