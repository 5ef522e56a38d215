"""The parts of ``KVOffloadScheduler``, one idea each; ``machine`` puts them together."""
