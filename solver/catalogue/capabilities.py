"""Table of the capabilities of entries, which refusals, menus and the manual read. Standard library only.

An entry has a usual capability unless its `lacks` lists it, with the reason as a clause; it has any other capability
where its `can` lists it. So a new capability is a row here and a word at its entries, and no field of all entries.
"""

from __future__ import annotations

from .record import Record


class Capability(Record):
    """A capability that some entries of a family have and others lack."""

    family: str
    sentence: str  #: what an entry does that has it, for the manual
    is_usual: bool = False  #: whether entries of the family have it unless they say otherwise


CAPABILITIES = {
    "adaptive": Capability("integrator", "chooses its steps by *Accuracy*"),
    "beta": Capability("integrator", "uses *Damping (β)* of the method"),
    "iterates": Capability("integrator", "solves each step to a tolerance, by a stage solver"),
    "contact": Capability("integrator", "keeps touching surfaces apart"),
    "quasistatic": Capability("integrator", "steps nodes that follow others, as ConJac's do", True),
    "ground friction": Capability("integrator", "has friction on the ground", True),
    "joints": Capability("integrator", "moves jointed rigid bodies", True),
    "draft": Capability("method", "moves each body by itself, as a draft"),
    "drafts together": Capability("method", "drafts bodies that touch each other together"),
    "touches bodies": Capability("method", "collides with soft bodies, cloth and mechanisms by staggered steps"),
    "fills quickly": Capability("method", "fills meshes with tetrahedra like those of a bake, but sooner"),
    "drafts cloth": Capability("method", "drafts cloth"),
    "drafts ropes": Capability("method", "drafts ropes"),
    "constraints": Capability("contact", "keeps gaps open by constraints, without friction"),
    "flesh": Capability("joint_friction", "includes the pull of soft bodies on their bones", True),
    "cloth": Capability("damping", "damps cloth and ropes", True),
    "remeshing": Capability("bending", "works with Sharp Edges", True),
    "whole displacement": Capability("constraint", "prescribes all of the displacement between its points"),
    "hard rows": Capability("force", "is a hard constraint, whose rows are projected"),
    "large": Capability("linear_solver", "solves meshes that are too large to factor"),
}
