"""How high a body comes up again does not depend on where within a step it has touched the ground, an obstacle or
another body."""

from dataclasses import replace

import numpy as np
import pytest
from small_jobs import box_tets, write_job
from worlds import world_of

from solver.job.load import load
from solver.stepping import Pace, Timeline, advance_frame

FALLEN, GRAVITY, WATER, SPEED = 0.5, 9.81, 1000.0, 3.0  #: [m], [m/s²], [kg/m³], [m/s]
GAPS = 0.012, 0.034, 0.056  #: heights in which it falls at the speed of a fall of half a metre [m]
FRAMES, STEP, SHORT, FPS = 6, 1 / 48, 1 / 768, 24.0
LOW, AIR = 0.02, 0.004  #: where the sheet is below; between bodies at the start [m]


def cube():
    """Even and flat: all of its lowest layer touches at once."""
    return box_tets((4, 4, 4), (0.3, 0.3, 0.3))


def small():
    return box_tets((3, 3, 3), (0.3, 0.3, 0.3))


def ell():
    nodes, tets = box_tets((6, 2, 5), (0.36, 0.12, 0.3))
    middle = nodes[tets].mean(axis=1)
    tets = tets[(middle[:, 0] < 0.12) | (middle[:, 2] < 0.12)]
    used, tets = np.unique(tets, return_inverse=True)
    return nodes[used], tets.reshape(-1, 4).astype(np.int32)


def world(folder, shape, step, below="ground"):
    """As a new body's bake builds it, on the ground, LOW above a sheet, or AIR above a body of its kind that lies on
    the ground or hangs in the void."""
    nodes, tets = shape()
    arrays = {"nodes": nodes, "tets": tets}
    body = {"name": "Jelly", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"}, "wobble_half_life": 0.75,
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 49100.0, "poisson_ratio": 0.45}}}
    scene = {"version": 1, "name": "landing", "time": {"start": 1, "end": 1 + FRAMES, "fps": 24, "step": step},
             "bodies": [body], "method": {"kind": "vanilla", "params": {}}, "integrator": {"kind": "sdirk2"},
             "stage_solver": {"kind": "quick"}, "gravity": [0.0, 0.0, -GRAVITY],
             "ground": {"stiffness": 1000.0, "stiffness_per_area": WATER * GRAVITY / 3e-4, "point": [0, 0, 0],
                        "normal": [0, 0, 1], "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.5}}}}
    if below == "obstacle":
        del scene["ground"]
        arrays["table"] = np.array([[-1.0, -1.0, -LOW], [1.0, -1.0, -LOW], [1.0, 1.0, -LOW], [-1.0, 1.0, -LOW]])
        arrays["faces"] = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
        scene |= {"obstacles": [{"name": "Table", "vertices": "arrays/table.npy", "triangles": "arrays/faces.npy"}],
                  "contact": {"law": {"kind": "barrier", "params": {"friction_coefficient": 0.5}}}}
    elif below != "ground":
        arrays |= {"lies": nodes, "nodes": nodes + [0.03, 0.02, np.ptp(nodes[:, 2]) + AIR]}
        scene |= {"bodies": [body, body | {"name": "Lies", "tets": {"nodes": "arrays/lies.npy",
                                                                    "tets": "arrays/tets.npy"}}], "contact": {}}
        if below == "void":
            del scene["ground"]
            scene["gravity"] = [0.0, 0.0, 0.0]
    return world_of(load(write_job(folder, scene, arrays)))


def bounce(built, gap, step, below="ground", fps=FPS):
    """How far it comes up again, as a share of its fall, from where and how fast its middle is in the end."""
    low = {"obstacle": LOW, "body": AIR}.get(below, 0.0)
    state, own = thrown(built, gap - AIR * (below == "body"), np.sqrt(2.0 * GRAVITY * FALLEN), step, FRAMES, fps)
    part = built.parts[0]
    mass, (x, v) = part.mass[own], (values[own] for values in part.nodes_at(state))
    resting = mass @ part.rest[own, 2] / mass.sum() - low
    middle, rises = (float(mass @ values[:, 2] / mass.sum()) for values in (x, v))
    assert below == "body" or x[:, 2].min() > -low  # it has left the ground
    return (middle + max(rises, 0.0) ** 2 / (2.0 * GRAVITY) - resting) / (FALLEN + gap + low * (below == "obstacle"))


def thrown(built, lifted, speed, step, frames, fps=FPS):
    """The state after so many frames, and which nodes are the jelly's, which is moved up [m] and flies down [m/s]."""
    built.forget_past()
    part, state = built.parts[0], built.initial_state()
    own = part.bodies_in_world[0].nodes
    q, u = (np.array(values).reshape(-1, 3) for values in (state.q, state.u))
    u[own, 2], q[own, 2] = -speed, q[own, 2] + lifted
    state, pace = replace(state, q=q.ravel(), u=u.ravel()), Pace()
    timeline = Timeline(1, 1 + frames, fps, step, 100, 0.0, 0.5)
    for frame in range(2, 2 + frames):
        state = advance_frame(built, state, timeline, frame, pace=pace)
    return state, own


@pytest.mark.parametrize("shape, below", [(ell, "ground"), pytest.param(cube, "ground", marks=pytest.mark.long),
                                          pytest.param(cube, "obstacle", marks=pytest.mark.long),
                                          pytest.param(small, "body", marks=pytest.mark.long)])
def test_a_landing_is_no_matter_of_luck(shape, below, tmp_path):
    built = world(tmp_path / "whole", shape, STEP, below)
    found = [bounce(built, gap, STEP, below) for gap in GAPS]
    known = bounce(world(tmp_path / "short", shape, SHORT, below), GAPS[0], SHORT, below)
    print(np.round(found, 4), known)
    assert max(found) - min(found) <= 0.1 * np.mean(found)
    assert abs(np.mean(found) - known) <= 0.08 * known


def test_a_film_s_frame_rate_does_not_change_how_high_it_comes_up(tmp_path):
    """Frames of 1/24 and of 1001/24000 s, whose steps land at other moments, the later the more so."""
    built = world(tmp_path / "whole", cube, STEP)
    found = np.array([[bounce(built, gap, STEP, fps=fps) for fps in (FPS, FPS / 1.001)] for gap in GAPS[::2]])
    print(np.round(found, 4))
    assert np.abs(found[:, 0] - found[:, 1]).max() <= 0.05 * found.mean()


def test_what_meets_in_flight_parts_as_fast_wherever_within_a_step(tmp_path):
    """No step is cut there, since elastic bodies take some steps to stop. Full steps leave less speed than short
    ones."""
    def parting(built, gap, step):
        state, own = thrown(built, gap - AIR, SPEED, step, 4)
        part, other = built.parts[0], built.parts[0].bodies_in_world[1].nodes
        v = part.nodes_at(state)[1][:, 2]
        return float(part.mass[own] @ v[own] / part.mass[own].sum() - part.mass[other] @ v[other]
                     / part.mass[other].sum()) / SPEED

    built = world(tmp_path / "whole", small, STEP, "void")
    found = [parting(built, gap, STEP) for gap in GAPS]
    known = parting(world(tmp_path / "short", small, 1 / 192, "void"), GAPS[0], 1 / 192)
    print(np.round(found, 4), known)
    assert max(found) - min(found) <= 0.03 * np.mean(found)
    assert abs(np.mean(found) - known) <= 0.15 * known
