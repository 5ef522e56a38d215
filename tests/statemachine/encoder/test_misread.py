"""Whatever part of what an engine says is something else, an error says so in our words, or nothing is wrong."""

from types import SimpleNamespace as Of

from support.misread import bare_errors

from interlock.statemachine.encoder import EncoderCacheScheduler, EncoderOutput
from interlock.statemachine.errors import SpecificationViolation


def made():
    return EncoderCacheScheduler(num_slots=2, num_cells=2, num_workers=1, num_kv_shares=4, checking=False)


def said():
    """A waits for an item, which is fetched and loaded; the fetch for B breaks; both end."""

    def feature(item, offset):
        return Of(identifier=item, mm_position=Of(offset=offset, length=4), data="pixels")

    a, b = Of(request_id="A", mm_features=[feature("x", 0)]), Of(request_id="B", mm_features=[feature("y", 0)])
    calls, machine = [], made()

    def say(name, *arguments):
        calls.append((name, arguments))
        return getattr(machine, name)(*arguments)

    say("on_new_request", a)
    assert not say("ensure_cache_available", a, 0)
    (fetch,) = say("build_connector_meta").fetches
    say("update_connector_output", EncoderOutput(arrived=(fetch.transfer,)))
    assert say("ensure_cache_available", a, 0)
    assert not say("check_and_update_cache", a, 0)
    assert say("can_allocate", a, 0)
    assert say("has_cache_item", "x")
    say("request_scheduled", a, 0, 8)
    say("update_state_after_alloc", a, 0)
    (load,) = say("build_connector_meta").loads
    say("update_connector_output", EncoderOutput(completed={load.job: 1}, num_computed_tokens={"A": 8}))
    say("take_unavailable_requests")
    say("on_new_request", b)
    say("ensure_cache_available", b, 0)
    (fetch,) = say("build_connector_meta").fetches
    say("update_connector_output", EncoderOutput(failed=(fetch.transfer,)))
    say("ensure_cache_available", b, 0)
    say("build_connector_meta")
    say("update_connector_output", EncoderOutput(num_computed_tokens={"A": 9}, num_output_placeholders={"A": 1}))
    say("request_finished", a)
    say("request_finished", b)
    say("has_pending_push_work")
    return calls


def test_no_mistake_ends_in_an_error_of_python():
    assert bare_errors(made, said(), SpecificationViolation) == []
