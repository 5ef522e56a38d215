"""Slices as small as can be in which something rare happens: beside another request, or to what a request still has."""

from __future__ import annotations

from interlock.spec.engine.actions import ACTIONS
from interlock.spec.language.settings import Slice

_LOOP = (
    "add_request", "begin_schedule", "begin_waiting_loop", "admit", "compute_new", "dispatch",
    "run_forward", "begin_update", "process_outputs",
)  # fmt: skip


def _all_but(*kept: str) -> tuple[str, ...]:
    return tuple(a.name for a in ACTIONS if a.name not in kept)


BESIDE = (
    Slice(
        name="beside_a_reset",
        remove=_all_but(*_LOOP, "offer_sync", "lose_entry", "inflate_entry", "reset_running", "stop"),
        scope={"request": 2, "block": 2, "slot": 1},
        doc="One of two requests is reset, or ends with its token, or has a wrong entry; what it has may be loaded.",
    ),
    Slice(
        name="beside_a_guess",
        remove=_all_but(
            *_LOOP, "offer_sync", "sync_block_fails", "claim", "fail_running", "compute_held", "decode", "draft",
            "reject_draft", "stop",
        ),
        scope={"request": 2, "block": 3, "slot": 1},
        int_max=5,
        doc="One of two requests has a token guessed, perhaps into a block of which a load has failed.",
    ),
    Slice(
        name="guess_again",
        remove=_all_but(
            *_LOOP, "offer_sync", "sync_block_fails", "claim", "fail_running", "compute_held", "draft", "reject_draft",
        ),
        scope={"request": 1, "block": 4, "slot": 1},
        int_max=5,
        doc="A request that has been rolled back still has the block of its guess when a step could guess again.",
    ),
    Slice(
        name="guess_after_a_hit",
        remove=_all_but(*_LOOP, "hit", "turn_away", "defer_by_lookup", "ask_again", "draft", "stop"),
        scope={"request": 2, "block": 3, "slot": 1},
        int_max=5,
        doc="One of two requests that share a block ends, or has a token guessed into a block that was given back.",
    ),
)  # fmt: skip
