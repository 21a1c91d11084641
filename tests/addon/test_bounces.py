"""How high what an artist drops comes up again, by the add-on's operators, all else as it is by default."""

import numpy as np
import pytest

from benchmarks.landings import TRUE, bounce

HEIGHTS = 0.52, 0.555, 0.61  #: [m]; the row has short steps from none of them


@pytest.mark.long
@pytest.mark.parametrize("name", ["suzanne", "grid"])
def test_a_landing_is_that_of_short_steps_from_the_same_height(addon, tmp_path, name):
    """Suzanne tips over as she lands: from .52 m she comes up by .40 of her fall, from .555 m by .24. A flat cube of
    even cells comes up as high as the moment of its landing says, unless steps are cut there."""
    found, known = ([bounce(name, height, tmp_path, step) for height in HEIGHTS] for step in (None, TRUE))
    print(name, np.round(found, 4), np.round(known, 4))
    np.testing.assert_allclose(found, known, rtol=0.08)
