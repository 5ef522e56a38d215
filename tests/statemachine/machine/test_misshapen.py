"""What authors of engines get wrong at first: each is one line that says what to give, and the machine goes on."""

from types import SimpleNamespace

import pytest

from interlock.spec.language.specification import UnknownName
from interlock.statemachine.errors import IllegalTransition, Misshapen, NotLetIn
from interlock.statemachine.lookup import ChunkedLocal, FullAttention, SlidingWindow
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.port import ConnectorOutput, ScheduledStep

TWO = (FullAttention(4), SlidingWindow(4, 4))
RUNS_ON = (("A",), (5,), {"A": 4})
"""A has computed five tokens, and computes four more."""


@pytest.fixture
def running(driver):
    """A machine for which A runs, with one block full, stored, and room in another."""
    d = driver(chunks=8)
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.requests["A"].num_tokens, d.requests["A"].block_hashes = 9, ["h1", "h2"]
    return d


def goes_on(d):
    """The same step, as it should have been said."""
    (job,) = d.machine.build_connector_meta(ScheduledStep(*RUNS_ON, [[[3]]])).store_jobs
    d.update(completed=[job.job])
    d.finish("A")
    d.step()
    d.add("B", ["h1", "h2"])
    return (job.block, job.chunk), d.match("B"), d.machine.has_pending_work()


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (
            ScheduledStep(*RUNS_ON, [[3]]),
            r"the blocks that request 'A' gets are \[3\]: give one list per KV cache group",
        ),
        (ScheduledStep(*RUNS_ON, [3]), "the blocks that request 'A' gets are 3: give one list per KV cache group"),
        (ScheduledStep(*RUNS_ON, [[[3], [4]]]), r"are \[\[3\], \[4\]\]: .*, of which there is 1, as in \[\[7, 8\]\]$"),
        (ScheduledStep(*RUNS_ON, [[[3]], None]), "1 request_ids and 2 new_block_ids: give one for each request"),
        (ScheduledStep(("A",), (), {"A": 4}), "1 request_ids, 0 num_computed_tokens and 1 num_scheduled_tokens: name"),
        (ScheduledStep(("A",), (5,), {}), "1 request_ids, 1 num_computed_tokens and 0 num_scheduled_tokens: name each"),
        (ScheduledStep(("A", "A"), (5, 5), {"A": 4}), "2 request_ids, 2 num_computed_tokens and 1 num_scheduled_tok"),
        (ScheduledStep("A", (5,), {"A": 4}), r"request_ids is 'A': give a tuple of names, as in \('A',\)"),
        (ScheduledStep(preempted="A"), r"preempted is 'A': give a tuple of names, as in \('A',\)"),
        (None, "the step is None: give a ScheduledStep"),
        (("A", 5, 4), r"the step is \('A', 5, 4\): give a ScheduledStep"),
        (ScheduledStep(("A",), None, {"A": 4}), "num_computed_tokens=None, .*: give a ScheduledStep"),
        (ScheduledStep(("A",), (5,), [4]), r"num_scheduled_tokens=\[4\], .*: give a ScheduledStep"),
        (ScheduledStep(*RUNS_ON, None), "new_block_ids=None, .*: give a ScheduledStep"),
        (ScheduledStep(*RUNS_ON, [[[3]]], None), "preempted=None, .*: give a ScheduledStep"),
    ],
)
def test_a_step_of_another_shape_is_named_and_can_be_said_again(running, step, said):
    with pytest.raises(Misshapen, match=f"^build_connector_meta: .*{said}"):
        running.machine.build_connector_meta(step)

    assert goes_on(running) == ((2, 1), (8, True), False)


def test_whose_blocks_are_not_per_group_is_named_although_others_are(driver):
    d = driver(groups=TWO, chunks=8)
    for name, blocks in (("A", [[1], [2]]), ("B", [[3], [4]])):
        d.add(name, [f"h{name}"])
        d.admit(name, blocks, tokens=4)
    d.build()
    d.update()

    step = ScheduledStep(("A", "B"), (4, 4), {"A": 1, "B": 1}, [[[5], [6]], [7, 8]])
    with pytest.raises(Misshapen, match=r"'B' gets are \[7, 8\]: .* there are 2, as in \[\[7\], \[8\], …\]$"):
        d.machine.build_connector_meta(step)
    assert len(d.machine.build_connector_meta(step._replace(new_block_ids=[[[5], [6]], [[7], [8]]])).store_jobs) == 0


@pytest.mark.parametrize(
    ("groups", "table", "said"),
    [
        (
            None,
            [[1, 2]],
            r"the table of request 'A' is \[\[1, 2\]\]: with one KV cache group give its blocks in one list",
        ),
        (None, None, "the table of request 'A' is None: with one KV cache group give its blocks in one list"),
        (None, [1, None], r"the table of request 'A' is \[1, None\]: with one KV cache group give its blocks in one"),
        (TWO, [1, 2], r"the blocks that request 'A' gets are \[1, 2\]: give one list per KV cache group"),
        (TWO, [[1, 2]], r"the blocks that request 'A' gets are \[\[1, 2\]\]: give one list per KV cache group"),
    ],
)
def test_a_table_of_another_shape_is_named_and_can_be_said_again(driver, groups, table, said):
    d = driver(groups=groups, chunks=8)
    request = d.add("A", ["h1"])

    with pytest.raises(Misshapen, match=f"^update_state_after_alloc: {said}"):
        d.machine.update_state_after_alloc(request, table, 0)
    d.admit("A", [1, 2] if groups is None else [[1, 2], [3, 4]])
    assert [job.block for job in d.build().store_jobs] == ([1] if groups is None else [1, 3])


