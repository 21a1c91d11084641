"""Methods, integrators and stage solvers: how a step is taken. Standard library only."""

from __future__ import annotations

from .entry import Entry, Param

BETA = Param("beta", "Damping", "How much stiffness damps the steps of Semi-Implicit Euler and Leapfrog: 1 is calm, "
             "0.5 is lively; below 0.5 is unstable. Other integrators have a damping of their own",
             0.5, "", 0.0, 100.0, 0.5, 4.0)
GAMMA = Param("gamma", "Relaxation", "Share of the leftover static force that each step removes by moving nodes",
              1.0 / 3.0, "", 0.0, 1.0, 0.0, 1.0)
SETTLE_TIME = Param("settle_time", "Settle Time",
                    "Time in which half of the leftover static force goes, at any step; 0 takes Relaxation instead",
                    0.0, "s", 0.0, 10.0, 0.0, 0.5)
CORRECTIONS = Param("corrections", "Corrections",
                    "Further corrections of positions in each step: closer to balance, each a tenth of the time",
                    0, "", 0, 10, 0, 3)
SOLVE_IMPACTS = Param("solve_impacts", "Solve Impacts",
                      "With Semi-Implicit integrators, solve steps in which nodes hit the ground, in up to twice the "
                      "time. If off, these steps are one linear solve too, which may throw a landing body", True)
ADAPTIVE = Param("adaptive", "Adaptive",
                 "Let dynamic nodes sleep while little happens around them, which saves time in quiet shots; after a "
                 "bake the Graph Editor shows the liveliness of each",
                 False)
LIVELINESS_THRESHOLD = Param("liveliness_threshold", "Liveliness Threshold",
                             "Stretch per second around a dynamic node below which it sleeps; it wakes at twice this "
                             "value. Parts that bend stretch little",
                             0.02, "1/s", 0.0, 1.0e6, 0.0, 0.2, needs="adaptive")
LIVELINESS_WINDOW = Param("liveliness_window", "Liveliness Window",
                          "Time over which stretching counts; about a sixth of the slowest swing", 0.1, "s",
                          1.0e-6, 100.0, 0.01, 1.0, needs="adaptive")
QUASISTATIC_START = Param("quasistatic_start", "Start at Rest",
                          "Let the body sag into balance before the first frame", False)
TURNS_FREELY = Param("turns_freely", "Free Turning",
                     "With Vanilla FEM, stiffness does not slow rotations: livelier at large steps. Rotations that "
                     "would gain energy are slowed", False)
SPECTRAL_RADIUS = Param("spectral_radius", "Spectral Radius",
                        "Share of the fastest wobbles that a step leaves: 0 none, 1 all",
                        0.5, "", 0.0, 1.0, 0.0, 1.0)
MODES = Param("modes", "Modes", "How many of the slowest wobbles are not damped", 10, "", 0, 1000, 0, 40)
REDECOMPOSE = Param("redecompose", "Modes Last",
                    "Steps after which the slowest wobbles are computed again; in between they follow the body",
                    10, "", 1, 1000000, 1, 100)
EXPONENTIAL_TOLERANCE = Param("exponential_tolerance", "Exponential Tolerance",
                              "Error of a step's exponential, as a share of the velocities",
                              1.0e-6, "", 1.0e-13, 1.0e-1, 1.0e-9, 1.0e-3)
TOLERANCE = Param("tolerance", "Tolerance", "Remaining net force at which iterations end, as a share of the first one",
                  1.0e-6, "", 1.0e-12, 1.0e-1, 1.0e-9, 1.0e-2)
ITERATIONS = Param("iterations", "Iterations", "A step that takes more is halved", 100, "", 1, 10000, 10, 500)
FORCE_SCALE = Param("force_scale", "Force Scale",
                    "Net force to which the tolerance is relative, at least; 0 takes the weight of the heaviest node",
                    0.0, "N",
                    0.0, None, 0.0, 1.0)
