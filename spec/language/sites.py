"""Who may read and write what: an action stays at its site, and ghosts feed ghosts only.

Without this a guard could read what no scheduler sees, and a proof would be about a machine that
nobody can build.
"""

from __future__ import annotations

from interlock.spec.language import terms as T
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import Step
from interlock.spec.language.variables import Site


def refuse_wrong_sites(spec: Specification, step: Step) -> None:
    """Refuse a step that reads or writes beyond its site.

    Channels are written by sends and receives only, whose sites the builder has checked; what they
    carry is judged here like any other part of the action.

    Raises:
        SpecificationError: names the action, the part and the variable.
    """
    action = step.action
    site_of = {v.name: v.site for v in spec.variables}
    channels = {c.name: c for c in spec.channels}

    def refuse_read(part: str, t: T.Term, besides: str | None = None) -> None:
        for name in sorted(T.symbols(t) - {besides}):
            channel = channels.get(name)
            place = f"action {action.name}, {part}"
            if channel is not None:
                if channel.receiver != action.site:
                    raise SpecificationError(
                        place,
                        f"reads channel {name}, which arrives at the {channel.receiver}",
                        f"only actions of the {channel.receiver} may look at it",
                    )
            elif site_of[name] == Site.GHOST:
                raise SpecificationError(
                    place,
                    f"reads ghost {name}",
                    "only properties and updates of ghosts may; give the site a variable of its own",
                )
            elif site_of[name] != action.site:
                raise SpecificationError(
                    place,
                    f"reads {name} of the {site_of[name]} at the {action.site}",
                    "send a message between the sites",
                )

    for c in step.guard:
        refuse_read(f"conjunct {c.id}", c.term)
    for u in step.updates:
        part = f"update of {u.symbol}"
        channel = channels.get(u.symbol)
        if channel is not None:
            if action.site not in (channel.sender, channel.receiver):
                raise SpecificationError(
                    f"action {action.name}, {part}",
                    f"the {action.site} neither sends nor receives on {u.symbol}",
                    f"it joins the {channel.sender} to the {channel.receiver}",
                )
            for t in (*u.args, u.when):
                refuse_read(part, t)
            # One copy more or less: the number that is there is not looked at.
            refuse_read(part, u.value, besides=u.symbol)
        elif site_of[u.symbol] == Site.GHOST:
            continue
        elif site_of[u.symbol] != action.site:
            raise SpecificationError(
                f"action {action.name}, {part}",
                f"writes a variable of the {site_of[u.symbol]} at the {action.site}",
                "send a message and let the other site write it",
            )
        else:
            for t in (*u.args, u.value, u.when):
                refuse_read(part, t)


def observable(spec: Specification, steps: tuple[Step, ...]) -> frozenset[str]:
    """Variables whose value the observed events determine, so that a monitor can keep them.

    The greatest set in which every writer is an observed action, and every update and domain reads only
    the set: an observer that starts at the initial state and sees each event then knows each value.
    """
    names = {v.name for v in spec.variables}
    domains = {v.name: T.symbols(v.domain) for v in spec.variables if v.domain is not None}
    while True:
        known = {n for n in names if domains.get(n, set()) <= names}
        for s in steps:
            for u in s.updates:
                read = set().union(*(T.symbols(t) for t in (*u.args, u.value, u.when)))
                if not s.action.observed or not read <= known:
                    known.discard(u.symbol)
        if known == names:
            return frozenset(names)
        names = known
