"""The parts of ``KVOffloadMachine``, one idea each; ``machine`` puts them together."""
