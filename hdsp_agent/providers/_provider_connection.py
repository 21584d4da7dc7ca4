"""Where a profile's model is, and with what one gets in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from ..config import OperatorPolicy, ProviderInfo, ProviderSettings, keys_in_use, model_id, provider_info
from ..errors import ForbiddenByOperator, InvalidSetting, Unsupported
from ._quirks import server_of

__all__ = ["ProviderConnection", "connection_of", "not_served"]

# These programs show people an address without the path of the protocol.
_VERSION_PATH: Final = frozenset({"ollama", "lmstudio", "litellm"})


@dataclass(frozen=True)
class ProviderConnection:
    """How one profile reaches its provider."""

    info: ProviderInfo
    model: str
    server: str
    base_url: str | None
    key: SecretStr | None
    headers: dict[str, str]

    @property
    def key_text(self) -> str | None:
        """The key itself."""
        return self.key.get_secret_value() if self.key else None


def connection_of(
    settings: ProviderSettings, policy: OperatorPolicy | None = None, *, needs_model: bool = True
) -> ProviderConnection:
    """How the profile reaches its provider. Raises InvalidSetting naming what the profile lacks."""
    name = settings.api_provider
    info = provider_info(name) if name else None
    if info is None:
        raise InvalidSetting("This profile has no provider. Choose one in the settings.", field="apiProvider")
    if policy is not None:
        policy.check_provider(info.id)
    model = model_id(settings)
    if needs_model and not model and info.protocol not in ("fake", "local"):
        raise InvalidSetting(
            f"This profile has no model from {info.name}. Choose one in the settings.", field=info.model_field
        )
    key = _key(info, settings, policy)
    if info.key_required and key is None:
        raise InvalidSetting(
            f"There is no key for {info.name}. Enter one in the settings, or set its environment variable.",
            field=info.key_field,
        )
    base_url = _base_url(info, settings)
    _guard_operator_key(info, base_url, key, policy)
    headers = _headers(info, settings)
    keys_in_use.add(*_all_secrets(settings, key))
    return ProviderConnection(info, model or "", server_of(settings, base_url), base_url, key, headers)


def _all_secrets(settings: ProviderSettings, key: SecretStr | None) -> Iterator[str]:
    """What no text may show from now on: keys, and the values of headers that are kept like keys."""
    if key is not None:
        yield key.get_secret_value()
    for name in ProviderSettings.model_fields:
        if isinstance(value := getattr(settings, name), SecretStr):
            yield value.get_secret_value()
    secret = settings.open_ai_secret_headers
    for _, value in _header_lines(secret.get_secret_value() if secret else ""):
        yield value
        yield value.rpartition(" ")[2]


def _key(info: ProviderInfo, settings: ProviderSettings, policy: OperatorPolicy | None) -> SecretStr | None:
    for name, field in ProviderSettings.model_fields.items():
        if field.alias == info.key_field and isinstance(value := getattr(settings, name), SecretStr):
            return value
    return policy.provider_keys.get(info.id) if policy is not None else None


def _guard_operator_key(
    info: ProviderInfo, base_url: str | None, key: SecretStr | None, policy: OperatorPolicy | None
) -> None:
    """The operator's key can be used and not be read: it goes to no address a person chose."""
    if policy is None or key is None or key != policy.provider_keys.get(info.id):
        return
    if base_url == info.default_base_url or info.base_url_field in policy.fixed_settings:
        return
    raise ForbiddenByOperator(
        f"Your administrator's key for {info.name} is only sent to {info.name}'s own address. "
        "Leave the address empty, or enter a key of your own.",
        field=info.base_url_field,
    )


def _base_url(info: ProviderInfo, settings: ProviderSettings) -> str | None:
    if info.protocol in ("bedrock", "vertex", "local", "fake"):
        return settings.aws_bedrock_endpoint if settings.aws_bedrock_endpoint_enabled else None
    own = settings.to_wire().get(info.base_url_field) if info.base_url_field else None
    url = own if isinstance(own, str) and own else info.default_base_url
    if url is None:
        raise InvalidSetting("This profile has no address. Enter one in the settings.", field=info.base_url_field)
    url = url.rstrip("/")
    if info.id in _VERSION_PATH and urlsplit(url).path in ("", "/"):
        return f"{url}/v1"
    if info.protocol == "anthropic" and url.endswith("/v1"):
        # The SDK adds it.
        return url.removesuffix("/v1")
    return url.removesuffix("/chat/completions").removesuffix("/responses")


def _headers(info: ProviderInfo, settings: ProviderSettings) -> dict[str, str]:
    if info.id == "openrouter":
        return {"X-Title": "HDSP Agent"}
    if info.id != "openai":
        return {}
    headers = dict(settings.open_ai_headers or {})
    secret = settings.open_ai_secret_headers
    headers.update(_header_lines(secret.get_secret_value() if secret else ""))
    for name, value in headers.items():
        if not name.isascii() or not value.isascii() or not value.isprintable():
            raise InvalidSetting(
                f"The header {name!a} contains characters that are not allowed in headers.", field="openAiHeaders"
            )
    return headers


def _header_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip():
            yield name.strip(), value.strip()


def not_served(info: ProviderInfo) -> Unsupported:
    """The error for a provider nobody serves here yet."""
    return Unsupported(f"{info.name} cannot be used in this version. Choose another provider.", provider=info.id)
