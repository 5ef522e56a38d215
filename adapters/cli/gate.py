"""`interlock gate`: hold a connector to the contract, without a GPU."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from interlock.adapters.cli import options
from interlock.adapters.cli.problems import UsageProblem
from interlock.adapters.own import OWN_MACHINE


class Engine(StrEnum):
    """What runs the connector."""

    VLLM = "vllm"
    EMBEDDED = "embedded"


class Profile(StrEnum):
    """How long to look."""

    QUICK = "quick"
    FULL = "full"


class Output(StrEnum):
    """What goes to standard output."""

    TEXT = "text"
    JSON = "json"


def gate(
    context: typer.Context,
    connector: options.Connector,
    connector_config: options.ConnectorConfig = None,
    engine: Annotated[
        Engine | None,
        typer.Option(help="What runs the connector. Default: embedded for interlock, else vllm."),
    ] = None,
    vllm: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION",
            help="vLLM release to fetch. Default: the installed, else the newest known one.",
        ),
    ] = None,
    profile: Annotated[Profile, typer.Option(help="quick: at most a minute on two cores.")] = Profile.QUICK,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search.")] = 0,
    budget: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=1, help="Stop searching after this. Default: the profile's.")
    ] = None,
    properties: options.Properties = None,
    sets: options.Sets = None,
    modules: Annotated[
        list[str] | None,
        typer.Option(
            "--module",
            metavar="NAME",
            help="Only this module of the specification (kv, engine, encoder, groups); repeatable. Default: all that "
            "can be played, or those that have what --set and --property name. vllm:scheduler: engine and encoder; "
            "other connectors: kv.",
        ),
    ] = None,
    observer: options.Observer = None,
    boundary_only: options.BoundaryOnly = False,
    output: Annotated[Output, typer.Option("--format", help="What goes to standard output.")] = Output.TEXT,
    trace_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the trace of each finding into DIR.")
    ] = None,
    json: options.JsonFile = None,
    json_schema: Annotated[bool, options.json_schema("gate", "GateDocument")] = False,
) -> int:
    """Hold a connector to the contract, without a GPU.

    Drives it through the engine's calls and reports the shortest scenario that breaks a rule.
    """
    from interlock.adapters.cli.bindings.gate import GateBinding, GateRequest
    from interlock.adapters.cli.conduct import conduct
    from interlock.adapters.cli.session import Session

    own = connector == OWN_MACHINE
    chosen = engine or (Engine.EMBEDDED if own else Engine.VLLM)
    if sets and not own:
        raise UsageProblem(
            "--set changes our own machine, not the rules by which a connector is judged",
            f"give it with CONNECTOR interlock, not {connector}",
        )
    if chosen is Engine.EMBEDDED and not own:
        raise UsageProblem("the embedded engine runs our own machine only", f"leave out --engine for {connector}")
    if chosen is Engine.EMBEDDED and vllm is not None:
        raise UsageProblem("the embedded engine has no vLLM", "leave out --vllm, or give --engine vllm")
    require_connector(connector)
    if trace_dir is not None:
        options.make_folder("--trace-dir", trace_dir)
    session = Session(context.obj, json, {"--connector-config": options.file_of(connector_config)})
    request = GateRequest(
        connector=connector,
        connector_config=connector_config,
        engine=chosen.value,
        vllm=vllm,
        profile=profile.value,
        seed=seed,
        budget=budget,
        properties=properties or None,
        sets=options.pairs("--set", sets, "store_dedup=per_step"),
        modules=tuple(modules or ()),
        observer=observer,
        boundary_only=boundary_only,
        trace_dir=trace_dir,
    )
    return conduct(GateBinding(request, session), session, output.value)


def require_connector(name: str) -> None:
    """Refuse a name without the form of one; whether there is such a connector is for the gate to say."""
    module, _, attribute = name.partition(":")
    if name != OWN_MACHINE and not (attribute.isidentifier() and all(m.isidentifier() for m in module.split("."))):
        raise UsageProblem(
            f"{name!r} names no connector",
            "give vllm:NAME (as vllm:OffloadingConnector), package.module:Class, interlock, or vllm:scheduler",
        )
