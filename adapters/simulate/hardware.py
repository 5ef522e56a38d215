"""What the modelled engine runs on: speeds that were measured, and which assumptions are made beside them."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.adapters.embedded import Timing
from interlock.adapters.embedded.encoding import EncoderSizes
from interlock.adapters.embedded.items import ItemTiming


@dataclass(frozen=True, slots=True)
class Hardware:
    """A model on a machine.

    Args:
        doc: what it is, for the report.
        block_size: tokens per block; block_bytes: of all layers.
        step_s: a step, whatever it computes.
        to_gpu_bytes_s, from_gpu_bytes_s: copies of scattered blocks while the GPU computes.
        schedule_s, update_s: the scheduler's time per step, before and after it.
        item_token_bytes: what stands for a token of an image in the encoder cache and in the pool.
        encode_tokens_s: tokens that stand for images, from one encoder; fetch_bytes_s: from an encoder elsewhere.
        encoder_slots, pool_cells: images that the encoder cache and the pool have room for.
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
    item_token_bytes: int
    encode_tokens_s: float
    fetch_bytes_s: float
    encoder_slots: int
    pool_cells: int

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

    @property
    def item_timing(self) -> ItemTiming:
        """The same for items in prompts."""
        return ItemTiming(
            encode_token_s=1 / self.encode_tokens_s,
            fetch_token_s=self.item_token_bytes / self.fetch_bytes_s,
            load_token_s=self.item_token_bytes / self.to_gpu_bytes_s,
        )

    def encoder_sizes(self, tokens_per_step: int, *, remote: bool) -> EncoderSizes:
        """The encoder cache, and the pool; ``remote``: with an encoder elsewhere."""
        return EncoderSizes(
            slots=self.encoder_slots, cells=self.pool_cells, tokens_per_step=tokens_per_step, remote=remote
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
    # bfloat16 of 4,096 values, as the 8B model embeds a token.
    item_token_bytes=8192,
    # Not measured: 25 ms for an image of 1,024 tokens, and a network of 200 Gbit/s.
    encode_tokens_s=40_000,
    fetch_bytes_s=25e9,
    # As many tokens as a step computes at most, which is vLLM's default; and 8 GiB.
    encoder_slots=8,
    pool_cells=1024,
)
"""Without what a copy costs the step beside it (4 to 10 %), and what both directions at once cost each other."""
