"""Which modules of the specification a run of the gate judges by, and what it looks for in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from interlock.adapters.gate.errors import GateUsageError
from interlock.adapters.gate.judge import CRASH, DIES, HANG, REFINES, UNEXPLAINED, property_ids
from interlock.adapters.gate.modules import MODULES, SCHEDULERS, GateModule
from interlock.spec.language.specification import UnknownName
from interlock.statemachine.errors import UnsupportedSwitch
from interlock.statemachine.offload.unsupported import refuse_what_is_not_run

AUTOMATIC = (CRASH, HANG, DIES, UNEXPLAINED, REFINES)
"""Findings that are no property of the specification."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A module to judge by.

    Args:
        sets: what of ``--set`` is a switch of it.
        wanted: what of ``--property`` is a property of it; all, if empty.
    """

    module: GateModule
    sets: Mapping[str, str]
    wanted: tuple[str, ...]

    @property
    def values(self) -> dict[str, str]:
        """A value for every switch."""
        return self.module.values(self.sets)


@dataclass(frozen=True, slots=True)
class Choice:
    """The modules of a run, and what could not be played of those that would have been.

    Args:
        left_out: by module, why it is not played.
    """

    chosen: tuple[Chosen, ...]
    left_out: Mapping[str, str]


def choose(
    *,
    own: bool,
    engine: str,
    release: str | None,
    names: Sequence[str],
    sets: Mapping[str, str],
    properties: Sequence[str],
) -> Choice:
    """What to play.

    Of our own machine every module, or those that are named; of a run that sets switches or wants properties, those
    that have them. Any other connector is one of KV transfers.

    Args:
        release: of vLLM; ``None`` with the embedded engine.
        names: of modules, as ``--module`` gives them; none: all.

    Raises:
        UnknownName: a module, switch, value or property that does not exist.
        GateUsageError: what was asked for does not go together.
    """
    unknown = next((n for n in names if n not in MODULES), None)
    if unknown is not None:
        raise UnknownName("module that the gate judges by", unknown, list(MODULES))
    everybodys = [n for n, m in MODULES.items() if m.any_connector]
    if not own and any(n not in everybodys for n in names):
        theirs = ", ".join(everybodys)
        raise GateUsageError(
            f"only our own machine is held to other modules than {theirs}", f"gate interlock, or --module {theirs}"
        )
    named = [MODULES[n] for n in names or (MODULES if own else everybodys)]
    owners = {name: _owners(name) for name in sets}
    for name, modules in owners.items():
        _refuse(name, modules, names)
    wanted = {p: _with_property(p) for p in properties}
    playable, left_out = [], {}
    for m in named:
        if any(asked and not any(m in found for found in asked.values()) for asked in (owners, wanted)):
            continue
        why = _why_not(m, engine, release, sets)
        if why is None:
            playable.append(m)
        elif names or owners or wanted:
            raise GateUsageError(
                f"module {m.name} {why}",
                f"say --engine vllm --vllm {m.releases[0] if m.releases else '0.32.0'}, or leave it out",
            )
        else:
            left_out[m.name] = why
    if not playable:
        theirs = ", ".join(dict.fromkeys(m.name for found in wanted.values() for m in found))
        right = f"say --module {theirs}" if own else "gate interlock with it"
        raise GateUsageError(f"{', '.join(wanted)}: of module {theirs}, not {', '.join(m.name for m in named)}", right)
    return Choice(
        tuple(
            Chosen(
                m,
                {name: value for name, value in sets.items() if m in owners[name]},
                tuple(_id(p, m) for p, found in wanted.items() if m in found),
            )
            for m in playable
        ),
        left_out,
    )


def choose_of_scheduler(release: str, names: Sequence[str], properties: Sequence[str]) -> Choice:
    """What vLLM's scheduler of a release is held to: the modules that are named, or that have the properties; or all.

    Raises:
        UnknownName: a module or property that does not exist.
        GateUsageError: a module that it is not held to.
    """
    unknown = next((n for n in names if n not in MODULES), None)
    if unknown is not None:
        raise UnknownName("module that the gate judges by", unknown, list(MODULES))
    other = next((n for n in names if n not in SCHEDULERS), None)
    if other is not None:
        theirs = ", ".join(SCHEDULERS)
        raise GateUsageError(
            f"vLLM's scheduler is not held to module {other}", f"leave it out, or say --module {theirs}"
        )
    modules = [made(release) for name, made in SCHEDULERS.items() if name in (names or SCHEDULERS)]
    wanted = {p: [m.name for m in _with_property(p)] for p in properties}
    chosen = [
        Chosen(m, {}, tuple(_id(p, m) for p, found in wanted.items() if m.name in found))
        for m in modules
        if not wanted or any(m.name in found for found in wanted.values())
    ]
    if not chosen:
        theirs = ", ".join(dict.fromkeys(n for found in wanted.values() for n in found))
        wrong = f"{', '.join(wanted)}: of module {theirs}, to which vLLM's scheduler is not held here"
        raise GateUsageError(wrong, f"name a property of {', '.join(m.name for m in modules)}")
    return Choice(tuple(chosen), {})


def _owners(switch: str) -> list[GateModule]:
    """Modules whose switch it is, or that obey it."""
    found = [m for m in MODULES.values() if m.obeys(switch)]
    if not found:
        raise UnknownName("switch", switch, [s for m in MODULES.values() for s in sorted(m.switches)])
    return found


def _refuse(switch: str, modules: Sequence[GateModule], names: Sequence[str]) -> None:
    """A switch of a module that is not to be played, or one of which a clean run would say nothing."""
    if names and not any(m.name in names for m in modules):
        theirs = ", ".join(m.name for m in modules)
        raise GateUsageError(f"{switch} is a switch of module {theirs}", f"say --module {modules[-1].name}")
    (module,) = (m for m in modules if switch in m.switches)
    why = f" ({module.unshown[switch]})" if switch in module.unshown else ""
    if module.runs is not None and switch not in module.runs:
        raise GateUsageError(
            f"nothing that the gate plays with our {module.tests} shows what {switch} changes{why}",
            f"set one of {', '.join(sorted(module.runs))}, or: interlock check --set {switch}=VALUE",
        )


def refuse_values(chosen: Sequence[Chosen]) -> None:
    """Values that do not exist, or that our machine does not run.

    Raises:
        UnknownName, GateUsageError: which, and what would be right.
    """
    for c in chosen:
        try:
            refuse_what_is_not_run(c.values)
        except UnsupportedSwitch as error:
            raise GateUsageError(error.wrong, error.right) from error


def _why_not(module: GateModule, engine: str, release: str | None, sets: Mapping[str, str]) -> str | None:
    shared = [name for name in sets if name in module.shares]
    if module.any_connector and not shared:
        return None
    if engine != "vllm":
        return "needs a vLLM scheduler"
    if module.releases is not None and release not in module.releases:
        return f"is played on vLLM {', '.join(module.releases)}, not on {release}"
    return None


def _with_property(name: str) -> list[GateModule]:
    """Modules that have a property, by its id or alias; all of them for what is no property of any."""
    if name in AUTOMATIC:
        return list(MODULES.values())
    found = [m for m in MODULES.values() if name in (*m.oracle, *m.at_rest) or name in m.spec.properties_by_name()]
    judged = [m for m in found if _id(name, m) in _judged(m)]
    if not judged:
        known = [p for m in MODULES.values() for p in _judged(m)]
        raise UnknownName("property that the gate judges by", name, [*known, *AUTOMATIC])
    return judged


def _judged(module: GateModule) -> list[str]:
    return list(dict.fromkeys((*property_ids(module.spec), *module.at_rest, *module.oracle, *module.policy)))


def _id(name: str, module: GateModule) -> str:
    return name if name in (*AUTOMATIC, *module.oracle, *module.at_rest) else module.spec.property(name).id
