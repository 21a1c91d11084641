"""Methods that draft: each body by itself, quickly. Standard library only."""

from __future__ import annotations

from .entry import Entry, Param

SUBSPACE_WEIGHTS = Param("subspace_weights", "Weights", "Skinning weights that move the body: more follow finer motion "
                         "and take longer in each step", 16, "", 1, 100, 4, 32)
SUBSPACE_POINTS = Param("subspace_points", "Points", "Places at which strain is evaluated; 0 takes as many as it "
                        "needs to swing like the whole mesh", 0, "", 0, 20000, 0, 2000)
SUBSPACE_ITERATIONS = Param("subspace_iterations", "Iterations", "Most iterations in a stage: stiff parts joined by "
                            "soft ones need few, violent motion more", 4, "", 1, 100, 1, 10)

PROJECTIVE_ITERATIONS = Param("projective_iterations", "Iterations", "Iterations of each step: stiff, light parts "
                              "need more of them, or they move as if through syrup", 10, "", 1, 10000, 1, 50)
PROJECTIVE_MEMORY = Param("projective_memory", "Memory", "Earlier iterations of a step that improve the next one: 0 "
                          "is plain projective dynamics, which needs several times as many", 5, "", 0, 100, 0, 10)
XPBD_SUBSTEPS = Param("xpbd_substeps", "Substeps", "Short steps in each step: fewer let stiff bodies stretch as if "
                      "they were soft", 10, "", 1, 1000, 1, 50)
XPBD_SWEEPS = Param("xpbd_sweeps", "Sweeps", "Passes over all constraints in a substep; more substeps help more", 1,
                    "", 1, 1000, 1, 10)

#: what drafts on constraints may have
CONSTRAINED = ("draft", "drafts cloth", "drafts ropes")
JOINED = "welds, simulated bones, constraints, cuts and nails"
#: of collisions and what else joins a draft to others, of all that move each body by itself
COUPLED = f"collisions with itself and with soft bodies, {JOINED}"
CONSTRAINED_LEAVES_OUT = f"{COUPLED}, fibers, the kind of material, hard limits of lengths and areas"

ENTRIES: tuple[Entry, ...] = (
    Entry("method", "subspace", "build.drafts:draft_of", "Subspace",
          "A draft: a few dozen weights move all of it, as quickly on any mesh",
          (SUBSPACE_WEIGHTS, SUBSPACE_POINTS, SUBSPACE_ITERATIONS), can=("draft",),
          steps=("backward_euler", "bdf2", "sdirk2"),
          leaves_out=f"dents, wrinkles and all finer motion, {COUPLED}",
          number=2),
    Entry("method", "live", "live.draft:LiveDraft", "Play Live",
          "A draft: moves soft bodies as Play Live does, so that it repeats what was recorded",
          can=("draft", "drafts together", "fills quickly"),
          leaves_out="dents, wrinkles and all finer motion, fibers, collisions with itself and with what other methods "
                     f"move, friction of colliders and how they deform, {JOINED}",
          number=5),
    Entry("method", "projective", "build.constraint_drafts:projective_draft", "Projective Dynamics",
          "A draft: one factorization for all steps; with few iterations stiff, light parts move too slowly",
          (PROJECTIVE_ITERATIONS, PROJECTIVE_MEMORY),
          can=CONSTRAINED, leaves_out=f"{CONSTRAINED_LEAVES_OUT}, Stiffness Damping", number=3),
    Entry("method", "xpbd", "build.constraint_drafts:compliant_draft", "XPBD",
          "A draft: no factorization at all; with few substeps stiff parts stretch as if they were soft",
          (XPBD_SUBSTEPS, XPBD_SWEEPS),
          can=CONSTRAINED, leaves_out=f"{CONSTRAINED_LEAVES_OUT}, Stiffness Damping of volumes", number=4),
)
