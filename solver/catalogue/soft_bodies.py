"""Materials, fields, contact, meshers, linear solvers, maps and files of soft bodies. Standard library only."""

from __future__ import annotations

from .entry import Entry, Param

YOUNGS_MODULUS = Param("youngs_modulus", "Young's Modulus", "Stiffness: jelly 1e4, rubber 1e6", 3.0e4, "Pa",
                       1.0, 1.0e12, 1.0e3, 1.0e7, field=True)
POISSON_RATIO = Param("poisson_ratio", "Poisson Ratio", "How well volume is kept: 0 is cork, 0.49 is rubber", 0.45, "",
                      0.0, 0.4999, 0.0, 0.49, field=True)
MOONEY_SHARE = Param("mooney_share", "Mooney Share",
                     "Share of the stiffness that resists stretched areas instead of stretched lengths",
                     0.25, "", 0.0, 1.0, 0.0, 0.5, field=True)
FIBER_MODULUS = Param("fiber_modulus", "Fiber Modulus", "Stiffness that the fibers add along themselves",
                      3.0e5, "Pa", 1.0, 1.0e12, 1.0e3, 1.0e8, field=True)
FIBER_STIFFENING = Param("fiber_stiffening", "Fiber Stiffening", "How fast the resistance of a fiber grows with "
                         "stretch",
                         5.0, "", 0.01, 100.0, 0.1, 20.0, field=True)
ACTIVATION = Param("activation", "Activation", "How much the muscle contracts: at 1 the rest length of its fibers is "
                   "30 % shorter",
                   0.0, "", 0.0, 1.0, 0.0, 1.0, field=True)
FIBER_AXIS = tuple(
    Param(f"fiber_{letter.lower()}", f"Fiber {letter}", f"Part of the direction along the object's own {letter}",
          1.0 if letter == "Z" else 0.0, "", -1.0, 1.0, -1.0, 1.0) for letter in "XYZ")
FIBER_ANGLE = Param("fiber_angle", "Fiber Angle", "Between the fibers and the axis they wind around; negative winds "
                    "the other way", 0.7853981633974483, "rad", -1.5707963267948966, 1.5707963267948966)
DENSITY = Param("density", "Density", "Mass per volume: water is 1000", 1000.0, "kg/m³", 1.0e-3, 1.0e6, 100.0, 10000.0,
                field=True)
WOBBLE_HALF_LIFE = Param("wobble_half_life", "Wobble Half-Life",
                         "Time in which every visible wobble loses half of its height, at any time step. A swing of "
                         "more than two seconds loses as much as one of two. 0 leaves the material's damping alone",
                         0.0, "s", 0.0, 1.0e3, 0.0, 4.0)
STIFFNESS_DAMPING = Param("stiffness_damping", "Stiffness Damping",
                          "How fast wobbles die, the faster the finer they are: 0.001 calms ripples, 0.1 is dough",
                          0.0, "s", 0.0, 1.0e3, 0.0, 0.1)
MASS_DAMPING = Param("mass_damping", "Mass Damping",
                     "How fast all motion dies, falling too, as under water: 1 takes two thirds of a speed in a second",
                     0.0, "1/s", 0.0, 1.0e3, 0.0, 10.0)
FRICTION_COEFFICIENT = Param("friction_coefficient", "Friction Coefficient",
                             "Force against sliding as a share of the load: ice 0.05, wood 0.4, rubber 1",
                             0.3, "", 0.0, 100.0, 0.0, 2.0)
CONTACT_DISTANCE = Param("distance", "Contact Distance",
                         "Distance at which surfaces begin to repel each other, 0 picks a tenth of their edges", 0.0,
                         "m", 0.0, None, 0.0, 0.1)
CREEP_SPEED = Param("creep_speed", "Creep Speed",
                    "Below this sliding speed friction is reduced: objects that should stand creep more slowly than "
                    "this", 1.0e-3,
                    "m/s", 1.0e-6, 1.0, 1.0e-4, 1.0e-2)
PUSH_APART = Param("push_apart", "Push Apart",
                   "Time in which objects that intersect at the start are pushed apart, 0 refuses to bake them", 0.0,
                   "s", 0.0, None,
                   0.0, 2.0)
