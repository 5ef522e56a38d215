"""Public failures of the family COMP: completion accounting."""

from __future__ import annotations

from interlock.spec.failures.failure import Failure

COMP = (
    Failure(
        id="B-019",
        family="COMP",
        reference="vllm-project/vllm #49820",
        outcome="hang (612 stalls in one trace)",
        model="yes",
        evidence="A",
        tags=("tier", "failure"),
        title="Overlapping fetch rounds mix up their completions",
        scenario=(
            "Round 1 (job 1) and round 2 (job 2) of one request overlap; 'transfer done' of round 1 is credited "
            "to job 2; one job ends early, the other never"
        ),
        invariant="A completion names the operation (round), not only the request",
    ),
    Failure(
        id="B-053",
        family="COMP",
        reference="vllm-project/vllm #46240",
        outcome="crash, whole DP pool",
        model="yes",
        evidence="A",
        tags=("abort", "multi", "pd"),
        title="Cancelled request with a receive and a send outstanding dies on the second completion",
        scenario=(
            "R cancelled with recv and send pending; first completion (either kind, any order, or both in one "
            "step) frees R; the second finds no R"
        ),
        invariant="Blocks are released after the last outstanding operation, whatever the order",
    ),
    Failure(
        id="B-072",
        family="COMP",
        reference="vllm-project/vllm #51786",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("multi", "pd"),
        title="Second receive report for a running request",
        scenario=(
            "Two sub-connectors load R; first report promotes R to running; k steps later the second report hits "
            "the status assertion; sends are counted per connector, loads are not"
        ),
        invariant="Loads are counted per request like saves",
    ),
    Failure(
        id="B-076",
        family="COMP",
        reference="vllm-project/vllm #28768",
        outcome="hang/leak",
        model="partly",
        evidence="A",
        tags=("parallel",),
        title="Connector output of non-last pipeline ranks is dropped",
        scenario="PP>1; refactor returns None on early ranks; completions of those ranks never reach the aggregator",
        invariant="Each worker's report reaches the aggregator in each step",
        lacks="No pipeline stages: each worker of the models hands its report to the aggregator itself.",
    ),
    Failure(
        id="B-084",
        family="COMP",
        reference="vllm-project/vllm #43509 (early notification)",
        outcome="leak",
        model="yes",
        evidence="A",
        tags=("pd",),
        title="'Pull done' that arrives before registration is dropped",
        scenario=(
            "D reads and notifies before P's worker has registered R; message is 'unknown', discarded; R is held "
            "to the timeout"
        ),
        invariant="Release may arrive before registration and must be remembered",
    ),
    Failure(
        id="B-090",
        family="COMP",
        reference="vllm-project/vllm #36958",
        outcome="leak",
        model="yes",
        evidence="B",
        tags=("pd", "parallel"),
        title="Release message carries the consumer's request id",
        scenario=(
            "Prefill TP > decode TP with replicated KV; pre-transfer notice to the other ranks uses D's local id;"
            " P does not know it; blocks stay"
        ),
        invariant="Both sides name a transfer by the same id",
    ),
    Failure(
        id="B-104",
        family="COMP",
        reference="vllm-project/vllm #42839",
        outcome="hang",
        model="yes",
        evidence="A",
        tags=("pd",),
        title="Both sides build the tensor key from their own request id",
        scenario=(
            "Request ids got a random suffix per engine; sender's key != receiver's key; receiver waits for ever"
        ),
        invariant="Both sides derive the same transfer key",
    ),
    Failure(
        id="B-121",
        family="COMP",
        reference="LMCache/LMCache #4826",
        outcome="leak or crash",
        model="yes",
        evidence="A",
        tags=("abort", "multi"),
        title="Finish always says 'I keep the blocks'",
        scenario=(
            "request_finished returns true even when no store was submitted; later either no completion (leak) or"
            " a completion for a freed request (assert)"
        ),
        invariant="true from finish <-> exactly one later send completion",
    ),
    Failure(
        id="B-126",
        family="COMP",
        reference="LMCache/LMCache #3640",
        outcome="race / wasted work",
        model="yes",
        evidence="B",
        tags=("chunked",),
        title="Second store of a request overwrites the first one's handle",
        scenario=(
            "Chunked prefill: two stores for R; table keyed by request keeps only the last; finish waits for one;"
            " blocks released while the other copies; under-stored prompt"
        ),
        invariant="All stores of a request are tracked to the end",
    ),
    Failure(
        id="B-139",
        family="COMP",
        reference="sgl-project/sglang #38961 (ack path)",
        outcome="use-after-free window",
        model="yes",
        evidence="A",
        tags=("abort", "pd", "parallel"),
        title="Drain ack target is dropped before the drain",
        scenario=(
            "D waits for 'drained' from P; P's scheduler clears the target in its next poll, before the worker "
            "ends; no ack; timeout becomes the normal path; with fan-out one target overwrites the other"
        ),
        invariant="Each abort gets exactly one ack per waiting rank",
    ),
    Failure(
        id="B-145",
        family="COMP",
        reference="ai-dynamo/dynamo #3730",
        outcome="leak",
        model="partly",
        evidence="C",
        tags=("finish",),
        title="Completion test never becomes true",
        scenario="Requests pile up in 'maybe finished offloading'; delayed free never triggers; cache fills",
        invariant="Each finished request eventually completes",
        lacks="The cause is not known: the report gives the symptom only.",
    ),
    Failure(
        id="B-159",
        family="COMP",
        reference="vllm-project/vllm-ascend #16662",
        outcome="leak",
        model="yes",
        evidence="A",
        tags=("abort", "pd"),
        title="Completion is filtered out after abort",
        scenario=(
            "R loading and whitelisted; abort removes R from the whitelist; load completes, filter drops the "
            "report; scheduler, which waits for it, holds R's blocks for ever"
        ),
        invariant="A completion the scheduler waits for is never filtered",
    ),
    Failure(
        id="B-161",
        family="COMP",
        reference="vllm-project/vllm-ascend #5726 (see #6570)",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("pd", "lease"),
        title="Timeout frees the request, the late completion kills the scheduler",
        scenario="P force-frees R after a timeout; D's 'pulled' arrives; scheduler has no R",
        invariant="Timeout and completion race to one winner",
    ),
    Failure(
        id="B-165",
        family="COMP",
        reference="vllm-project/vllm #48245 (also #46066, #47900; backport vllm-ascend #14723)",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("preempt", "async-sched", "specdec"),
        title="Output of a step dispatched before a preemption is charged to the request's new life",
        scenario=(
            "Step n reserves placeholders for R; R is preempted and its counters reset; output of n returns and "
            "is subtracted from the reset counter, which goes below 0. No connector is needed; the connector "
            "variant is #50297"
        ),
        invariant="Results of an earlier incarnation never change the counters of a later one",
    ),
    Failure(
        id="B-185",
        family="COMP",
        reference="ROCm/ATOM #2000 (2)",
        outcome="leak/hang",
        model="yes",
        evidence="A",
        tags=("multi", "pd"),
        title="Merge of sub-connector reports drops one field",
        scenario="Composite merges five of six report fields; completions in the sixth never arrive",
        invariant="Merge is lossless for every field",
    ),
)
