"""A system of any size for measuring: n processes, each in one of k places, each free to move on.

It has ``k ** n`` states, ``n * k ** n`` transitions and depth ``n * (k - 1)``, and fits into one word.

>>> from interlock.proofs.vectorised.run import explore_vectorised
>>> found = explore_vectorised(toy(3, 4))
>>> found.states, found.transitions, found.depth
(64, 192, 9)
"""

from __future__ import annotations

from interlock.spec.language.actions import Action, assign
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import Invariant
from interlock.spec.language.settings import Slice
from interlock.spec.language.sorts import Sort
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import System
from interlock.spec.language.terms import forall, ite
from interlock.spec.language.variables import Site, counter

_SOURCE = "a toy for measuring; it specifies nothing"


def toy(processes: int, places: int) -> System:
    """The toy at a size."""
    process = Sort(name="process", doc="One of identical processes.")
    p = process.var("p")
    place = counter("place", p, site=Site.SCHEDULER, high=places - 1, doc="Where the process is.")
    advance = Action(
        name="advance",
        event="advance",
        params=(p,),
        site=Site.SCHEDULER,
        updates=(assign(place(p), ite(place(p).eq(places - 1), 0, place(p) + 1)),),
        source=_SOURCE,
        doc="The process moves on, from the last place to the first.",
    )
    within = Invariant(
        id="places-are-places",
        source=_SOURCE,
        doc="No process leaves the ring.",
        slices=("toy",),
        formula=forall(p, (place(p) >= 0) & (place(p) < places)),
    )
    slice_ = Slice(name="toy", scope={"process": processes}, doc="All of it.")
    spec = Specification(
        name="toy",
        sorts=(process,),
        enums=(),
        switches=(),
        presets=(),
        variables=(place,),
        channels=(),
        lifecycles=(),
        actions=(advance,),
        properties=(within,),
        slices=(slice_,),
        expectations=(),
    )
    return elaborate(spec, {}, slice_)
