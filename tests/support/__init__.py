"""What tests of several rooms share; imported as `support`."""