SPOT_RADIUS = Param("spot_radius", "Spot Radius",
                    "How far around a handle nodes move as one, 0 picks a tenth of the box diagonal", 0.0, "m", 0.0,
                    None, 0.0, 1.0)
EDGE_LENGTH = Param("edge_length", "Edge Length",
                    "Target edge length of the tetrahedra, 0 picks a twentieth of the box diagonal",
                    0.0, "m", 0.0, None, 0.0, 1.0)
SHEET_THICKNESS = Param("sheet_thickness", "Sheet Thickness",
                        "Thickness given to open sheets and loose faces before they are filled; 0 refuses them",
                        0.0, "m", 0.0, None, 0.0, 0.1)

ENTRIES: tuple[Entry, ...] = (
    Entry("material", "stable_neo_hookean", "materials.stable_neo_hookean:StableNeoHookean", "Stable Neo-Hookean",
          "Flesh and rubber: keeps its volume, survives being turned inside out", (YOUNGS_MODULUS, POISSON_RATIO),
          number=0),
    Entry("material", "neo_hookean_plain", "materials.neo_hookean_plain:NeoHookeanPlain", "Stable Neo-Hookean, Plain",
          "Without the logarithm: an element that is crushed to a point stays crushed", (YOUNGS_MODULUS, POISSON_RATIO),
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
          "Cords or grain that resist stretching and compression along one direction", (FIBER_MODULUS,), number=1),
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
          "The nearest painted value: layers and spots go inwards with sharp borders", number=1),
    Entry("spot", "mean", "coordinates.patches:mean", "As One",
          "A painted spot moves by the mean of its nodes, and does not dent as a single node does", (SPOT_RADIUS,),
          number=1),
    Entry("spot", "turn", "coordinates.patches:mean_and_turn", "As One, Turning",
          "It turns as well: for parts that twist and nod, with twice the unknowns", (SPOT_RADIUS,), number=2),
    Entry("spot", "affine", "coordinates.patches:affine", "As One, Stretching",
          "It stretches and shears as well, with four times the unknowns", (SPOT_RADIUS,), number=3),
    Entry("damping", "rayleigh", "forces.rayleigh:Rayleigh", "Rayleigh",
          "Losses follow the material: stiff parts and fine ripples come to rest first",
          (STIFFNESS_DAMPING, MASS_DAMPING), number=0),
    Entry("damping", "green", "forces.green:Green", "Green",
          "Losses follow the rate of strain: rotation under load is not damped", (STIFFNESS_DAMPING, MASS_DAMPING),
          lacks=(("cloth", "it is a matter of volumes"),), number=1),
    Entry("friction", "coulomb", "contact.laws.coulomb:Coulomb", "Coulomb",
          "Contacts stick as long as their load can hold them, then slide against constant friction",
          (FRICTION_COEFFICIENT,), number=1),
    Entry("friction", "filter", "contact.laws.filter:Filter", "Velocity Filter",
          "The friction of the ConJac paper: slows each touching node by itself, so objects that should stand on a "
          "slope creep",
          (FRICTION_COEFFICIENT,), number=2),
    Entry("contact", "barrier", "contact.laws.barrier:Barrier", "Barrier",
          "Surfaces repel each other, more strongly the closer they are, and never meet",
          (CONTACT_DISTANCE, FRICTION_COEFFICIENT, CREEP_SPEED, PUSH_APART), number=0),
    Entry("contact", "gap", "contact.laws.gap:Gap", "Gap Constraints",
          "Surfaces keep a gap, with forces only as large as it needs; for comparison, without friction",
          (CONTACT_DISTANCE,), can=("constraints",), number=1),
    Entry("contact", "gap_velocity", "contact.laws.gap_velocity:GapVelocity", "Gap Velocities",
          "Surfaces in contact may not come closer along the normal at the start of the step; for comparison: large "
          "steps hold objects up beyond an edge, and there is no friction", (CONTACT_DISTANCE,), can=("constraints",),
          number=2),
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
          can=("large",), number=5),
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
    Entry("map", "friction", "gather.maps:Friction", "Friction", "Share of the body's friction in contacts",
          number=4),
)