@pytest.mark.parametrize("tokens", [None, (0, False), "4"])
def test_external_tokens_that_are_no_number_are_named(driver, tokens):
    d = driver()
    request = d.add("A", ["h1"])

    with pytest.raises(
        Misshapen, match=r"^update_state_after_alloc: num_external_tokens of request 'A' is .*: give the"
    ):
        d.machine.update_state_after_alloc(request, [1, 2], tokens)
    d.admit("A", [1, 2])
    assert len(d.build().store_jobs) == 1


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (ConnectorOutput(completed=[0]), r"completed is \[0\]: give to each job how many workers report on it"),
        (ConnectorOutput(completed={0: None}), "completed is {0: None}: give to each job how many workers"),
        (
            ConnectorOutput(completed={0: 0}),
            "completed is {0: 0}: give to each job how many workers report on it, at l",
        ),
        (
            ConnectorOutput(failed={0: -1}),
            "failed is {0: -1}: give to each job how many workers report on it, at least",
        ),
        (ConnectorOutput(completed={0: 1.5}), "completed is {0: 1.5}: give to each job how many workers report on it"),
        (ConnectorOutput(finished_recving="A"), r"finished_recving is 'A': give a tuple of names, as in \('A',\)"),
        (
            ConnectorOutput({0: 1}, finished_recving=None),
            "the output is .*finished_recving=None.: give a ConnectorOutput",
        ),
        (None, "the output is None: give a ConnectorOutput"),
        ({0: 1}, "the output is {0: 1}: give a ConnectorOutput"),
    ],
)
def test_reports_of_another_shape_are_named_and_can_be_said_again(driver, output, said):
    d = driver()
    d.store_one("A", "h1", block=1)

    with pytest.raises(Misshapen, match=f"^update_connector_output: {said}"):
        d.machine.update_connector_output(output)
    d.update(completed=[0])
    d.finish("A")
    d.step()
    assert not d.machine.has_pending_work()


def test_of_a_report_on_thousands_of_jobs_the_ends_are_quoted(driver):
    with pytest.raises(Misshapen) as raised:
        driver().machine.update_connector_output(ConnectorOutput(completed=tuple(range(4096))))

    said = str(raised.value)
    assert len(said) < 450
    assert said.startswith("update_connector_output: completed is (0, 1, 2, ")
    assert " 4094, 4095): give to each job" in said


@pytest.mark.parametrize(
    ("lacks", "said"),
    [
        ({"request_id": None}, "has no request_id"),
        ({"num_tokens": None}, "has no num_tokens"),
        ({"block_hashes": None}, "has no block_hashes"),
        ({"block_hashes": "abcd"}, "has 'abcd' for block_hashes"),
    ],
)
def test_a_request_that_lacks_something_is_named_and_may_come_whole(driver, lacks, said):
    d = driver()
    whole = {"request_id": "A", "num_tokens": 5, "block_hashes": ["h1"]}

    with pytest.raises(Misshapen, match=rf"^on_new_request: namespace.* {said}: give an object with request_id"):
        d.machine.on_new_request(SimpleNamespace(**{**whole, **lacks}))
    d.add("A", ["h1"])
    d.admit("A", [1, 2])
    assert len(d.build().store_jobs) == 1


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (
            ScheduledStep(("A",), (5,), {"B": 4}, [[[3]]]),
            "num_scheduled_tokens is {'B': 4}, and does not say how many 'A",
        ),
        (ScheduledStep(("A",), (5,), {"A": None}, [[[3]]]), r"num_scheduled_tokens\['A'\] is None: it should be a"),
        (
            ScheduledStep(("A",), (5.5,), {"A": 4}, [[[3]]]),
            r"num_computed_tokens\[0\] is 5.5: it should be a valid int",
        ),
        (ScheduledStep(*RUNS_ON, [[["3"]]]), r"new_block_ids\[0\]\[0\]\[0\] is '3': it should be a valid integer"),
    ],
)
def test_a_step_that_says_of_one_row_what_cannot_be_is_named(running, step, said):
    with pytest.raises(Misshapen, match=f"^build_connector_meta: {said}"):
        running.machine.build_connector_meta(step)


@pytest.mark.parametrize(
    ("call", "more"),
    [("get_num_new_matched_tokens", (0,)), ("update_state_after_alloc", ([1], 0)), ("request_finished", ([],))],
)
def test_no_request_is_named(driver, call, more):
    d = driver()
    with pytest.raises(Misshapen, match=f"^{call}: None has no request_id: give an object with request_id"):
        getattr(d.machine, call)(None, *more)
    d.store_one("A", "h1", block=1)


