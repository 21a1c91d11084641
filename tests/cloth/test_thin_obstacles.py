"""Wires and nails in a job: cloth with Sharp Edges lies on them, and all other bodies refuse them."""

import json

import numpy as np
import pytest
from cloth_jobs import BOX, Quiet, cloth_body, cloth_job, obstacle
from sheets import grid

from solver.errors import BadMesh, BadScene
from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake

WIRE = np.array([[0.02, -1.0, 0.0], [0.02, 0.0, 0.0], [0.02, 1.0, 0.0]])
TIPS = np.array([[a, b, 0.0] for a in (-0.2, 0.3) for b in (-0.25, 0.28)])


def thin(name, vertices, arrays, **kinds):
    arrays[f"{name}_places"] = np.asarray(vertices, float)
    for key, ends in kinds.items():
        arrays[f"{name}_{key}"] = np.asarray(ends, np.int32)
    return {"name": name, "vertices": f"arrays/{name}_places.npy", "friction": 0.0,
            **{key: f"arrays/{name}_{key}.npy" for key in kinds}}


def nails(arrays):
    return thin("Nails", np.concatenate([TIPS, TIPS - [0.0, 0.0, 0.3]]), arrays, nails=[[k + 4, k] for k in range(4)])


def falling(folder, make, *, sharp=True, bodies=(), end=7, **more):
    """A square metre that falls by 4 mm onto what is made."""
    arrays = {}
    vertices, triangles = grid(10, 10, 1.0, 1.0)
    body = cloth_body("Cloth", vertices + [-0.45, -0.5, 0.004], triangles, arrays, thickness=1e-3,
                      laws={"damping": {"kind": "rayleigh", "params": {"stiffness_damping": 2e-3}}},
                      **({"eulerian": {"finest": 0.04, "coarsest": 0.16}} if sharp else {}))
    return cloth_job(folder, [body, *(make_body(arrays) for make_body in bodies)], arrays, end=end, contact={},
                     obstacles=[make(arrays)], **more)


def baked(folder):
    bake(folder, Quiet())
    return Cache(folder / "cache")


def test_cloth_lies_on_a_wire(tmp_path):
    cache = baked(falling(tmp_path / "job", lambda arrays: thin("Wire", WIRE, arrays, wires=[[0, 1], [1, 2]])))
    for frame in range(3, 8):
        sheet = cache.sheets(frame)["Cloth"]
        assert len(sheet.sliding) >= 9
        assert np.abs(sheet.x[sheet.sliding][:, [0, 2]] - [0.02, 0.0]).max() < 1e-7
    assert sheet.x[:, 2].min() < -0.2


def test_cloth_hangs_on_nails_its_thickness_above_them(tmp_path):
    cache = baked(falling(tmp_path / "job", nails))
    for frame in range(3, 8):
        sheet = cache.sheets(frame)["Cloth"]
        at = sheet.x[sheet.sliding]
        assert len(at) == 4
        assert np.abs(at[np.lexsort((at[:, 1], at[:, 0]))] - TIPS - [0.0, 0.0, 1e-3]).max() < 1e-7


def test_heads_of_nails_are_nothing_that_cloth_touches(tmp_path):
    from solver.build.world import build

    part = build(load(falling(tmp_path / "job", nails)), lambda *_: None)[0].parts[0]
    assert part.steps.obstacles.count == 8 and not len(part.steps.obstacles.blunt)


def test_a_body_that_is_no_sharp_cloth_is_refused(tmp_path):
    with pytest.raises(BadScene, match='"Cloth" touches "Nails", which has wires or nails, and only cloth with Sharp'):
        load(falling(tmp_path / "job", nails, sharp=False))


def test_a_wire_beside_a_body_that_does_not_touch_it_is_left_out_of_its_contact(tmp_path):
    """The sharp cloth lies on the wire while a cloth with a fixed mesh lies on the box beside it."""
    vertices, triangles = grid(4, 4, 0.4, 0.4)

    def other(arrays):
        body = cloth_body("Plain", vertices + [1.8, -0.2, 0.02], triangles, arrays)
        return body | {"touches": ["Box"]}

    folder = falling(tmp_path / "job", nails, bodies=[other], end=3)
    scene = folder / "scene.json"
    settings = json.loads(scene.read_text())
    arrays = {}
    settings["obstacles"].append(obstacle("Box", BOX[0] * 0.5 + [2.0, 0.0, -0.5], BOX[1], arrays))
    for name, values in arrays.items():
        np.save(folder / "arrays" / f"{name}.npy", values)
    scene.write_text(json.dumps(settings))
    cache = baked(folder)
    assert cache.frames_done() == [1, 2, 3]


@pytest.mark.parametrize("make,words", [
    (lambda arrays: thin("Wire", WIRE, arrays, wires=[[0, 1], [2, 2]]), "a piece of wire without length, number 1"),
    (lambda arrays: thin("Nails", TIPS, arrays, nails=[[0, 0]]), "a nail without length, number 0"),
    (lambda arrays: thin("Nothing", TIPS, arrays), "has no face")])
def test_what_is_no_wire_and_no_nail_is_refused(tmp_path, make, words):
    with pytest.raises(BadMesh, match=words):
        load(falling(tmp_path / "job", make))
