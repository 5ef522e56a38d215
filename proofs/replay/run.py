"""Replays a whole trace and says what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from interlock.proofs.replay import words
from interlock.proofs.replay.bounds import BOUNDS, Bounds, Budget, GaveUpError, OutOfTimeError
from interlock.proofs.replay.replayer import Replayer, Stop
from interlock.proofs.replay.result import ReplayResult
from interlock.proofs.replay.setup import setting
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.specification import Specification
from interlock.statemachine.trace import Trace, TraceEvent, TraceReader, read_trace


def run_replay(
    trace: Trace | Path | str,
    *,
    preset: str | None = None,
    switches: Mapping[str, str] | None = None,
    judge: bool | None = None,
    follow_hidden: bool = False,
    bounds: Bounds = BOUNDS,
    budget: Budget | None = None,
    spec: Specification = SPECIFICATION,
) -> ReplayResult:
    """Whether some behaviour of the specification explains all of a trace, and what it breaks.

    Args:
        trace: a trace, or the file that it is in.
        preset, switches: instead of the header's.
        judge: hold any connector to the properties: guards of policy are dropped. Default: for
            traces of a real scheduler.
        follow_hidden: take hidden lines as they stand; of an explorer's trace, which has all there are, search no more.
        bounds: of the search for hidden steps; where it meets one, the verdict is inconclusive and names it.
        budget: time for all of it; where it is over, the verdict is inconclusive and says so.

    Raises:
        TraceError: what is not a trace of this specification.
    """
    if isinstance(trace, Trace):
        made = setting(spec, trace.header, f"{trace.name}:1", preset=preset, switches=switches, judge=judge)
        replayer = Replayer(made, bounds=bounds, budget=budget, follow_hidden=follow_hidden)
        return _replay(replayer, trace.events, trace.name, follow_hidden)
    with TraceReader(trace) as reader:
        made = setting(spec, reader.header, f"{reader.path}:1", preset=preset, switches=switches, judge=judge)
        replayer = Replayer(made, bounds=bounds, budget=budget, follow_hidden=follow_hidden)
        return _replay(replayer, reader, str(reader.path), follow_hidden)


def run_replay_as_written(
    trace: Trace | Path | str,
    *,
    bounds: Bounds = BOUNDS,
    budget: Budget | None = None,
    spec: Specification = SPECIFICATION,
) -> ReplayResult:
    """As :func:`run_replay`, but by the trace's own hidden steps, where it names them.

    Raises:
        TraceError: what is not a trace of this specification.
    """
    read = trace if isinstance(trace, Trace) else read_trace(trace)
    return _as_written(read, bounds=bounds, budget=budget, spec=spec)[1]


def names_its_hidden_steps(
    trace: Trace,
    *,
    preset: str | None = None,
    switches: Mapping[str, str] | None = None,
    judge: bool | None = None,
    bounds: Bounds = BOUNDS,
    spec: Specification = SPECIFICATION,
) -> bool:
    """Whether a trace is read by the hidden steps that it names, an explorer's; else they are searched.

    Raises:
        TraceError: what is not a trace of this specification.
    """
    return _as_written(trace, preset=preset, switches=switches, judge=judge, bounds=bounds, spec=spec)[0]


def _as_written(
    trace: Trace,
    *,
    preset: str | None = None,
    switches: Mapping[str, str] | None = None,
    judge: bool | None = None,
    bounds: Bounds,
    budget: Budget | None = None,
    spec: Specification,
) -> tuple[bool, ReplayResult]:
    """Whether the hidden steps that a trace names are followed, and what replay says then.

    An explorer's trace names every step, hidden ones too. Without them another run may show the same events and
    do no wrong (or less), or the search for one may give up; with them there is nothing to search: it stops at the
    first step that is not possible, such as one that only ``check --change`` allows.
    Of another trace they are passed over where they explain less than a search does; a search that was given up may
    yet have explained more, so what it could not explain is no verdict.
    """

    def replayed(follow_hidden: bool) -> ReplayResult:
        return run_replay(
            trace,
            preset=preset,
            switches=switches,
            judge=judge,
            follow_hidden=follow_hidden,
            bounds=bounds,
            budget=budget,
            spec=spec,
        )

    if trace.header.names_every_step:
        return True, replayed(True)
    if not any(e.hidden for e in trace.events):
        return False, replayed(False)
    written = replayed(True)
    if not written.stopped:
        return True, written
    found = replayed(False)
    if found.verdict == "inconclusive" and not written.violations:
        return False, found
    return (True, written) if found.stopped else (False, found)


def _replay(replayer: Replayer, events: Iterable[TraceEvent], name: str, follow_hidden: bool) -> ReplayResult:
    result = ReplayResult(warnings=list(replayer.setting.warnings), not_judged=dict(replayer.setting.not_judged))
    stop: Stop | None = None
    gave_up = ""
    entities: tuple[str, ...] = ()
    for index, event in enumerate(events):
        result.events += 1
        place = f"{name}:{index + 2}"
        if not replayer.vocabulary.modelled(event, place):
            result.not_expressible[event.event] = result.not_expressible.get(event.event, 0) + 1
            continue
        if event.hidden and not follow_hidden:
            result.hidden_lines += 1
            continue
        if stop is not None or gave_up:
            continue
        try:
            stop = replayer.consume(index, event, place)
        except OutOfTimeError as error:
            gave_up = f"event {index}, {event}: {error}"
            result.longest_prefix = index
            break
        except GaveUpError as error:
            gave_up = f"event {index}, {event}: {error}"
        if stop is None and not gave_up:
            result.consumed += 1
            result.candidates_max = max(result.candidates_max, len(replayer.candidates))
            continue
        result.longest_prefix = index
        entities = tuple(event.args.values())
    if stop is None and not gave_up:
        result.longest_prefix = result.events
    _conclude(result, replayer, stop, gave_up, entities)
    return result


def _conclude(
    result: ReplayResult, replayer: Replayer, stop: Stop | None, gave_up: str, entities: tuple[str, ...]
) -> None:
    result.violations = replayer.violations
    result.hidden_steps = replayer.hidden_steps
    result.candidates = [words.state(replayer.world, entities) for _ in replayer.candidates.each()]
    if stop is not None:
        result.false_conjuncts = stop.false_conjuncts
        result.false_conjunct = stop.false_conjuncts[0] if stop.false_conjuncts else None
    result.stopped = gave_up or ("" if stop is None else f"event {result.longest_prefix}: {stop.reason}")
    if result.violations:
        # What the trace was written for says more than what else is broken on the way.
        own = [v for v in result.violations if v.property == replayer.setting.asked]
        first = next(iter(own), result.violations[0])
        result.verdict, result.reason = "violated", f"event {first.event}: {first.message}"
    elif gave_up:
        result.verdict, result.reason = "inconclusive", gave_up
    elif stop is not None and replayer.incomplete:
        result.verdict = "inconclusive"
        result.reason = f"{replayer.incomplete}: event {result.longest_prefix}: {stop.reason}"
    elif stop is not None:
        result.verdict, result.reason = "violated", f"event {result.longest_prefix}: {stop.reason}"
    elif replayer.setting.asked in result.not_judged:
        asked = str(replayer.setting.asked)
        result.verdict, result.reason = "inconclusive", f"{asked} is not judged: {result.not_judged[asked]}"
    elif result.consumed == 0:
        result.verdict, result.reason = "inconclusive", "the trace has no event of a modelled lifecycle"
    else:
        result.verdict = "holds"
        no_property = "no property that a log can break" if replayer.setting.beyond_logs else "no property"
        result.reason = f"some behaviour explains all {result.consumed} events, and {no_property} is broken"
