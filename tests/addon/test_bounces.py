"""The bounce of objects that an artist drops, made by the add-on's operators with default settings."""

import numpy as np
import pytest

from benchmarks.landings import TRUE, bounce

HEIGHTS = 0.52, 0.555, 0.61  #: [m]; the row has short steps from none of them


@pytest.mark.long
def test_suzanne_comes_up_as_in_short_steps_from_the_same_height(addon, tmp_path):
    """Suzanne tips over as she lands: from .52 m she bounces to .40 of her fall, from .555 m to .24. Whole steps must
    not give the bounce of another height; flat bodies are in `tests/scenes/test_landings.py`."""
    bounces, references = ([bounce("suzanne", height, tmp_path, step) for height in HEIGHTS] for step in (None, TRUE))
    print(np.round(bounces, 4), np.round(references, 4))
    assert max(references) > 1.5 * min(references)
    np.testing.assert_allclose(bounces, references, rtol=0.08)
