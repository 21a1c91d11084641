"""From a job to its world: all bodies are meshed and painted, then grouped into parts, each of which is solved at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from .. import catalogue
from ..job.folder import Job, parameters
from ..job.kinds import kind_of
from ..job.schema import Body, Scene
from ..meshing.volume import Volume
from ..world.interface import Coupling, Part
from ..world.nodes_part import NodesPart
from ..world.world import World
from .fields import Prepared
from .integrators import integrator_of
from .soft_bodies import assemble, joins_different_methods, prepare_all
from .volumes import Stage as Report

if TYPE_CHECKING:
    from ..coupling.staggered import CoupledInterface
    from ..world.joints import Joints
    from ..world.joints_part import JointsPart

#: parts of soft bodies, with the mechanisms where there are any
Grouping = Callable[[list[Prepared], "Mechanisms | None"], "list[SoftPart]"]

SIDE_BY_SIDE = "Soft bodies and mechanisms are simulated side by side and do not touch each other"


class Mechanisms(NamedTuple):
    """All mechanisms of a scene in two forms: a part of a coupling, which owns the integrator, and a part that steps by
    itself."""

    coupled: JointsPart
    uncoupled: Joints

    def beside(self, couplings: Sequence[Coupling]) -> JointsPart:
        """Return the form of the mechanisms for a world with these couplings: the coupled one, or without couplings the
        one that steps by itself."""
        return self.coupled if couplings else self.uncoupled


@dataclass(frozen=True)
class SoftPart:
    """A part of soft bodies that are solved at once; it is built again where some are cut or nailed."""

    part: NodesPart
    rigid: Mechanisms | None = None  #: mechanisms that the bodies may be attached to or touch
    couplings: list[Coupling] = field(default_factory=list)  #: where joints move nodes of the bodies


class Built(NamedTuple):
    """The world of a job's scene, with its prepared bodies and its parts of soft bodies."""

    world: World
    prepared: list[Prepared]  #: of every body
    soft: list[SoftPart]  #: the first parts of the world


def build(job: Job, report: Report, volumes: list[Volume] | None = None, grouping: Grouping | None = None) -> Built:
    """Return the world of a job's scene.

    volumes: tetrahedra of all bodies; None: they are made, or read from the job. grouping: makes the parts of soft
    bodies; None: all bodies that may touch share a part. Raises a ConJacError that names the body and, where the job is
    at fault, the field.
    """
    prepared = prepare_all(job, report, volumes) if job.scene.bodies else []
    if any(prepared_body.body.dynamic.suggested for prepared_body in prepared):
        from .suggest import suggest_spots  # loaded only where it is needed

        prepared = [suggest_spots(job, prepared_body, report) for prepared_body in prepared]
    rigid = _mechanisms(job)
    if any(not is_drafted(job.scene, prepared_body.body) for prepared_body in prepared):
        report("world", None, None, "Analysing the stiffness matrix")
    separate = [prepared_body for prepared_body in prepared if kind_of(prepared_body.body).steps_by_itself]
    drafted = [prepared_body for prepared_body in prepared if is_drafted(job.scene, prepared_body.body)]
    staggered = [prepared_body for prepared_body in drafted if touches_bodies(job.scene, prepared_body.body)]
    coupled = [prepared_body for prepared_body in prepared
               if not (kind_of(prepared_body.body).steps_by_itself or is_drafted(job.scene, prepared_body.body))]
    if grouping is not None:
        soft = grouping(coupled, rigid)
    else:
        soft = _build_soft_parts(job, coupled, rigid)
    soft_couplings = [coupling for group in soft for coupling in group.couplings]
    joints = None if rigid is None else rigid.beside(soft_couplings)
    parts: list[Part] = [*(group.part for group in soft), *([] if joints is None else [joints])]
    beside = rigid is not None and len(parts) - len(soft_couplings) > 1 and job.scene.contact is None
    couplings = soft_couplings
    if separate or staggered:
        around = [group.part for group in soft], coupled, joints
        couplings = _add_staggered(job, parts, separate, staggered, around, soft_couplings, report)
    if len(drafted) > len(staggered):
        # kernels are compiled where something is drafted
        parts += _drafts(job, [prepared_body for prepared_body in drafted if prepared_body not in staggered], report)
    notes = [SIDE_BY_SIDE] if beside else []
    return Built(World(parts, [prepared_body.body.name for prepared_body in prepared], notes, couplings), prepared,
                 soft)


