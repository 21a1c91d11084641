"""tablecloth.blend: a tablecloth is pulled off a laid table; what stands on it stays."""

from __future__ import annotations

from math import cos, pi, radians, sin

import bpy

from . import sharp, stage

END = 30
SHEET = (1, 8, 11, 13, 15, 17, 19, 30)  #: frames of the contact sheet
SIZE, CELLS = (1.12, 0.56), (16, 8)  #: of the cloth [m]
FAR = 0.19  #: of its middle along X [m]: its far border lies on the table; what hung there would come flying in folds
TABLE = (0.76, 0.60, 0.05)  #: its top [m]
HEIGHT, ROOM, THICK = 0.72, 0.002, 0.0005  #: of the table's top, between it and what stands there, and of the cloth [m]
STEP = 1.0 / 192.0  #: [s]; with half of it the goblet goes up to 9 mm less far, with twice that further, or it stops
PULL = {1: 0.0, 6: 0.0, 27: 1.40}  #: of the cloth's edge, along X [m]
#: what rubs on what: the root of both, so the cloth hardly on anything, and what stands there well on the table
RUBS = {"cloth": 0.005, "table": 0.5, "things": 0.2}
#: outlines of what is turned or square: height and radius or half a side [m]
GOBLET = ((0.0, 0.042), (0.006, 0.042), (0.012, 0.008), (0.075, 0.008), (0.085, 0.030), (0.11, 0.042), (0.15, 0.042))
STICK = ((0.0, 0.05), (0.015, 0.05), (0.025, 0.018), (0.13, 0.014), (0.14, 0.026), (0.15, 0.026), (0.15, 0.012),
         (0.22, 0.012))
BOOK = ((0.0, 0.065), (0.05, 0.065))
#: what stands on the cloth: outline, corners, mass [kg], colour, roughness, place on the table [m] and turn [degrees]
THINGS = {"Goblet": (GOBLET, 12, 1.6, (0.75, 0.55, 0.20), 0.25, (-0.10, -0.13), 0.0),
          "Candlestick": (STICK, 4, 1.6, (0.55, 0.58, 0.62), 0.3, (0.10, 0.03), 20.0),
          "Book": (BOOK, 4, 1.0, (0.04, 0.13, 0.32), 0.6, (-0.13, 0.13), 8.0)}


def build(scene: bpy.types.Scene) -> None:
    """The whole scene, ready to bake."""
    stage.prepare(scene, END, 520, 300)
    cloth = sharp.sheet(scene, "Tablecloth", SIZE, CELLS, (0.50, 0.05, 0.06))
    stage.paint(cloth, "Pin", [1.0 if vertex.co.x > 0.499 * SIZE[0] else 0.0 for vertex in cloth.data.vertices])
    for frame, x in PULL.items():
        stage.key(cloth, "location", {frame: (FAR + x, 0.0, HEIGHT + 0.5 * ROOM - (0.0 if frame == 1 else 0.04))})
    table = sharp.block(scene, "Table", TABLE, (0.30, 0.18, 0.09))
    table.location.z = HEIGHT
    sharp.legs(scene, (0.9 * TABLE[0], 0.9 * TABLE[1]), HEIGHT - TABLE[2], 0.05, (0.26, 0.15, 0.07))
    sharp.cloth(cloth, area_density=0.12, thickness=THICK, step=STEP)
    cloth.conjac.contact.friction = RUBS["cloth"]
    sharp.collider(table, RUBS["table"])
    laid(scene, table)
    stage.backdrop(scene, 2.4, 0.0, (0.13, 0.11, 0.10), turn=26.0)
    stage.light(scene, "Key", (1.6, -2.6, 2.8), (0.2, 0.0, 0.7), 170.0, 1.0, (1.0, 0.94, 0.86))
    stage.light(scene, "Rim", (-2.2, 1.8, 1.8), (0.2, 0.0, 0.7), 90.0, 1.0, (0.80, 0.90, 1.0))
    stage.camera(scene, (1.6, -2.5, 1.7), (0.42, 0.0, 0.50), 46.0)


def laid(scene: bpy.types.Scene, table: bpy.types.Object) -> None:
    """Lay objects on the cloth, as Blender's rigid bodies that ConJac moves, and the table for when it is gone."""
    bpy.ops.object.select_all(action="DESELECT")
    for name, (outline, corners, mass, colour, roughness, (x, y), turn) in THINGS.items():
        thing = turned(scene, name, outline, corners)
        thing.data.materials.append(stage.surface(name, colour, roughness))
        thing.location, thing.rotation_euler.z = (x, y, HEIGHT + ROOM), radians(turn)
        bpy.context.view_layer.objects.active = thing
        bpy.ops.rigidbody.object_add(type="ACTIVE")
        thing.rigid_body.collision_shape, thing.rigid_body.mass = "CONVEX_HULL", mass
        thing.select_set(True)
    bpy.ops.conjac.mechanism_from_rigid_bodies()
    settings = bpy.context.view_layer.objects.active.conjac
    settings.mechanism.contact_friction = RUBS["things"]
    settings.mechanism.obstacles = bpy.data.collections.new("Under the Cloth")
    settings.mechanism.obstacles.objects.link(table)
    scene.collection.children.link(settings.mechanism.obstacles)


def turned(scene: bpy.types.Scene, name: str, outline: tuple, corners: int) -> bpy.types.Object:
    """A closed mesh around the Z axis from outline (height, radius or half a side) [m]; four corners: square."""
    across = 1.0 / cos(pi / 4) if corners == 4 else 1.0
    angles = [(k + 0.5) * 2 * pi / corners for k in range(corners)]
    rings = [[(across * r * cos(angle), across * r * sin(angle), z) for angle in angles] for z, r in outline]
    count, faces = len(outline), []
    for ring in range(count - 1):
        for k in range(corners):
            a, b = ring * corners + k, ring * corners + (k + 1) % corners
            faces.append((a, b, b + corners, a + corners))
    faces += [tuple(reversed(range(corners))), tuple(range((count - 1) * corners, count * corners))]
    return stage.mesh_object(scene, name, [at for ring in rings for at in ring], faces)
