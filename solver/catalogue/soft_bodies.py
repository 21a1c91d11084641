"""Methods, integrators, solvers, materials, maps and files: what soft bodies choose from. Standard library only."""

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
                      "Steps of Semi-Implicit integrators where nodes hit the ground are solved, for up to twice the "
                      "time; off, they are one linear solve as well, which may throw what lands", True)
ADAPTIVE = Param("adaptive", "Adaptive",
                 "Dynamic nodes sleep where little happens, which saves time in quiet shots; after a bake the "
                 "Graph Editor shows how lively each one was",
                 False)
LIVELINESS_THRESHOLD = Param("liveliness_threshold", "Liveliness Threshold",
                             "Stretch per second around a dynamic node below which it sleeps; at twice of it it wakes. "
                             "Parts that bend stretch little",
                             0.02, "1/s", 0.0, 1.0e6, 0.0, 0.2, needs="adaptive")
LIVELINESS_WINDOW = Param("liveliness_window", "Liveliness Window",
                          "Time over which stretching counts; about a sixth of the slowest swing", 0.1, "s",
                          1.0e-6, 100.0, 0.01, 1.0, needs="adaptive")
QUASISTATIC_START = Param("quasistatic_start", "Start at Rest",
                          "Let the body sag into balance before the first frame", False)

TURNS_FREELY = Param("turns_freely", "Free Turning",
                     "Stiffness does not brake what turns, with Vanilla FEM: livelier at large steps. What would gain "
                     "energy so is braked", False)

SPECTRAL_RADIUS = Param("spectral_radius", "Spectral Radius",
                        "What a step leaves of the fastest wobbles: 0 nothing, 1 everything",
                        0.5, "", 0.0, 1.0, 0.0, 1.0)

MODES = Param("modes", "Modes", "How many of the slowest wobbles keep all their swing", 10, "", 0, 1000, 0, 40)
REDECOMPOSE = Param("redecompose", "Modes Last",
                    "Steps after which the slowest wobbles are found anew; in between they follow the body",
                    10, "", 1, 1000000, 1, 100)
EXPONENTIAL_TOLERANCE = Param("exponential_tolerance", "Exponential Tolerance",
                              "Error of a step's exponential, as a share of the velocities",
                              1.0e-6, "", 1.0e-13, 1.0e-1, 1.0e-9, 1.0e-3)

TOLERANCE = Param("tolerance", "Tolerance", "Net force that an iteration may leave, as a share of the first one",
                  1.0e-6, "", 1.0e-12, 1.0e-1, 1.0e-9, 1.0e-2)
