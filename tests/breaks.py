"""What stands between two parts of a value where a line ends."""

from __future__ import annotations

#: What stands between two parts of a value, by who put it there.
BREAKS = {
    "wrapped": "\n",
    "Windows": "\r\n",
    "a blank left": " \n",
    "a block of YAML": "\n    ",
    "tabs": "\n\t",
    "a mail": "\n> ",
    "a mail in a mail": "\r\n>> ",
    "quoted again": "\n> > ",
    "a list": "\n  * ",
    "a comment": "\n# ",
    "a comment of C": "\n   // ",
    "a comment of SQL": "\n-- ",
    "a shell": " \\\n  ",
    "a cell": "\n| ",
}
