"""A table with one row too many, or an update that does too much or something else, is noticed: mutants take away."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from interlock.proofs.check import run_check
from interlock.spec.admission.vocabulary import (
    admission_state,
    admission_states,
    older_step,
    preempted_now,
    prefix_entry_state,
    prefix_entry_states,
    step_slots,
    storing_off,
)
from interlock.spec.delivery.vocabulary import b as delivery_b
from interlock.spec.delivery.vocabulary import (
    cpu_copy,
    d,
    delivery_transfer_state,
    delivery_transfer_states,
    has_block,
    j,
    overdue,
    peer_state,
    peer_states,
    peer_told_short,
    sends_owed,
    truncated,
)
from interlock.spec.delivery.vocabulary import r as delivery_r
from interlock.spec.delivery.vocabulary import r2 as delivery_r2
from interlock.spec.encoder.predicates import is_, stands
from interlock.spec.encoder.vocabulary import feature_item, free_order, i, p, position, queue, r
from interlock.spec.engine.predicates import bad_at
from interlock.spec.engine.vocabulary import b as engine_b
from interlock.spec.engine.vocabulary import claimed
from interlock.spec.groups.vocabulary import b, c, c2, fenced, source, to_flush
from interlock.spec.kv.predicates import live, stale
from interlock.spec.kv.vocabulary import j as job
from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action, Update, assign_all, send
from interlock.spec.language.lifecycles import row
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import FALSE, TRUE, Bool, exists, ite
from interlock.spec.mirror.vocabulary import cancel_asked, hit, resumed, seat_state, seat_states
from interlock.spec.mirror.vocabulary import r as seat_r
from interlock.spec.modules import module
from interlock.spec.shared.sorts import request, worker
from interlock.spec.tiers.predicates import in_flight
from interlock.spec.tiers.tasks_vocabulary import b as task_b
from interlock.spec.tiers.tasks_vocabulary import in_table, stored, t2, task_state, task_states
from interlock.spec.tiers.vocabulary import (
    client_state,
    client_states,
    cpu_slot_states,
    o,
    o2,
    operation_kind,
    operation_kinds,
    tier_values,
)
from interlock.spec.tiers.vocabulary import r as client
from interlock.spec.tiers.vocabulary import r2 as other_client

delivery_w2 = worker.var("w2")

ROWS = [
    ("kv", "tiny", "request.preempted.build_connector_meta.absent", "a-request-goes-once-it-has-finished"),
    ("kv", "tiny", "request.preempted.loaded.finished", "a-load-ends-for-whom-it-was"),
    ("delivery", "operations", "delivery.running.release.released", "a-completion-releases-what-has-finished"),
    ("delivery", "lease_and_send", "delivery.loading.hand_over.held", "what-is-handed-over-has-run"),
    ("delivery", "operations", "delivery_transfer.expired.transfer_ends.ended", "terminal-state-is-set-once"),
    ("delivery", "operations", "delivery_transfer.stranded.transfer_ends.ended", "terminal-state-is-set-once"),
    ("delivery", "operations", "delivery_transfer.ended.remote_transfer_fails.broken", "terminal-state-is-set-once"),
    (
        "delivery", "operations", "delivery_transfer.ended.report_failed_transfer.idle",
        "a-failure-is-reported-of-what-has-failed",
    ),
    ("pipeline", "depth_one", "shard.queued.report_shard.idle", "pipeline-a-report-follows-the-copy"),
    ("tiers", "tier_promote", "client.running.finalise.away", "tiers-are-told-of-who-has-ended"),
    ("groups", "hybrid_lookup", "prompt.held.finish.absent", "a-prompt-ends-once"),
    ("groups", "recency", "slot.pending.evict_oldest.absent", "a-slot-being-written-is-not-evicted"),
    ("encoder", "ec_ask", "visit.held.finish.finished", "an-encoder-request-ends-once"),
    ("mirror", "mirror_table", "seat.done.finish.done", "a-copied-request-is-finished-once"),
    ("kv", "tiny", "request.scheduled.add_request.waiting", "a-request-arrives-once"),
    ("engine", "late_write", "status.running.add_request.waiting", "an-engine-request-arrives-once"),
    ("lookup", "lookup_pending", "lookup.waiting.add_request.waiting", "a-lookup-is-begun-with-one-arrival"),
    ("delivery", "operations", "delivery.running.add_request.waiting", "a-delivered-request-arrives-once"),
    ("delivery", "second_life", "delivery.running.add_under_same_id.waiting", "a-delivered-request-arrives-once"),
    ("tiers", "tier_promote", "client.running.add_request.waiting", "tiers-hear-of-one-arrival"),
    ("mirror", "mirror_table", "seat.running.add_request.queued", "a-copied-request-arrives-once"),
    ("admission", "pressure_quick", "admission.running.add_request.waiting", "who-arrives-is-not-there-yet"),
    ("groups", "store_reports", "prompt.running.add_request.waiting", "a-prompt-arrives-once"),
    ("encoder", "ec_ask", "visit.running.add_request.waiting", "an-encoder-request-arrives-once"),
    ("encoder", "ec_ask", "visit.loading.admit.running", "a-visit-to-the-queue-is-to-who-waits"),
    ("encoder", "ec_ask", "visit.held.kv_load_fails.waiting", "a-failed-load-brings-nobody-back"),
    ("encoder", "ec_ask", "feature.passed.encode.entered", "an-item-is-taken-where-it-is-needed"),
    ("encoder", "ec_room", "feature.counted.advance.counted", "tokens-are-counted-once-the-item-is-taken"),
    ("encoder", "ec_room", "feature.entered.settle.passed", "only-what-is-counted-is-settled-or-rejected"),
    ("encoder", "ec_ask", "feature.matched.match_prefix.matched", "a-match-covers-what-is-ahead"),
    ("encoder", "ec_arrivals", "visit.finished.complete.absent", "who-goes-on-has-been-admitted"),
    ("lookup", "lookup_pending", "lookup.absent.end_visit.absent", "a-visit-ends-with-its-answer"),
    ("lookup", "lookup_checks", "key.ready.check_begun.unresolved", "what-is-looked-for-was-missing"),
    ("lookup", "lookup_checks", "key.pending.check_expired.miss", "a-check-is-answered-of-what-is-looked-for"),
    (
        "pipeline", "depth_one_preempt_blocks", "comeback.nobody.resume_request.nobody",
        "a-preempted-request-comes-back-with-blocks",
    ),
    (
        "admission", "pressure_quick", "admission.preempted.store_reported.finished",
        "a-store-report-ends-who-is-held-for-it",
    ),
]  # fmt: skip
"""Module, slice, row (lifecycle, from, event, to), and the property that forbids it."""


def _always(symbol: str) -> Callable[[Action], Action]:
    """Updates of a variable are made whatever holds."""
    return lambda a: a.model_copy(
        update={"updates": tuple(u.model_copy(update={"when": TRUE}) if u.symbol == symbol else u for u in a.updates)}
    )


def _sent_always(channel: str) -> Callable[[Action], Action]:
    return lambda a: a.model_copy(
        update={"sends": tuple(s.model_copy(update={"when": TRUE}) if s.channel == channel else s for s in a.sends)}
    )


def _sets(symbol: str, value: bool) -> Callable[[Action], Action]:
    return lambda a: a.model_copy(
        update={
            "updates": tuple(
                u.model_copy(update={"value": Bool(value=value)}) if u.symbol == symbol else u for u in a.updates
            )
        }
    )


def _of_all_in(said: str, symbol: str) -> Callable[[Action], Action]:
    """Updates of a variable no more ask whether ``said`` holds of an element: whose a block is, who was in a step."""

    def is_said(t: T.Term) -> bool:
        return isinstance(t, T.Apply) and t.symbol == said

    def asks(t: T.Term) -> bool:
        return is_said(t) or (isinstance(t, T.Eq) and (is_said(t.left) or is_said(t.right)))

    def wider(when: T.Term) -> T.Term:
        return T.transform(when, lambda t: TRUE if asks(t) else None)

    return lambda a: a.model_copy(
        update={
            "updates": tuple(
                u.model_copy(update={"when": wider(u.when)}) if u.symbol == symbol else u for u in a.updates
            )
        }
    )


def _said_otherwise(symbol: str, leaf: Callable[[T.Term], T.Term | None]) -> Callable[[Action], Action]:
    """Updates of a variable with some terms in their values and conditions replaced."""

    def changed(a: Action) -> Action:
        updates = (
            u.model_copy(update={"value": T.transform(u.value, leaf), "when": T.transform(u.when, leaf)})
            if u.symbol == symbol
            else u
            for u in a.updates
        )
        return a.model_copy(update={"updates": tuple(updates)})

    return changed


def _asked_otherwise(conjunct: str, leaf: Callable[[T.Term], T.Term | None]) -> Callable[[Action], Action]:
    """A conjunct of the guard with some of its terms replaced."""

    def changed(a: Action) -> Action:
        guard = (c.model_copy(update={"term": T.transform(c.term, leaf)}) if c.id == conjunct else c for c in a.guard)
        return a.model_copy(update={"guard": tuple(guard)})

    return changed


def _takes_the_length_of_any(a: Action) -> Action:
    """A consumer takes what was said to the consumer that its own id, at its side, is the id of here."""
    receives = tuple(r.model_copy(update={"args": (d,)}) if r.channel == "offer_short" else r for r in a.receives)
    return a.model_copy(update={"receives": receives})


def _loads_count(t: T.Term) -> T.Term | None:
    """That a task is a store is not looked at."""
    return TRUE if isinstance(t, T.Not) and T.symbols(t) == {"task_loads"} else None


def _no_store_counts(t: T.Term) -> T.Term | None:
    """That stores of a request are open is forgotten."""
    return FALSE if isinstance(t, T.Exists) and T.symbols(t) == {"tracked"} else None


def _whatever_is_there(t: T.Term) -> T.Term | None:
    """What a block holds is not looked at."""
    return TRUE if isinstance(t, T.Apply) and t.symbol == "gpu_value" else None


def _other_prefixes(t: T.Term) -> T.Term | None:
    """Chunks of other prefixes, in place of those of the same one."""
    both = isinstance(t, T.Eq) and all(isinstance(s, T.Apply) and s.symbol == "chunk_hash" for s in (t.left, t.right))
    return ~t if both else None


def _no_chunk_beside(t: T.Term) -> T.Term | None:
    """No other chunk is looked at."""
    return FALSE if isinstance(t, T.Exists) else None


def _whoever_else_counts(t: T.Term) -> T.Term | None:
    """That another request counts the block is not looked at."""
    return FALSE if isinstance(t, T.Exists) and T.symbols(t) == {"table", "place", "computed", "in_flight"} else None


def _whatever_is_invalid(t: T.Term) -> T.Term | None:
    """That a block is invalid is not looked at."""
    return FALSE if isinstance(t, T.Exists) and "invalid" in T.symbols(t) else None


def _for_one_of_them(a: Action) -> Action:
    """Of the invalid blocks of a request it is enough that one is claimed."""
    some = exists(engine_b, bad_at(engine_b) & claimed(engine_b))
    guard = tuple(c.model_copy(update={"term": some}) if c.id == "all-claimed" else c for c in a.guard)
    return a.model_copy(update={"guard": guard})


def _whatever_is_stored(t: T.Term) -> T.Term | None:
    """Whether a store of the request is open is not looked at."""
    return TRUE if isinstance(t, T.Not) and "job_request" in T.symbols(t) else None


def _of_any_chunk(t: T.Term) -> T.Term | None:
    """Whose chunk a job copies is not looked at."""
    return TRUE if isinstance(t, T.Eq) and T.symbols(t) == {"job_chunk"} else None


def _ranks_turned_round(t: T.Term) -> T.Term | None:
    """Of two chunks at one position the order is the other way round."""
    position_, *tie = t.args if isinstance(t, T.And) else (t,)
    is_tie = isinstance(position_, T.Eq) and [T.symbols(x) for x in tie] == [{"older"}]
    return position_ & ~tie[0] if is_tie else None


def _also_of_a_stale_slot(t: T.Term) -> T.Term | None:
    """Whether a reset has forgotten the slot is not asked."""
    return TRUE if isinstance(t, T.Eq) and cpu_slot_states["pending"] in (t.left, t.right) else None


def _held_for_what_is_ahead(a: Action) -> Action:
    """An item keeps its slot up to the last place at which the prompt has it, taken there or not."""
    _p = position.var("px")
    again = exists(_p, _p.ne(p) & stands(r, _p, "ahead") & feature_item(r, _p).eq(i))
    guard = tuple(c.model_copy(update={"term": c.term & ~again}) if c.id == "last-occurrence" else c for c in a.guard)
    return a.model_copy(update={"guard": guard})


def _key_of_the_last_block(a: Action) -> Action:
    """A key for the block that is whole now, though others have theirs: the count goes back."""
    blocks = next(u.value for u in a.updates if u.symbol == "whole_blocks")
    return a.model_copy(
        update={
            "updates": tuple(u.model_copy(update={"value": blocks}) if u.symbol == "keys" else u for u in a.updates)
        }
    )


def _nothing_is_outdated(t: T.Term) -> T.Term | None:
    """Old values are taken for none."""
    return tier_values["none"] if t == tier_values["outdated"] else None


def _zeroed_of_its_owner_only(t: T.Term) -> T.Term | None:
    """What another request has recorded of the block stays."""
    r2, r_ = request.var("r2"), request.var("r")
    zeroed = isinstance(t, T.Ite) and t.then == FALSE and T.symbols(t.orelse) == {"recorded"}
    return t.model_copy(update={"cond": t.cond & r2.eq(r_)}) if isinstance(t, T.Ite) and zeroed else None


def _however_many_are_free(t: T.Term) -> T.Term | None:
    """The running loop ends while somebody could still be given a block."""
    return TRUE if isinstance(t, T.Eq) and T.symbols(t) == {"free_blocks"} else None


def _forgets_its_place(a: Action) -> Action:
    """Who enters the queue enters it at its end."""
    (joins,) = (p for p in a.params if p.sort == "request")
    others = tuple(u for u in a.updates if u.symbol not in {x.symbol for x in queue.push_front(joins)})
    held = next(u.when for u in a.updates if u not in others)
    last = tuple(u.model_copy(update={"when": u.when & held}) for u in queue.push_back(joins))
    return a.model_copy(update={"updates": (*others, *last)})


def _said_everywhere(leaf: Callable[[T.Term], T.Term | None]) -> Callable[[Action], Action]:
    """All updates with some terms in their values and conditions replaced."""

    def changed(a: Action) -> Action:
        for symbol in {u.symbol for u in a.updates}:
            a = _said_otherwise(symbol, leaf)(a)
        return a

    return changed


def _stale_flush_is_the_later(a: Action) -> Action:
    """Of two flushes into one chunk the one that a reset has forgotten comes last."""

    def turned(u: Update) -> Update:
        """What is asked of live jobs is asked of stale ones, and the other way round."""
        if u.symbol != "cpu_value" or not isinstance(u.value, T.Ite):
            return u

        def leaf(t: T.Term) -> T.Term | None:
            return stale(job) if t == live(job) else None

        cond = T.transform(u.value.cond, leaf)
        return u.model_copy(update={"value": ite(cond, u.value.orelse, u.value.then)})

    return a.model_copy(update={"updates": tuple(turned(u) for u in a.updates)})


def _is(symbol: str, member: str, value: T.Term) -> Callable[[T.Term], T.Term | None]:
    """That a state variable has this value is taken for true, or for false."""

    def leaf(t: T.Term) -> T.Term | None:
        said = isinstance(t, T.Eq) and isinstance(t.left, T.Apply) and t.left.symbol == symbol
        return value if said and isinstance(t.right, T.Member) and t.right.name == member else None

    return leaf


def _drops_the_fences_of_its_block(a: Action) -> Action:
    """Fences are kept by block: whoever has read the block takes them away, whosever they are."""
    of_its_block = c2.eq(c) | exists(b, source(c, b) & source(c2, b))
    dropped = assign_all(c2, to=fenced(c2), value=False, when=of_its_block)
    return a.model_copy(update={"updates": (*(u for u in a.updates if u.symbol != "fenced"), dropped)})


def _spares_the_fenced(a: Action) -> Action:
    """A preemption flushes the stores that have no fence."""
    updates = (u.model_copy(update={"when": u.when & ~fenced(c)}) if u.symbol == "to_flush" else u for u in a.updates)
    return a.model_copy(update={"updates": tuple(updates)})


def _one_fence_at_a_time(a: Action) -> Action:
    """A store is planned without a fence while another one has one."""
    updates = (
        u.model_copy(update={"value": u.value & ~exists(c2, fenced(c2))}) if u.symbol == "fenced" else u
        for u in a.updates
    )
    return a.model_copy(update={"updates": tuple(updates)})


def _its_store_goes_on(a: Action) -> Action:
    """With a report that comes late the store counts as under way for its request, as it did."""
    r_ = next(iter(a.params))
    late = prefix_entry_state(r_).ne(prefix_entry_states["expired"])
    updates = (u.model_copy(update={"when": late}) if u.symbol == "own_store" else u for u in a.updates)
    return a.model_copy(update={"updates": tuple(updates)})


def _keeps_its_place(a: Action) -> Action:
    """Who begins a load keeps its place in the queue, unless it was preempted before."""
    r_ = next(v for v in a.params if v.sort == "request")
    again = admission_state(r_).eq(admission_states["preempted"])
    updates = (u.model_copy(update={"when": u.when & again}) if u.symbol == "ahead" else u for u in a.updates)
    return a.model_copy(update={"updates": tuple(updates)})


def _unless(symbol: str, fault: T.Term) -> Callable[[Action], Action]:
    """Updates of a variable are forgotten where this holds."""
    return lambda a: a.model_copy(
        update={
            "updates": tuple(
                u.model_copy(update={"when": u.when & ~fault}) if u.symbol == symbol else u for u in a.updates
            )
        }
    )


def _not_sent(channel: str, fault: T.Term) -> Callable[[Action], Action]:
    """A message is left out where this holds."""
    return lambda a: a.model_copy(
        update={
            "sends": tuple(
                s.model_copy(update={"when": s.when & ~fault}) if s.channel == channel else s for s in a.sends
            )
        }
    )


def _sent_as(channel: str, other: str) -> Callable[[Action], Action]:
    """A message goes out as another one to the same."""
    return lambda a: a.model_copy(
        update={"sends": tuple(s.model_copy(update={"channel": other}) if s.channel == channel else s for s in a.sends)}
    )


def _tells_of_each_eviction(a: Action) -> Action:
    """Workers are told of an eviction when it is made, and so also of one that the same schedule takes back."""
    return a.model_copy(update={"sends": (send(free_order, worker.var("w"), i, over=(worker.var("w"),)),)})


def _two_wait() -> T.Term:
    """Two requests stand in the waiting queue (``encoder``)."""
    x, y = request.var("rx"), request.var("ry")
    return exists(x, y, queue.before(x, y))


def _another_seat_is(state: str) -> T.Term:
    """Some other request than this one is in a state (``mirror``)."""
    x = request.var("rx")
    return exists(x, x.ne(seat_r) & seat_state(x).eq(seat_states[state]))


def _fires_nothing_of(lifecycle: str) -> Callable[[Action], Action]:
    return lambda a: a.model_copy(update={"fires": tuple(f for f in a.fires if f.lifecycle != lifecycle)})


def _asked_though_the_scan_is_over(a: Action) -> Action:
    """A visit may be to anybody who waits, also when the scan of the queue has ended."""

    def leaf(t: T.Term) -> T.Term | None:
        return FALSE if isinstance(t, T.Apply) and t.symbol == "scan_stopped" else None

    guard = (c.model_copy(update={"term": T.transform(c.term, leaf)}) for c in a.guard)
    return a.model_copy(update={"guard": tuple(guard)})


def _is_under_way() -> T.Term:
    """Some worker still transfers for operation j (``delivery``)."""
    return exists(delivery_w2, delivery_transfer_state(delivery_w2, j).eq(delivery_transfer_states["active"]))


def _another_has_blocks(who: T.Term) -> T.Term:
    """Some other request than this one has a block (``tiers``)."""
    x = request.var("rx")
    return exists(x, task_b, x.ne(who) & in_table(x, task_b))


ACTIONS = {
    "a cancel is forgotten with the next metadata": (
        "mirror", "mirror_match", "build_connector_meta", _always("cancel_asked"), "abort-is-legal-in-every-state",
    ),
    "every metadata sets the store cursor back": (
        "mirror", "mirror_table", "build_connector_meta", _always("store_cursor"),
        "cursor-goes-back-only-after-a-preemption",
    ),
    "keys are lost with an output after a preemption": (
        "mirror", "mirror_table", "token_computed", _key_of_the_last_block, "a-key-comes-with-a-whole-block",
    ),
    "a store at the finish counts as failed from its plan on": (
        "kv", "tiny", "plan_finish_store", _sets("failure_seen", True), "a-planned-job-has-not-failed",
    ),
    "an output comes for requests that no step was for": (
        "admission", "admission_quick", "process_step", _of_all_in("in_older", "output_due"),
        "an-output-is-of-who-was-in-the-step",
    ),
    "an item that comes again keeps its slot meanwhile": (
        "encoder", "ec_twice", "free_input", _held_for_what_is_ahead,
        "encoder-a-slot-is-given-up-between-two-places",
    ),
    "an eviction that is taken back is told to the workers all the same": (
        "encoder", "ec_twice", "evict_entry", _tells_of_each_eviction, "a-step-drops-nothing-that-it-brings",
    ),
    "the end of a request ends the loads of others": (
        "engine", "load_pair", "finish", _of_all_in("table", "filling"), "what-is-given-up-was-held",
    ),
    "the end of a request takes blocks of others out of the prefix cache": (
        "engine", "share", "finish", _of_all_in("table", "addressable"), "what-is-given-up-was-held",
    ),
    "one eviction excuses all blocks": (
        "kv", "tiny", "evict", _always("scan_result"), "an-eviction-excuses-what-was-served-by-its-chunk",
    ),
    "one eviction excuses the blocks of other prefixes": (
        "kv", "two_chunks", "evict", _of_all_in("block_hash", "scan_result"),
        "an-eviction-excuses-what-was-served-by-its-chunk",
    ),
    "every metadata begins the scans anew": (
        "kv", "dedup", "build_connector_meta", _always("scanned"), "metadata-moves-no-cursor",
    ),
    "an eviction excuses nothing while another prefix is there": (
        "kv", "two_chunks", "evict", _said_otherwise("scan_result", _other_prefixes), "computed-and-kept-is-served",
    ),
    "an eviction excuses what another chunk serves": (
        "kv", "two_served", "evict", _said_otherwise("scan_result", _no_chunk_beside),
        "an-eviction-excuses-what-was-served-by-its-chunk",
    ),
    "a store leaves what its chunk held while a load of another is stale": (
        "kv", "reset_load", "plan_store", _said_otherwise("cpu_value", _of_any_chunk),
        "a-chunk-that-changes-hands-holds-nothing",
    ),
    "of a stale store and a live one that are flushed into one chunk, the stale one is the later": (
        "kv", "reset_prefixes", "run_step", _stale_flush_is_the_later, "ready-chunk-holds-its-prefix",
    ),
    "a block that is given away is forgotten only where its new owner has it": (
        "groups", "sources_of_two", "allocate_block", _said_everywhere(_zeroed_of_its_owner_only),
        "store-source-is-of-its-request",
    ),
    "every store at the finish is flushed": (
        "kv", "at_finish", "plan_finish_store", _sets("must_flush", True),
        "a-planned-store-is-flushed-only-if-its-block-is-gone",
    ),
    "every store that is planned is flushed": (
        "kv", "at_finish", "plan_store", _sets("must_flush", True),
        "a-planned-store-is-flushed-only-if-its-block-is-gone",
    ),
    "the running loop ends where a block is free": (
        "admission", "preemption", "end_running_loop", _asked_otherwise("loop-is-over", _however_many_are_free), "running-loop-stops-only-for-blocks",
    ),
    "what a copy from before a reset leaves is nothing": (
        "tiers", "tier_reset_write", "gpu_copy", _said_everywhere(_nothing_is_outdated),
        "a-copied-slot-is-as-old-as-its-copy",
    ),
    "a preemption undoes what steps that are out still write": (
        "engine", "resume", "preempt", _always("role"), "a-step-that-is-out-still-does-what-it-does",
    ),
    "a new block keeps what nobody was told of it": (
        "engine", "late_report", "compute_new", _unless("untold", TRUE), "a-new-block-has-no-past",
    ),
    "that a request was resumed is told again once it is over": (
        "mirror", "mirror_saves", "build_connector_meta",
        _unless("resumed", seat_state(seat_r).eq(seat_states["done"])), "a-metadata-tells-of-who-was-resumed",
    ),
    "the token of a resumed request does not execute in its step": (
        "mirror", "mirror_all", "build_connector_meta", _unless("executing", resumed(seat_r)),
        "a-scheduled-token-executes-with-its-step",
    ),
    "the last rows of a cancelled request that is being stored are not taken over": (
        "mirror", "mirror_saves", "build_connector_meta",
        _unless("mirror_row", cancel_asked(seat_r) & seat_state(seat_r).eq(seat_states["done"])),
        "mirror-advances-with-every-metadata",
    ),
    "who comes back from a load of KV stands behind all others": (
        "encoder", "ec_running", "loaded", _forgets_its_place, "preempted-request-is-queued-first",
    ),
    "a store puts its chunk before those of its rank": (
        "groups", "recency_of_groups", "plan_store", _said_otherwise("older", _ranks_turned_round),
        "a-new-chunk-is-the-last-of-its-rank",
    ),
    "a hit turns the chunks of a rank round": (
        "groups", "recency_of_groups", "match", _said_otherwise("older", _ranks_turned_round),
        "chunks-of-one-rank-keep-their-order",
    ),
    "a flush saves any prefix, whatever its source holds": (
        "kv", "tiny", "run_step", _said_otherwise("cpu_value", _whatever_is_there),
        "a-flush-saves-what-its-source-holds",
    ),
    "every metadata forgets what was answered": (
        "mirror", "mirror_saves", "build_connector_meta", _always("hit"), "metadata-forgets-only-who-is-over",
    ),
    "a request that has ended is forgotten while it is stored": (
        "mirror", "mirror_saves", "build_connector_meta", _said_otherwise("known", _no_store_counts),
        "metadata-forgets-only-who-is-over",
    ),
    "the rows of a request that has ended are forgotten while it is stored": (
        "mirror", "mirror_saves", "build_connector_meta", _said_otherwise("mirror_row", _no_store_counts),
        "metadata-forgets-only-who-is-over",
    ),
    "a load that ends makes its block a stored one": (
        "tiers", "task_tables", "task_ends", _said_otherwise("stored", _loads_count),
        "only-a-store-that-ran-stores-its-block",
    ),
    "a block is given to nobody while another request has one": (
        "tiers", "task_hang_beside", "give_block", _unless("in_table", _another_has_blocks(client)),
        "a-request-is-given-one-block",
    ),
    "a load of a block that is stored is taken for a store": (
        "tiers", "task_tables", "create_load", _unless("task_loads", stored(task_b)), "a-load-is-created-as-a-load",
    ),
    "a store under the id of a load stays a load while another is planned": (
        "tiers", "task_hang", "create_store", _unless("task_loads", exists(t2, task_state(t2).eq(task_states["created"]))),
        "a-store-is-created-as-a-store",
    ),
    "a store that ran is forgotten while another task is planned": (
        "tiers", "task_tables", "task_ends", _unless("stored", exists(t2, task_state(t2).eq(task_states["created"]))),
        "only-a-store-that-ran-stores-its-block",
    ),
    "a preempted request keeps its blocks": (
        "tiers", "task_tables", "free_blocks", _unless("in_table", client_state(client).eq(client_states["running"])),
        "who-lets-go-keeps-no-block",
    ),
    "a task stays in the table of its request while another request has blocks": (
        "tiers", "task_hang_beside", "cancel_task", _unless("task_of", _another_has_blocks(other_client)),
        "ended-task-is-in-no-table",
    ),
    "a promotion under the id of a store from the GPU is taken for another one": (
        "tiers", "tier_promote", "plan_promotion",
        _unless("operation_kind", operation_kind(o).eq(operation_kinds["fill"])), "a-promotion-is-planned-as-one",
    ),
    "a late fill of a forgotten slot pins it for who waits for another": (
        "tiers", "tier_reset_late", "fill_done", _said_otherwise("slot_pins", _also_of_a_stale_slot),
        "pins-equal-outstanding-users",
    ),
    "a promotion that ends stays known under its request while another is under way": (
        "tiers", "tier_rounds", "fill_done", _unless("operation_for", exists(o, o.ne(o2) & in_flight(o))),
        "ended-operation-is-known-under-no-request",
    ),
    "a block is taken without an entry in the table while another request has one": (
        "delivery", "loaded_content", "take_block", _unless("has_block", exists(d, delivery_b, has_block(d, delivery_b))),
        "a-block-that-is-taken-is-in-the-table",
    ),
    "a load that failed on one worker and goes on at another is reported as ended only": (
        "delivery", "operations_by_workers", "report_failed_transfer", _not_sent("failed", _is_under_way()),
        "what-has-failed-is-reported-as-failed",
    ),
    "a preempted request has no copy on the CPU while another one has": (
        "delivery", "loaded_content", "preempt", _unless("cpu_copy", exists(d, cpu_copy(d))),
        "a-preempted-request-has-its-kv-on-the-cpu",
    ),
    "a cancel of a prefill that was cut short is forgotten": (
        "delivery", "two_prefills", "accept_cancel", _unless("cancelled", truncated(delivery_r)),
        "an-accepted-cancel-is-noted",
    ),
    "that a prefill was cut short is forgotten while another one was": (
        "delivery", "two_prefills", "cut_short", _unless("truncated", exists(d, truncated(d))),
        "a-prefill-that-is-cut-short-is-noted",
    ),
    "a request that is still being stored is handed over to nobody": (
        "delivery", "lease_and_send", "hand_over", _not_sent("offer", sends_owed(delivery_r) > 0),
        "a-hand-over-is-offered-and-registered",
    ),
    "of two prefills that were cut short the second is offered as whole": (
        "delivery", "two_prefills", "hand_over", _not_sent("offer_short", exists(d, d.ne(delivery_r) & truncated(d))),
        "a-hand-over-is-offered-and-registered",
    ),
    "a notice that came early is denied at the registration": (
        "delivery", "handed_over_content", "register", _sent_as("confirm", "deny"),
        "a-denial-comes-after-the-end-of-a-lease",
    ),
    "a lease does not run out while that of another worker has": (
        "delivery", "lease", "lease_runs_out", _unless("overdue", exists(delivery_w2, d, overdue(delivery_w2, d))),
        "a-lease-that-has-run-out-is-overdue",
    ),
    "a heartbeat renews no lease while another request is there": (
        "delivery", "two_leases", "renew", _unless("overdue", exists(d, d.ne(delivery_r))),
        "lease-lives-while-its-consumer-waits",
    ),
    "the last word on a prefill that was cut short is not counted": (
        "delivery", "two_prefills", "release_handed_over", _unless("acks_due", truncated(delivery_r)),
        "hand-over-words-are-counted",
    ),
    "a consumer forgets that its prefill was short while another one waits": (
        "delivery", "two_prefills", "peer_hears", _unless("peer_told_short", exists(delivery_r2, peer_state(delivery_r2).eq(
            peer_states["waiting"]))), "a-consumer-knows-whether-its-prefill-was-short",
    ),
    "a consumer does not tell of a prefill that was short": (
        "delivery", "two_prefills", "peer_tells", _not_sent("pulled", peer_told_short(delivery_r)), "peer-named-by-one-id",
    ),
    "a request is asked about behind one that found no KV": (
        "encoder", "ec_queue", "start_fetch", _asked_though_the_scan_is_over, "nobody-overtakes-who-found-no-kv",
    ),
    "a request that is put off keeps what its KV match had found": (
        "encoder", "ec_twice", "defer", _fires_nothing_of("feature"), "who-is-put-off-is-matched-anew",
    ),
    "a visit that puts a request off stays open while an id is free": (
        "encoder", "ec_arrivals", "defer", _unless("visiting", exists(r, is_(r, "absent"))),
        "open-visit-is-not-interrupted",
    ),
    "the block of a resumed request is not reported while another one runs": (
        "mirror", "mirror_two_saves", "resume_request", _unless("report_row", _another_seat_is("running")),
        "mirror-equals-block-table",
    ),
    "the key of a prompt is not known while another request is preempted": (
        "mirror", "mirror_two_saves", "add_request", _unless("keys", _another_seat_is("preempted")),
        "prompt-and-computed-blocks-have-keys",
    ),
    "the answer to a request that is cancelled is forgotten": (
        "mirror", "mirror_match", "answer_match", _unless("answered", cancel_asked(seat_r)), "answer-is-taken-as-given",
    ),
    "a token that is scheduled after a preemption is not awaited": (
        "mirror", "mirror_table", "schedule_token", _unless("placeholder", resumed(seat_r)),
        "a-scheduled-token-has-a-placeholder",
    ),
    "what a request computes behind a hit makes no block whole": (
        "mirror", "mirror_table", "token_computed", _unless("whole_blocks", hit(seat_r) > 0), "an-output-counts-its-token",
    ),
    "the visit to a runner is not opened while two others wait": (
        "encoder", "ec_arrivals", "go_on", _unless("visiting", _two_wait()), "scheduled-request-has-the-open-visit",
    ),
    "with the stores of one request all that is stored is forgotten": (
        "tiers", "task_hang_beside", "escape", _of_all_in("in_table", "stored"), "what-one-request-gives-up-is-its-own",
    ),
    "the cursor of a request that has ended goes back while it is stored": (
        "mirror", "mirror_all", "build_connector_meta", _said_otherwise("store_cursor", _no_store_counts),
        "cursor-goes-back-only-after-a-preemption",
    ),
    "half a block of a request that has ended is forgotten while it is stored": (
        "mirror", "mirror_all", "build_connector_meta", _said_otherwise("half_block", _no_store_counts),
        "metadata-forgets-only-who-is-over",
    ),
    "a consumer takes the word on the length of another's prefill": (
        "delivery", "two_prefills", "peer_hears", _takes_the_length_of_any, "transfer-parameters-travel-together",
    ),
    "every metadata flushes every slot": (
        "groups", "store_ends", "build_connector_meta", _sent_always("flush_order"),
        "flushes-are-ordered-of-what-is-due",
    ),
    "what an abort lets go of returns with the older step, though the newer one may write it": (
        "admission", "admission_quick", "abort", _said_everywhere(_is("newer_step", "none", TRUE)),
        "blocks-are-parked-behind-the-last-step-that-may-write-them",
    ),
    "an abort gives back what a load still writes": (
        "admission", "admission_quick", "abort", _said_everywhere(_is("admission_state", "loading", FALSE)),
        "blocks-that-a-load-writes-are-not-given-back",
    ),
    "a store that ends takes the fence of a later one that reads the same block": (
        "groups", "two_stores", "acknowledge_store", _drops_the_fences_of_its_block, "a-store-that-ends-is-of-one-slot",
    ),
    "a store is fenced only while no other is": (
        "groups", "two_stores", "plan_store_from", _one_fence_at_a_time, "a-windowed-store-is-fenced-from-its-plan",
    ),
    "of the sources that a schedule gives away, only the first is flushed": (
        "groups", "two_fences", "allocate_block", _unless("to_flush", exists(c2, to_flush(c2))),
        "group-store-source-stable",
    ),
    "a late report leaves its request waiting for the store at its end": (
        "admission", "admission_quick", "store_reported", _its_store_goes_on,
        "blocks-are-kept-for-a-store-that-is-not-over",
    ),
    "a step that goes out after a preemption counts for nobody": (
        "admission", "preemption", "build_connector_meta", _unless("in_older", preempted_now()),
        "a-step-goes-out-with-whom-it-has-scheduled",
    ),
    "a step that goes out behind an empty one counts for nobody": (
        "admission", "admission_quick", "build_connector_meta",
        _unless("in_newer", older_step().eq(step_slots["empty"])), "a-step-goes-out-with-whom-it-has-scheduled",
    ),
    "who is in a step is forgotten with the empty step before it": (
        "admission", "admission_quick", "process_step", _unless("in_older", older_step().eq(step_slots["empty"])),
        "the-newer-step-is-processed-next",
    ),
    "a pass that preempts closes the waiting loop of the next ones too": (
        "admission", "preempted_stores", "build_connector_meta", _unless("preempted_now", storing_off()),
        "the-waiting-loop-is-left-out-after-a-preemption-only",
    ),
    "a store that is planned ahead of an output holds no blocks": (
        "admission", "admission_quick", "plan_prefix_store", _unless("own_store", older_step().eq(step_slots["full"])),
        "prefix-stores-are-planned-with-the-metadata",
    ),
    "who begins a load keeps its place before those that have their blocks": (
        "admission", "lookup_deferral", "admit_load", _keeps_its_place, "a-load-waits-behind-the-loads-before-it",
    ),
    "a preemption leaves fenced stores to their fences": (
        "groups", "store_ends", "preempt", _spares_the_fenced, "a-preemption-flushes-the-stores-of-its-request",
    ),
    "who is turned away leaves a block untold that another counts": (
        "engine", "late_shared", "turn_away", _said_otherwise("untold", _whoever_else_counts),
        "whoever-counts-a-block-is-told-of-it",
    ),
    "what a sharer has computed behind an invalid block is owed by nobody": (
        "engine", "late_sync_shared", "keep_base", _said_otherwise("redo", _whatever_is_invalid),
        "what-comes-behind-an-invalid-block-is-owed",
    ),
    "who shares one invalid block keeps what it has computed from one of its own": (
        "engine", "shared_and_own", "keep_base", _for_one_of_them,
        "who-keeps-its-base-has-nothing-to-compute-again",
    ),
    "the encoder lets a request in to load while a store of it is open": (
        "mixed", "open_store", "start_kv_load",
        _asked_otherwise("there-is-something-to-load", _whatever_is_stored), "both-rest-with-nothing-owed",
    ),
    "a worker's success forgets that another has failed": (
        "kv", "three_workers", "acknowledge", _sets("failure_seen", value=False),
        "what-one-worker-failed-no-later-report-makes-good",
    ),
    "a worker denies that a living lease held": (
        "delivery", "handed_over_short", "hear_notice", _sent_always("deny"),
        "a-denial-comes-after-the-end-of-a-lease",
    ),
}  # fmt: skip


def _with_row(spec: Specification, name: str) -> Specification:
    lifecycle, source, event, target = name.split(".")
    life = spec.lifecycle(lifecycle)
    wider = life.model_copy(update={"rows": (*life.rows, row(source, event, target, source="a fault"))})
    return spec.model_copy(update={"lifecycles": tuple(wider if x is life else x for x in spec.lifecycles)})


@pytest.mark.parametrize(("name", "slice_", "added", "property_"), ROWS, ids=lambda v: v)
def test_a_row_too_many_is_noticed(name: str, slice_: str, added: str, property_: str) -> None:
    _is_noticed(module(name), _with_row(module(name), added), slice_, property_)


@pytest.mark.parametrize("fault", ACTIONS)
def test_an_action_that_does_too_much_is_noticed(fault: str) -> None:
    name, slice_, action, change, property_ = ACTIONS[fault]
    spec = module(name)
    actions = tuple(change(a) if a.name == action else a for a in spec.actions)
    _is_noticed(spec, spec.model_copy(update={"actions": actions}), slice_, property_)


@pytest.mark.parametrize("word", ["comeback_state", "used"])
def test_an_engine_that_stops_while_a_request_is_left_is_noticed(word: str) -> None:
    """Whose blocks were taken, or who has blocks, has the engine step on; one that does not is at rest too soon."""

    def forgets(t: T.Term) -> T.Term | None:
        said = {s.symbol for s in T.subterms(t) if isinstance(s, T.Apply)}
        return FALSE if isinstance(t, (T.Eq, T.Apply)) and said == {word} else None

    changed = _asked_otherwise("something-to-do", forgets)
    spec = module("pipeline")
    actions = tuple(changed(a) if a.name == "begin_schedule" else a for a in spec.actions)
    faulty = spec.model_copy(update={"actions": actions})
    _is_noticed(spec, faulty, "depth_one_preempt_blocks", "pipeline-rests-with-no-store-open")


def _is_noticed(spec: Specification, faulty: Specification, slice_: str, property_: str) -> None:
    (sound,), (found,) = (run_check(spec=s, slices=[slice_], properties=[property_]).runs for s in (spec, faulty))
    assert (sound.properties, found.properties) == ({property_: "holds"}, {property_: "violated"})