ITERATIONS = Param("iterations", "Iterations", "A step that takes more is halved", 100, "", 1, 10000, 10, 500)
FORCE_SCALE = Param("force_scale", "Force Scale",
                    "Net force that always counts as large; 0 takes the weight of the heaviest node", 0.0, "N",
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
MEMORY = Param("memory", "Memory", "Earlier iterations that bend a direction", 8, "", 0, 100, 0, 20)

STRAIN_LEFT = Param("strain_left", "Strain Left",
                    "What further iterations would still stretch or turn the worst edge by, as a share of its length",
                    0.03, "", 1.0e-6, 0.3, 1.0e-3, 0.1)
EDGE_LEFT = Param("edge_left", "Edge Left",
                  "What further iterations would still stretch or turn the worst edge by, as a share of its length",
                  3.0e-3, "", 1.0e-9, 0.3, 1.0e-5, 0.1)
MIXED_ITERATIONS = Param("mixed_iterations", "Mixed Iterations",
                         "Factorizations of a step at most: with 1 it may have to be taken once more, 4 leave little "
                         "that shows", 2, "", 1, 1000, 1, 8)
DECREMENT_LEFT = Param("decrement_left", "Decrement Left",
                       "A step ends sooner where an iteration's Newton decrement is a smaller share of the first one's",
                       1.0e-3, "", 1.0e-15, 1.0, 1.0e-6, 1.0e-1)
TRIES = Param("tries", "Tries", "Iterations after which a step is linearised instead, which calms it", 32, "",
              2, 1000, 4, 50)

YOUNGS_MODULUS = Param("youngs_modulus", "Young's Modulus", "Stiffness: jelly 1e4, rubber 1e6", 3.0e4, "Pa",
                       1.0, 1.0e12, 1.0e3, 1.0e7, field=True)
POISSON_RATIO = Param("poisson_ratio", "Poisson Ratio", "How well volume is kept: 0 is cork, 0.49 is rubber", 0.45, "",
                      0.0, 0.4999, 0.0, 0.49, field=True)
MOONEY_SHARE = Param("mooney_share", "Mooney Share",
                     "Share of the stiffness that resists stretched areas instead of stretched lengths",
                     0.25, "", 0.0, 1.0, 0.0, 0.5, field=True)
FIBER_MODULUS = Param("fiber_modulus", "Fiber Modulus", "Stiffness that the fibers add along themselves",
                      3.0e5, "Pa", 1.0, 1.0e12, 1.0e3, 1.0e8, field=True)
FIBER_STIFFENING = Param("fiber_stiffening", "Fiber Stiffening", "How much more a fiber resists the more it is pulled",
                         5.0, "", 0.01, 100.0, 0.1, 20.0, field=True)
ACTIVATION = Param("activation", "Activation", "How much the muscle contracts: at 1 its fibers want to be 30 % shorter",
                   0.0, "", 0.0, 1.0, 0.0, 1.0, field=True)
FIBER_AXIS = tuple(
    Param(f"fiber_{letter.lower()}", f"Fiber {letter}", f"Part of the direction along the object's own {letter}",
          1.0 if letter == "Z" else 0.0, "", -1.0, 1.0, -1.0, 1.0) for letter in "XYZ")
FIBER_ANGLE = Param("fiber_angle", "Fiber Angle", "Between the fibers and the axis they wind around; negative winds "
                    "the other way", 0.7853981633974483, "rad", -1.5707963267948966, 1.5707963267948966)
DENSITY = Param("density", "Density", "Mass per volume: water is 1000", 1000.0, "kg/m³", 1.0e-3, 1.0e6, 100.0, 10000.0,
                field=True)

WOBBLE_HALF_LIFE = Param("wobble_half_life", "Wobble Half-Life",
                         "Time in which every wobble that can be seen loses half of its height, at any step, in swings "
                         "where one takes longer than two seconds. 0 never, as far as the material goes",
                         0.0, "s", 0.0, 1.0e3, 0.0, 4.0)
STIFFNESS_DAMPING = Param("stiffness_damping", "Stiffness Damping",
                          "How fast wobbles die, the faster the finer they are: 0.001 calms ripples, 0.1 is dough",
                          0.0, "s", 0.0, 1.0e3, 0.0, 0.1)
MASS_DAMPING = Param("mass_damping", "Mass Damping",
                     "How fast all motion dies, falling too, as under water: 1 takes two thirds of a speed in a second",
                     0.0, "1/s", 0.0, 1.0e3, 0.0, 10.0)

KEEP_SPIN = Param("keep_spin", "Keep Spin",
                  "What flies freely turns on as it should; large steps brake stiff bodies' turning without it", False)

FRICTION_COEFFICIENT = Param("friction_coefficient", "Friction Coefficient",
                             "Force against sliding as a share of the load: ice 0.05, wood 0.4, rubber 1",
                             0.3, "", 0.0, 100.0, 0.0, 2.0)

CONTACT_DISTANCE = Param("distance", "Contact Distance",
                         "How near surfaces may be before they push each other, 0 picks a tenth of their edges", 0.0,
                         "m", 0.0, None, 0.0, 0.1)

CREEP_SPEED = Param("creep_speed", "Creep Speed",
                    "What slips slower than this is not braked in full: what should stand creeps at less", 1.0e-3,
                    "m/s", 1.0e-6, 1.0, 1.0e-4, 1.0e-2)

PUSH_APART = Param("push_apart", "Push Apart",
                   "In what time that which crosses at the start is pushed apart, 0 refuses it", 0.0, "s", 0.0, None,
                   0.0, 2.0)

SPOT_RADIUS = Param("spot_radius", "Spot Radius",
                    "How far around a handle nodes move as one, 0 picks a tenth of the box diagonal", 0.0, "m", 0.0,
                    None, 0.0, 1.0)

EDGE_LENGTH = Param("edge_length", "Edge Length",
                    "Target edge length of the tetrahedra, 0 picks a twentieth of the box diagonal",
                    0.0, "m", 0.0, None, 0.0, 1.0)

SHEET_THICKNESS = Param("sheet_thickness", "Sheet Thickness",
                        "What open sheets and loose faces are thickened to before they are filled; 0 refuses them",
                        0.0, "m", 0.0, None, 0.0, 0.1)

#: why an integrator moves no jointed bodies
LINEARISED = "it is linearised where a step starts, and forces of what turns grow with the square of its speed"
ACCELERATED = "it begins with accelerations, which know nothing of what loops, limits and contacts hold"
BEYOND = "it goes on past where it has solved, where loops, limits and contacts hold nothing"
EXPONENTIAL = "it needs the stiffness of all nodes as one matrix, which turning joints do not have"
FOLLOWED = "its steps are of nodes that others follow, which bodies of joints do not"
STILL = "a joint that nothing springs back has no balance to go to"

#: why an integrator steps no nodes that follow others
FORCED = "it begins with accelerations, which what follows in balance has none of by itself"
PASSED = "it goes on past where it has solved, where what follows is not in balance"
UNRULED = "it needs the stiffness of every node as one matrix with one mass, which what follows has not"
RESTING = "where all is in balance no node is any other's to follow"

#: why an integrator knows no friction
UNFELT = "the forces that its first stage begins with have no friction in them"
SWINGING = "its modes swing on as if nothing rubbed"
SPEEDLESS = "what has no speed slides nowhere"

ENTRIES: tuple[Entry, ...] = (
    Entry("method", "conjac", "parts.conjac.conjac:ConJac", "ConJac",
          "Large steps that stay lively: a few dynamic nodes move, the rest follows in balance",
          (BETA, GAMMA, SETTLE_TIME, CORRECTIONS, SOLVE_IMPACTS, ADAPTIVE, LIVELINESS_THRESHOLD,
           LIVELINESS_WINDOW, QUASISTATIC_START), follows="most nodes follow the dynamic ones in balance", number=0),
    Entry("method", "vanilla", "parts.nodes.full:Full", "Vanilla FEM",
          "Every node moves on its own: the reference, calmer at the same step", (BETA, QUASISTATIC_START),
          number=1),
    Entry("integrator", "semi_implicit", "integrators.semi_implicit:SemiImplicit", "Semi-Implicit Euler",
          "One linear solve a step, calmed by Damping: quick and safe", (KEEP_SPIN,), adaptive=True,
          bounded=True, weighs=True, number=0),
    Entry("integrator", "leapfrog", "integrators.leapfrog:Leapfrog", "Semi-Implicit Leapfrog",
          "Jointed bodies keep their swing, soft ones move as with Semi-Implicit Euler: quick and safe", (KEEP_SPIN,),
          adaptive=True, bounded=True, weighs=True, number=23),
    Entry("integrator", "sbdf2", "integrators.bdf2:SBDF2", "Semi-Implicit BDF2",
          "One linear solve a step and half the damping: lively, for gentle motion", adaptive=True,
          unjointed=LINEARISED, number=1),
    Entry("integrator", "str_bdf2", "integrators.tr_bdf2:STRBDF2", "Semi-Implicit TR-BDF2",
          "Two linear solves a step, livelier still", unrubbed=UNFELT, unjointed=LINEARISED, number=2),
    Entry("integrator", "ssdirk2", "integrators.sdirk:SSDIRK2", "Semi-Implicit SDIRK2",
          "As lively for one factorization a step: the most life for its price where swings are small",
          (TURNS_FREELY,), unjointed=LINEARISED, number=3),
    Entry("integrator", "backward_euler", "integrators.backward_euler:BackwardEuler", "Backward Euler",
          "Calm: wobbles die within a few swings; what tumbles gains spin at large steps", adaptive=True,
          iterates=True, bounded=True, number=4),
    Entry("integrator", "bdf2", "integrators.bdf2:BDF2", "BDF2",
          "Snappy: slow wobbles stay and fast ones die; starts anew after each impact",
          adaptive=True, iterates=True, bounded=True, number=5),
    Entry("integrator", "tr_bdf2", "integrators.tr_bdf2:TRBDF2", "TR-BDF2",
          "Lively: keeps wobbles for many swings, two solves a step", unfollowed=FORCED, adaptive=True,
          unrubbed=UNFELT, iterates=True, unjointed=ACCELERATED, number=6),
    Entry("integrator", "sdirk", "integrators.sdirk:SDIRK", "SDIRK",
          "As lively as TR-BDF2, both solves on one matrix",
          unfollowed=FORCED, adaptive=True, unrubbed=UNFELT, iterates=True, unjointed=ACCELERATED,
          number=7),
    Entry("integrator", "sdirk2", "integrators.sdirk:SDIRK2", "SDIRK2",
          "As lively as TR-BDF2 and safer in contact: no stage overshoots", adaptive=True, iterates=True, bounded=True,
          number=8),
    Entry("integrator", "sdirk23", "integrators.sdirk:SDIRK23", "Three-Stage SDIRK",
          "The most life that is safe in contact: what can be seen swings on at any step, for half as much again",
          adaptive=True, iterates=True, bounded=True, number=26),
    Entry("integrator", "swinging", "integrators.swinging:Swinging", "Swinging Nodes",
          "Dynamic nodes swing on undamped for one factorization a step; what touches is moved by SDIRK2",
          iterates=True, bounded=True, unjointed=FOLLOWED, number=25),
    Entry("integrator", "generalized_alpha", "integrators.generalized_alpha:GeneralizedAlpha", "Generalized Alpha",
          "A knob from calm to endless: how much of the fastest wobbles survives", (SPECTRAL_RADIUS,),
          unfollowed=PASSED, iterates=True, unjointed=BEYOND, number=9),
    Entry("integrator", "midpoint", "integrators.midpoint:Midpoint", "Implicit Midpoint",
          "Faithful: no damping at all, so wobbles go on until the material damps them",
          unfollowed=PASSED, iterates=True, unjointed=BEYOND, number=10),
    Entry("integrator", "trapezoidal", "integrators.trapezoidal:Trapezoidal", "Trapezoidal Rule",
          "Faithful: no damping at all, and rough where stiff parts are struck",
          unfollowed=FORCED, unrubbed=UNFELT, iterates=True, unjointed=ACCELERATED, number=11),
    Entry("integrator", "siere", "integrators.siere:SIERE", "SIERE",
          "Snappy where it shows: the slowest wobbles keep all their swing, the rest is calm, however stiff the body",
          (MODES, REDECOMPOSE), unfollowed=UNRULED, unrubbed=SWINGING, unjointed=EXPONENTIAL, number=12),
    Entry("integrator", "sbdf2ere", "integrators.bdf2ere:SBDF2ERE", "SBDF2ERE",
          "As SIERE, and the rest livelier, for gentle motion", (MODES, REDECOMPOSE), unfollowed=UNRULED,
          unrubbed=SWINGING, unjointed=EXPONENTIAL, number=13),
    Entry("integrator", "str_sbdf2ere", "integrators.tr_bdf2ere:STRSBDF2ERE", "STR-SBDF2ERE",
          "As SIERE, and the rest lively: two linear solves a step", (MODES, REDECOMPOSE), unfollowed=UNRULED,
          unrubbed=SWINGING, unjointed=EXPONENTIAL, number=14),
    Entry("integrator", "beere", "integrators.siere:BEERE", "BEERE",
          "As SIERE, solved until nothing is left: no step is too large for the rest", (MODES, REDECOMPOSE),
          unfollowed=UNRULED, unrubbed=SWINGING, iterates=True, unjointed=EXPONENTIAL, number=15),
    Entry("integrator", "bdf2ere", "integrators.bdf2ere:BDF2ERE", "BDF2ERE",
          "As SBDF2ERE, solved until nothing is left", (MODES, REDECOMPOSE),
          unfollowed=UNRULED, unrubbed=SWINGING, iterates=True, unjointed=EXPONENTIAL, number=16),
    Entry("integrator", "tr_bdf2ere", "integrators.tr_bdf2ere:TRBDF2ERE", "TR-BDF2ERE",
          "As lively as TR-BDF2, and the slowest wobbles keep all their swing", (MODES, REDECOMPOSE),
          unfollowed=UNRULED, unrubbed=SWINGING, iterates=True, unjointed=EXPONENTIAL, number=17),
    Entry("integrator", "ere", "integrators.ere:ERE", "ERE",
          "Faithful: every wobble as it is, for soft bodies; slow for stiff ones", (EXPONENTIAL_TOLERANCE,),
          unfollowed=UNRULED, unrubbed=SWINGING, unjointed=EXPONENTIAL, number=18),
    Entry("integrator", "bdf2ere_printed", "integrators.bdf2ere:BDF2EREPrinted", "BDF2ERE (Printed)",
          "The paper's formula, which amplifies the slowest wobbles", (MODES, REDECOMPOSE),
          unfollowed=UNRULED, hidden=True, unrubbed=SWINGING, iterates=True, unjointed=EXPONENTIAL, number=20),
    Entry("integrator", "sbdf2ere_printed", "integrators.bdf2ere:SBDF2EREPrinted", "SBDF2ERE (Printed)",
          "The paper's formula, which amplifies the slowest wobbles", (MODES, REDECOMPOSE),
          unfollowed=UNRULED, hidden=True, unrubbed=SWINGING, unjointed=EXPONENTIAL, number=21),
    Entry("integrator", "str_sbdf2ere_printed", "integrators.tr_bdf2ere:STRSBDF2EREPrinted", "STR-SBDF2ERE (Printed)",
          "The paper's formula, which amplifies the slowest wobbles", (MODES, REDECOMPOSE),
          unfollowed=UNRULED, hidden=True, unrubbed=SWINGING, unjointed=EXPONENTIAL, number=22),
    Entry("integrator", "quasistatic", "integrators.quasistatic:Quasistatic", "Quasistatic",
          "Always in balance: no wobble at all, for slow squashing and bending of held bodies", unfollowed=RESTING,
          unrubbed=SPEEDLESS, iterates=True, unjointed=STILL, number=19),
    Entry("integrator", "semi_implicit_printed", "integrators.leapfrog:SemiImplicitPrinted",
          "Semi-Implicit Euler (Printed)",
          "Jointed bodies by the dissertation's formula: hinges keep their swing, long chains may blow up",
          (KEEP_SPIN,), adaptive=True, bounded=True, weighs=True, number=24),
    Entry("stage_solver", "newton_d", "nonlinear.newton:NewtonDirect", "Newton, Direct",
          "A factorization in each iteration: the sturdiest", LIMITS, number=0),
    Entry("stage_solver", "qlb", "nonlinear.qlb:QLB", "QLB",
          "One factorization for many steps, bent by what it sees on the way: the fastest in smooth motion",
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
          "As QLB until nothing is left that shows; what is too violent is linearised: lively, for about one solve",
          (STRAIN_LEFT, TRIES), number=7),
    Entry("stage_solver", "newton_visible", "nonlinear.newton_visible:NewtonVisible", "Newton, Visible",
          "A factorization in each iteration until nothing is left that shows: for cloth",
          (EDGE_LEFT, ITERATIONS), number=8),
    Entry("stage_solver", "mixed", "nonlinear.mixed_fem:MixedFEM", "Mixed",
          "Stretches move by themselves, so that stiff parts turn far in one iteration: for bone in flesh and hinges",
          (MIXED_ITERATIONS, DECREMENT_LEFT, STRAIN_LEFT, ITERATIONS), number=9),
    Entry("material", "stable_neo_hookean", "materials.stable_neo_hookean:StableNeoHookean", "Stable Neo-Hookean",
          "Flesh and rubber: keeps its volume, survives being turned inside out", (YOUNGS_MODULUS, POISSON_RATIO),
          number=0),
    Entry("material", "neo_hookean_plain", "materials.neo_hookean_plain:NeoHookeanPlain", "Stable Neo-Hookean, Plain",
          "Without the logarithm: what was crushed to a point stays crushed", (YOUNGS_MODULUS, POISSON_RATIO),
          number=1),
    Entry("material", "mooney_rivlin", "materials.mooney_rivlin:MooneyRivlin", "Mooney-Rivlin",
          "Rubber after lab curves: yields more than Neo-Hookean when pulled and less when pressed",
          (YOUNGS_MODULUS, POISSON_RATIO, MOONEY_SHARE), number=2),
    Entry("material", "fixed_corotated", "materials.fixed_corotated:FixedCorotated", "Fixed Corotated",
          "Firm in volume, yields less than Neo-Hookean when pulled and more when pressed",
          (YOUNGS_MODULUS, POISSON_RATIO), number=3),
    Entry("material", "corotational", "materials.corotational:Corotational", "Corotational",
          "Stress grows evenly with stretch; loses volume when deformed much", (YOUNGS_MODULUS, POISSON_RATIO),
          number=4),
    Entry("material", "arap", "materials.arap:Arap", "ARAP",
          "Keeps its shape and ignores its volume: Poisson ratio 0", (YOUNGS_MODULUS,), number=5),
    Entry("material", "stvk", "materials.stvk:StVK", "St. Venant-Kirchhoff",
          "Stiffens when pulled, gives way when pressed to about half its length", (YOUNGS_MODULUS, POISSON_RATIO),
          number=6),
    Entry("material", "linear", "materials.linear:Linear", "Linear",
          "Small deformation only: parts that turn swell", (YOUNGS_MODULUS, POISSON_RATIO), number=7),
    Entry("fiber_material", "astvk", "materials.astvk:AStVK", "Stiff Fibers (aSTVK)",
          "Cords or grain that resist being pulled and pressed along one direction", (FIBER_MODULUS,), number=1),
    Entry("fiber_material", "afung", "materials.afung:AFung", "Muscle Fibers (aFUNG)",
          "Slack when pressed, stiffer the more they are pulled, shorter when activated",
          (FIBER_MODULUS, FIBER_STIFFENING, ACTIVATION), number=2),
    Entry("fiber_field", "gradient", "fields.fibers.gradient:Gradient", "Origin to Insertion",
          "From where the Fibers group is painted 0 to where it is painted 1, along the skin in between", number=0),
    Entry("fiber_field", "straight", "fields.fibers.straight:Straight", "Straight",
          "One direction in the object's own space", FIBER_AXIS, number=1),
    Entry("fiber_field", "helix", "fields.fibers.helix:Helix", "Helix",
          "Around an axis through the object's origin", (*FIBER_AXIS, FIBER_ANGLE), number=2),
    Entry("fiber_field", "attribute", "fields.fibers.attribute:Attribute", "Attribute",
          "The mesh's vector attribute conjac_fiber, in object space", number=3),
    Entry("fiber_field", "combed", "fields.fibers.combed:Combed", "Combed Curves",
          "Along the nearest curves of another object", number=4),
    Entry("carry", "smooth", "fields.harmonic:harmonic_extension", "Smooth",
          "As smooth as can be between what is painted all around", number=0),
    Entry("carry", "straight", "fields.nearest:nearest_extension", "Straight In",
          "What is painted nearest: layers and spots go inwards with sharp borders", number=1),
    Entry("spot", "mean", "coordinates.patches:mean", "As One",
          "A painted spot moves by the mean of its nodes, and does not dent as a single node does", (SPOT_RADIUS,),
          number=1),
    Entry("spot", "turn", "coordinates.patches:mean_and_turn", "As One, Turning",
          "It keeps its turning too: for what twists and nods, at twice the unknowns", (SPOT_RADIUS,), number=2),
    Entry("spot", "affine", "coordinates.patches:affine", "As One, Stretching",
          "It keeps its stretching and shearing too, at four times the unknowns", (SPOT_RADIUS,), number=3),
    Entry("damping", "rayleigh", "forces.rayleigh:Rayleigh", "Rayleigh",
          "Losses follow the material: stiff parts and fine ripples come to rest first",
          (STIFFNESS_DAMPING, MASS_DAMPING), number=0),
    Entry("damping", "green", "forces.green:Green", "Green",
          "Losses follow the rate of strain: what turns under load is not braked", (STIFFNESS_DAMPING, MASS_DAMPING),
          unclothed="it is a matter of volumes", number=1),
    Entry("friction", "coulomb", "contact.laws.coulomb:Coulomb", "Coulomb",
          "What touches sticks as long as its load can hold it, then slides under an even brake",
          (FRICTION_COEFFICIENT,), number=1),
    Entry("friction", "filter", "contact.laws.filter:Filter", "Velocity Filter",
          "The paper's: brakes each touching node by itself, so what should stand on a slope creeps",
          (FRICTION_COEFFICIENT,), number=2),
    Entry("contact", "barrier", "contact.laws.barrier:Barrier", "Barrier",
          "Surfaces push each other the harder the nearer they are, and never meet",
          (CONTACT_DISTANCE, FRICTION_COEFFICIENT, CREEP_SPEED, PUSH_APART), number=0),
    Entry("contact", "gap", "contact.laws.gap:Gap", "Gap Constraints",
          "Surfaces keep a gap by pushes as hard as that takes and not before; for comparison, nothing rubs",
          (CONTACT_DISTANCE,), constrains=True, number=1),
    Entry("contact", "gap_velocity", "contact.laws.gap_velocity:GapVelocity", "Gap Velocities",
          "What touches may not come nearer along the normal that it had where a step began; for comparison: in large "
          "steps it holds up what goes over an edge, and nothing rubs",
          (CONTACT_DISTANCE,), constrains=True, number=2),
    Entry("mesher", "tetwild", "meshing.tetwild:TetWild", "fTetWild",
          "Meshes open, self-intersecting and dirty surfaces", (EDGE_LENGTH, SHEET_THICKNESS), number=0),
    Entry("mesher", "tetgen", "meshing.tetgen:TetGen", "TetGen",
          "Fast, for clean closed surfaces; needs the optional tetgen package", (EDGE_LENGTH, SHEET_THICKNESS),
          number=1),
    Entry("mesher", "grid", "meshing.grid:Grid", "Box Grid",
          "Six tetrahedra a cell, for axis-aligned boxes", (EDGE_LENGTH,), number=2),
    Entry("mesher", "cells", "meshing.cells:Cells", "Equal Cells",
          "Covers any surface with coarse cells at once: for what is played live", (EDGE_LENGTH,), hidden=True,
          number=3),
    Entry("cut", "plane", "reshape.cuts.plane:Plane", "Plane", "All along a plane, however wide the body is",
          reads=("point", "normal"), number=0),
    Entry("cut", "sheet", "reshape.cuts.sheet:CuttingSheet", "Sheet",
          "Where a mesh of triangles passes through the body; it may end inside", reads=("vertices", "triangles"),
          number=1),
    Entry("cut", "faces", "reshape.cuts.faces:Faces", "Faces", "Along listed faces of tetrahedra given by hand",
          reads=("faces",), number=2),
    Entry("linear_solver", "cholmod", "linear.cholesky.cholmod:Cholmod", "CHOLMOD",
          "Supernodal Cholesky through scikit-sparse", number=1),
    Entry("linear_solver", "cvxopt", "linear.cholesky.cvxopt_cholmod:CvxoptCholmod", "CHOLMOD (cvxopt)",
          "Supernodal Cholesky from cvxopt's wheel", number=2),
    Entry("linear_solver", "mixed", "linear.cholesky.mixed:Mixed", "Mixed Precision",
          "A factor in single precision on all threads, answers refined in double; quicker where factors are large",
          number=3),
    Entry("linear_solver", "superlu", "linear.cholesky.superlu:SuperLU", "SuperLU",
          "SciPy's sparse LU, always there", number=4),
    Entry("linear_solver", "multigrid", "linear.multigrid.solver:Multigrid", "Multigrid",
          "Iterates instead of factoring: for large meshes, where it is faster and takes far less memory",
          for_large=True, number=5),
    Entry("live_engine", "modes", "live.engines.modes:ModesEngine", "Skinning Eigenmodes",
          "A few dozen ways to move, at the same price on any mesh", number=1),
    Entry("live_engine", "world", "live.engines.world:WorldEngine", "Coarse Cells",
          "The solver of the bake on cells that are coarse enough for the clock", number=0),
    Entry("export", "pc2", "playback.pc2:PC2", "PC2", "Blender's Mesh Cache modifier; plays while it bakes", number=0),
    Entry("export", "abc", "playback.alembic:Alembic", "Alembic",
          "Mesh Sequence Cache modifier; goes to other programs", number=1),
    Entry("export", "shapekeys", "playback.shape_keys:ShapeKeys", "Shape Keys",
          "Inside the .blend: one absolute shape key a frame", number=2),
    Entry("map", "dynamic", "gather.maps:Dynamic", "Dynamic", "Every painted patch gives one lively node", number=0),
    Entry("map", "pin", "gather.maps:Pin", "Pin", "Painted parts follow the object's own animation", number=1),
    Entry("map", "stiffness", "gather.maps:Blend", "Stiffness", "Blends between the soft and the stiff modulus",
          (YOUNGS_MODULUS,), number=2),
    Entry("map", "fibers", "gather.maps:Fibers", "Fibers", "From origin (0) to insertion (1) of a muscle", number=3),
    Entry("map", "friction", "gather.maps:Friction", "Friction", "How much of the body's friction in contact there is",
          number=4),
)
