"""Public failures of the family FAIL: failures stay contained and are rolled back."""

from __future__ import annotations

from interlock.spec.failures.failure import Failure

FAIL = (
    Failure(
        id="B-067",
        family="FAIL",
        reference="vllm-project/vllm #45138 (and #49250 part 2, #34484)",
        outcome="hang / wrong output",
        model="yes",
        evidence="A",
        tags=("failure", "async-sched"),
        title="Recompute after a failed load keeps stale placeholder count",
        scenario=(
            "Full hit, so one output placeholder is reserved; load fails; computed tokens rolled back, "
            "placeholder not; request is scheduled beyond its prompt or never finishes"
        ),
        invariant="Rollback restores every field derived from the failed step",
    ),
    Failure(
        id="B-091",
        family="FAIL",
        reference="vllm-project/vllm #58038",
        outcome="crash-like (all fail)",
        model="yes",
        evidence="A",
        tags=("failure", "pd"),
        title="A finished transfer is reported as failed because telemetry raised",
        scenario=(
            "State DONE; reading statistics raises; generic handler marks the transfer failed; 100% of requests fail"
        ),
        invariant="Optional bookkeeping cannot change the verdict",
    ),
    Failure(
        id="B-096",
        family="FAIL",
        reference="vllm-project/vllm #35943 (related #50719, #55870)",
        outcome="hang, HBM leak",
        model="yes",
        evidence="B",
        tags=("failure", "pd"),
        title="Decode side has no end for a failed transfer",
        scenario=(
            "P times out or dies; D's expiry field is never set, error not mapped; R stays in remote-wait with "
            "its blocks, not preemptible"
        ),
        invariant="Each started load ends in success or failure",
    ),
    Failure(
        id="B-122",
        family="FAIL",
        reference="LMCache/LMCache #5047",
        outcome="hang",
        model="yes",
        evidence="A",
        tags=("failure",),
        title="Retrieve whose result never arrives parks the request for ever",
        scenario=(
            "Prefetch partly done (58/184), session vanishes; no timeout; R stays in remote-wait 600 s until the "
            "client gives up"
        ),
        invariant="Each started load ends in success or failure",
    ),
    Failure(
        id="B-124",
        family="FAIL",
        reference="LMCache/LMCache #4991",
        outcome="corruption",
        model="yes",
        evidence="A",
        tags=("failure", "tier"),
        title="Failed store stays visible to lookups",
        scenario="Store to disk fails with a warning; key remains; later lookup hits; load returns wrong bytes",
        invariant="Only completed stores are visible",
    ),
    Failure(
        id="B-134",
        family="FAIL",
        reference="sgl-project/sglang #27108",
        outcome="crash / lost KV",
        model="yes",
        evidence="A",
        tags=("pressure", "failure"),
        title="Failed backup is treated as done",
        scenario=(
            "Host full: backup returns 0; eviction proceeds as if backed up; node evicted without copy; crash on "
            "load-back"
        ),
        invariant="Evict only after a successful backup",
    ),
    Failure(
        id="B-142",
        family="FAIL",
        reference="sgl-project/sglang #30233",
        outcome="corruption",
        model="yes",
        evidence="B",
        tags=("abort", "pd"),
        title="Decode runs on KV of a prefill that was cut short",
        scenario=(
            "Prompt slightly over the limit; prefill truncates/aborts with 1 token; decode treats the transfer as"
            " complete"
        ),
        invariant="Hand-over states its length; consumer checks it",
    ),
    Failure(
        id="B-146",
        family="FAIL",
        reference="ai-dynamo/dynamo #15079",
        outcome="corruption (silent)",
        model="yes",
        evidence="A",
        tags=("failure", "tier"),
        title="Failed transfer is counted as loaded",
        scenario=(
            "Disk->GPU transfer fails; error status is dropped, progress counter still increments; request "
            "reported loaded; answer uses another request's KV, HTTP 200. Host transfers share the path"
        ),
        invariant="Success is counted only for success",
    ),
    Failure(
        id="B-154",
        family="FAIL",
        reference="NVIDIA/TensorRT-LLM #14633 (area #13713, #13796, #13728)",
        outcome="crash / leak",
        model="partly",
        evidence="B",
        tags=("abort", "pd"),
        title="Error state overwritten by 'complete', cancelled request still polled",
        scenario=(
            "Generation transfer fails; completion code sets 'complete'; cancel frees the request while a raw "
            "pointer stays in the future list"
        ),
        invariant="Terminal state is set once; no reference to a freed request",
    ),
    Failure(
        id="B-160",
        family="FAIL",
        reference="vllm-project/vllm-ascend #13099",
        outcome="corruption (silent)",
        model="yes",
        evidence="A",
        tags=("failure",),
        title="Failures are written to a private set",
        scenario=(
            "Async receive thread records bad blocks in its own set; worker reports an empty set; recompute "
            "policy never fires; request goes on with bad KV"
        ),
        invariant="Failure set seen by scheduler == failures that happened",
    ),
    Failure(
        id="B-162",
        family="FAIL",
        reference="llm-d/llm-d-kv-cache #514",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("failure", "tier"),
        title="A missing file crashes the worker",
        scenario="Load submission or completion fails; assert success in the worker",
        invariant="A failed transfer affects only its request",
    ),
)
