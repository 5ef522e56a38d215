"""What workers report of a step: to vLLM each for itself, and to the scheduler together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interlock.adapters.vllm.observers import Report


def model_output(tokens: Mapping[str, list[int]], **reports: Any) -> Any:
    """What a worker returns of a step: the tokens that it sampled, by request as scheduled, and connectors' reports."""
    from vllm.v1.outputs import ModelRunnerOutput

    return ModelRunnerOutput(
        req_ids=list(tokens),
        req_id_to_index={rid: index for index, rid in enumerate(tokens)},
        sampled_token_ids=list(tokens.values()),
        **reports,
    )


def told(report: Report) -> Any:
    """A report as vLLM's KV connectors have it; ``None`` where there is nothing to say."""
    from vllm.v1.outputs import KVConnectorOutput

    if not report:
        return None
    return KVConnectorOutput(
        finished_sending=report.finished_sending or None,
        finished_recving=report.finished_recving or None,
        kv_connector_worker_meta=report.worker_meta,
        **({"invalid_block_ids": report.invalid_block_ids} if report.invalid_block_ids else {}),
    )


class Together:
    """The reports of several workers as the scheduler gets them, made by the release's own KVOutputAggregator.

    It tells of a request that is done with a load or a send once the last worker has said so.
    """

    def __init__(self, connector: Any, workers: int) -> None:
        from vllm.distributed.kv_transfer.kv_connector.utils import KVOutputAggregator

        self._aggregator = KVOutputAggregator.from_connector(connector, workers)

    def __call__(self, reports: Sequence[Report]) -> Report:
        """One step's reports, by worker. What they say of jobs is what is said of them one after the other."""
        outputs = [model_output({}, kv_connector_output=told(report)) for report in reports]
        made = self._aggregator.aggregate(outputs).kv_connector_output
        return Report(
            acknowledged=[job for report in reports for job in report.acknowledged],
            failed=[job for report in reports for job in report.failed],
            invalid_block_ids=set(made.invalid_block_ids),
            finished_sending=set(made.finished_sending or ()),
            finished_recving=set(made.finished_recving or ()),
            worker_meta=made.kv_connector_worker_meta,
        )
