"""The list of names that the real libraries have (src/torch/prelude/known.txt) is what
tools/gen_known.py makes of the libraries here."""
import os
import subprocess
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
rc = subprocess.run([sys.executable, "-W", "ignore", os.path.join(TREE, "tools/gen_known.py"), "--check"]).returncode
print(f"{int(rc == 0)} passed, {int(rc != 0)} failed, 0 skipped")
sys.exit(rc)
