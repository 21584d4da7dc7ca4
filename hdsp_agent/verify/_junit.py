"""A report as JUnit XML, which every CI shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from xml.etree import ElementTree

from ._report import NotebookReport

__all__ = ["junit_xml"]

_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(reports: Sequence[NotebookReport]) -> str:
    """A test suite for each notebook, a test for each of its code cells."""
    suites = ElementTree.Element("testsuites", name="hdsp-agent verify")
    for report in reports:
        path, errors = _FORBIDDEN.sub("�", report.path), int(report.error is not None)
        suite = ElementTree.SubElement(
            suites, "testsuite", name=path, tests=str(len(report.cells) + errors), failures=str(len(report.differing)),
            errors=str(errors), skipped=str(sum(cell.state == "skipped" for cell in report.cells)), time=f"{report.seconds:.3f}",
        )  # fmt: skip
        if report.error is not None:
            case = ElementTree.SubElement(suite, "testcase", classname=path, name="Run")
            ElementTree.SubElement(case, "error", message=_FORBIDDEN.sub("�", report.error))
        for cell in report.cells:
            case = ElementTree.SubElement(
                suite, "testcase", classname=path, name=f"Cell {cell.number}", time=f"{cell.seconds:.3f}"
            )
            if cell.state == "skipped":
                ElementTree.SubElement(case, "skipped")
            elif cell.state == "differs":
                ElementTree.SubElement(case, "failure", type=cell.cause or "", message=_FORBIDDEN.sub("�", cell.detail))
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"
