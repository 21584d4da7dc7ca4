"""``python -m hdsp_agent.cli``."""

from __future__ import annotations

from ._main import main

raise SystemExit(main())
