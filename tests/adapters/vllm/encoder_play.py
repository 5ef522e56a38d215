"""A child: real schedulers of a model with images, and a connector of tiny_ec.py.

    python encoder_play.py < [{"connector": "TinyEC", "extra": {}, "operations": [
        {"op": "there", "items": ["a"]}, {"op": "add", "request": "R", "prompt": [1, 2], "images": [["a", 0, 16]]},
        {"op": "step"}]}]

Answers with a list of the same length: per job, what each step showed (`_step`). Tokens are tokens, blocks hold 16.
"""

import json
import os
import sys

BLOCK = 16


def _constructor(connector, extra):
    from interlock.adapters.vllm.construct import Constructor, Sizes, Target

    return Constructor(Target(f"tiny_ec:{connector}", extra, kind="ec"), Sizes(block_size=BLOCK))


def _request(made, name, prompt, images):
    from interlock.adapters.vllm.construct import Feature

    return made.request(name, prompt, 2, [Feature(*image) for image in images])


def _step(scheduler):
    from interlock.adapters.vllm.harness import sampled
    from interlock.adapters.vllm.reports import model_output

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
    scheduler.update_from_output(output, model_output(sampled(scheduler, output.num_scheduled_tokens, 7)))
    return seen


def _play(connector, extra, operations):
    made = _constructor(connector, extra)
    scheduler, steps = made.scheduler(), []
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
    json.dump([_play(**job) for job in jobs], answers)
    answers.flush()


if __name__ == "__main__":
    main()
