"""Subinterpreters are refused, before and after the main interpreter imports the package, which then works on."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

CODE = """
import sys
from importlib.util import find_spec
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

TRY = '''
try:
    import bytepair
except ImportError as error:
    print(error)
else:
    print("imported")
'''
if sys.argv[1] == "after":
    import bytepair
for _ in range(2):
    other = interpreters.create()
    interpreters.run_string(other, TRY)
    interpreters.destroy(other)
import bytepair as bp
print(bp.train({"low": 5}, vocab_size=258).encode("low low"))
"""


@pytest.mark.parametrize("order", ["before", "after"])
def test_a_subinterpreter_is_refused_and_the_main_one_works(order: str) -> None:
    if not any(map(find_spec, ("_interpreters", "_xxsubinterpreters"))):
        pytest.skip("this Python has no subinterpreters")
    done = subprocess.run([sys.executable, "-c", CODE, order], capture_output=True, text=True, check=False, timeout=120)
    refused = "bytepair works in the main interpreter, and not in subinterpreters; use threads"
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3, done.stdout
    assert all(line.startswith(refused) for line in lines[:2])
    assert lines[2] == "[257, 32, 257]"