def _build_soft_parts(job: Job, coupled: list[Prepared], rigid: Mechanisms | None) -> list[SoftPart]:
    """Return the parts of soft bodies: one of all bodies that mechanisms carry or touch, and those of `groups_of_parts`
    for the others."""
    to_rigid = {end.body for constraint in job.scene.constraints if any(end.mechanism for end in constraint.ends)
                for end in constraint.ends if not end.mechanism}
    hanging = {prepared_body.body.name for prepared_body in coupled if rigid is not None
               and (prepared_body.body.attach or prepared_body.body.name in to_rigid)}
    with_rigid = [prepared_body for prepared_body in coupled
                  if hanging & job.scene.find_joined_bodies(prepared_body.body.name)]
    if job.scene.contact is not None and rigid is not None:
        with_rigid = coupled  # all of them may touch the mechanisms' bodies
    soft = [build_soft_part(job, group) for group in groups_of_parts(job, [prepared_body for prepared_body in coupled
                                                                           if prepared_body not in with_rigid])]
    if with_rigid:
        soft.append(build_soft_part(job, with_rigid, rigid))
    return soft


def groups_of_parts(job: Job, prepared: list[Prepared]) -> list[list[Prepared]]:
    """Return the groups of bodies that share a part: all bodies where the scene has contact; else bodies that forces
    join, whatever their methods, and all bodies of a method in which every node is an unknown. Any other body is a
    group of its own."""
    if job.scene.contact is not None:
        return [prepared] if prepared else []
    groups: dict[str, list[Prepared]] = {}
    for prepared_body in prepared:
        method = job.scene.method_of(prepared_body.body)
        joined = job.scene.find_joined_bodies(prepared_body.body.name)
        first_joined = min(joined) if catalogue.find("method", method.kind).follows else ""
        key = f"{method.kind} {sorted(parameters('method', method).items())} {first_joined}"
        if len(joined) > 1 and joins_different_methods(job, [other for other in prepared if other.body.name in joined]):
            key = f"joined {min(joined)}"
        groups.setdefault(key, []).append(prepared_body)
    return [*groups.values()]


def _drafts(job: Job, drafted: list[Prepared], report: Report) -> list[Part]:
    """Return the parts of drafted bodies: one for each body, or one for all bodies of a method that drafts them
    together. Raises a ConJacError that names the body."""
    parts: list[Part] = []
    drafted_together: dict[catalogue.Entry, list[Prepared]] = {}
    for prepared_body in drafted:
        entry = catalogue.find("method", job.scene.method_of(prepared_body.body).kind)
        if entry.able("drafts together"):
            drafted_together.setdefault(entry, []).append(prepared_body)
        else:
            parts.append(entry.load()(job, prepared_body, report))
    return [*parts, *(entry.load()(job, several, report) for entry, several in drafted_together.items())]


def is_drafted(scene: Scene, body: Body) -> bool:
    """Return whether the method of a body is a draft, which steps the body by itself on few unknowns."""
    return catalogue.find("method", scene.method_of(body).kind).able("draft")


def touches_bodies(scene: Scene, body: Body) -> bool:
    """Return whether the method of a body drafts it in staggered steps with the bodies that it touches."""
    return catalogue.find("method", scene.method_of(body).kind).able("touches bodies")


