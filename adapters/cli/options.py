"""The options that several verbs share, and how their values are read."""

from collections.abc import Sequence
from importlib import import_module
from os.path import isfile
from pathlib import Path
from typing import Annotated, Any

import typer

from interlock.adapters.cli.problems import UsageProblem

JsonFile = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Write the JSON document to FILE, whole or not at all."),
]

Properties = Annotated[
    list[str] | None,
    typer.Option("--property", metavar="ID", help="Only this property; may be repeated. Default: all."),
]

Connector = Annotated[
    str,
    typer.Argument(
        metavar="CONNECTOR", help="vllm:NAME, package.module:Class, interlock (our own machine), or vllm:scheduler."
    ),
]

ConnectorConfig = Annotated[
    str | None,
    typer.Option(metavar="FILE|JSON", help="kv_connector_extra_config, with a small tier. Known names have a default."),
]

Observer = Annotated[
    str | None, typer.Option(metavar="package:Class", help="Decodes the connector's metadata into jobs.")
]

BoundaryOnly = Annotated[bool, typer.Option("--boundary-only", help="Judge only what no observer is needed for.")]

Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SWITCH=VALUE", help="Change a switch of the specification; may be repeated."),
]


Module = Annotated[
    str | None,
    typer.Option(
        "--module", metavar="NAME", help="Only this module of the specification, as kv or encoder. Default: all."
    ),
]

Search = Annotated[
    str | None,
    typer.Option(
        "--bound",
        metavar="NAME=N,...",
        help="Search further for hidden steps, as depth=16,tries=100000, where a bound is what stopped it.",
    ),
]


def json_schema(verb: str, document: str) -> Any:
    """The option --json-schema of a verb: prints the schema of its documents and exits.

    Args:
        verb: module of `interlock.adapters.documents`.
        document: class in it. Both by name, because importing pydantic costs `--help` its speed.
    """

    def show(wanted: bool) -> None:
        if wanted:
            kind = getattr(import_module(f"interlock.adapters.documents.{verb}"), document)
            typer.echo(import_module("interlock.adapters.documents.write").schema_json(kind), nl=False)
            raise typer.Exit

    return typer.Option("--json-schema", is_eager=True, callback=show, help="Print the document's JSON schema.")


def file_of(text: str | None) -> Path | None:
    """The file that an option names, where it may give JSON instead."""
    return Path(text) if text is not None and isfile(text) else None


def pairs(option: str, items: Sequence[str] | None, example: str) -> dict[str, str]:
    """`["a=1", "b=2"]` as `{"a": "1", "b": "2"}`.

    Raises:
        UsageProblem: an item without `=`, an empty side, a name given twice with two values.
    """
    values: dict[str, str] = {}
    for item in items or ():
        name, equals, value = (part.strip() for part in item.partition("="))
        if not (name and equals and value):
            raise UsageProblem(f"{option} {item!r} is not NAME=VALUE", f"for example {option} {example}")
        if values.setdefault(name, value) != value:
            raise UsageProblem(f"{option} gives {name} twice, {values[name]} and {value}", "give it once")
    return values


def sizes(option: str, text: str | None, example: str) -> dict[str, int]:
    """`"block=3,job=2"` as `{"block": 3, "job": 2}`.

    Raises:
        UsageProblem: not of that form, or a size that is not a whole number above zero.
    """
    items = [item for item in (text or "").split(",") if item.strip()]
    if text is not None and not items:
        raise UsageProblem(f"{option} is empty", f"for example {option} {example}")
    result: dict[str, int] = {}
    for name, value in pairs(option, items, example).items():
        if not (value.isascii() and value.isdigit() and int(value) > 0):
            raise UsageProblem(f"{option}: {name}={value} is no size", "a size is a whole number above zero")
        result[name] = int(value)
    return result


def make_folder(option: str, folder: Path) -> None:
    """Make sure that traces can be written into a folder, before anything else is done.

    Raises:
        UsageProblem: a file is there, or it cannot be made.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageProblem(f"{option} {folder} is a file", "name a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageProblem(f"{option} {folder}: {reason}", "name a folder that can be written") from error
