"""Small jobs in which tuned constants of the solver steer: each is baked in a second or two."""

import ast
import hashlib
import importlib
import shutil
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from tuned_jobs import (
    GROUND,
    cloth,
    condensed,
    dropped,
    half_life,
    hung,
    island,
    jointed,
    on_a_lever,
    pressed,
    rubbing,
    settling,
    singular,
    sliding,
    spinning,
    stage,
    stressed,
    torn,
    touching,
)

from solver.errors import ConJacError
from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake

SOLVER = Path(__file__).resolve().parents[1] / "solver"


class Heard:
    """A reporter that keeps the sentences of the log once steps have begun."""

    def __init__(self):
        self.sentences, self._has_begun = [], False

    def start(self, *_):
        self._has_begun = True

    def log(self, text):
        self.sentences += [text] if self._has_begun else []

    def __getattr__(self, name):
        return lambda *_: None



SCENES = {
    "newton": stage("newton_d"), "qlb": stage("qlb"), "frozen": stage("newton_l0"), "hybrid frozen": stage("hybrid_l0"),
    "extrapolated": stage("newton_l1"), "hybrid extrapolated": stage("hybrid_l1"), "iterative": stage("newton_i"),
    "early stopping": stage("quick"), "visible": stage("newton_visible"), "mixed": stage("mixed"),
    "bdf2": stage("newton_d", "bdf2"), "modal condensed": condensed("swinging"),
    "quasistatic": stage("newton_d", "quasistatic"),
    "on the ground": stage("quick", ground=GROUND), "newton on the ground": stage("newton_d", ground=GROUND),
    "condensed": condensed("bdf2"), "condensed on the ground": condensed("semi_implicit", ground=GROUND),
    "condensed root on the ground": condensed("sdirk2", ground=GROUND), "half-life": half_life,
    "dropped": dropped, "sliding": sliding,
    "contact": touching(), "early stopping in contact": touching(
        integrator={"kind": "sdirk2"}, stage_solver={"kind": "quick"}),
    "impact": touching(speed=3.0), "gaps": touching({"law": {"kind": "gap"}}),
    "thrown in contact": touching(speed=8.0, integrator={"kind": "sdirk2"}, stage_solver={"kind": "quick"}),
    "condensed contact": touching(method={"kind": "conjac"}),
    "hung": hung(), "hung root": hung("vanilla", integrator={"kind": "sdirk2"}),
    "hung condensed root": hung(integrator={"kind": "sdirk2"}),
    "hung contact": hung("vanilla", True, integrator={"kind": "backward_euler"}),
    "hung condensed contact": hung("conjac", True, integrator={"kind": "backward_euler"}),
    "joints": jointed(), "joints root": jointed("sdirk2"), "leapfrog": jointed("leapfrog"),
    "bisp": jointed(friction="bisp"), "bisp root": jointed("sdirk2", friction="bisp"),
    "fast joints": jointed(speed=60.0),
    "cloth": cloth(), "sharp edges": cloth({}), "sharp edges on flesh": cloth({}, "soft"),
    "subspace": condensed("sdirk2", method={"kind": "subspace", "params": {"subspace_weights": 8}}),
    "fine subspace": condensed("sdirk2", cells=(12, 3, 3), method={
        "kind": "subspace", "params": {"subspace_weights": 3}}),
    "projective": condensed("sdirk2", method={"kind": "projective"}, ground=GROUND),
    "hung early stopping": hung("vanilla", integrator={"kind": "sdirk2"}, stage_solver={"kind": "quick"}),
    "hung contact early stopping": hung("vanilla", True, integrator={"kind": "sdirk2"}, stage_solver={"kind": "quick"}),
    "condensed early stopping": condensed("sdirk2", stage_solver={"kind": "quick"}),
    "settling": settling, "torn": torn, "stressed": stressed, "pressed flat": pressed([0.0, 0.0, -0.3]),
    "pressed aside": pressed([0.1, 0.05, -0.02], integrator={"kind": "sdirk2"}, stage_solver={"kind": "quick"}),
    "island": island, "sharp edges on a lever": on_a_lever,
    "violent extrapolated": stage("newton_l1", young=1e3, weight=200.0, step=1 / 24),
    "early stopping bdf2": stage("quick", "bdf2"), "long half-life": lambda folder: half_life(folder, 12),
    "dropped linearised": lambda folder: dropped(folder, integrator={"kind": "semi_implicit"}),
    "dropped projective": lambda folder: dropped(folder, method={"kind": "projective"}),
    "dropped condensed": lambda folder: dropped(folder, method={"kind": "conjac"}),
    "singular loop": singular, "spinning": spinning, "rubbing": rubbing, "long joints": jointed(end=24),
    "gaps pressed hard": pressed([0.02, 0.0, -0.07], contact={"law": {"kind": "gap"}}),
}
#: other constants that a small scene has at another value, as it would be too small for them to act
GIVEN = {"island": (("world/islands.py", "LEAST_NODES", 0),)}


