"""Decisions as Markdown files (ADRs), one file per decision, so that a team can review and keep them as text.

front_matter.py  the YAML between `---` and `---`
records.py       one file: `parse` and `render` a decision record
folder.py        a folder of records: read it, resolve names, write changed files
"""
