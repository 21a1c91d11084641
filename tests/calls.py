"""How much Python runs: calls are counted, since seconds tell more of the machine than of the code."""

import sys


def calls(function, *arguments):
    """How many functions, of Python and of C, are called while function(*arguments) runs."""
    count = 0

    def seen(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        function(*arguments)
    finally:
        sys.setprofile(before)
    return count
