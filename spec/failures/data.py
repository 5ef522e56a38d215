"""Public failures of the family DATA: content."""

from __future__ import annotations

from interlock.spec.failures.failure import Failure

DATA = (
    Failure(
        id="B-037",
        family="DATA",
        reference="vllm-project/vllm #51102 (issue #51094)",
        outcome="corruption",
        model="partly",
        evidence="B",
        tags=("hybrid",),
        title="Recurrent state restored at an exact boundary already contains the token that is computed again",
        scenario=(
            "Prompt ends on a chunk boundary; hit is capped at n-1; restored state covers n tokens; last token "
            "applied twice"
        ),
        invariant="Restored state covers exactly the tokens counted as computed",
    ),
    Failure(
        id="B-042",
        family="DATA",
        reference="vllm-project/vllm #57727 (see also #57970, #42695)",
        outcome="corruption after weight update",
        model="yes",
        evidence="A",
        tags=("reset",),
        title="Prefix-cache reset reports success, the CPU tier goes on serving old blocks",
        scenario=(
            "Store P; reset prefix cache -> success; same prompt hits CPU tier (after a weight update this is "
            "stale KV). A connector that returns nothing from reset is counted as success"
        ),
        invariant="After a successful reset nothing stored before it is served",
    ),
    Failure(
        id="B-065",
        family="DATA",
        reference="vllm-project/vllm #50297 (replaces #48141)",
        outcome="lost KV / crash downstream",
        model="yes",
        evidence="A",
        tags=("preempt", "async-sched", "pd"),
        title="Producer request preempted in its last step hands over an empty block list",
        scenario=(
            "Async scheduling: P's request is preempted after its final step was dispatched; blocks freed; output"
            " arrives, request finishes; connector gets no blocks; decode side indexes an empty list"
        ),
        invariant="A producer finishes only with the blocks that hold its KV",
    ),
    Failure(
        id="B-125",
        family="DATA",
        reference="LMCache/LMCache #4385",
        outcome="corruption (silent)",
        model="partly",
        evidence="C",
        tags=("tier",),
        title="Sessions read back from disk get another request's KV",
        scenario=(
            "CPU + disk tiers; long sessions return after paging to disk; answers mix conversations; cause not stated"
        ),
        invariant="Bytes under key k were written for k",
        lacks="The cause is not known: the report gives the symptom only.",
    ),
    Failure(
        id="B-137",
        family="DATA",
        reference="bytedance-iaas/sglang #768",
        outcome="leak check abort / corruption",
        model="yes",
        evidence="A",
        tags=("failure", "prefix-share"),
        title="In-flight load is visible as a GPU hit",
        scenario=(
            "R1 loads chain; nodes look resident; R2 adopts their slots; part of the load fails and the tail is "
            "freed; R2's insert links freed slots again: pages both free and cached"
        ),
        invariant="A loading node is not a hit until it settles",
    ),
    Failure(
        id="B-147",
        family="DATA",
        reference="ai-dynamo/dynamo #5068",
        outcome="corruption",
        model="no",
        evidence="C",
        tags=("pressure",),
        title="Wrong output under load with CPU offload",
        scenario=(
            "Deterministic mode, shared prompt, 96 sequences; outputs diverge only with offload on; not "
            "reproduced by maintainers"
        ),
        invariant="Bytes under key k were written for k",
        lacks="The cause is not known: the report gives the symptom only, and nobody could reproduce it.",
    ),
    Failure(
        id="B-191",
        family="DATA",
        reference="taco-project/FlexKV #279 (review)",
        outcome="corruption",
        model="yes",
        evidence="B",
        tags=("abort", "chunked"),
        title="Last, partly computed block is stored as a full block",
        scenario=(
            "R aborted with 33 tokens computed, block 16: finish hands over 3 blocks (rounded up); connector "
            "takes 48 tokens as valid and stores the third block under its hash; a later request hits it"
        ),
        invariant="A block is stored only if all its tokens were computed",
    ),
)
