"""`interlock show`, on a small specification of its own."""

import json

import pytest

from interlock.adapters.cli.bindings import show as binding
from interlock.adapters.cli.main import main
from interlock.spec import modules
from interlock.spec.kv import SPECIFICATION as KV
from interlock.spec.language.lifecycles import Lifecycle, row
from interlock.spec.language.properties import Invariant, LeadsTo
from interlock.spec.language.settings import Preset, Switch
from interlock.spec.language.sorts import Enumeration, Sort
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import FALSE, TRUE
from interlock.spec.language.variables import Site, StateVar
from interlock.spec.rules import RULES

job = Sort(name="job", doc="a transfer")
states = Enumeration(name="job_state", members=("planned", "done"), doc="states of a job")
j = job.var("j")


@pytest.fixture
def small():
    return Specification(
        name="small",
        sorts=(job,),
        enums=(states,),
        switches=(Switch(name="dedup", values=("off", "on"), doc="skip", source="PR 1"),),
        presets=(Preset(name="seed", values={"dedup": "off"}, doc="old"),),
        variables=(
            StateVar(
                name="job_state",
                args=(j,),
                result="job_state",
                site=Site.SCHEDULER,
                init=states["planned"],
                doc="the state",
            ),
        ),
        channels=(),
        lifecycles=(
            Lifecycle(
                name="job",
                entity=(j,),
                variable="job_state",
                initial="planned",
                rows=(row("planned", "complete", "done", source="PR 2"),),
                doc="a job",
            ),
        ),
        actions=(),
        properties=(
            Invariant(id="always-true", formula=TRUE, source="R1", doc="it is true"),
            LeadsTo(id="comes-true", premise=FALSE, conclusion=TRUE, source="R2", doc="it comes true"),
        ),
        slices=(),
    )


@pytest.fixture(autouse=True)
def _small_specification(small, monkeypatch):
    monkeypatch.setattr(binding, "modules", lambda: (small,))
    monkeypatch.setattr(binding, "digest", lambda: small.digest)


def test_document_holds_what_the_specification_says(interlock, small, tmp_path):
    outcome = interlock("show", "--json", tmp_path / "show.json")
    document = json.loads((tmp_path / "show.json").read_text())

    assert outcome.code == 0
    assert document["spec_digest"] == small.digest
    assert document["lifecycles"] == [
        {
            "name": "job",
            "states": ["planned", "done"],
            "initial": "planned",
            "rows": [
                {"from": "planned", "event": "complete", "guard": "true", "to": "done", "effects": [], "source": "PR 2"}
            ],
            "module": "small",
        }
    ]
    assert [(p["id"], p["formula"]) for p in document["invariants"]] == [
        ("always-true", "true"),
        ("comes-true", "false leads to true"),
    ]
    assert document["switches"] == [
        {"name": "dedup", "values": ["off", "on"], "doc": "skip", "presets": {"seed": "off"}, "module": "small"}
    ]


def test_says_of_which_properties_there_is_a_proof(tmp_path, capsys):
    assert main(["show", "invariants", "--module", "kv", "--json", str(tmp_path / "show.json")]) == 0
    document = json.loads((tmp_path / "show.json").read_text())

    proved = {p["id"] for p in document["invariants"] if p["proved"]}
    assert proved == {p.id for p in KV.properties if isinstance(p, Invariant) and p.proved}
    assert capsys.readouterr().out.count("kind: invariant, proved for any size") == len(proved) > 0


def test_shows_only_what_was_asked_for(interlock, tmp_path):
    outcome = interlock("show", "switches", "--json", tmp_path / "show.json")
    document = json.loads((tmp_path / "show.json").read_text())

    assert document["lifecycles"] is document["invariants"] is None
    assert "dedup" in outcome.out
    assert "always-true" not in outcome.out


def test_markdown_is_markdown(interlock):
    out = interlock("show", "lifecycles", "--format", "markdown").out

    assert "| planned | complete | true | done |  | PR 2 |" in out.splitlines()


def test_rules_of_one_module_are_those_that_it_checks(interlock, monkeypatch, tmp_path):
    specs = modules.modules()
    monkeypatch.setattr(binding, "modules", lambda: specs)
    interlock("show", "rules", "--json", tmp_path / "all.json")
    every = {r["id"]: r for r in json.loads((tmp_path / "all.json").read_text())["rules"]}
    checked = {}
    for m in specs:
        interlock("show", "rules", "--module", m.name, "--json", tmp_path / "one.json")
        for r in json.loads((tmp_path / "one.json").read_text())["rules"]:
            assert r["checked_by"]
            assert {c for c in r["checked_by"] if "guard of" not in c} <= set(m.properties_by_name())
            assert all(c.startswith(f"{m.name}: ") for c in r["checked_by"] if "guard of" in c)
            checked.setdefault(r["id"], set()).update(r["checked_by"])

    assert len(every) == len(RULES)
    assert {i: set(r["checked_by"]) for i, r in every.items() if r["checked_by"]} == checked