def test_a_fault_of_ours_is_not_said_to_be_the_engines(driver, monkeypatch):
    d = driver()
    monkeypatch.setattr(d.machine, "_visits", None)
    with pytest.raises(TypeError):
        d.machine.build_connector_meta(ScheduledStep(preempted=()))


@pytest.mark.parametrize("tokens", [-4, None, "4", 4.0])
def test_computed_tokens_that_are_no_number_are_named(driver, tokens):
    """A negative number was answered, with so many more tokens to load."""
    d = driver()
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    request = d.add("B", ["h1"])

    for _ in range(2):
        with pytest.raises(Misshapen, match=r"^get_num_new_matched_tokens: num_computed_tokens of request 'B' is "):
            d.machine.get_num_new_matched_tokens(request, tokens)
    assert d.match("B") == (4, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"limits": None}, r"limits is None; give StoreLimits\(…\), or leave it out"),
        ({"groups": FullAttention(4)}, r"groups is FullAttention\(.*\); give a list of them"),
        ({"groups": ["full"]}, "group 0 is 'full'; give a FullAttention, "),
        ({"groups": [FullAttention(4.0)]}, r"group 0 is FullAttention\(chunk_tokens=4.0, .*\); give a FullAttention, "),
        ({"groups": [FullAttention(0)]}, r"group 0 is FullAttention\(chunk_tokens=0, .*\); give a FullAttention, "),
        ({"groups": [FullAttention(4), SlidingWindow(4, 0)]}, r"group 1 is SlidingWindow\(.*, window=0\); give"),
        ({"groups": [SlidingWindow(4, None)]}, r"group 0 is SlidingWindow\(.*, window=None\); give"),
        ({"groups": [ChunkedLocal(4, None)]}, r"group 0 is ChunkedLocal\(.*, window=None\); give"),
        ({"clock": None}, "clock is None; give what says the time when it is called"),
    ],
)
def test_what_a_machine_cannot_be_made_with_is_named(options, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        KVOffloadScheduler(**{"block_size": 4, "num_chunks": 8, "num_workers": 1, **options})


def test_switches_of_groups_are_looked_at_also_where_there_is_one_group():
    with pytest.raises(UnknownName, match="unknown value of switch groups 'windowd'"):
        KVOffloadScheduler(block_size=4, num_chunks=8, num_workers=1, group_switches={"groups": "windowd"})


# -- who computes has been said to have got its blocks ----------------------------------------------------------


def loads(driver):
    """B loads what A has stored."""
    d = driver()
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.finish("A")
    d.add("B", ["h1"])
    d.load("B", [5], 1)
    return d, d.build().load_jobs[0].job


def test_who_computes_without_blocks_is_named_although_it_fills_none(driver):
    d = driver()
    d.add("A", ["h1"])

    with pytest.raises(NotLetIn, match="'A' computes in this step, and is waiting"):
        d.machine.build_connector_meta(ScheduledStep(("A",), (0,), {"A": 3}))
    d.admit("A", [1, 2])
    assert len(d.build().store_jobs) == 1


def test_who_computes_while_it_is_being_loaded_is_named(driver):
    d, job = loads(driver)

    with pytest.raises(NotLetIn, match="'B' computes in this step, and is loading"):
        d.machine.build_connector_meta(ScheduledStep(("B",), (0,), {"B": 1}))
    d.update(completed=[job], received=["B"])
    d.admit("B", [5, 6])
    d.build()
    d.update()
    d.finish("B")
    d.step()
    assert not d.machine.has_pending_work()


@pytest.mark.parametrize("tokens", [1, 3])
def test_who_has_loaded_is_let_in_by_a_second_update_state_after_alloc(driver, tokens):
    """Left out, what it has loaded would stay without a hash, and it would wait for ever as far as we know."""
    d, job = loads(driver)
    d.update(completed=[job], received=["B"])

    with pytest.raises(NotLetIn, match="'B' computes in this step, and is waiting"):
        d.machine.build_connector_meta(ScheduledStep(("B",), (4,), {"B": tokens}))
    d.admit("B", [5, 6])
    d.build()
    d.update()
    d.add("C", ["h1"])
    d.admit("C", [5, 7], local_blocks=1)
    assert d.build().load_jobs == ()


def test_who_was_preempted_computes_again_only_with_new_blocks(driver):
    d = driver()
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.step()
    d.build(preempted=["A"])
    d.update()

    with pytest.raises(NotLetIn, match="'A' computes in this step, and is preempted"):
        d.machine.build_connector_meta(ScheduledStep(("A",), (0,), {"A": 1}))


def test_what_was_refused_does_not_come_again_with_the_next_metadata(driver):
    """B gets a block that A has; whatever becomes of B, others are served."""
    d = driver()
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.add("B", ["h2"])
    d.admit("B", [1, 3])
    with pytest.raises(IllegalTransition, match="block 1 is used: allocate is illegal"):
        d.build()
    d.finish("B")

    d.add("C", ["h3"])
    d.admit("C", [4, 5])
    assert [(job.request, job.block) for job in d.build().store_jobs] == [("C", 4)]