def _add_staggered(job: Job, parts: list[Part], separate: list[Prepared], drafted: list[Prepared],
                   around: tuple[list[NodesPart], list[Prepared], JointsPart | None], couplings: list[Coupling],
                   report: Report) -> list[Coupling]:
    """Add bodies of kinds that step by themselves and drafts that touch bodies to the parts, after the parts that they
    touch, and return the couplings of all parts.

    around: the first parts of the world, of soft bodies; these bodies; the mechanisms. couplings: those so far. Raises
    a ConJacError that names a body and the field.
    """
    from ..coupling.staggered import StaggeredParts
    from .cloth_interfaces import ClothSurroundings, interface_of

    surroundings = ClothSurroundings(job, *around)
    interfaces: list[CoupledInterface] = []
    by_kind: dict[str, list[Prepared]] = {}
    for prepared_body in separate:
        by_kind.setdefault(kind_of(prepared_body.body).separate_parts, []).append(prepared_body)
    for bodies in by_kind.values():
        # kernels of a kind are compiled where a body is of it
        made = kind_of(bodies[0].body).load_separate_parts()(job, bodies, len(parts), surroundings)
        parts += [part for part, _ in made]
        interfaces += [interface for _, interface in made]
    for prepared_body in drafted:
        surfaces = surroundings.surfaces(prepared_body)
        draft = catalogue.find("method", job.scene.method_of(prepared_body.body).kind).load()(
            job, prepared_body, report, surfaces)
        interfaces.append(interface_of(len(parts), draft, surfaces))
        parts.append(draft)
    interfaces = [interface for interface in interfaces if interface.linked]
    return [StaggeredParts(parts, couplings, interfaces)] if interfaces else couplings


def _mechanisms(job: Job) -> Mechanisms | None:
    if not job.scene.mechanisms:
        return None
    from .mechanisms import (  # its kernels are compiled where there are mechanisms
        build_uncoupled_joints,
        mechanisms_part,
    )

    part = mechanisms_part(job)
    return Mechanisms(part, build_uncoupled_joints(job, part))


def build_soft_part(job: Job, prepared: list[Prepared], rigid: Mechanisms | None = None, reshaped: bool = False
                    ) -> SoftPart:
    """Return soft bodies as one part of the world. Raises a ConJacError that names a body.

    rigid: mechanisms that the bodies may be attached to or touch. reshaped: whether bodies were cut or nailed since the
    start.
    """
    if rigid is None:
        return SoftPart(assemble(job, prepared, reshaped=reshaped))
    from ..coupling.flesh_on_bones import FleshOnBones
    from .attached_nodes import AttachedCoordinates
    from .compliant_pins import anchors_of, without_pins
    from .obstacles import obstacles_of
    from .point_constraints import target_nodes
    from .rigid_skins import skins_of

    bearings = [joint.friction for mechanism in job.scene.mechanisms for joint in mechanism.joints]
    bearings += [loop.friction for mechanism in job.scene.mechanisms for loop in mechanism.loops]
    law = catalogue.find("joint_friction", job.scene.joint_friction.kind).load()
    by_body = law.acts_on != "nothing" and any(bearing is not None for bearing in bearings)
    touches = job.scene.contact is not None
    obstacles = obstacles_of(job, skins_of(job) if touches else (), anchors_of(job, prepared) if touches else ())
    unpinned = [without_pins(prepared_body) for prepared_body in prepared] if touches else prepared
    targets = target_nodes(job, prepared)
    obstacle_count = len(obstacles.positions)
    attached = [*obstacles.attached,
                *((shown, slice(obstacle_count + of.start, obstacle_count + of.stop))
                  for shown, of in targets.attached)]
    coordinates = AttachedCoordinates(unpinned, rigid.coupled, by_body, attached)
    part = assemble(job, prepared, coordinates.coordinates, obstacles, reshaped, targets)
    if not len(coordinates.on_joints):
        return SoftPart(part, rigid)
    return SoftPart(part, rigid, [FleshOnBones(part, rigid.coupled, integrator_of(job.scene), by_body)])