def test_actions_and_presets_are_those_of_the_module(interlock, monkeypatch, tmp_path):
    for m in modules.modules():
        outcome = interlock("show", "actions", "--module", m.name, "--json", tmp_path / "actions.json")
        shown = json.loads((tmp_path / "actions.json").read_text())["actions"]
        assert outcome.code == 0
        assert [(a["name"], a["site"], a["fairness"], a["source"]) for a in shown] == [
            (a.name, a.site.value, a.fairness.value, a.source) for a in m.actions
        ]
        assert [a["parameters"] for a in shown] == [{p.name: p.sort for p in a.params} for a in m.actions]
        assert [list(a["needs"]) for a in shown] == [[c.id for c in a.guard] for a in m.actions]
        assert [a["policy"] for a in shown] == [[c.id for c in a.guard if c.policy] for a in m.actions]
        for part, declared in (
            ("fires", "fires"),
            ("receives", "receives"),
            ("changes", "updates"),
            ("sends", "sends"),
        ):
            assert [len(a[part]) for a in shown] == [len(getattr(a, declared)) for a in m.actions]

        interlock("show", "presets", "--module", m.name, "--json", tmp_path / "presets.json")
        presets = json.loads((tmp_path / "presets.json").read_text())["presets"]
        assert [p["name"] for p in presets] == [p.name for p in m.presets]
        assert [{**m.presets[0].values, **p["differs"]} for p in presets] == [dict(p.values) for p in m.presets]
        assert presets[0]["differs"] == {}


def test_a_table_of_actions_says_what_a_trace_does_not_show(interlock):
    out = interlock("show", "actions", "--module", "kv", "--format", "markdown").out

    head = "action | module | parameters | site | fairness | what happens | needs | fires | receives | changes | sends"
    assert f"| {head} | source |" in out.splitlines()
    (line,) = (x for x in out.splitlines() if x.startswith("| copy_fails |"))
    assert "hidden, a fault | none |" in line


def test_a_table_of_presets_says_what_differs(interlock):
    out = interlock("show", "presets", "--module", "encoder").out

    assert "ec_gate=waiting_only" in out
    assert "interlock" in out
    assert "none" in out


def test_an_action_is_shown_with_its_guard_and_what_it_does(interlock, monkeypatch):
    """The names are those of `check --change`."""
    specs = modules.modules()
    monkeypatch.setattr(binding, "named", lambda name: next(m for m in specs if m.name == name))
    monkeypatch.setenv("COLUMNS", "200")
    lines = [line.strip() for line in interlock("show", "actions", "--module", "kv-transfer").out.splitlines()]
    plan = lines[lines.index("plan_store") :]

    for line in (
        "needs: eagerly (policy): store_mode in {eager}",
        "held: holds(r, b)",
        "fires: request(r)",
        "chunk_hash(c) := block_hash(b)",
        "sends: store_meta(w, j) for all w: worker",
    ):
        assert line in plan[: plan.index("")]


@pytest.mark.parametrize("columns", ["60", "140"])
def test_commands_are_whole_however_narrow_the_terminal(interlock, monkeypatch, tmp_path, columns):
    specs = modules.modules()
    monkeypatch.setattr(binding, "modules", lambda: specs)
    monkeypatch.setenv("COLUMNS", columns)
    lines = interlock("show", "failures", "--json", tmp_path / "failures.json").out.splitlines()
    failures = json.loads((tmp_path / "failures.json").read_text())["failures"]
    commands = {d["setting"] for f in failures for d in f["demonstrations"]}

    assert max(map(len, commands)) > 140
    assert commands == {line.strip().removeprefix("found by: ") for line in lines if "interlock check" in line}


def test_verdicts_are_the_table_and_what_fails_has_its_command(interlock, monkeypatch, tmp_path):
    specs = modules.modules()
    monkeypatch.setattr(binding, "modules", lambda: specs)
    lines = [x.strip() for x in interlock("show", "verdicts", "--json", tmp_path / "verdicts.json").out.splitlines()]
    shown = json.loads((tmp_path / "verdicts.json").read_text())["verdicts"]

    assert [(v["preset"], v["values"], v["slice"], v["property"], v["verdict"], v["why"]) for v in shown] == [
        (e.preset, e.set, e.slice, e.property, e.verdict, e.why) for m in specs for e in m.expectations
    ]
    assert {x for x in lines if x.startswith("interlock check")} == {
        v["setting"] for v in shown if v["verdict"] == "fails"
    }
    assert (
        "interlock check --slice dedup --property no-block-stored-twice-in-flight --set store_dedup=per_step" in lines
    )
