"""The harness that drives a real vLLM scheduler on the CPU.

Import vLLM only inside functions here: the command line lists this package without vLLM.
"""