def outcome(folder, name):
    """Return a digest of a scene's frames and its log, or of its failure. folder: is recreated."""
    shutil.rmtree(folder, ignore_errors=True)
    job, heard = SCENES[name](folder), Heard()
    with pytest.MonkeyPatch.context() as patch:
        for given in GIVEN.get(name, ()):
            set_constant(patch, *given)
        try:
            bake(job, heard)
        except ConJacError as failure:
            return f"{type(failure).__name__}: {failure}"
    cache, digest = Cache(job / "cache"), hashlib.sha256(repr(heard.sentences).encode())
    for frame in load(job).frames:
        for kind in ("frames", "poses", "stress"):
            for path in sorted((job / "cache" / kind).glob(f"*{frame}*")):
                digest.update(path.read_bytes())
    return f"{cache.frames_done()} {digest.hexdigest()}"


@cache
def imported():
    """Return (module, name) → modules of the solver that import that name of it, at any place."""
    found = defaultdict(list)
    for path in sorted(SOLVER.rglob("*.py")):
        here = ["solver", *path.relative_to(SOLVER).with_suffix("").parts]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                home = ".".join([*here[:-node.level], *(node.module or "").split(".")])
                for one in node.names:
                    found[home, one.name].append(".".join(here).removesuffix(".__init__"))
    return found


def importers(file, name):
    """Return modules of the solver that import a constant of one of its files, and that file's own."""
    home = "solver." + file.removesuffix(".py").replace("/", ".")
    return [home, *imported()[home, name]]


@cache
def tree_of(module):
    """Return the syntax tree of a module of the solver."""
    path = Path(importlib.import_module(module).__file__)
    return ast.parse(path.read_text(encoding="utf-8"))


def fields(module, name):
    """Return (class, field) of a module whose classes have a constant as the value of a field."""
    for node in ast.walk(tree_of(module)):
        for item in node.body if isinstance(node, ast.ClassDef) else ():
            for target in item.targets if isinstance(item, ast.Assign) else ():
                pairs = (zip(target.elts, item.value.elts)
                         if isinstance(target, ast.Tuple) and isinstance(item.value, ast.Tuple)
                         else [(target, item.value)])
                yield from ((node.name, field.id) for field, value in pairs if getattr(value, "id", "") == name)


def defaults(module, name):
    """Return (function, positions of its defaults, keywords) of a module that have a constant as their default."""
    for node in tree_of(module).body:
        if isinstance(node, ast.FunctionDef):
            yield (node.name, [k for k, one in enumerate(node.args.defaults) if getattr(one, "id", "") == name],
                   [argument.arg for argument, one in zip(node.args.kwonlyargs, node.args.kw_defaults)
                    if getattr(one, "id", "") == name])


def set_default(monkeypatch, function, positions, keywords, value):
    """Give some of a function's parameters another default."""
    if positions:
        monkeypatch.setattr(function, "__defaults__", tuple(
            value if k in positions else one for k, one in enumerate(function.__defaults__)))
    if keywords:
        monkeypatch.setattr(function, "__kwdefaults__", function.__kwdefaults__ | dict.fromkeys(keywords, value))


def set_constant(monkeypatch, file, name, value):
    """Give a constant of a file of the solver another value, wherever it is imported or the default of a function's
    parameter, or a field of a class."""
    owner, _, field = name.rpartition(".")
    if owner:
        home = importlib.import_module("solver." + file.removesuffix(".py").replace("/", "."))
        monkeypatch.setattr(getattr(home, owner), field, value)
        return
    # all are imported first: one that is imported later would take the other value for its own, and keep it
    modules = [(module, importlib.import_module(module)) for module in importers(file, name)]
    for module, loaded in modules:
        monkeypatch.setattr(loaded, name, value)
        for function, positions, keywords in defaults(module, name):
            set_default(monkeypatch, getattr(loaded, function), positions, keywords, value)
        for owner, field in fields(module, name):
            monkeypatch.setattr(getattr(loaded, owner), field, value)
