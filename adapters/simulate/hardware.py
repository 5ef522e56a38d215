"""What the modelled engine runs on: speeds that were measured, and which assumptions are made beside them."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.adapters.embedded import Timing


@dataclass(frozen=True, slots=True)
class Hardware:
    """A model on a machine.

    Args:
        doc: what it is, for the report.
        block_size: tokens per block; block_bytes: of all layers.
        step_s: a step, whatever it computes.
        to_gpu_bytes_s, from_gpu_bytes_s: copies of scattered blocks while the GPU computes.
        schedule_s, update_s: the scheduler's time per step, before and after it.
    """

    doc: str
    block_size: int
    block_bytes: int
    step_s: float
    prefill_tokens_s: float
    decode_tokens_s: float
    to_gpu_bytes_s: float
    from_gpu_bytes_s: float
    schedule_s: float
    update_s: float

    @property
    def timing(self) -> Timing:
        """The durations that follow from the speeds."""
        return Timing(
            step_s=self.step_s,
            empty_step_s=0.0,
            prefill_token_s=1 / self.prefill_tokens_s,
            decode_token_s=1 / self.decode_tokens_s,
            schedule_s=self.schedule_s,
            update_s=self.update_s,
            load_s=self.block_bytes / self.to_gpu_bytes_s,
            store_s=self.block_bytes / self.from_gpu_bytes_s,
        )


H100_8B = Hardware(
    doc="8B model of 32 layers on one H100 (PCIe Gen5)",
    block_size=16,
    block_bytes=32 * 64 * 1024,
    # Measured with vLLM 0.26.0: steps of 13 to 18 ms; 37.5 thousand prompt tokens per second with CUDA graphs.
    step_s=0.013,
    prefill_tokens_s=37_500,
    # Not measured: a token that continues an answer is taken to cost what one of a prompt does.
    decode_tokens_s=37_500,
    # Measured beside a running matrix product: strided 2-D copies of 64 KiB times 32 layers.
    to_gpu_bytes_s=45e9,
    from_gpu_bytes_s=43e9,
    # Measured without a connector.
    schedule_s=0.0011,
    update_s=0.0005,
)
"""Without what a copy costs the step beside it (4 to 10 %), and what both directions at once cost each other."""
