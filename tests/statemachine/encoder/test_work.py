"""What a step costs, counted: as much as changes in it, whatever a prompt holds that is computed, or another prompt."""

import pytest
from support.counted import calls_of
from support.encoder_engine import Request, feature

from interlock.statemachine.encoder import EncoderCacheScheduler, EncoderOutput

FEW, MANY = 16, 64


class Prompt:
    """A request with so many items in a row, in a machine that has room for all of them."""

    def __init__(self, count, *, offered=False, same=False, machine=None, name="A", record=None):
        self.ec = machine or EncoderCacheScheduler(
            num_slots=200,
            num_cells=200,
            num_workers=1,
            num_kv_shares=99,
            checking=False,
            offered=lambda _: offered,
            record=record,
        )
        items = [name if same else f"{name}{place}" for place in range(count)]
        self.request = Request(name, tuple(feature(item, 4 * place) for place, item in enumerate(items)))
        self.count, self.computed = count, 0
        self.ec.on_new_request(self.request)

    def ask(self):
        return self.ec.ensure_cache_available(self.request, self.computed)

    def schedule(self, items, tokens=None):
        """A visit that computes the next so many items, or tokens."""
        tokens = 4 * items if tokens is None else tokens
        assert self.ask()
        first, missing = self.computed // 4, []
        for place in range(first, first + items):
            if not self.ec.check_and_update_cache(self.request, place):
                assert self.ec.can_allocate(self.request, place)
                if self.request.mm_features[place].identifier not in {
                    self.request.mm_features[other].identifier for other in missing
                }:
                    missing.append(place)
        self.ec.request_scheduled(self.request, self.computed, tokens)
        for place in missing:
            self.ec.update_state_after_alloc(self.request, place)
        self.computed += tokens

    def update(self):
        self.ec.update_connector_output(EncoderOutput(num_computed_tokens={self.request.request_id: self.computed}))

    def step(self, items, tokens=None):
        self.schedule(items, tokens)
        self.ec.build_connector_meta()
        self.update()

    def in_prefill(self):
        """What the outputs of its whole prefill cost."""
        self.schedule(self.count)
        self.ec.build_connector_meta()
        return calls_of(self.update)


def test_a_step_of_a_request_whose_items_are_all_computed_costs_the_same_however_many_they_are():
    """Each item was asked about in each step, with a look at all features for each."""

    def decode(count):
        a = Prompt(count)
        a.step(count)
        return calls_of(lambda: a.step(0, 1))

    assert decode(FEW) == decode(MANY)


@pytest.mark.parametrize("offered", [False, True])
def test_a_first_answer_costs_as_much_as_there_are_items(offered):
    few, many = (calls_of(Prompt(count, offered=offered).ask) for count in (FEW, MANY))

    assert many < few * MANY / FEW * 1.2


def test_an_answer_in_mid_prefill_is_about_what_is_to_come():
    def asks(count, computed):
        a = Prompt(count)
        a.step(computed)
        return calls_of(a.ask)

    assert asks(MANY, MANY - FEW) <= asks(2 * FEW, FEW)


@pytest.mark.parametrize("same", [False, True])
def test_outputs_cost_as_much_as_there_are_items_that_they_settle(same):
    few, many = (Prompt(count, same=same).in_prefill() for count in (FEW, MANY))

    assert many < few * MANY / FEW * 1.2


def test_an_item_that_stands_at_many_places_is_freed_with_one_question():
    """The last place is not settled yet: that speaks against each of the others, and was found anew for each."""

    def outputs(count):
        a = Prompt(count, same=True)
        a.schedule(count)
        a.ec.build_connector_meta()
        return calls_of(
            lambda: a.ec.update_connector_output(
                EncoderOutput(num_computed_tokens={"A": 4 * count}, num_output_placeholders={"A": 1})
            )
        )

    assert outputs(MANY) < outputs(FEW) * MANY / FEW * 1.2


def test_who_comes_second_asks_once_what_the_first_waits_for():
    def asks(count):
        first = Prompt(count, offered=True, name="A")
        assert not first.ask()
        return calls_of(Prompt(count, offered=True, name="B", machine=first.ec).ask)

    assert asks(MANY) < asks(FEW) * MANY / FEW * 1.2


def test_a_long_prompt_costs_nobody_else_anything():
    """Whatever was asked of positions was asked of as many as the longest prompt had ever had."""

    def life(count):
        other = Prompt(count)
        other.step(count)

        def lived():
            a = Prompt(2, machine=other.ec, name="B")
            a.step(1)
            a.ec.free(a.request)
            a.computed = 0
            a.step(2)
            a.ec.build_connector_meta()
            a.update()
            a.ec.request_finished(a.request)

        return calls_of(lived)

    assert life(FEW) == life(MANY)


def test_who_runs_and_needs_nothing_costs_a_schedule_next_to_nothing():
    """Each was visited, in two actions of the specification, when the engine had asked nothing about it."""

    def schedule(count):
        first = Prompt(1, name="R")
        for other in [first, *(Prompt(1, machine=first.ec, name=f"R{number}") for number in range(1, count))]:
            other.schedule(1)
        first.ec.build_connector_meta()
        first.ec.update_connector_output(EncoderOutput())
        return calls_of(first.ec.build_connector_meta)

    assert schedule(MANY) - schedule(FEW) <= 3 * (MANY - FEW)


def test_where_a_record_is_kept_they_are_visited_all_the_same():
    """A replay asks for it."""
    done = []
    a = Prompt(1, record=lambda event, *, action, **_: done.append(action))
    a.step(1)
    done.clear()
    a.ec.build_connector_meta()

    assert done == ["go_on", "build_connector_meta"]


def test_one_that_is_put_off_again_costs_at_most_a_look_at_each_place():
    def again(count):
        a = Prompt(count, offered=True)

        def asked():
            assert not a.ask()
            a.ec.build_connector_meta()
            a.ec.update_connector_output(EncoderOutput())

        asked()
        return calls_of(asked)

    assert again(MANY) - again(FEW) <= MANY - FEW


def test_where_there_is_room_a_fetch_costs_the_same_however_many_wait():
    """Whatever those wait for was gathered for each fetch, to keep it, where nothing had to make room."""

    def last(count):
        first = Prompt(1, offered=True, name="R")
        for other in [first, *(Prompt(1, machine=first.ec, name=f"R{number}") for number in range(1, count))]:
            assert not other.ask()
        return calls_of(Prompt(1, machine=first.ec, name="last").ask)

    assert last(FEW) == last(MANY)
