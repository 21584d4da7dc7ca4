"""What a workspace's files were, and restoring them. Nothing but ``async_file_checkpoints`` knows of an event loop.

``file_checkpoints`` makes whole operations; ``workspace``, ``workspace_walk``, ``stable_read`` and ``capture`` turn a folder into objects;
``restore_steps`` and ``restoration`` turn objects into a folder again; ``operation_log`` is the record of what happened; ``repository``,
``packs`` and ``pack_writer`` keep the objects in git's own format, so that stock git reads a store, though none is needed.
"""
