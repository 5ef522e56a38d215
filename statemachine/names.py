"""What would be right where a name is not known: the nearest ones, and where all of them are listed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

NEAR_MAX = 3
"""Names that are suggested."""

LISTED_MAX = 240
"""Characters of a list of all names that is still read; a longer one is left to the command that prints it."""

LIKE, SOMEWHAT_LIKE = 0.6, 0.55
"""Likeness of what is suggested, from 0 to 1; the lesser one where all cannot be listed instead."""


def nearest(name: str, known: Iterable[str], likeness: float = LIKE) -> list[str]:
    """The known names that ``name`` may have been meant as, the likeliest first; at most three.

    >>> nearest("dedpu", ["load", "dedup"])
    ['dedup']
    >>> nearest("stored-twice", ["computed-nonnegative", "no-block-stored-twice-in-flight"])
    ['no-block-stored-twice-in-flight']
    """
    names = list(dict.fromkeys(known))
    near = difflib.get_close_matches(name, names, n=NEAR_MAX, cutoff=likeness)
    # Also what someone means who types the beginning or the middle of a long id.
    near += [k for k in names if len(name) >= 3 and name in k and k not in near]
    return near[:NEAR_MAX]


def did_you_mean(name: str, known: Iterable[str], command: str = "") -> str:
    """What would be right instead of a name that is not among ``known``, in a few words.

    Args:
        command: prints all of them; named where they are too many to be listed here.

    >>> did_you_mean("dedpu", ["dedup", "load"])
    'did you mean dedup?'
    >>> did_you_mean("xyz", ["dedup", "load"])
    'known: dedup, load'
    >>> did_you_mean("slice7", [f"slice{n}" for n in range(8, 100)], "interlock show slices")
    'did you mean slice97 or slice87 or slice79? (interlock show slices lists them)'
    """
    names = list(dict.fromkeys(known))
    listed = ", ".join(names)
    short = len(listed) <= LISTED_MAX
    near = nearest(name, names) or ([] if short else nearest(name, names, SOMEWHAT_LIKE))
    if near:
        others = "" if short or not command else f" ({command} lists them)"
        return f"did you mean {' or '.join(near)}?{others}"
    if short:
        return f"known: {listed or 'none'}"
    if command:
        return f"{command} lists them"
    return f"known: {listed[:LISTED_MAX].rpartition(', ')[0]}, and more: {len(names)} in all"
