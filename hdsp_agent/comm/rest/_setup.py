"""The first run: what is there to work with, and a profile made of it."""

from __future__ import annotations

from ..setup_candidates import Candidate, find_candidates, is_ready, use_candidate
from ._bodies import ProfileView, SetupCandidates, SetupCandidateView, SetupUse
from ._endpoint import endpoint
from ._profiles import ProfilesBase

__all__ = ["SetupCandidatesHandler", "SetupUseHandler"]


class SetupCandidatesHandler(ProfilesBase):
    """`GET setup/candidates`"""

    @endpoint("Keys and model servers that are there already", answer=SetupCandidates)
    async def get(self) -> SetupCandidates:
        """Looked for now: on this machine only, and for two seconds at most."""
        config = self.services.config
        found = await find_candidates(config)
        return SetupCandidates(
            ready=await is_ready(config),
            candidates=[_view(candidate) for candidate in found.offered],
            refused=list(found.refused),
        )


class SetupUseHandler(ProfilesBase):
    """`POST setup/use`"""

    @endpoint(
        "Make a profile of a candidate, and the current one",
        answer=ProfileView,
        body=SetupUse,
        action="write",
        status=201,
    )
    async def post(self, *, body: SetupUse) -> ProfileView:
        """An empty profile is filled, an equal one used again."""
        return self.view(await use_candidate(self.services.config, body.id, body.model, body.name))


def _view(candidate: Candidate) -> SetupCandidateView:
    return SetupCandidateView(
        id=candidate.id,
        kind=candidate.kind,
        provider=candidate.provider,
        name=candidate.name,
        variable=candidate.variable,
        base_url=candidate.base_url,
        models=list(candidate.models),
        suggested_model=candidate.suggested_model,
        in_use=candidate.in_use,
    )
