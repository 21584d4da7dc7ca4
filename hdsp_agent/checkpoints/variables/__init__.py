"""A kernel's variables: what they were, and the way back.

Others use ``VariableCheckpoints``. What looks at variables and turns them into bytes runs in the kernel (``runtime``); here are
the store, which knows its own manifests by a key no kernel sees, the plan of a restore, and the cells to run again for what
cannot be kept.
"""

from __future__ import annotations

from ._changed_variables import VariableChange, changes_since
from ._kernel_runtime import VariableKernel
from ._manifest import ManifestId, VariableManifest
from ._rerun import Rerun, RerunCell, cell_to_rerun
from ._variable_checkpoints import VariableCheckpoints, VariableReport
from ._variable_limits import VariableLimits
from ._variable_plan import PlannedVariable, VariablePlan
from ._variable_store import VariableStore, user_key

__all__ = [
    "ManifestId",
    "PlannedVariable",
    "Rerun",
    "RerunCell",
    "VariableChange",
    "VariableCheckpoints",
    "VariableKernel",
    "VariableLimits",
    "VariableManifest",
    "VariablePlan",
    "VariableReport",
    "VariableStore",
    "cell_to_rerun",
    "changes_since",
    "user_key",
]
