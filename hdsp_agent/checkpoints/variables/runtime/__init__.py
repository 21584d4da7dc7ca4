"""What runs inside the kernel: sent there as text, under any Python since 3.8, with no package of ours installed.

``_chunks`` knows bytes and the store's folder; ``_objects`` how a value becomes bytes and back; ``_reachability`` which values share
objects; ``_code`` which names a cell reads and writes; ``_sweep`` what changed; ``_protocol`` is what the server talks to.
"""
