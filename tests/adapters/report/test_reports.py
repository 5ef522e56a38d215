"""Reports say what the documents say."""

import json

import pytest
from support import documents

from interlock.adapters.documents.write import to_json
from interlock.adapters.report import check, conformance, explain, gate, prove, replay, show
from interlock.adapters.report.console import as_text
from interlock.statemachine.plural import counted


def one_step():
    document = documents.gate()
    finding = document.findings[0].model_copy(update={"steps": 1})
    return document.model_copy(update={"findings": [finding], "scenarios": 1, "steps": 1})


def lasso(cycle_from):
    document = documents.check()
    (run,) = document.runs
    (violation,) = run.violations
    found = violation.model_copy(update={"cycle_from": cycle_from})
    return document.model_copy(update={"runs": [run.model_copy(update={"violations": [found]})]})


REPORTS = [
    (
        check,
        documents.check(),
        ["dedup", "block=3, job=2", "12,345", "1 of 3 hold", "never-said vacuous", "fails in dedup"],
    ),
    (
        check,
        documents.check(),
        ["  0  schedule(request0)", "  2  submit_store(job1, block0)", "trace: t.jsonl", "  dedup: store_fails"],
    ),
    (
        check,
        lasso(1),
        ["  0  schedule(request0)\n       -- from here the cycle repeats\n    1  schedule(request1)"],
    ),
    (
        check,
        documents.check(),
        [" fails in dedup after 3 steps\n  No block is stored twice.\n    0  schedule(request0)"],
    ),
    (check, lasso(3), ["  2  submit_store(job1, block0)\n       -- from here nothing has to happen any more\n  trace"]),
    (
        prove,
        documents.prove(),
        ["11 of 12 obligations", "* size", "  open(job0)", "trace: p.jsonl", "issued-jobs-complete"],
    ),
    (gate, documents.gate(), ["vLLM 0.20.2", "in 4 steps", "simple_cpu_offload.py:77", "again: interlock gate", "R40"]),
    (gate, one_step(), ["in 1 step\n", ": 1 scenario, 1 step\n"]),
    (gate, documents.gate(), ["reset_cache: 2", "R12", "55", "trace: g.jsonl"]),
    (
        conformance,
        documents.conformance(),
        [
            "vllm:SimpleCPUOffloadConnector on vLLM 0.20.2: 765 of 1,049 edges",
            "93.2%",
            "    4  NOT EXPLAINED\n         finish 4\n    280  only after",
            "… 10 events before\n    told(10)",
            "shown by 3 traces\n  trace: f.jsonl",
        ],
    ),
    (replay, documents.replay(), ["4 of 9 events", "needs block-not-in-flight", "2 candidate states", "encoder: 1"]),
    (explain, documents.explain(), ["finish(request0): no-open-job", "open(job1): False -> True"]),
    (
        show,
        documents.show(),
        ["store_in_flight", "PR 41289", "No two open stores read the same block.", "seed=in_flight"],
    ),
]


@pytest.mark.parametrize(("report", "document", "expected"), REPORTS)
def test_says_what_the_document_says(report, document, expected):
    text = as_text(report.render(document))

    assert [part for part in expected if part not in text] == []
    assert document.reason in text or report is show


@pytest.mark.parametrize("report", [check, prove, gate, replay, explain, show])
def test_nobodys_text_is_read_as_markup(report):
    """Ids and conjuncts contain brackets, which rich would otherwise eat."""
    name = report.__name__.rpartition(".")[2]
    document = getattr(documents, name)()
    hostile = json.loads(to_json(document).replace("no-block-stored-twice-in-flight", "[bold]x[/nonsense]"))
    text = as_text(report.render(type(document).model_validate(hostile)))

    assert ("[bold]x[/nonsense]" in text) == ("[bold]x" in json.dumps(hostile))


def test_an_interrupted_replay_does_not_say_how_much_it_consumed():
    nothing = {"verdict": "inconclusive", "reason": "interrupted after 9.0 s", "consumed": 0, "events": 0}
    rest = {"not_expressible": {}, "violations": [], "longest_prefix": 0, "candidates": [], "false_conjunct": None}
    text = as_text(replay.render(documents.replay().model_copy(update={**nothing, **rest, "not_judged": {}})))

    assert "consumed" not in text
    assert "interrupted after 9.0 s" in text


def test_an_interrupted_proof_does_not_say_that_none_of_none_was_proved():
    interrupted = {"verdict": "inconclusive", "reason": "interrupted after 9.0 s", "obligations": 0, "proved": 0}
    text = as_text(prove.render(documents.prove().model_copy(update=interrupted)))

    assert "obligations" not in text
    assert "interrupted after 9.0 s" in text


def test_markdown_escapes_bars_so_that_rows_stay_rows():
    text = as_text(show.markdown(documents.show()))
    header, rule, row = text.splitlines()[2:5]

    assert header.count("|") == rule.count("|") == row.replace(r"\|", "").count("|")


def test_plain_text_has_no_escapes_and_no_trailing_blanks():
    text = as_text(check.render(documents.check()))

    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("", 140), ("wide", 140), ("0", 140)])
def test_where_there_is_no_terminal_columns_says_how_wide_it_is(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    long = documents.check().model_copy(update={"reason": "word " * 100})
    text = as_text(check.render(long))

    assert width - 10 < max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize(("count", "says"), [(0, "0 steps"), (1, "1 step"), (2, "2 steps"), (1234, "1,234 steps")])
def test_one_is_no_plural(count, says):
    assert counted(count, "step") == says
    assert counted(1, "property", "properties") == "1 property"
