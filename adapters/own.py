"""How our own machine, and vLLM's scheduler itself, are named where a connector is asked for."""

OWN_MACHINE = "interlock"
SCHEDULER = "vllm:scheduler"
