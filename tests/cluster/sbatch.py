"""A stand-in for ``sbatch``: runs the jobs of an array one after another, like Slurm as far as tests can tell.

The number of the job is that of its process group, so that the stand-in for ``scancel`` is one ``kill``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

options = dict(argument.partition("=")[::2] for argument in sys.argv[1:-1])
script = Path(sys.argv[-1])
if "--partition" in options:
    sys.exit("sbatch: error: invalid partition specified: " + options["--partition"])
os.setsid()
print(os.getpid(), flush=True)
asked = dict(re.findall(r"^#SBATCH (--[\w-]+)=(.*)$", script.read_text(), re.MULTILINE))
first, last = map(int, asked["--array"].partition("%")[0].split("-"))
code = 0
for number in range(first, last + 1):
    place = asked["--output"].replace("%x", asked["--job-name"]).replace("%a", str(number))
    with Path(options["--chdir"], place).open("wb") as log:
        environment = {**os.environ, "SLURM_ARRAY_TASK_ID": str(number)}
        command = ["bash", str(script)]
        done = subprocess.run(
            command, env=environment, cwd=options["--chdir"], stdout=log, stderr=subprocess.STDOUT, check=False
        )
        code = code or done.returncode
sys.exit(1 if code else 0)
