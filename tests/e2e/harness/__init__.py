"""What the end-to-end scenarios stand on. Python standard library only."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))    # for scratch and oracle
