"""Proximity at which bodies are solved together: distances between boxes, and pairs that may be in contact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..build.world import is_drafted
from ..job.kinds import kind_of
from ..job.schema import Body, Scene
from ..state import Mask, Vec
from .boxes import Boxes

#: of the size of the smaller of two bodies: bodies that start within this distance are one group from the start, as a
#: merge costs as much as building a world
MARGIN = 1.0
SLOP = 0.05  #: of the sum of the sizes of two bodies: distance below which their groups merge


@dataclass(frozen=True)
class Reach:
    """Distances below which bodies are solved together. A token is a soft body; the last token is all mechanisms."""

    size: Vec  #: of each token [m], (t,); 0 of mechanisms, whose bodies are as large as their boxes
    thickness: Vec  #: distance from the surface of each at which contact acts [m], (t,)
    may_touch: Mask  #: whether two tokens may be in contact with each other, (t, t)

    def find_near_pairs(self, boxes: Boxes, margin: float) -> list[tuple[int, int]]:
        """Return sorted pairs of tokens that may be in contact and whose boxes are near each other.

        margin: additional distance, as a fraction of the size of the smaller of two bodies.
        """
        own = self.size[boxes.token]
        size = np.where(own > 0.0, own, np.linalg.norm(boxes.high - boxes.low, axis=1))
        thick = self.thickness[boxes.token]
        pairs = set[tuple[int, int]]()
        for i in range(len(boxes.token)):
            wide = (np.maximum(SLOP * (size[i] + size), 2.0 * (thick[i] + thick))
                    + margin * np.minimum(size[i], size))[:, None]
            near = ((boxes.low <= boxes.high[i] + wide) & (boxes.high >= boxes.low[i] - wide)).all(axis=1)
            near &= self.may_touch[boxes.token[i], boxes.token]
            pairs |= {(int(boxes.token[i]), int(other)) for other in boxes.token[near] if other > boxes.token[i]}
        return sorted(pairs)


def list_groupable_bodies(scene: Scene) -> list[Body]:
    """Return the soft bodies of a scene that can be solved in groups, in the order of their tokens."""
    return [body for body in scene.bodies if not (kind_of(body).steps_by_itself or is_drafted(scene, body))]


def touches_nothing(scene: Scene, body: Body) -> bool:
    """Return whether the settings of a soft body exclude contact with itself and with obstacles."""
    return body.touches is not None and not {*body.touches} & {body.name,
                                                               *(obstacle.name for obstacle in scene.obstacles)}


def ties(scene: Scene) -> Iterable[tuple[int, int]]:
    """Yield pairs of tokens that forces or constraints couple, or of which one is attached to the other."""
    number = {body.name: k for k, body in enumerate(list_groupable_bodies(scene))}
    mechanisms = len(number)
    for names in scene.joins():
        named = [number[name] for name in names if name in number]
        yield from ((named[0], other) for other in named[1:])
    for constraint in scene.constraints:
        if any(end.mechanism for end in constraint.ends):
            yield from ((number[end.body], mechanisms) for end in constraint.ends if end.body in number
                        and not end.mechanism)
    for k, body in enumerate(list_groupable_bodies(scene)):
        yield from ((k, number.get(attach.body, mechanisms)) for attach in body.attach)


def that_touch(scene: Scene) -> Mask:
    """Return whether the settings of two tokens allow contact with each other, (t, t)."""
    bodies, mechanisms = list_groupable_bodies(scene), [mechanism.name for mechanism in scene.mechanisms]
    tokens = len(bodies) + bool(mechanisms)
    is_listed = np.ones((tokens, tokens), dtype=bool)
    for k, body in enumerate(bodies):
        if body.touches is not None:
            is_listed[k, : len(bodies)] = [other.name in body.touches for other in bodies]
            is_listed[k, len(bodies):] = any(name in body.touches for name in mechanisms)
    both: Mask = is_listed & is_listed.T
    return both
