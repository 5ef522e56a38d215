"""The tiny model of `construct` with images: vLLM's scheduler computes its encoder budgets as for any model.

Registered with vLLM's own registries, with a processor that says how many tokens an image may take. Nothing of it runs.
"""

from __future__ import annotations

from typing import Any

ARCHITECTURE = "InterlockTinyWithImages"
IMAGE_TOKENS = 64
IMAGE, PROMPT = 8, 40
"""Tokens of an image, and of a prompt, in scenarios."""


def register() -> None:
    """Once per process."""
    import torch
    from vllm.model_executor.models.interfaces import SupportsMultiModal
    from vllm.model_executor.models.registry import ModelRegistry
    from vllm.multimodal import MULTIMODAL_REGISTRY
    from vllm.multimodal.processing import BaseDummyInputsBuilder, BaseMultiModalProcessor, BaseProcessingInfo

    if ARCHITECTURE in ModelRegistry.get_supported_archs():
        return

    class Info(BaseProcessingInfo):
        """How many images, and how large."""

        def get_supported_mm_limits(self) -> dict[str, int | None]:
            return {"image": None}

        def get_mm_max_tokens_per_item(self, seq_len: int, mm_counts: Any) -> dict[str, int]:
            return {"image": IMAGE_TOKENS}

    class Dummies(BaseDummyInputsBuilder):
        """Never asked."""

        def get_dummy_text(self, mm_counts: Any) -> str:
            raise NotImplementedError

        def get_dummy_mm_data(self, seq_len: int, mm_counts: Any, mm_options: Any = None) -> Any:
            raise NotImplementedError

    class Processor(BaseMultiModalProcessor):
        """Never runs; the scheduler's budget reads its info."""

        def __init__(self, info: Any, dummy_inputs: Any, *, cache: Any = None) -> None:
            self.info = info  # the base class wants a tokenizer

        def _get_mm_fields_config(self, hf_inputs: Any, hf_processor_mm_kwargs: Any) -> Any:
            raise NotImplementedError

        def _get_prompt_updates(self, mm_items: Any, hf_processor_mm_kwargs: Any, out_mm_kwargs: Any) -> Any:
            raise NotImplementedError

    @MULTIMODAL_REGISTRY.register_processor(Processor, info=Info, dummy_inputs=Dummies)
    class InterlockTinyWithImages(torch.nn.Module, SupportsMultiModal):
        """Satisfies vLLM's interface of a model that takes images; never executed."""

        def __init__(self, vllm_config: Any, prefix: str = "") -> None:
            super().__init__()

        def embed_input_ids(
            self, input_ids: Any, multimodal_embeddings: Any = None, *, is_multimodal: Any = None
        ) -> Any:
            raise NotImplementedError

        def forward(self, input_ids: Any, positions: Any) -> Any:
            raise NotImplementedError

        def compute_logits(self, hidden_states: Any) -> Any:
            raise NotImplementedError

    ModelRegistry.register_model(ARCHITECTURE, InterlockTinyWithImages)
