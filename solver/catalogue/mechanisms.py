"""Joints, shapes, loops, motors and friction inside joints: what jointed rigid bodies choose from.

Standard library only.
"""

from __future__ import annotations

from .entry import Entry, Param

ANGLE, LENGTH = "angle", "length"

#: what a joint's rate does to its child, in the joint's frame: a turn about one of its axes, after the turns of the
#: rates before it; one of the three numbers of a rotation vector; or a way along one of its axes. Blender's objects are
#: read and placed by these, so a joint's rates have to be all that its child's pose depends on
MOTIONS = tuple(f"{what}_{axis}" for what in ("turn", "spin", "slide") for axis in "xyz")
TURN_X, TURN_Y, TURN_Z = MOTIONS[:3]
SPIN = MOTIONS[3:6]
SLIDE = SLIDE_X, SLIDE_Y, SLIDE_Z = MOTIONS[6:]

SIZE = tuple(Param(f"size_{axis.lower()}", f"Size {axis}", f"Whole extent along the body's own {axis}", 0.2, "m",
                   0.0, None, 0.0, 10.0) for axis in "XYZ")
RADIUS = Param("radius", "Radius", "Of the sphere, or of the capsule all along", 0.1, "m", 0.0, None, 0.0, 10.0)
STRAIGHT = Param("length", "Length", "Of the straight part between the two half spheres, along the body's own Z",
                 0.2, "m", 0.0, None, 0.0, 10.0)

MOTOR_STIFFNESS = Param("stiffness", "Motor Stiffness", "How hard it pulls towards its target, in N m/rad or N/m",
                        100.0, "", 0.0, None, 0.0, 1.0e4)
MOTOR_DAMPING = Param("damping", "Motor Damping", "How hard it resists being faster or slower than it should, in "
                      "N m s/rad or N s/m", 10.0, "", 0.0, None, 0.0, 1.0e3)

SWEEPS = Param("passes", "Passes", "How often contact and friction are solved in each step; passes end early where "
               "little changes", 20, "", 1, 1000, 1, 50)
AGREEMENT = Param("agreement", "Agreement", "Relative change of the friction between two passes at which these end",
                  1.0e-4, "", 1.0e-12, 1.0, 1.0e-8, 1.0e-2)

ENTRIES: tuple[Entry, ...] = (
    Entry("joint", "fixed", "coordinates.joints.fixed:Fixed", "Fixed", "Joins the two rigidly", number=1),
    Entry("joint", "revolute", "coordinates.joints.revolute:Revolute", "Hinge", "Turns about the joint's own Z",
          rates=(ANGLE,), motions=(TURN_Z,), number=2),
    Entry("joint", "prismatic", "coordinates.joints.prismatic:Prismatic", "Slider", "Slides along the joint's own Z",
          rates=(LENGTH,), motions=(SLIDE_Z,), number=3),
    Entry("joint", "universal", "coordinates.joints.universal:Universal", "Universal",
          "Turns about two axes at right angles, as a cardan joint does", rates=(ANGLE, ANGLE),
          motions=(TURN_X, TURN_Y), number=4),
    Entry("joint", "cylindrical", "coordinates.joints.cylindrical:Cylindrical", "Piston",
          "Turns about the joint's own Z and slides along it", rates=(ANGLE, LENGTH),
          motions=(TURN_Z, SLIDE_Z), number=5),
    Entry("joint", "planar", "coordinates.joints.planar:Planar", "Planar",
          "Slides in the joint's own XY plane and turns in it", rates=(ANGLE, LENGTH, LENGTH),
          motions=(TURN_Z, SLIDE_X, SLIDE_Y), number=6),
    Entry("joint", "spherical", "coordinates.joints.spherical:Spherical", "Ball", "Turns about every axis",
          rates=(ANGLE, ANGLE, ANGLE), motions=SPIN, number=7),
    Entry("joint", "translational", "coordinates.joints.translational:Translational", "Translational",
          "Slides along every axis and does not turn", rates=(LENGTH, LENGTH, LENGTH), motions=SLIDE, number=8),
    Entry("joint", "free", "coordinates.joints.free:Free", "Free", "Holds nothing",
          rates=(ANGLE, ANGLE, ANGLE, LENGTH, LENGTH, LENGTH), motions=(*SPIN, *SLIDE), number=9),
    Entry("joint", "free_planar", "coordinates.joints.free_planar:FreePlanar", "Free in a Plane",
          "Holds nothing within the joint's own XY plane", rates=(ANGLE, LENGTH, LENGTH),
          motions=(TURN_Z, SLIDE_X, SLIDE_Y), number=10),
    Entry("shape", "box", "coordinates.inertia:box", "Box", "About the body's own origin", SIZE, number=1),
    Entry("shape", "sphere", "coordinates.inertia:sphere", "Sphere", "About the body's own origin", (RADIUS,),
          number=2),
    Entry("shape", "capsule", "coordinates.inertia:capsule", "Capsule",
          "A cylinder with round ends along the body's own Z", (RADIUS, STRAIGHT), number=0),
    Entry("shape", "hull", "coordinates.inertia:hull", "Convex Hull", "The smallest convex shape around vertices",
          reads=("vertices",), number=3),
    Entry("shape", "mesh", "coordinates.inertia:mesh", "Mesh", "A closed surface of triangles",
          reads=("vertices", "triangles"), number=4),
    Entry("loop", "ball", "constraints.loops:Ball", "Ball", "Holds a point of one body on a point of the other",
          number=0),
    Entry("loop", "hinge", "constraints.loops:Hinge", "Hinge", "Holds a point and the axis along the loop's own Z",
          number=1),
    Entry("loop", "point_on_line", "constraints.loops:PointOnLine", "Point on Line",
          "Holds a point of one body on the line along the loop's own Z in the other", number=2),
    Entry("motor", "drive", "forces.motors:Drive", "Drive",
          "Moves exactly as prescribed, and records the effort", number=3),
    Entry("motor", "servo", "forces.motors:Servo", "Servo", "Pulls towards a place as a damped spring does",
          (MOTOR_STIFFNESS, MOTOR_DAMPING), number=1),
    Entry("motor", "speed", "forces.motors:Speed", "Speed", "Pushes towards a speed", (MOTOR_DAMPING,), number=2),
    Entry("joint_friction", "none", "bearings.interface:Frictionless", "None",
          "Joints turn and slide without end", number=0),
    Entry("joint_friction", "bisp", "bearings.bisp:Bisp", "BISP",
          "Friction in the bearings, each joint by itself: fast", (SWEEPS, AGREEMENT), number=1),
    Entry("joint_friction", "staggered", "bearings.staggered:Staggered", "Staggered Projections",
          "Friction in the bearings, all joints at once: the reference, slow", (SWEEPS, AGREEMENT),
          lacks=(("flesh", "it solves each body separately, but soft bodies tie them together"),), number=2),
)
