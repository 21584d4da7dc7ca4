"""Mutation testing of what decides: small defects are planted one by one, and tests that are fast must find each.

``python -m tests.mutation --sample 120`` tries some of them, chosen by a seed; without a sample all of them. It is a
small runner of our own because the usual ones do not fit: one rewrites the files of the working tree while others use
them, another copies functions behind a trampoline, which breaks frozen dataclasses and modules imported by forked workers.
"""
