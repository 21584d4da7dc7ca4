"""The hub service: keeps the keys of model providers for everybody on a JupyterHub, passes requests on, counts and limits."""

from __future__ import annotations

from .application import HubServer
from .policies import HubPolicies
from .policy_file import LoadedPolicies, PolicyFileError, PolicyProblem, load_policies
from .service import HubAddresses, HubService

__all__ = [
    "HubAddresses",
    "HubPolicies",
    "HubServer",
    "HubService",
    "LoadedPolicies",
    "PolicyFileError",
    "PolicyProblem",
    "load_policies",
]
