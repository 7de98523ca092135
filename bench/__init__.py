"""Benchmarks. Each figure is a ratio to a baseline that is measured in the same run.

python -m bench                 all benchmarks in full size
python -m bench turns --short   one benchmark in the small size that the tests use
"""
