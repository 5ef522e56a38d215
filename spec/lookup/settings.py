"""Presets, slices with their scopes, and the table of expected verdicts."""

from __future__ import annotations

from interlock.spec.language.settings import Preset, Slice, expect, old_and_sound
from interlock.spec.lookup.coverage import PENDING, THREE_GROUPS, WINDOWS

_SOUND = {"lowered_bound": "asked_again", "lowered_defer": "cleared", "asking_order": "decreasing"}
_OLD = "vllm-0.20.2/OffloadingConnector"

PRESETS = (
    Preset(name="interlock", values=_SOUND, doc="Interlock's own connector; the default."),
    Preset(name="seed", values=_SOUND, doc="PR 41228 as it was made."),
    Preset(
        name=_OLD,
        values=_SOUND | {"lowered_bound": "accepted", "asking_order": "as_listed"},
        doc="The scaffolding of several groups, without the loop.",
    ),
    Preset(name="vllm-0.22.1/OffloadingConnector", values=_SOUND, doc="Also 0.21: with the loop."),
    Preset(
        name="vllm-0.32.0/OffloadingConnector",
        values=_SOUND,
        doc=(
            "As it is in 0.22, for one tier. An answer of a further tier that is to come (RETRY) is "
            "not modelled: there it defers the whole lookup even where a shorter hit needs no such chunk."
        ),
    ),
)

_STORES = ("chunk_planned", "chunk_completed", "chunk_failed")

SLICES = (
    Slice(
        name=WINDOWS,
        remove=_STORES,
        scope={"request": 1, "group": 2, "position": 3},
        doc="Two groups with any windows over three chunks, and any part of them in the tier.",
    ),
    Slice(
        name=THREE_GROUPS,
        remove=_STORES,
        scope={"request": 1, "group": 3, "position": 2},
        doc="Three groups with any windows over two chunks, and any part of them in the tier.",
    ),
    Slice(
        name=PENDING,
        drop=("asked",),
        scope={"request": 1, "group": 2, "position": 2},
        quick=True,
        doc="Two groups with any windows over two chunks, some of which are still being stored.",
    ),
)

_LOADABLE, _LATER = "found-hit-is-ready-in-every-group", "later-is-for-its-own-hit"
_LONGEST, _ORDER = "nothing-longer-is-left-out", "wider-groups-are-asked-first"
_ENDS = "lookup-ends"

EXPECTATIONS = (
    *old_and_sound(
        _SOUND,
        (
            (
                "lowered_bound", "accepted", PENDING, _LOADABLE,
                "a group with a window had the higher hit, and lacks a chunk of the lower one",
            ),
            (
                "lowered_defer", "kept", PENDING, _LATER,
                "the chunk that is being stored lies behind the hit, or in no window of it",
            ),
            (
                "asking_order", "as_listed", PENDING, _ORDER,
                "a full group lowers what a window had accepted",
            ),
        ),
    ),
    expect("holds", PENDING, _LOADABLE, "the order decides how often groups are asked", asking_order="as_listed"),
    expect("holds", PENDING, _LONGEST, "and not what is found", asking_order="as_listed"),
    expect("holds", PENDING, _LATER, "nor what is waited for", asking_order="as_listed"),
    expect("holds", PENDING, _ENDS, "nor that it ends", asking_order="as_listed"),
    expect("fails", WINDOWS, _LOADABLE, "no loop", _OLD),
    expect("holds", WINDOWS, _LOADABLE, "PR 41228", "seed"),
    expect("holds", THREE_GROUPS, _ORDER, "PR 41228", "seed"),
    expect("holds", PENDING, _LONGEST, "PR 41228", "vllm-0.22.1/OffloadingConnector"),
    expect("holds", PENDING, _LATER, "of what is being stored; no RETRY here", "vllm-0.32.0/OffloadingConnector"),
)  # fmt: skip
