"""Judges in a kernel what a cell did, with DSEval's own validators. It lives in ``sys.modules`` alone.

As a program it runs the references of a problem set without any agent: ``python _in_kernel.py DSEVAL FILE``.
"""
# mypy: ignore-errors
# It runs beside DSEval, which is not there when types are checked.

import json
import random
import sys
import types
from pathlib import Path

_SECONDS = 120
"""The benchmark's own limit of a second is for quiet machines."""


class Judge:
    """One problem set: what its references come to in a namespace of their own, beside the notebook's."""

    def __init__(self, dseval, file):
        problem_set, self._environment = _parts(dseval)
        self.problems = list(problem_set.fromfile(file))
        self._reference = self._environment()
        self._play = self._environment()
        self._before = {}
        self._ids = {}
        self._names = set()
        self._expected = None

    def sections(self):
        """The code of each cell, and whether it answers a question."""
        return [[problem.reference_code, problem.is_complete] for problem in self.problems]

    def before(self, number, namespace):
        """Run the reference; remember what is in the notebook's namespace."""
        self._play.namespace = _theirs(namespace)
        self._before = self._play.namespace_copy()
        self._ids = {name: id(value) for name, value in self._play.namespace.items()}
        self._names = set(namespace)
        self._expected = _without_chance(lambda: self._run(self._reference, number, raises=True))

    def _run(self, environment, number, *, raises=False):
        problem = self.problems[number]
        limits = {**(problem.execution or {}), "max_time": _SECONDS}
        environment.execute(problem.reference_code, raise_error=raises, **limits)
        return environment.last_cell.output

    def after(self, number, namespace, result, error, printed):
        """Whether the validators pass what the cell did, and which names came that the reference did not make."""
        theirs = _theirs(namespace)
        diff = self._play.namespace_diff(theirs, self._before, self._ids)
        expected = set(self._reference.namespace)
        strange = sorted(
            name for name in set(namespace) - self._names if name not in expected and not _is_of_python(name)
        )
        problem = self.problems[number]
        if not problem.is_complete:
            return {"passed": error is None, "reason": error or "", "strange": strange}
        output = {
            "source_code": problem.reference_code,
            "stream_output": printed,
            "execute_time": 0.0,
            "execute_result": result,
            "error": None if error is None else {"ename": "", "evalue": error, "traceback": [error]},
            "namespace_snapshot": theirs,
            "namespace_diff": diff,
        }
        return {**_verdict(problem, self._expected, output), "strange": strange}

    def alone(self):
        """The same without a notebook, as DSEval itself tries its references."""
        found = []
        failure = None
        for number, problem in enumerate(self.problems):
            if failure is None:
                try:
                    play = self._reference.fork()
                    expected = _without_chance(lambda number=number: self._run(self._reference, number, raises=True))
                    verdict = _verdict(problem, expected, self._run(play, number)) if problem.is_complete else None
                except Exception as error:  # noqa: BLE001 -- what follows stands on it
                    failure = {"passed": False, "reason": f"The reference fails: {type(error).__name__}: {error}"}
            if problem.is_complete:
                found.append(failure or verdict)
        return found


def _verdict(problem, expected, output):
    verdict = problem.validator.validate(expected, output)
    return {"passed": verdict["correct"] == "yes", "reason": json.dumps(verdict, default=str)[:2000]}


def _parts(dseval):
    """DSEval's modules without the package's own first lines, which want other agents."""
    if "dseval" not in sys.modules:
        package = sys.modules["dseval"] = types.ModuleType("dseval")
        package.__path__ = [str(Path(dseval, "dseval"))]
    from dseval.problem import ProblemSet
    from dseval.simulation import Environment

    return ProblemSet, Environment


def _without_chance(work):
    """The reference must not draw the numbers that the notebook draws after it."""
    import numpy as np

    states = random.getstate(), np.random.get_state()  # noqa: NPY002 -- it is theirs
    try:
        return work()
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002 -- as above


def _theirs(namespace):
    import IPython

    hidden = IPython.get_ipython().user_ns_hidden
    return {
        name: value
        for name, value in namespace.items()
        if not _is_of_python(name) and value is not hidden.get(name, Judge)
    }


def _is_of_python(name):
    """Whether Python or IPython comes and goes with it, whoever runs a cell: history, and which warnings were shown."""
    if name in ("In", "Out", "__builtins__", "__warningregistry__"):
        return True
    return name.startswith("_") and (name.strip("_i").isdigit() or not name.strip("_i"))


if __name__ == "__main__":
    told = Judge(sys.argv[1], sys.argv[2]).alone()
    print("\n" + json.dumps(told))
