"""``python -m bytepair`` is the command ``bytepair``."""

from __future__ import annotations

import sys

from bytepair.cli import main

if __name__ == "__main__":
    sys.exit(main())
