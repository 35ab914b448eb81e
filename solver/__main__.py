"""`python -m solver` is the command `trainplan`."""

from solver.cli import main

main()
