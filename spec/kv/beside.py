"""Slices as small as can be with two of something: what happens to one of them must leave the other as it is."""

from __future__ import annotations

from interlock.spec.kv.actions import ACTIONS
from interlock.spec.language.settings import Slice

_ONE = {"request": 1, "block": 1, "chunk": 1, "job": 1, "worker": 1, "hash": 1}
_LOADS = ("plan_load", "loaded", "publish_loaded", "copy_load", "order_flush_of_load", "load_fails", "look_up_anew")
_FAILURES = ("copy_fails", "report_failure", "acknowledge_failure")
_SLIDES = (
    "add_request", "allocate", "publish", "plan_store", "plan_lazy_store", "slide_out", "finish", "rest",
    "order_flush", "build_connector_meta", "run_step", "copy_store", "report", "update_from_output", "acknowledge",
)  # fmt: skip
_COPIES = (
    "add_request", "allocate", "publish", "plan_store", "evict", "finish", "rest",
    "order_flush", "build_connector_meta", "run_step", "copy_store", "report", "update_from_output", "acknowledge",
)  # fmt: skip

BESIDE = (
    Slice(
        name="two_chunks",
        remove=(*_LOADS, *_FAILURES, "reset_cache", "slide_out", "admit_loaded", "preempt", "skip_store", "hit"),
        scope={**_ONE, "chunk": 2, "hash": 2},
        doc="A store into one chunk, or its eviction, beside another that holds a prefix, with content.",
    ),
    Slice(
        name="two_served",
        remove=tuple(a.name for a in ACTIONS if a.name not in _COPIES),
        drop=("gpu_value", "cpu_value", "due", "due_value", "expects", "kept"),
        scope={**_ONE, "block": 2, "chunk": 2, "job": 2},
        doc="Two blocks of one prefix are stored, and one of its two chunks is evicted; no content.",
    ),
    Slice(
        name="two_failing",
        remove=("slide_out", "admit_loaded", "preempt", "skip_store", "hit", "evict"),
        drop=("gpu_value", "cpu_value", "due", "due_value", "expects", "scan_result"),
        scope={**_ONE, "chunk": 2, "job": 2},
        doc="A job beside another that has failed, or may, or that a reset has forgotten; no content.",
    ),
    Slice(
        name="two_blocks_slide",
        remove=tuple(a.name for a in ACTIONS if a.name not in _SLIDES),
        drop=("kept", "scan_result"),
        scope={**_ONE, "block": 2},
        doc="One block slides out of a window, and another stays, scanned or not, with content.",
    ),
)
