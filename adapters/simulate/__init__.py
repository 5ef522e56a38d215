"""The simulator: workloads on virtual time, served without offload and with it."""
