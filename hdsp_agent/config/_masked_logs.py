"""No line of a log shows a key in use, whoever writes it: providers quote keys, and tracebacks quote providers."""

from __future__ import annotations

import logging
import threading
from typing import Final

from ._keys_in_use import keys_in_use

__all__ = ["mask_logs"]

_ORDINARY: Final = logging.Formatter()
_lock = threading.Lock()


def mask_logs() -> None:
    """Mask the keys in use in every record of this process from now on. A second call changes nothing."""
    with _lock:
        make = logging.getLogRecordFactory()
        if getattr(make, "masks_keys", False):
            return

        def masked(*args: object, **kwargs: object) -> logging.LogRecord:
            record = make(*args, **kwargs)
            if keys_in_use:
                _mask(record)
            return record

        masked.masks_keys = True  # type: ignore[attr-defined]  # how a second call knows
        logging.setLogRecordFactory(masked)


def _mask(record: logging.LogRecord) -> None:
    try:
        message = record.getMessage()
    except (TypeError, ValueError, KeyError):
        # Whoever wrote it hears of that from the logging module itself.
        return
    if (shown := keys_in_use.mask(message)) != message:
        record.msg, record.args = shown, None
    if record.exc_info and record.exc_info[1] is not None and not record.exc_text:
        text = _ORDINARY.formatException(record.exc_info)
        if (shown := keys_in_use.mask(text)) != text:
            # A formatter uses this text in place of the traceback; others see an error that says as much.
            record.exc_text = shown
            record.exc_info = (RuntimeError, RuntimeError(_last_line(shown)), None)


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]
