"""What plays DSEval's problems: the judge must see what a cell did, and what nobody's code made."""

from __future__ import annotations

from pathlib import Path

from benchmarks.dseval._play import alone, play

# The benchmark itself is not there in tests. These have the shape of what is used of it.
PROBLEM = """
class Validator:
    def validate(self, expected, found):
        same = found["error"] is None and expected["execute_result"] == found["execute_result"]
        return {"correct": "yes" if same and "deleted" not in found["namespace_diff"].values() else "no"}

class Problem:
    execution = None
    validator = Validator()

    def __init__(self, code):
        self.reference_code = code
        self.is_complete = not code.startswith("# given")

class ProblemSet:
    @staticmethod
    def fromfile(path):
        return [Problem(code) for code in open(path).read().split("# %%\\n")[1:]]
"""
SIMULATION = """
import ast

class Cell:
    def __init__(self, result):
        self.output = {"execute_result": result, "error": None, "namespace_diff": {}}

class Environment:
    def __init__(self):
        self.namespace = {}

    def execute(self, code, raise_error=False, max_time=1):
        tree = ast.parse(code)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "", "exec"), self.namespace)
        result = None if last is None else eval(ast.unparse(last), self.namespace)
        self.last_cell = Cell(result)

    def fork(self):
        other = Environment()
        other.namespace = self.namespace_copy()
        return other

    def namespace_copy(self):
        return dict(self.namespace)

    def namespace_diff(self, now, before, ids):
        return {name: "deleted" for name in before if name not in now}
"""
SET = """\
# %%
# given
import pathlib
x = int(pathlib.Path("inputs/number.txt").read_text())
# %%
x + 1
# %%
"get_ipython" in globals()
# %%
import IPython
if (shell := IPython.get_ipython()) is not None:
    shell.user_ns["leak"] = 1
x
# %%
x / 0
# %%
x
"""


async def test_the_judge_sees_what_passes_what_does_not_and_what_leaks(tmp_path: Path) -> None:
    package, folder, bare = tmp_path / "dseval", tmp_path / "played", tmp_path / "alone"
    for made in (package, folder, bare, tmp_path / "sets" / "_inputs"):
        made.mkdir(parents=True)
    (package / "problem.py").write_text(PROBLEM)
    (package / "simulation.py").write_text(SIMULATION)
    (tmp_path / "sets" / "_inputs" / "number.txt").write_text("41")
    file = tmp_path / "sets" / "sums.py"
    file.write_text(SET)

    played = await play(tmp_path, file, folder)
    assert [one.passed for one in played.verdicts] == [True, False, True, False, False]
    assert [one.problem for one in played.verdicts] == [f"sums:{number}" for number in range(1, 6)]
    assert played.verdicts[3].reason.startswith("The reference fails: ZeroDivisionError")
    assert (played.strange, played.cells) == (["leak"], 4)
    assert [one.passed for one in alone(tmp_path, file, bare)] == [True, True, True, False, False]
