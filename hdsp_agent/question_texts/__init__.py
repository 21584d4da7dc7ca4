"""What a person is asked to allow, as plain text in which nothing hides, for wherever no page shows it."""

from ._flag_lines import flag_lines
from ._question_lines import cell_lines, question_lines, question_title
from ._unseen_characters import visible, visible_line

__all__ = ["cell_lines", "flag_lines", "question_lines", "question_title", "visible", "visible_line"]
