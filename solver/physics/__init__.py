"""What a step costs: time and memory as functions of arrays; no files, no solver, no prices."""