LIMITS = (TOLERANCE, ITERATIONS, FORCE_SCALE)
CG_TOLERANCE = Param("cg_tolerance", "Direction Tolerance",
                     "How exact each direction is: smaller takes fewer but longer iterations",
                     1.0e-2, "", 1.0e-12, 0.9, 1.0e-4, 0.5)
CG_ITERATIONS = Param("cg_iterations", "Direction Iterations", "The most work on one direction", 1000, "",
                      1, 100000, 10, 1000)
PATIENCE = Param("patience", "Patience",
                 "Iterations that a new factorization is worth; 0 makes one for every step", 30.0, "",
                 0.0, 10000.0, 0.0, 50.0)
MEMORY = Param("memory", "Memory", "Earlier iterations that improve a direction", 8, "", 0, 100, 0, 20)
STRAIN_LEFT = Param("strain_left", "Strain Left",
                    "Largest stretch or turn of an edge that further iterations would still change, as a share of "
                    "its length",
                    0.03, "", 1.0e-6, 0.3, 1.0e-3, 0.1)
EDGE_LEFT = Param("edge_left", "Edge Left",
                  "Largest stretch or turn of an edge that further iterations would still change, as a share of its "
                  "length",
                  3.0e-3, "", 1.0e-9, 0.3, 1.0e-5, 0.1)
MIXED_ITERATIONS = Param("mixed_iterations", "Mixed Iterations",
                         "Factorizations of a step at most: with 1 it may have to be taken once more, 4 leave little "
                         "that shows", 2, "", 1, 1000, 1, 8)
DECREMENT_LEFT = Param("decrement_left", "Decrement Left",
                       "A step ends sooner where an iteration's Newton decrement is a smaller share of the first one's",
                       1.0e-3, "", 1.0e-15, 1.0, 1.0e-6, 1.0e-1)
TRIES = Param("tries", "Tries", "Iterations after which a step is linearized instead, which damps it", 32, "",
              2, 1000, 4, 50)
KEEP_SPIN = Param("keep_spin", "Keep Spin",
                  "Bodies in free flight keep their spin; without it large steps slow the rotation of stiff bodies",
                  False)
#: why an integrator moves no jointed bodies
LINEARISED = "it is linearized at the start of a step, but forces of rotation grow with the square of speed"
ACCELERATED = "it begins with accelerations, which ignore loops, limits and contacts"
BEYOND = "it extrapolates past its solution, where loops, limits and contacts are not enforced"
EXPONENTIAL = "it needs one stiffness matrix of all nodes, which rotating joints do not have"
FOLLOWED = "it moves dynamic nodes that others follow, which jointed bodies do not have"
STILL = "a joint without a spring has no equilibrium"
#: why an integrator steps no nodes that follow others
FORCED = "it begins with accelerations, which quasistatic nodes do not have"
PASSED = "it extrapolates past its solution, where quasistatic nodes are not in balance"
UNRULED = "it needs one stiffness and one mass matrix of all nodes, which quasistatic nodes do not have"
RESTING = "with everything in balance, there are no dynamic nodes to follow"
#: why an integrator knows no friction
UNFELT = "the forces at the start of its first stage do not include friction"
SWINGING = "its modes swing on as if there were no friction"
SPEEDLESS = "without velocities nothing slides"

