"""Which variables share objects, and so are saved and restored together."""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.


def together(known, groups, changed):
    """Sorted tuples of all names that are to be saved; those that cannot be saved only when they have changed.

    ``groups``: names that were found together and have not changed since. What they share with each other is known.
    """
    parents = {
        name: name
        for name, one in known.items()
        if one.status != "module" and (one.group is not None or name in changed)
    }

    def root(name):
        while parents[name] != name:
            parents[name] = parents[parents[name]]
            name = parents[name]
        return name

    def join(name, other):
        parents[root(name)] = root(other)

    for names in groups:
        for name in names:
            join(name, names[0])
    first, fresh, settled = {}, [], []
    for name in parents:
        reach = known[name].reach
        if reach is None:
            continue
        if first.setdefault(id(reach), name) is not name:
            join(name, first[id(reach)])
        else:
            (fresh if name in changed else settled).append((name, reach))
    for name, other in _sharing_pairs(fresh, settled):
        join(name, other)
    found = {}
    for name in parents:
        found.setdefault(root(name), []).append(name)
    return [tuple(sorted(names)) for names in found.values()]


def _sharing_pairs(fresh, settled):
    """Names of which at least one is fresh, and that reach something in common."""
    if not fresh:
        return
    largest, most = max(fresh, key=lambda one: len(one[1].ids))
    owners = {}
    for name, reach in fresh:
        if name is not largest:
            for other in reach.owners_in(owners):
                yield name, other
            owners.update(dict.fromkeys(reach.ids, name))
    # The largest may hold more than all others: it is looked things up in.
    for other in most.owners_in(owners):
        yield largest, other
    for name, reach in settled:
        for other in reach.owners_in(owners):
            yield name, other
        if reach.shares_with(most):
            yield name, largest
