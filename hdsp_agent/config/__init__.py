"""Settings, provider profiles and keys: the schema, where they are kept, and who may change them."""

from __future__ import annotations

from ._approval_presets import APPROVAL_PRESETS, chosen_for, with_preset
from ._context_proxy import ContextProxy
from ._custom_modes import GroupOptions, ModeConfig, ModePrompt, ModeSlug, NarrowedMode, ToolGroup
from ._fields import CREDENTIAL_NAME, secret_fields, wire_names
from ._group_limits import GroupLimits, narrowed
from ._hub_service import HUB_TOKEN_VARIABLE, behind_hub_service, hub_config_url, hub_reports_url
from ._import_export import ImportReport
from ._keys_in_use import KEY_IN_USE, KeysInUse, keys_in_use
from ._notices import ConfigChange, ConfigNotice
from ._operator_policy import OperatorPolicy, is_whole_path
from ._path_patterns import LinearPattern, PatternProblem, linear_pattern, path_matches
from ._profiles_section import ProfileEntry
from ._project_settings import PROJECT_SETTINGS, PROJECT_SETTINGS_FILE, project_settings, with_project
from ._provider_settings import (
    ProviderSettings,
    ToolSet,
    model_id,
    secret_environment,
    secret_keys,
    secret_keys_of,
    tool_set,
)
from ._providers import ProviderInfo, provider_info, providers
from ._search_endpoint import check_search_endpoint
from ._secret_status import SecretPresence, SecretStatus
from ._secrets import SecretStore
from ._setting_overrides import overridden, tools_left_out, with_profile
from ._settings import (
    ALL_MASKED_KINDS,
    ApprovalPreset,
    GlobalSettings,
    MaskedKind,
    SearchByMeaning,
    StorageChoice,
    setting_keys,
)
from ._trusted_folders import FolderStanding, FolderVerdict, TrustedFolder, TrustedFolders
from ._user_config import Fetch, UserConfigSource
from ._validation import check_setting, readable_settings

__all__ = [
    "ALL_MASKED_KINDS",
    "APPROVAL_PRESETS",
    "CREDENTIAL_NAME",
    "HUB_TOKEN_VARIABLE",
    "KEY_IN_USE",
    "PROJECT_SETTINGS",
    "PROJECT_SETTINGS_FILE",
    "ApprovalPreset",
    "ConfigChange",
    "ConfigNotice",
    "ContextProxy",
    "Fetch",
    "FolderStanding",
    "FolderVerdict",
    "GlobalSettings",
    "GroupLimits",
    "GroupOptions",
    "ImportReport",
    "KeysInUse",
    "LinearPattern",
    "MaskedKind",
    "ModeConfig",
    "ModePrompt",
    "ModeSlug",
    "NarrowedMode",
    "OperatorPolicy",
    "PatternProblem",
    "ProfileEntry",
    "ProviderInfo",
    "ProviderSettings",
    "SearchByMeaning",
    "SecretPresence",
    "SecretStatus",
    "SecretStore",
    "StorageChoice",
    "ToolGroup",
    "ToolSet",
    "TrustedFolder",
    "TrustedFolders",
    "UserConfigSource",
    "behind_hub_service",
    "check_search_endpoint",
    "check_setting",
    "chosen_for",
    "hub_config_url",
    "hub_reports_url",
    "is_whole_path",
    "keys_in_use",
    "linear_pattern",
    "model_id",
    "narrowed",
    "overridden",
    "path_matches",
    "project_settings",
    "provider_info",
    "providers",
    "readable_settings",
    "secret_environment",
    "secret_fields",
    "secret_keys",
    "secret_keys_of",
    "setting_keys",
    "tool_set",
    "tools_left_out",
    "wire_names",
    "with_preset",
    "with_profile",
    "with_project",
]
