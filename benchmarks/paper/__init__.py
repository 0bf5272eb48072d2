"""The experiments of the 2020 paper on real data; `run.py` is the command."""
