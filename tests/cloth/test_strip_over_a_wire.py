"""A strip with Sharp Edges that is wrapped by 180 degrees over a wire, a weight at each end, stays on it; it fell
through."""

import numpy as np
import pytest
from cloth_jobs import cloth_body, cloth_job

from solver.build.world import build
from solver.job.load import load
from solver.simulate import advance
from solver.world.eol_cloth import EolCloth

H, HANGS, WIDE, RADIUS, ABOVE = 1 / 96, 0.3, 0.1, 0.02, 3e-3


def wrapped(folder, masses, friction):
    """A strip that comes down over a wire as an arch, its top a little above, with boxes of these masses [kg]."""
    arc = RADIUS * np.array([(np.cos(a), np.sin(a)) for a in np.linspace(np.pi, 0.0, 5)])
    down = np.linspace(0.0, -HANGS, 8)[1:]
    left, right = (np.column_stack([np.full(7, side * RADIUS), down]) for side in (-1, 1))
    profile = np.concatenate([left[::-1], arc, right]) + [0.0, ABOVE - RADIUS]
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(profile, axis=0), axis=1))])
    wide, count = np.array([-0.5, 0.0, 0.5]) * WIDE, len(profile)
    vertices = np.column_stack([np.repeat(profile[:, 0], 3), np.tile(wide, count), np.repeat(profile[:, 1], 3)])
    number = np.arange(3 * count).reshape(count, 3)
    a, b, c, d = (corner.ravel() for corner in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype(np.int32)
    material = np.column_stack([np.repeat(along, 3), np.tile(wide, count)])
    arrays = {"left": number[0].astype(np.int32), "right": number[-1].astype(np.int32),
              "places": np.array([(0.0, -0.5, 0.0), (0.0, 0.5, 0.0)]), "ends": np.array([(0, 1)], np.int32)}
    size = {"size_x": 0.02, "size_y": WIDE, "size_z": 0.05}
    bodies = [{"name": name, "position": [side * RADIUS, 0.0, float(profile[0, 1]) - 0.03], "is_collider": False,
               "density": mass / (0.02 * WIDE * 0.05), "shape": {"kind": "box", "params": size}}
              for name, side, mass in (("left", -1, masses[0]), ("right", 1, masses[1]))]
    strip = cloth_body("Strip", vertices, triangles, arrays, thickness=1e-3, drag=0.0, air_friction=0.0,
                       uv=material[triangles], eulerian={"friction": friction}, laws={"touches": ["Line"], "attach": [
                           {"mechanism": "Weights", "body": body["name"], "nodes": f"arrays/{body['name']}.npy"}
                           for body in bodies]})
    line = {"name": "Line", "vertices": "arrays/places.npy", "wires": "arrays/ends.npy", "friction": friction}
    return build(load(cloth_job(folder, [strip], arrays, contact={}, obstacles=[line],
                                mechanisms=[{"name": "Weights", "bodies": bodies}])), lambda *_: None).world


@pytest.mark.parametrize("masses, friction, slips", [
    pytest.param((0.5, 0.5), 0.0, (-0.002, 0.002), marks=pytest.mark.long), ((0.5, 0.6), 0.0, (0.05, 0.15)),
    ((0.5, 0.6), 0.3, (-0.002, 0.002)), ((2.0, 2.0), 0.0, (-0.002, 0.002))])
def test_it_stays_on_the_wire_and_runs_to_the_heavier_side(tmp_path, masses, friction, slips):
    """slips: how far at least and at most in half a second [m]."""
    world = wrapped(tmp_path / "job", masses, friction)
    number = next(k for k, part in enumerate(world.parts) if isinstance(part, EolCloth))
    state, middles = world.initial_state(), []
    for _ in range(round(0.5 / H)):
        state = advance(world, state, H, 1)
        mesh = world.parts[number].cloth(world.split_state(state)[number]).mesh
        if (mesh.on >= 0).any():
            middles.append(mesh.material[mesh.on >= 0, 0].mean())
            assert mesh.x[:, 2].max() < 1e-3
    assert len(middles) > 40
    assert slips[0] <= middles[0] - middles[-1] <= slips[1]
