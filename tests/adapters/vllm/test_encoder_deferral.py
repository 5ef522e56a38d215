"""The three tests of vLLM PR 41627, by name, on the scheduler of 0.32.0: a request waits for its image, others do not.

The specification's side of them is tests/spec/encoder; this shows the numbers of tokens, which it does not have. The
scheduler, its encoder cache, its prefix cache and its encoder budgets are vLLM's; the connector is tiny_ec.py.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from interlock.adapters.vllm.environment import ensure_requirements
from interlock.adapters.vllm.launch import interlock_path
from interlock.adapters.vllm.releases import fetch

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

HERE = Path(__file__).parent
STEP = {"op": "step"}


def there(*items):
    return {"op": "there", "items": items}


def add(request, prompt, *images):
    return {"op": "add", "request": request, "prompt": list(prompt), "images": images}


def again(*images):
    """A request whose first block was computed with image `a` at 0 to 16, and is in the prefix cache."""
    warm = [there("a", "b"), add("warm", range(40), ("a", 0, 16), ("b", 20, 16)), STEP, STEP, there()]
    return [*warm, add("again", range(40), *images), STEP]


IMAGE = add("image", range(40), ("a", 4, 24))
TEXT = add("text", range(100, 120))
JOBS = {
    "deferred": ("TinyEC", {}, [IMAGE, TEXT, STEP]),
    "arrives": ("TinyEC", {}, [IMAGE, STEP, STEP, there("a"), STEP]),
    "unasked": ("TinyECUnasked", {}, [IMAGE, TEXT, STEP]),
    "order": ("TinyEC", {}, [IMAGE, TEXT, add("other", range(200, 240), ("b", 0, 8)), STEP, STEP]),
    "future": ("TinyEC", {}, [*again(("a", 0, 16), ("c", 20, 16)), there("c"), STEP]),
    "all": ("TinyEC", {"future_only": False}, [*again(("a", 0, 16), ("c", 20, 16)), there("c"), STEP]),
    "overlap": ("TinyEC", {}, again(("a", 0, 16), ("b", 20, 16))),
    "repeated": ("TinyEC", {}, [*again(("a", 0, 16), ("a", 20, 16)), there("a"), STEP]),
    "running": ("TinyEC", {}, [there("a"), IMAGE, STEP, there(), STEP]),
}


@pytest.fixture(scope="module")
def played():
    """What each step of each job shows."""
    path = [str(fetch("0.32.0")), *interlock_path(), str(HERE)]
    child = subprocess.run(
        [str(ensure_requirements()), str(HERE / "encoder_play.py")],
        input=json.dumps([{"connector": c, "extra": e, "operations": o} for c, e, o in JOBS.values()]),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONHASHSEED": "0", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr[-2000:]
    return dict(zip(JOBS, json.loads(child.stdout), strict=True))


def test_a_deferred_request_gets_nothing_and_the_text_request_behind_it_all_of_its_20_tokens(played):
    [step] = played["deferred"]

    assert step["scheduled"] == {"text": 20}
    assert step["calls"] == [["image", 0]]
    assert step["blocks"] == {"image": 0, "text": 2}
    assert (step["items"], step["used_slots"], step["encoded"], step["taken"]) == ([], 0, {}, [])
    assert step["waiting"] == ["image"]


def test_when_the_answer_is_yes_and_the_item_exists_it_is_scheduled(played):
    *waits, step = played["arrives"]

    assert [s["scheduled"] for s in waits] == [{}, {}]
    assert [s["calls"] for s in waits] == [[["image", 0]]] * 2
    assert step["scheduled"] == {"image": 40}
    assert step["calls"] == [["image", 0]]
    # It is loaded and not encoded, and takes its 24 tokens of the encoder cache.
    assert (step["taken"], step["encoded"]) == ([["image", "a"]], {})
    assert (step["items"], step["used_slots"]) == (["a"], 24)


def test_a_pending_prefetch_asks_only_about_features_beyond_the_computed_tokens(played):
    first, second = played["future"][-2:]

    assert first["calls"] == [["again", 16]]  # equality: image a ends where the computed tokens do
    assert first["asked"] == [["c"]]
    assert first["scheduled"] == {}
    assert first["blocks"] == {"again": 0}
    assert second["scheduled"] == {"again": 24}


def test_a_connector_that_asks_about_all_features_waits_for_one_that_is_computed(played):
    first, second = played["all"][-2:]

    assert first["asked"] == second["asked"] == [["a", "c"]]
    assert first["scheduled"] == second["scheduled"] == {}


def test_an_image_that_the_computed_tokens_reach_into_and_one_that_stands_twice_are_asked_about(played):
    overlapping = played["overlap"][-1]
    first, second = played["repeated"][-2:]

    assert (overlapping["calls"], overlapping["asked"]) == ([["again", 32]], [["b"]])  # b stands at 20 to 36
    assert overlapping["scheduled"] == {}
    assert (first["calls"], first["asked"], first["scheduled"]) == ([["again", 16]], [["a"]], {})
    assert second["scheduled"] == {"again": 24}


def test_deferred_requests_keep_their_places(played):
    first, second = played["order"]

    assert first["scheduled"] == {"text": 20}
    assert first["waiting"] == second["waiting"] == ["image", "other"]
    assert second["calls"] == [["image", 0], ["other", 0]]


def test_a_running_request_is_asked_too(played):
    first, second = played["running"]

    assert first["scheduled"] == {"image": 40}
    assert second["calls"] == [["image", 40]]  # what stands before is computed: nothing to wait for
    assert second["asked"] == [[]]
    assert second["scheduled"] == {"image": 1}


def test_a_connector_without_the_method_defers_nobody(played):
    [step] = played["unasked"]

    assert step["scheduled"] == {"image": 40, "text": 20}
    assert step["encoded"] == {"image": [0]}  # has_cache_item says no: the encoder runs here
