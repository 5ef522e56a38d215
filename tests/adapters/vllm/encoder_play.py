"""A child: real schedulers of a model with images, and a connector of tiny_ec.py.

    python encoder_play.py < [{"connector": "TinyEC", "extra": {}, "operations": [
        {"op": "there", "items": ["a"]}, {"op": "add", "request": "R", "prompt": [1, 2], "images": [["a", 0, 16]]},
        {"op": "step"}]}]

Answers with a list of the same length: per job, what each step showed (`_step`). Tokens are tokens, blocks hold 16.
The model is registered with vLLM's own registries, with a processor that says how many tokens an image may take; so
`Scheduler` computes its encoder budgets as it does for any model. Nothing of it runs.
"""

import json
import os
import sys

BLOCK, IMAGE_TOKENS = 16, 64


def _register():
    """The tiny model's architecture, with images."""
    import torch
    from vllm.model_executor.models.interfaces import SupportsMultiModal
    from vllm.model_executor.models.registry import ModelRegistry
    from vllm.multimodal import MULTIMODAL_REGISTRY
    from vllm.multimodal.processing import BaseDummyInputsBuilder, BaseMultiModalProcessor, BaseProcessingInfo

    from interlock.adapters.vllm.construct import ARCHITECTURE

    class Info(BaseProcessingInfo):
        def get_supported_mm_limits(self):
            return {"image": None}

        def get_mm_max_tokens_per_item(self, seq_len, mm_counts):
            return {"image": IMAGE_TOKENS}

    class Dummies(BaseDummyInputsBuilder):
        def get_dummy_text(self, mm_counts):
            raise NotImplementedError

        def get_dummy_mm_data(self, seq_len, mm_counts, mm_options=None):
            raise NotImplementedError

    class Processor(BaseMultiModalProcessor):
        def __init__(self, info, dummy_inputs, *, cache=None):
            self.info = info  # the base class wants a tokenizer; the scheduler's budget reads no more than this

        def _get_mm_fields_config(self, hf_inputs, hf_processor_mm_kwargs):
            raise NotImplementedError

        def _get_prompt_updates(self, mm_items, hf_processor_mm_kwargs, out_mm_kwargs):
            raise NotImplementedError

    @MULTIMODAL_REGISTRY.register_processor(Processor, info=Info, dummy_inputs=Dummies)
    class TinyWithImages(torch.nn.Module, SupportsMultiModal):
        def __init__(self, vllm_config, prefix=""):
            super().__init__()

        def embed_input_ids(self, input_ids, multimodal_embeddings=None, *, is_multimodal=None):
            raise NotImplementedError

        def forward(self, input_ids, positions):
            raise NotImplementedError

        def compute_logits(self, hidden_states):
            raise NotImplementedError

    ModelRegistry.register_model(ARCHITECTURE, TinyWithImages)


def _constructor():
    from interlock.adapters.vllm.construct import Constructor, Sizes, Target

    made = Constructor(Target("interlock.adapters.vllm.shim:InterlockShim"), Sizes(block_size=BLOCK))
    made.vllm_config.kv_transfer_config = None  # only the encoder's connector is looked at
    return made


def _scheduler(made, connector, extra):
    from vllm.config import ECTransferConfig
    from vllm.v1.core.sched.scheduler import Scheduler
    from vllm.v1.structured_output import StructuredOutputManager

    from interlock.adapters.vllm.construct import keywords

    config = made.vllm_config
    config.ec_transfer_config = ECTransferConfig(
        ec_connector=connector,
        ec_role="ec_consumer",
        ec_connector_module_path="tiny_ec",
        ec_connector_extra_config=extra,
    )
    return Scheduler(
        **keywords(
            Scheduler.__init__,
            vllm_config=config,
            kv_cache_config=made.kv_cache_config(),
            structured_output_manager=StructuredOutputManager(config),
            block_size=BLOCK,
            hash_block_size=BLOCK,
        )
    )


def _request(made, name, prompt, images):
    from vllm import SamplingParams
    from vllm.multimodal.inputs import MultiModalFeatureSpec, MultiModalKwargsItem, PlaceholderRange
    from vllm.v1.request import Request

    features = [
        MultiModalFeatureSpec(MultiModalKwargsItem.dummy(), "image", item, PlaceholderRange(offset, length))
        for item, offset, length in images
    ]
    return Request(
        request_id=name,
        prompt_token_ids=prompt,
        sampling_params=SamplingParams(max_tokens=2, ignore_eos=True, temperature=0.0),
        pooling_params=None,
        mm_features=features,
        block_hasher=made.hasher,
    )


def _step(scheduler):
    from interlock.adapters.vllm.harness import model_output
    from interlock.adapters.vllm.observers import Report

    ec = scheduler.ec_connector
    ec.calls, ec.asked, ec.taken = [], [], []
    output = scheduler.schedule()
    seen = {
        "scheduled": output.num_scheduled_tokens,
        "encoded": output.scheduled_encoder_inputs,
        "waiting": [r.request_id for r in (*scheduler.kv_holding_waiting, *scheduler.waiting)],
        "blocks": {r: len(scheduler.kv_cache_manager.get_block_ids(r)[0]) for r in scheduler.requests},
        "items": sorted(scheduler.encoder_cache_manager.cached),
        "used_slots": scheduler.encoder_cache_manager.cache_size - scheduler.encoder_cache_manager.num_free_slots,
        "calls": ec.calls, "asked": ec.asked, "taken": ec.taken,
    }  # fmt: skip
    requests = scheduler.requests
    tokens = {r: [7] * (requests[r].num_computed_tokens >= requests[r].num_tokens) for r in output.num_scheduled_tokens}
    scheduler.update_from_output(output, model_output(tokens, Report()))
    return seen


def _play(made, connector, extra, operations):
    scheduler, steps = _scheduler(made, connector, extra), []
    for operation in operations:
        match operation["op"]:
            case "there":
                scheduler.ec_connector.there = set(operation["items"])
            case "add":
                scheduler.add_request(_request(made, *(operation[k] for k in ("request", "prompt", "images"))))
            case "step":
                steps.append(_step(scheduler))
    return steps


def main():
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what vLLM prints
    jobs = json.load(sys.stdin)
    _register()
    made = _constructor()
    json.dump([_play(made, **job) for job in jobs], answers)
    answers.flush()


if __name__ == "__main__":
    main()
