"""Provider profiles: named settings for talking to a model, and which mode uses which."""

from __future__ import annotations

from ._rest_bodies import ModeProfileBody, NewProfile, ProfileChange, ProfileList, ProfileView
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["ActivateProfileHandler", "ModeProfileHandler", "ProfileHandler", "ProfilesBase", "ProfilesHandler"]


class ProfilesBase(RestHandler):
    """What handlers that show profiles share."""

    def view(self, name: str) -> ProfileView:
        """One profile as it is now."""
        book = self.services.config.profiles
        profile = book.get(name)
        return ProfileView(
            id=profile.id,
            name=profile.name,
            pinned=profile.pinned,
            current=profile.current,
            settings=book.settings(profile.id),
        )

    def listing(self) -> ProfileList:
        """All of them."""
        book = self.services.config.profiles
        return ProfileList(current=book.current.name, profiles=list(book.entries), modes=dict(book.modes))


class ProfilesHandler(ProfilesBase):
    """`GET|POST profiles`"""

    @endpoint("All profiles, the current one, and which mode uses which", answer=ProfileList)
    async def get(self) -> ProfileList:
        """Answer from the cache."""
        return self.listing()

    @endpoint("Create a profile", answer=ProfileView, body=NewProfile, action="write", status=201)
    async def post(self, *, body: NewProfile) -> ProfileView:
        """Its name must be new."""
        profile = await self.services.config.profiles.create(body.name, body.settings)
        return self.view(profile.id)


class ProfileHandler(ProfilesBase):
    """`GET|PATCH|DELETE profiles/{name}`"""

    @endpoint("One profile", answer=ProfileView)
    async def get(self, name: str) -> ProfileView:
        """Keys are not part of it."""
        return self.view(name)

    @endpoint("Change, rename or pin a profile", answer=ProfileView, body=ProfileChange, action="write")
    async def patch(self, name: str, *, body: ProfileChange) -> ProfileView:
        """What is absent stays as it is."""
        book = self.services.config.profiles
        profile = book.get(name)
        # All or nothing: the settings are checked before the name, which may be refused for what others did, is changed.
        if body.settings:
            book.check(body.settings)
        if body.name is not None and body.name.strip() != profile.name:
            profile = await book.rename(profile.id, body.name)
        if body.settings:
            profile = await book.update(profile.id, body.settings)
        if body.pinned is not None:
            profile = await book.pin(profile.id, body.pinned)
        return self.view(profile.id)

    @endpoint("Delete a profile and its keys", answer=ProfileList, action="write")
    async def delete(self, name: str) -> ProfileList:
        """The last one cannot be deleted."""
        await self.services.config.profiles.delete(name)
        return self.listing()


class ActivateProfileHandler(ProfilesBase):
    """`POST profiles/{name}/activate`"""

    @endpoint("Make a profile the current one", answer=ProfileList, action="write")
    async def post(self, name: str) -> ProfileList:
        """New tasks use it; running ones keep theirs."""
        await self.services.config.profiles.activate(name)
        return self.listing()


class ModeProfileHandler(ProfilesBase):
    """`PUT|DELETE modes/{mode}/profile`"""

    @endpoint("Let a mode use a profile of its own", answer=ProfileList, body=ModeProfileBody, action="write")
    async def put(self, mode: str, *, body: ModeProfileBody) -> ProfileList:
        """Replaces the one it had."""
        await self.services.config.profiles.assign_mode(mode, body.profile)
        return self.listing()

    @endpoint("Let a mode use the current profile again", answer=ProfileList, action="write")
    async def delete(self, mode: str) -> ProfileList:
        """Nothing happens if it had none."""
        await self.services.config.profiles.clear_mode(mode)
        return self.listing()
