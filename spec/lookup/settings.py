"""Presets, slices with their scopes, and the table of expected verdicts."""

from __future__ import annotations

from interlock.spec.language.settings import Preset, Slice, expect, old_and_sound
from interlock.spec.lookup.coverage import CHECKS, PENDING, THREE_GROUPS, WINDOWS

_SOUND = {
    "lowered_bound": "asked_again",
    "lowered_defer": "cleared",
    "asking_order": "decreasing",
    "unresolved_chunk": "counts",
    "pending_chunk": "counts",
    "deferring_group": "lowers_bound",
    "check_deadline": "expires",
    "promotion_room": "spares_asked",
}
_NONE_HAS_NO_LENGTH = {"unresolved_chunk": "sticky", "deferring_group": "keeps_bound"}
_OLD, _LOOP, _TIERS = (f"vllm-{v}/OffloadingConnector" for v in ("0.20.2", "0.22.1", "0.32.0"))

PRESETS = (
    Preset(name="interlock", values=_SOUND, doc="Interlock's own connector; the default."),
    Preset(
        name="seed",
        values=_SOUND | _NONE_HAS_NO_LENGTH | {"pending_chunk": "sticky"},
        doc="PR 41228 as it was made: what is being stored is answered by None, like what is looked for.",
    ),
    Preset(
        name=_OLD,
        values=_SOUND
        | {
            "lowered_bound": "accepted",
            "asking_order": "as_listed",
            "deferring_group": "keeps_bound",
            "pending_chunk": "missing",
        },
        doc="The scaffolding of several groups, without the loop. What is being stored is a miss.",
    ),
    Preset(
        name=_LOOP,
        values=_SOUND | _NONE_HAS_NO_LENGTH | {"pending_chunk": "sticky"},
        doc="Also 0.21: with the loop; one tier, whose None for what is being stored is sticky in windows.",
    ),
    Preset(
        name=_TIERS,
        values=_SOUND | _NONE_HAS_NO_LENGTH | {"check_deadline": "none", "promotion_room": "evicts_any"},
        doc=(
            "HIT_PENDING apart from RETRY, of a further tier: files, objects, or a peer. Peers give no answer in "
            "time, and a lookup promotes what it finds, at the expense of what it has counted."
        ),
    ),
)

_CHECKS = ("check_begun", "check_found", "check_missed", "check_expired", "promotion_evicts")
_STORES = ("chunk_planned", "chunk_completed", "chunk_failed", *_CHECKS)

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
        remove=_CHECKS,
        scope={"request": 1, "group": 2, "position": 2},
        quick=True,
        doc="Two groups with any windows over two chunks, some of which are still being stored.",
    ),
    Slice(
        name=CHECKS,
        drop=("asked",),
        remove=("chunk_planned", "chunk_evicted"),
        scope={"request": 1, "group": 2, "position": 2},
        doc="The same, where a further tier may have what the tier lacks; nothing else comes or goes.",
    ),
)

_LOADABLE, _LATER = "found-hit-is-ready-in-every-group", "later-is-for-its-own-hit"
_LONGEST, _ORDER = "nothing-longer-is-left-out", "wider-groups-are-asked-first"
_SHARED, _ENDS, _ANSWERED = "later-is-for-a-hit-of-all", "lookup-ends", "put-off-lookup-is-answered"
_CHECKED = "check-is-answered-or-expires"

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
            (
                "unresolved_chunk", "sticky", CHECKS, _LATER,
                "a window has all it needs further to the left, and waits for a check that cannot matter",
            ),
            (
                "unresolved_chunk", "missing", CHECKS, _LONGEST,
                "the check would have found the chunk, and the hit ends before it",
            ),
            (
                "deferring_group", "keeps_bound", PENDING, _SHARED,
                "None does not say how long the hit would be, and another group has none that short",
            ),
            (
                "pending_chunk", "sticky", PENDING, _LATER,
                "a window waits for a store behind the hit that it has",
            ),
            (
                "pending_chunk", "missing", PENDING, _LONGEST,
                "what is about to be there is computed again",
            ),
            (
                "check_deadline", "none", CHECKS, _CHECKED,
                "a peer does not answer",
            ),
            (
                "check_deadline", "none", CHECKS, _ANSWERED,
                "a peer does not answer, and the request is put off for ever",
            ),
            (
                "promotion_room", "evicts_any", CHECKS, _LOADABLE,
                "to promote a chunk of one group, a chunk of another is evicted that this lookup has counted",
            ),
            (
                "promotion_room", "evicts_any", CHECKS, _ANSWERED,
                "of a prompt that is longer than the tier, each promotion evicts what the last one brought",
            ),
        ),
    ),
    expect("holds", PENDING, _LOADABLE, "the order decides how often groups are asked", asking_order="as_listed"),
    expect("holds", PENDING, _LONGEST, "and not what is found", asking_order="as_listed"),
    expect("holds", PENDING, _LATER, "nor what is waited for", asking_order="as_listed"),
    expect("holds", PENDING, _ENDS, "nor that it ends", asking_order="as_listed"),
    expect("fails", WINDOWS, _LOADABLE, "no loop", _OLD),
    expect("fails", PENDING, _LONGEST, "what is being stored is a miss", _OLD),
    expect("holds", WINDOWS, _LOADABLE, "PR 41228", "seed"),
    expect("holds", THREE_GROUPS, _ORDER, "PR 41228", "seed"),
    expect("holds", PENDING, _LONGEST, "PR 41228", _LOOP),
    expect("fails", PENDING, _LATER, "None is sticky, for what is being stored too", _LOOP),
    expect("holds", PENDING, _LOADABLE, "PR 41228", _TIERS),
    expect("holds", PENDING, _LONGEST, "a group that says None lowers nothing", _TIERS),
    expect("fails", PENDING, _SHARED, "a group that says None lowers nothing", _TIERS),
    expect("fails", CHECKS, _LATER, "RETRY is sticky", _TIERS),
    expect("holds", CHECKS, _LONGEST, "and is not taken for a miss", _TIERS, promotion_room="spares_asked"),
    expect("holds", CHECKS, _ENDS, "nor is there a loop in one lookup", _TIERS, promotion_room="spares_asked"),
    expect("fails", CHECKS, _LOADABLE, "B-030", _TIERS),
    expect("fails", CHECKS, _ANSWERED, "V-03", _TIERS),
)  # fmt: skip
