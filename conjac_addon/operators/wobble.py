"""Sets how stiff a body is by how slowly it is to wobble, as pins and bones hold it."""

import bpy

from ...solver import catalogue
from .. import by_button, identity
from . import still
from .light import Behaviour
from .on_worker import Doing, OnWorker


class CONJAC_OT_set_wobble(OnWorker, Behaviour):
    def work(self, obj: bpy.types.Object, scene: bpy.types.Scene, wait: float) -> Doing[list[str]]:
        return set_wobble(obj, scene, self.hertz, wait)


def set_wobble(obj: bpy.types.Object, scene: bpy.types.Scene, hertz: float, wait: float) -> Doing[list[str]]:
    """Multiply its Young's Modulus, painted too, so that its slowest wobble has `hertz` [Hz]: `OnWorker.work`."""
    uid, name = obj.session_uid, obj.name
    with still.still_job(obj) as job:
        found = yield from still.run(obj, scene, job, ["wobble", "--hertz", str(hertz)], wait)
    owner = identity.still_there(bpy.data.objects, uid)
    if owner is None:
        return []
    settings, key = owner.conjac, catalogue.YOUNGS_MODULUS.key
    with by_button.noted(owner, "Set Jiggle"):
        for prop in (f"{key}_high", key):
            setattr(settings, prop, float(f"{found['times'] * getattr(settings, prop):.3g}"))
    return [f'"{name}": its slowest wobble had {found["hertz"]:.3g} Hz and has {hertz:.3g} Hz now, with '
            f"{catalogue.YOUNGS_MODULUS.label} {settings.youngs_modulus:.3g} Pa"]
