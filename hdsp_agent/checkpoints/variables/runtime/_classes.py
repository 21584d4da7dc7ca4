"""Classes that a notebook defined: what they are made of, and how they are made again."""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import enum
import types

_MADE_BY_PYTHON = {"__dict__", "__weakref__", "__module__", "__qualname__", "_abc_impl", "__slots__", "__annotate_func__",
                   "__annotations_cache__", "__annotate__", "__firstlineno__", "__static_attributes__"}  # fmt: skip
_MADE_BY_ENUM = {"_member_names_", "_member_map_", "_value2member_map_", "_member_type_", "_unhashable_values_",
                 "_unhashable_values_map_", "_hashable_values_", "__new__", "_new_member_", "_use_args_",
                 "_value_repr_", "_sort_order_", "_all_bits_", "_flag_mask_", "_singles_mask_", "_boundary_",
                 "_inverted_", "_generate_next_value_", "_use_args", "_new_member"}  # fmt: skip

_FUNCTIONS = {types.FunctionType, classmethod, staticmethod}


def skeleton(kind):
    """What a class is made from before it has its attributes."""
    slots = kind.__dict__.get("__slots__")
    made = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    if slots is not None:
        made["__slots__"] = slots
    members = {name: one.value for name, one in kind.__members__.items()} if isinstance(kind, enum.EnumMeta) else None
    bases = getattr(kind, "__orig_bases__", None) if "__orig_bases__" in kind.__dict__ else None
    return type(kind), kind.__name__, kind.__bases__, bases, made, members


def shareable(kind, is_alone):
    """What it holds that a variable may hold too, by name."""
    if isinstance(kind, enum.EnumMeta):
        return {}
    return {
        name: value
        for name, value in state(kind).items()
        if not name.startswith("__") and not is_alone(type(value)) and type(value) not in _FUNCTIONS
    }


def state(kind):
    """Its attributes."""
    slots = kind.__dict__.get("__slots__", ())
    slots = {slots} if isinstance(slots, str) else set(slots)
    left = _MADE_BY_PYTHON | slots | {_mangled(kind, name) for name in slots}
    if isinstance(kind, enum.EnumMeta):
        left = left | _MADE_BY_ENUM | set(kind.__members__) | {f"_{name}_" for name in kind.__members__}
    found = {name: value for name, value in kind.__dict__.items() if name not in left}
    if "__annotations__" not in found:
        # From 3.14 on they are computed when they are asked for.
        try:
            own = kind.__annotations__ if "__annotate_func__" in kind.__dict__ else None
        except Exception:  # noqa: BLE001 -- names in them may be gone
            own = None
        if own:
            found["__annotations__"] = dict(own)
    return found


def class_of(token, loading, load):
    """The class of a token: the one that is there, or one made anew."""
    memory = loading.memory
    kind = loading.made.get(token)
    if kind is None:
        kind = loading.made[token] = memory.classes.get(token)
        if kind is not None and token in loading.classes:
            # It is there and may have changed: its attributes are set when everything has been read.
            found = loading.classes[token]
            if found["changed"]:
                loading.states.append((kind, load(found["state"], (), None, loading)))
    if kind is not None:
        return kind
    found = loading.classes[token]
    kind = loading.made[token] = _make(*load(found["skeleton"], (), None, loading))
    apply(kind, load(found["state"], (), None, loading), fresh=True)
    return kind


def apply(kind, attributes, fresh=False):
    """Give a class exactly these attributes."""
    if not fresh:
        for name in set(state(kind)) - set(attributes):
            delattr(kind, name)
    for name, value in attributes.items():
        if fresh or kind.__dict__.get(name) is not value:
            try:
                setattr(kind, name, value)
            except AttributeError:
                # Such as __doc__ of a class with slots: Python made it from the same source.
                if not name.startswith("__"):
                    raise


def _make(meta, name, bases, generic, made, members):
    if members is not None:
        space = meta.__prepare__(name, bases)
        # Not update(): the enum's own dictionary notes each name as it comes.
        for key, value in {**made, **members}.items():
            space[key] = value
        return meta.__new__(meta, name, bases, space)
    space = dict(made)
    if generic is not None:
        space["__orig_bases__"] = generic
    return types.new_class(name, bases, {"metaclass": meta}, lambda body: body.update(space))


def _mangled(kind, name):
    if name.startswith("__") and not name.endswith("__"):
        return f"_{kind.__name__.lstrip('_')}{name}"
    return name