ENTRIES: tuple[Entry, ...] = (
    Entry("method", "conjac", "parts.conjac.conjac:ConJac", "ConJac",
          "Large steps that stay lively: a few dynamic nodes move, the rest follows in balance",
          (BETA, GAMMA, SETTLE_TIME, CORRECTIONS, SOLVE_IMPACTS, ADAPTIVE, LIVELINESS_THRESHOLD,
           LIVELINESS_WINDOW, QUASISTATIC_START), follows="most nodes follow the dynamic ones in balance", number=0),
    Entry("method", "vanilla", "parts.nodes.full:Full", "Vanilla FEM",
          "Every node moves on its own: the reference method, calmer at the same step", (BETA, QUASISTATIC_START),
          number=1),
    Entry("integrator", "semi_implicit", "integrators.semi_implicit:SemiImplicit", "Semi-Implicit Euler",
          "One linear solve a step, calmed by Damping: quick and safe", (KEEP_SPIN,),
          can=("adaptive", "contact", "beta"), number=0),
    Entry("integrator", "leapfrog", "integrators.leapfrog:Leapfrog", "Semi-Implicit Leapfrog",
          "Jointed bodies keep their swing, soft ones move as with Semi-Implicit Euler: quick and safe", (KEEP_SPIN,),
          can=("adaptive", "contact", "beta"), number=23),
    Entry("integrator", "sbdf2", "integrators.bdf2:SBDF2", "Semi-Implicit BDF2",
          "One linear solve a step and half the damping: lively, for gentle motion", can=("adaptive",),
          lacks=(("joints", LINEARISED),), number=1),
    Entry("integrator", "str_bdf2", "integrators.tr_bdf2:STRBDF2", "Semi-Implicit TR-BDF2",
          "Two linear solves a step, livelier still", lacks=(("ground friction", UNFELT), ("joints", LINEARISED)),
          number=2),
    Entry("integrator", "ssdirk2", "integrators.sdirk:SSDIRK2", "Semi-Implicit SDIRK2",
          "As lively for one factorization a step: the liveliest for its price where swings are small", (TURNS_FREELY,),
          lacks=(("joints", LINEARISED),), number=3),
    Entry("integrator", "backward_euler", "integrators.backward_euler:BackwardEuler", "Backward Euler",
          "Calm: wobbles die within a few swings; what tumbles gains spin at large steps",
          can=("adaptive", "iterates", "contact"), number=4),
    Entry("integrator", "bdf2", "integrators.bdf2:BDF2", "BDF2",
          "Snappy: slow wobbles stay and fast ones die; restarts after each impact",
          can=("adaptive", "iterates", "contact"), number=5),
    Entry("integrator", "tr_bdf2", "integrators.tr_bdf2:TRBDF2", "TR-BDF2",
          "Lively: keeps wobbles for many swings, two solves a step", can=("adaptive", "iterates"),
          lacks=(("quasistatic", FORCED), ("ground friction", UNFELT), ("joints", ACCELERATED)), number=6),
    Entry("integrator", "sdirk", "integrators.sdirk:SDIRK", "SDIRK", "As lively as TR-BDF2, both solves on one matrix",
          can=("adaptive", "iterates"),
          lacks=(("quasistatic", FORCED), ("ground friction", UNFELT), ("joints", ACCELERATED)), number=7),
    Entry("integrator", "sdirk2", "integrators.sdirk:SDIRK2", "SDIRK2",
          "As lively as TR-BDF2 and safer in contact: no stage overshoots", can=("adaptive", "iterates", "contact"),
          number=8),
    Entry("integrator", "sdirk23", "integrators.sdirk:SDIRK23", "Three-Stage SDIRK",
          "The most life that is safe in contact: what can be seen swings on at any step, for half as much again",
          can=("adaptive", "iterates", "contact"), number=26),
    Entry("integrator", "swinging", "integrators.swinging:Swinging", "Swinging Nodes",
          "Dynamic nodes swing on undamped for one factorization a step; what touches is moved by SDIRK2",
          can=("iterates", "contact"), lacks=(("joints", FOLLOWED),), number=25),
    Entry("integrator", "generalized_alpha", "integrators.generalized_alpha:GeneralizedAlpha", "Generalized Alpha",
          "Adjustable from calm to endless: Spectral Radius is how much of the fastest wobbles survives",
          (SPECTRAL_RADIUS,),
          can=("iterates",), lacks=(("quasistatic", PASSED), ("joints", BEYOND)), number=9),
    Entry("integrator", "midpoint", "integrators.midpoint:Midpoint", "Implicit Midpoint",
          "Faithful: no damping at all, so wobbles go on until the material damps them", can=("iterates",),
          lacks=(("quasistatic", PASSED), ("joints", BEYOND)), number=10),
    Entry("integrator", "trapezoidal", "integrators.trapezoidal:Trapezoidal", "Trapezoidal Rule",
          "Faithful: no damping at all, and rough where stiff parts collide", can=("iterates",),
          lacks=(("quasistatic", FORCED), ("ground friction", UNFELT), ("joints", ACCELERATED)), number=11),
    Entry("integrator", "siere", "integrators.siere:SIERE", "SIERE",
          "Snappy where it shows: the slowest wobbles are not damped, the rest is calm, however stiff the body",
          (MODES, REDECOMPOSE),
          lacks=(("quasistatic", UNRULED), ("ground friction", SWINGING), ("joints", EXPONENTIAL)), number=12),
    Entry("integrator", "sbdf2ere", "integrators.bdf2ere:SBDF2ERE", "SBDF2ERE",
          "As SIERE, and the rest livelier, for gentle motion", (MODES, REDECOMPOSE),
          lacks=(("quasistatic", UNRULED), ("ground friction", SWINGING), ("joints", EXPONENTIAL)), number=13),
    Entry("integrator", "str_sbdf2ere", "integrators.tr_bdf2ere:STRSBDF2ERE", "STR-SBDF2ERE",
          "As SIERE, and the rest lively: two linear solves a step", (MODES, REDECOMPOSE),
          lacks=(("quasistatic", UNRULED), ("ground friction", SWINGING), ("joints", EXPONENTIAL)), number=14),
    Entry("integrator", "beere", "integrators.siere:BEERE", "BEERE",
          "As SIERE, solved until nothing is left: no step is too large for the rest", (MODES, REDECOMPOSE),
          can=("iterates",), lacks=(("quasistatic", UNRULED), ("ground friction", SWINGING), ("joints", EXPONENTIAL)),
          number=15),
    Entry("integrator", "bdf2ere", "integrators.bdf2ere:BDF2ERE", "BDF2ERE",
          "As SBDF2ERE, solved until nothing is left", (MODES, REDECOMPOSE), can=("iterates",),
          lacks=(("quasistatic", UNRULED), ("ground friction", SWINGING), ("joints", EXPONENTIAL)), number=16),
    Entry("integrator", "tr_bdf2ere", "integrators.tr_bdf2ere:TRBDF2ERE", "TR-BDF2ERE",
          "As lively as TR-BDF2, and the slowest wobbles keep all their swing", (MODES, REDECOMPOSE), can=("iterates",),
          lacks=(("quasistatic", UNRULED), ("ground friction", SWINGING), ("joints", EXPONENTIAL)), number=17),
    Entry("integrator", "ere", "integrators.ere:ERE", "ERE",
          "Faithful: every wobble as it is, for soft bodies; slow for stiff ones", (EXPONENTIAL_TOLERANCE,),
          lacks=(("quasistatic", UNRULED), ("ground friction", SWINGING), ("joints", EXPONENTIAL)), number=18),
    Entry("integrator", "bdf2ere_printed", "integrators.bdf2ere:BDF2EREPrinted", "BDF2ERE (Printed)",
          "The paper's formula, which amplifies the slowest wobbles", (MODES, REDECOMPOSE), can=("iterates",),
          lacks=(("quasistatic", UNRULED), ("ground friction", SWINGING), ("joints", EXPONENTIAL)), hidden=True,
          number=20),
    Entry("integrator", "sbdf2ere_printed", "integrators.bdf2ere:SBDF2EREPrinted", "SBDF2ERE (Printed)",
          "The paper's formula, which amplifies the slowest wobbles", (MODES, REDECOMPOSE),
          lacks=(("quasistatic", UNRULED), ("ground friction", SWINGING), ("joints", EXPONENTIAL)), hidden=True,
          number=21),
    Entry("integrator", "str_sbdf2ere_printed", "integrators.tr_bdf2ere:STRSBDF2EREPrinted", "STR-SBDF2ERE (Printed)",
          "The paper's formula, which amplifies the slowest wobbles", (MODES, REDECOMPOSE),
          lacks=(("quasistatic", UNRULED), ("ground friction", SWINGING), ("joints", EXPONENTIAL)), hidden=True,
          number=22),
    Entry("integrator", "quasistatic", "integrators.quasistatic:Quasistatic", "Quasistatic",
          "Always in balance: no wobble at all, for slow squashing and bending of pinned bodies", can=("iterates",),
          lacks=(("quasistatic", RESTING), ("ground friction", SPEEDLESS), ("joints", STILL)), number=19),
    Entry("integrator", "semi_implicit_printed", "integrators.leapfrog:SemiImplicitPrinted",
          "Semi-Implicit Euler (Printed)",
          "Jointed bodies by the dissertation's formula: hinges keep their swing, long chains may blow up",
          (KEEP_SPIN,), can=("adaptive", "contact", "beta"), number=24),
    Entry("stage_solver", "newton_d", "nonlinear.newton:NewtonDirect", "Newton, Direct",
          "A factorization in each iteration: the sturdiest", LIMITS, number=0),
    Entry("stage_solver", "qlb", "nonlinear.qlb:QLB", "QLB",
          "One factorization for many steps, corrected on the way: the fastest in smooth motion",
          (*LIMITS, PATIENCE, MEMORY), number=1),
    Entry("stage_solver", "newton_l0", "nonlinear.newton_frozen:NewtonFrozen", "Newton, Frozen Factor",
          "One factorization for a few steps helps an iterative solve: quick and nearly as sturdy",
          (*LIMITS, CG_TOLERANCE, CG_ITERATIONS, PATIENCE), number=2),
    Entry("stage_solver", "hybrid_l0", "nonlinear.hybrid_frozen:HybridFrozen", "Hybrid, Frozen Factor",
          "Tries an old factorization by itself first: quick while little changes",
          (*LIMITS, CG_TOLERANCE, CG_ITERATIONS, PATIENCE), number=3),
    Entry("stage_solver", "newton_l1", "nonlinear.newton_extrapolated:NewtonExtrapolated",
          "Newton, Extrapolated Factor",
          "As with a frozen factor, which follows the motion: two factorizations each, seldom worth it",
          (*LIMITS, CG_TOLERANCE, CG_ITERATIONS, PATIENCE), number=4),
    Entry("stage_solver", "hybrid_l1", "nonlinear.hybrid_extrapolated:HybridExtrapolated",
          "Hybrid, Extrapolated Factor",
          "Tries a factorization that follows the motion by itself first: for smooth, slow motion",
          (*LIMITS, CG_TOLERANCE, CG_ITERATIONS, PATIENCE), number=5),
    Entry("stage_solver", "newton_i", "nonlinear.newton_iterative:NewtonIterative", "Newton, Iterative",
          "No factorization at all: slow, and the least memory", (*LIMITS, CG_TOLERANCE, CG_ITERATIONS), number=6),
    Entry("stage_solver", "quick", "nonlinear.early_stopped_qn:EarlyStoppedQuasiNewton", "Quick",
          "As QLB, until no visible error is left; steps that are too violent are linearized: lively, for about one "
          "solve",
          (STRAIN_LEFT, TRIES), number=7),
    Entry("stage_solver", "newton_visible", "nonlinear.newton_visible:NewtonVisible", "Newton, Visible",
          "A factorization in each iteration, until no visible error is left: for cloth",
          (EDGE_LEFT, ITERATIONS), number=8),
    Entry("stage_solver", "mixed", "nonlinear.mixed_fem:MixedFEM", "Mixed",
          "Stretches are unknowns of their own, so that stiff parts turn far in one iteration: for bone in flesh and "
          "hinges",
          (MIXED_ITERATIONS, DECREMENT_LEFT, STRAIN_LEFT, ITERATIONS), number=9),
)
