#!/usr/bin/env bash
# The Python tests, in three processes: they wait for a good part of the time. Those that fail are tried once more,
# alone: what passes only then is named, and wants mending.
set -uo pipefail

python -m pytest --cache-clear -n "${TEST_PROCESSES:-3}" --dist loadfile
code=$?
# Anything but 1 is no test that failed: it was interrupted, or could not begin.
[ "$code" -eq 1 ] || exit "$code"

echo "Once more, what failed:"
python -m pytest -v --last-failed --last-failed-no-failures=none || exit
echo "UNSTEADY: these passed the second time only. Mend them: a test that fails by chance hides one that does not."
