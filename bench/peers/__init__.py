"""`make race`: Gieok beside other memory stores, on the same texts and machine, in one run.

Each peer runs in a process and a virtual environment of its own and answers JSON on stdin and stdout:
`peer.py` is that protocol, `race.py` measures, `environments.py` installs, `report.py` writes the tables.
"""
