"""Motors and drives that let go at a frame: the motion after it has the integrator's order, beside scipy's."""

import numpy as np
import pytest
from mechanisms import HINGE_ALONG_Y, mechanism_world
from mechanisms import run as stepped
from scipy.integrate import solve_ivp

FRAME, FPS, SECONDS = 7, 24, 0.5  #: frame 1 is at 0 s
UNTIL = (FRAME - 1) / FPS
MASS, LENGTH, WIDE = 2.0, 1.0, 0.1
INERTIA = MASS * (LENGTH**2 + WIDE**2) / 12.0 + MASS * 0.25 * LENGTH**2
WEIGHT = MASS * 9.81 * 0.5 * LENGTH  #: torque of gravity on a level rod [N m]
STIFF, DAMPED, AIM = 120.0, 3.0, -0.4
SWING, SPEED = 0.5, 7.0


def rod(folder, integrator, motor, **options):
    body = {"name": "Rod", "position": [0.5, 0, 0], "mass": MASS,
            "shape": {"kind": "box", "params": {"size_x": LENGTH, "size_y": WIDE, "size_z": WIDE}}}
    pin = {"name": "Pin", "child": "Rod", "rotation": HINGE_ALONG_Y, "motor": {**motor, "until": FRAME}}
    return mechanism_world(folder, [body], [pin], integrator=integrator, end=25, **options)


def servo(folder, integrator):
    mode = {"kind": "servo", "params": {"stiffness": STIFF, "damping": DAMPED}}
    return rod(folder, integrator, {"target": [AIM], "mode": mode})


def drive(folder, integrator):
    """The target is sampled finely enough that interpolation errors are negligible."""
    times = np.arange(24 * 40 + 1) / (FPS * 40)
    return rod(folder, integrator, {"target": "arrays/target.npy", "mode": {"kind": "drive"}}, samples=40,
               arrays={"target": SWING * np.sin(SPEED * times)[:, None]})


def fallen(angle, rate, span, torque=lambda q, u: 0.0):
    def slope(t, y):
        return [y[1], (WEIGHT * np.cos(y[0]) + torque(*y)) / INERTIA]

    return solve_ivp(slope, (0.0, span), [angle, rate], rtol=1e-11, atol=1e-12).y[:, -1]


def truth(kind):
    """Angle after all, with gravity turning the rod down, which is the hinge's way."""
    if kind is drive:
        released = SWING * np.sin(SPEED * UNTIL), SWING * SPEED * np.cos(SPEED * UNTIL)
    else:
        released = fallen(0.0, 0.0, UNTIL, lambda q, u: -STIFF * (q - AIM) - DAMPED * u)
    return fallen(*released, SECONDS - UNTIL)[0]


@pytest.mark.parametrize("kind,integrator,order", [
    (drive, "semi_implicit", 1), (drive, "leapfrog", 1), (drive, "backward_euler", 1), (drive, "bdf2", 2),
    (drive, "sdirk2", 2),
    (servo, "bdf2", 2), (servo, "sdirk2", 2)])
def test_the_order_holds_across_a_let_go(tmp_path, kind, integrator, order):
    world, exact = kind(tmp_path, integrator), truth(kind)
    errors = [abs(stepped(world, 1.0 / n, round(SECONDS * n)).q[0] - exact) for n in (192, 384)]
    print(kind.__name__, integrator, errors, np.log2(errors[0] / errors[1]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)
    if order == 2:
        assert errors[1] < (2e-5 if kind is drive else 1e-3)


@pytest.mark.parametrize("integrator", ["semi_implicit", "leapfrog", "sdirk2"])
def test_what_lets_go_works_up_to_its_frame_and_not_from_there_on(tmp_path, integrator):
    world = drive(tmp_path, integrator)
    released = stepped(world, 1.0 / 96, 24)
    assert released.time == pytest.approx(UNTIL)
    assert released.q[0] == pytest.approx(SWING * np.sin(SPEED * UNTIL), abs=1e-9)
    driven_on = SWING * np.sin(SPEED * (UNTIL + 1 / 96))
    assert abs(stepped(world, 1.0 / 96, 1, released).q[0] - driven_on) > 1e-4
