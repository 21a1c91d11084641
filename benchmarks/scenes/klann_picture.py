"""Draws KLANN: a leg through a turn of its crank, and its motors' torque at several μ; into docs/gallery.

    python -m benchmarks.scenes.klann_picture
"""

from __future__ import annotations

from pathlib import Path

from solver import threads  # isort: skip  # first: it sets what numba reads

import numpy as np

from benchmarks.scenes import klann

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "gallery" / "klann_torque.png"
FRICTIONS = (0.0, 0.2, 0.4, 0.8)
SECONDS, SETTLED = 4.0, 1.0  #: [s]
SMOOTHED = 8  #: steps: feet that land strike for one


def main() -> None:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    threads.configure(None)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.2), width_ratios=(1.0, 1.9))
    scale = klann.UNIT * 100
    feet = scale * np.array([klann.leg(angle)["foot"] for angle in np.linspace(0, 2 * np.pi, 181)])
    left.plot(*feet.T, color="crimson", linewidth=1.5)
    for shade, angle in zip(("0.75", "0.5", "0.0"), (0.4, 1.6, 2.8)):
        at = {key: scale * point for key, point in klann.leg(angle).items()}
        links = (("pin", "elbow"), ("elbow", "knee"), ("lower", "elbow"), ("upper", "hip"), ("hip", "knee"),
                 ("knee", "foot"))
        for a, b in links:
            left.plot(*np.array([at[a], at[b]]).T, color=shade, linewidth=2)
        left.plot(*np.array([[0, 0], at["pin"]]).T, color=shade, linewidth=2)
        left.plot(*np.array([[0, 0], at["lower"], at["upper"]]).T, "o", color=shade, markersize=4)
    left.set(aspect="equal", xlabel="[cm]", ylabel="[cm]", title="A leg, and the way of its foot")

    for mu in FRICTIONS:
        walk = klann.walk(mu, SECONDS)
        seen = walk.time > SETTLED
        torque = np.convolve(walk.torque.sum(axis=1), np.full(SMOOTHED, 1 / SMOOTHED), mode="same")[seen]
        print(f"mu {mu}: mean {torque.mean():.3f}, least {torque.min():.3f}, most {torque.max():.3f} N m, "
              f"walked {walk.frame[-1, 0] - walk.frame[0, 0]:.3f} m, loops off by {walk.loops:.1e} m", flush=True)
        right.plot(walk.time[seen], torque, label=f"μ = {mu}")
    right.axhline(0.0, color="0.6", linewidth=0.8)
    right.set(xlabel="time [s]", ylabel="torque of both motors [N m]", title="What it takes to walk")
    right.legend(loc="upper right", fontsize="small")
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
