"""A .blend saved under another name plays the bakes of the original: the artist chooses what to do with them."""

from pathlib import Path

import bpy

from ...solver.errors import ConJacError
from .. import members, playback, text
from ..menus import SHARING
from ..operators.light import Behaviour
from . import home, moving, place

#: width of the dialog [pixels at a scale of one], and how many objects it names
WIDTH, SHOWN = 440, 6


def shared_bakes() -> list[bpy.types.Object]:
    """Return the objects of this .blend that play a bake of another .blend, one for each bake."""
    found: dict[Path, bpy.types.Object] = {}
    for obj in bpy.data.objects:
        bakes = members.is_soft_body(obj) or members.is_mechanism(obj)  # what shows its cuts does not
        if bakes and obj.library is None and members.owner(obj) == obj and place.is_of_another_file(obj):
            found.setdefault(place.job_folder(obj), obj)
    return list(found.values())


def whose(objects: list[bpy.types.Object]) -> str:
    """Return a sentence on which objects play bakes of which file."""
    signatures = [home.read(place.job_folder(obj)) for obj in objects]
    files = {Path(signature.blend).name for signature in signatures if signature is not None}
    names = [f'"{obj.name}"' for obj in objects]
    some = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    baked_in = next(iter(files)) if len(files) == 1 else "other files"
    return f"{some} {'plays' if len(names) == 1 else 'play'} what was baked in {baked_in or 'a file without a name'}."


class CONJAC_OT_shared_bakes(Behaviour):
    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        if not shared_bakes():
            cls.poll_message_set("No object plays a bake of another file")
            return False
        return True

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        return set(context.window_manager.invoke_props_dialog(self, width=WIDTH))

    def draw(self, _context: bpy.types.Context) -> None:
        text.dialog(self.layout, whose(shared_bakes()), WIDTH)
        self.layout.row().prop(self, "choice", expand=True)
        text.dialog(self.layout, SHARING[self.choice][1], WIDTH)

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            for obj in shared_bakes():
                if self.choice == "COPY":
                    moving.copy(obj)
                elif self.choice == "EMPTY":
                    for member in members.members(obj, context.scene):
                        if members.is_soft_body(member):
                            playback.hide_cut(member)
                        playback.hide(member)
                    place.take(obj)
        except ConJacError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


def ask() -> None:
    """Once, after a save under another name. Without a window bakes are shared, which loses nothing."""
    windows = bpy.context.window_manager.windows
    if not windows or not shared_bakes():
        return
    with bpy.context.temp_override(window=windows[0]):
        bpy.ops.conjac.shared_bakes("INVOKE_DEFAULT")


def say(sentence: str) -> None:
    """Show a sentence to the artist, also if Blender is busy."""
    print(f"ConJac: {sentence}", flush=True)
    if not bpy.app.background:
        def draw(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
            text.dialog(menu.layout, sentence, WIDTH)

        bpy.app.timers.register(
            lambda: bpy.context.window_manager.popup_menu(draw, title="ConJac", icon="ERROR"), first_interval=0.1)
