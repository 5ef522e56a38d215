"""How our own machine is named where a connector is asked for."""

OWN_MACHINE = "interlock"
