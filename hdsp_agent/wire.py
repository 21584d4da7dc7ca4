"""The base of every model that crosses a border: camelCase outside, snake_case inside."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, JsonValue
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

__all__ = ["WireModel"]


class WireModel(BaseModel):
    """A model on the wire or on disk.

    Building the validators is deferred to first use, and the texts below the fields are read when a schema is asked for:
    importing the vocabulary must not slow Jupyter's start.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        defer_build=True,
        extra="forbid",
        frozen=True,
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """With the texts below the fields, unless the model's configuration says ``use_attribute_docstrings=False``."""
        told = handler(core_schema)
        properties = handler.resolve_ref_schema(told).get("properties", {})
        if cls.model_config.get("use_attribute_docstrings") is not False:
            for name, text in _texts_of_fields(cls).items():
                for key in (cls.model_fields[name].alias, to_camel(name), name) if name in cls.model_fields else ():
                    if key in properties:
                        properties[key].setdefault("description", text)
        return told

    def to_wire(self) -> dict[str, JsonValue]:
        """The JSON object others see: camelCase names, absent fields left out."""
        wire: dict[str, JsonValue] = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        return wire

    def to_json(self) -> str:
        """The same as one line of JSON text."""
        return self.model_dump_json(by_alias=True, exclude_none=True)


@cache
def _texts_of_fields(model: type[BaseModel]) -> dict[str, str]:
    """The text below each field, of this model or the one that it has the field from."""
    texts: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if issubclass(cls, WireModel) and cls is not WireModel:
            own = _own_texts(cls)
            texts = {name: text for name, text in texts.items() if name not in own}
            texts |= {name: text for name, text in own.items() if text is not None}
    return texts


def _own_texts(model: type[BaseModel]) -> dict[str, str | None]:
    """Of each field that stands in the model itself."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        # It was made by code, or its source cannot be had.
        return {}
    assert isinstance(tree, ast.ClassDef)
    texts: dict[str, str | None] = {}
    for node, below in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            has_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            text = below.value.value if has_text else None  # type: ignore[union-attr]  # it is an expression then
            texts[node.target.id] = inspect.cleandoc(text) if isinstance(text, str) else None
    return texts
