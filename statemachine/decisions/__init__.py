"""The specification's guards and updates, compiled to Python over a machine's bookkeeping.

``source`` writes the text of a program for one site and one set of switch values; ``Program``
holds it, and binds it to the containers of one machine. Quantifiers become look-ups in indices.
"""

from __future__ import annotations

from interlock.statemachine.decisions.program import Decision, Program, compile_program

__all__ = ["Decision", "Program", "compile_program"]
