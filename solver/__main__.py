"""Entry point of `python -m solver`; see cli."""

import os
import sys

# Python looks for modules in the folder that it was started in, before all others: that may be a stranger's job, with a
# numpy.py in it. Nothing of ours is found there by that entry; `solver` itself is found already
if not sys.flags.safe_path and sys.path and os.path.abspath(sys.path[0]) == os.path.abspath(""):
    del sys.path[0]

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
