"""Whether a connector or an observer can be found, by its files alone: before anything is fetched for it."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from interlock.adapters.gate.errors import GateUsageError, NotInRelease
from interlock.statemachine.names import did_you_mean

FACTORY = Path("vllm/distributed/kv_transfer/kv_connector/factory.py")
"""Where a release registers its connectors."""


def require(what: str, name: str) -> None:
    """Refuse ``package.module:Class`` whose file or class is not there; what belongs to vLLM comes with a release.

    Args:
        what: what it is the name of, for the message.

    Raises:
        GateUsageError: no such module, one that cannot be parsed, or no such class in it.
    """
    module, _, attribute = name.partition(":")
    if module.partition(".")[0] == "vllm":
        return
    found = _find(module)
    if found is None:
        place = f"{what} {name}: there is no module {module} in {Path.cwd()} or on Python's path"
        raise GateUsageError(place, "put the folder that it is in on PYTHONPATH, or mend the name")
    if found.origin is not None and found.origin.endswith(".py"):
        _require_class(f"{what} {name}", Path(found.origin), attribute)


def require_registered(name: str, release: Path) -> None:
    """Refuse ``vllm:NAME``, or a class of ``vllm`` itself, that a release does not have.

    Args:
        release: the folder that the release is unpacked in.

    Raises:
        NotInRelease: it is not there.
    """
    module, _, attribute = name.partition(":")
    if module == "vllm":
        known = list(_registered(release / FACTORY))
        if known and attribute not in known:
            wrong = f"vLLM {release.name} registers no connector {attribute!r}"
            raise NotInRelease(wrong, did_you_mean(attribute, known, f"{FACTORY}"))
    elif module.partition(".")[0] == "vllm":
        base = release.joinpath(*module.split("."))
        file = next((f for f in (base.with_suffix(".py"), base / "__init__.py") if f.is_file()), None)
        if file is None:
            raise NotInRelease(f"{name}: vLLM {release.name} has no module {module}", "mend the name")
        try:
            _require_class(name, file, attribute)
        except GateUsageError as error:
            raise NotInRelease(error.wrong, error.right) from error


def _find(module: str) -> ModuleSpec | None:
    """The module's spec, without importing anything; as the child that will import it, also in the current folder."""
    spec: ModuleSpec | None = None
    parts = module.split(".")
    for depth in range(1, len(parts) + 1):
        name = ".".join(parts[:depth])
        path = None if spec is None else list(spec.submodule_search_locations or ())
        spec = _spec(name, path)
        if spec is None:
            return None
    return spec


def _spec(name: str, path: list[str] | None) -> ModuleSpec | None:
    if path is None and (here := PathFinder.find_spec(name, [os.getcwd()])) is not None:
        return here
    for finder in sys.meta_path:
        if (found := finder.find_spec(name, path)) is not None:
            return found
    return None


def _require_class(name: str, file: Path, attribute: str) -> None:
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, OSError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) else ""
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        raise GateUsageError(f"{name}: {file}{line}: {said}", "mend that line") from error
    names = list(_bound(tree.body))
    if attribute in names or "*" in names or "__getattr__" in names:
        return
    raise GateUsageError(f"{name}: {file} has no {attribute}", did_you_mean(attribute, [*_classes(tree), *names]))


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    """The names that a module binds at its top, whatever its branches; ``*`` if it takes another's."""
    for s in body:
        match s:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield s.name
            case ast.Import() | ast.ImportFrom():
                yield from ((a.asname or a.name).partition(".")[0] for a in s.names)
            case _:
                yield from (n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
                for part in ("body", "orelse", "finalbody"):
                    yield from _bound(getattr(s, part, []))
                for handler in getattr(s, "handlers", []):
                    yield from _bound(handler.body)


def _classes(tree: ast.Module) -> list[str]:
    return [n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]


def _registered(factory: Path) -> Iterator[str]:
    """The first argument of each call of ``register_connector``."""
    if not factory.is_file():
        return
    for n in ast.walk(ast.parse(factory.read_bytes())):
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "register_connector":
            for a in n.args[:1]:
                if isinstance(a, ast.Constant) and isinstance(a.value, str):
                    yield a.value
