"""WHY it is believed: explorer, induction, bounded checking, replay, reference."""
