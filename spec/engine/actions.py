"""All actions, in the order of a step: schedule(), the worker, update_from_output()."""

from __future__ import annotations

from interlock.spec.engine.passes import begin_schedule, begin_waiting_loop, dispatch
from interlock.spec.engine.requests import add_request, finish, preempt, reset_running
from interlock.spec.engine.tokens import admit, admit_refused, compute_held, compute_new, decode, draft, publish_output
from interlock.spec.engine.updating import UPDATES
from interlock.spec.engine.visits import (
    ask_again,
    begin_load,
    defer_by_lookup,
    hit,
    offer_async,
    offer_sync,
    promote,
    retry,
    turn_away,
)
from interlock.spec.engine.working import WORKING

ACTIONS = (
    add_request, begin_schedule, begin_waiting_loop, compute_new, admit, admit_refused, compute_held, decode, draft,
    publish_output, preempt, reset_running,
    hit, offer_sync, offer_async, turn_away, begin_load, defer_by_lookup, ask_again, promote, retry, dispatch, finish,
    *WORKING, *UPDATES,
)  # fmt: skip
