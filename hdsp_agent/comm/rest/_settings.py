"""Settings: read, change, reset, carry elsewhere."""

from __future__ import annotations

from functools import cache

from ...config import GlobalSettings, ImportReport, ProviderSettings, providers
from ._rest_bodies import ImportBody, JsonDocument, SettingsPatch, SettingsSchema, SettingsView
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["SettingsExportHandler", "SettingsHandler", "SettingsImportHandler", "SettingsSchemaHandler"]


class _SettingsBase(RestHandler):
    def view(self) -> SettingsView:
        config = self.services.config
        return SettingsView(settings=config.settings, fixed=sorted(config.fixed), defaults=GlobalSettings())


class SettingsHandler(_SettingsBase):
    """`GET|PATCH|DELETE settings`"""

    @endpoint("Show the settings, which of them the administrator fixed, and their defaults", answer=SettingsView)
    async def get(self) -> SettingsView:
        """Answer from the cache."""
        return self.view()

    @endpoint("Change some settings; all or none", answer=SettingsView, body=SettingsPatch, action="write")
    async def patch(self, *, body: SettingsPatch) -> SettingsView:
        """Validate each, then store them together."""
        await self.services.config.update(body.model_extra or {})
        return self.view()

    @endpoint("Reset settings, profiles and stored keys", answer=SettingsView, action="write")
    async def delete(self) -> SettingsView:
        """What the administrator fixed stays fixed."""
        await self.services.config.reset()
        return self.view()


class SettingsSchemaHandler(RestHandler):
    """`GET settings/schema`"""

    _track_activity = False

    @endpoint("The JSON Schemas of settings and profiles, with titles, groups and choices", answer=SettingsSchema)
    async def get(self) -> SettingsSchema:
        """Providers that the administrator does not allow are not offered."""
        policy = self.services.config.policy
        schema = _schema()
        offered = [
            provider if policy.allows_provider(provider.id) else provider.model_copy(update={"hidden": True})
            for provider in schema.providers
        ]
        return schema.model_copy(update={"providers": offered})


class SettingsExportHandler(RestHandler):
    """`GET settings/export`"""

    @endpoint("Settings and profiles as a file; keys are never in it", answer=JsonDocument)
    async def get(self) -> JsonDocument:
        """Without keys and without what belongs to this machine."""
        return JsonDocument.model_validate(await self.services.config.export_settings())


class SettingsImportHandler(RestHandler):
    """`POST settings/import`"""

    @endpoint("Import an exported file, ours or Roo Code's", answer=ImportReport, body=ImportBody, action="write")
    async def post(self, *, body: ImportBody) -> ImportReport:
        """Lenient: what cannot be used is skipped and said."""
        return await self.services.config.import_settings(body.model_extra or {})


@cache
def _schema() -> SettingsSchema:
    return SettingsSchema(
        global_settings=GlobalSettings.model_json_schema(),
        provider_settings=ProviderSettings.model_json_schema(),
        providers=list(providers()),
    )
