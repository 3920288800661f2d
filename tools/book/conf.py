# SPDX-License-Identifier: Apache-2.0
"""How Sphinx makes the book of the pages that book.py has put into a folder. Nothing is fetched when it is read."""

project = "Sennit"
html_title = "Sennit"
extensions = ["myst_parser"]
root_doc = "README"
html_theme = "furo"
html_copy_source = False
html_show_copyright = False
highlight_language = "text"  # of blocks that name none
myst_heading_anchors = 6  # as GitHub makes them
# The pages are written for GitHub, which knows nothing of these.
myst_disable_syntax = ["myst_role", "myst_line_comment", "myst_block_break", "myst_target"]
