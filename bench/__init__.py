"""The figures of Gieok: each is a ratio to something bare, measured beside it in the same run.

python -m bench                 everything, in its long form
python -m bench turns --short   one benchmark, in the form that the tests run
"""
