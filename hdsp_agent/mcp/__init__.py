"""The Model Context Protocol, both ways: other agents use our tools (``server``), and ours uses their servers (``client``).

Nothing here is loaded before it is used; the SDK takes most of a second.
"""
