"""Images in prompts: what the encoder cache is asked for adds up, and the oracle sees what is wrong in it."""

from dataclasses import replace

import pytest
from support.workloads import SMALL

from interlock.adapters.embedded.encoding import Encoding
from interlock.adapters.simulate.hardware import H100_8B
from interlock.adapters.simulate.run import WITH, WITHOUT, Asked, NotModelled, run_simulate
from interlock.statemachine.encoder import EncoderMetadata


def simulated(*, slots=3, cells=4, gpu_blocks=100, **changes):
    hardware = replace(H100_8B, encoder_slots=slots, pool_cells=cells)
    asked = Asked(workload=SMALL["multimodal"], gpu_blocks=gpu_blocks, cpu_blocks=2000, oracle=True, hardware=hardware)
    return run_simulate(replace(asked, **changes))


@pytest.mark.parametrize("cells", [1, 4, 100])
@pytest.mark.parametrize("slots", [3, 8])
@pytest.mark.parametrize("gpu_blocks", [30, 400])
def test_with_little_room_of_any_kind_every_request_ends_and_reads_its_images(slots, cells, gpu_blocks):
    result = simulated(slots=slots, cells=cells, gpu_blocks=gpu_blocks)

    assert result.verdict == "simulated", result.reason
    assert all(run.requests == 60 for run in result.runs.values())


def test_without_offload_steps_encode_what_the_cache_lacks():
    run = simulated().runs[WITHOUT]

    assert run.items_encoded > run.items_found > 0
    assert (run.items_loaded, run.items_fetched, run.item_waits) == (0, 0, 0)


def test_with_room_in_the_pool_each_image_is_fetched_once_and_none_is_encoded():
    images = {p.name for a in SMALL["multimodal"].arrivals(None, None, 0) for p in a.prompt if p.is_item}
    run = simulated(cells=1000, gpu_blocks=400).runs[WITH]

    assert (run.items_fetched, run.items_encoded) == (len(images), 0)
    assert run.items_loaded >= len(images)
    assert 0 < run.item_waits <= run.requests
    assert run.item_wait_s / run.item_waits >= 96 / H100_8B.encode_tokens_s


def test_without_room_in_the_pool_some_are_encoded_here():
    run = simulated(cells=1).runs[WITH]

    assert run.items_encoded > 0
    assert run.items_fetched > 0


def test_a_load_that_does_not_happen_is_a_wrong_content(monkeypatch):
    run = Encoding.run

    def drops_loads(self, step):
        kept = EncoderMetadata(free_encoder_mm_hashes=step.metadata.free_encoder_mm_hashes)
        self._reports |= {load.job: 1 for load in step.metadata.loads}
        run(self, replace(step, metadata=kept))

    monkeypatch.setattr(Encoding, "run", drops_loads)
    result = simulated()

    assert result.verdict == "violated"
    assert "with offload" in result.reason
    assert "read of image" in result.reason


@pytest.mark.parametrize("changes", [{"depth": 2}, {"load_failures": 0.1}])
def test_what_is_not_modelled_is_refused(changes):
    with pytest.raises(NotModelled, match="multimodal with"):
        simulated(**changes)
