"""Setting soft bodies and mechanisms up: add, paint, handles, joints, previews, remove. Baking is in bake/."""

from . import (
    attach,
    cloth,
    contact,
    contact_attributes,
    crossing,
    cuts,
    jiggle,
    mechanism,
    nails,
    preview,
    preview_joints,
    pulls,
    remedies,
    setup,
    simulate_after,
    springs,
    suggest,
)

classes = (*setup.classes, *cloth.classes, *cuts.classes, *nails.classes, *pulls.classes, *attach.classes,
           *mechanism.classes, *springs.classes, *jiggle.classes, *preview.classes, *preview_joints.classes,
           *suggest.classes, *remedies.classes, *contact.classes, *contact_attributes.classes, *crossing.classes,
           *simulate_after.classes)
