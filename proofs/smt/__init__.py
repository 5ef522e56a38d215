"""Proofs for any size by z3 and cvc5, and bounded model checking; all from the elaborated system."""
