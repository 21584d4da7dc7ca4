"""Mutation testing of what decides: small defects are planted one by one, and tests that are fast must find each.

``python -m tests.mutation --sample 120`` tries some of them, chosen by a seed; without a sample all of them. It is a
small runner of our own: each module has tests of its own, survivors are explained, and no file of the working tree is
touched. cosmic-ray changes the files in place, and mutmut wants a copy of the whole tree.
"""
