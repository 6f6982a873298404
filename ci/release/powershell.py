"""Checks that a script for PowerShell parses: where there is no PowerShell it cannot be run.

    python powershell.py FILE
"""

import sys

import tree_sitter_powershell
from tree_sitter import Language, Node, Parser

source = open(sys.argv[1], "rb").read()
tree = Parser(Language(tree_sitter_powershell.language())).parse(source)


def faults(node: Node) -> list[Node]:
    """The nodes where the text is not of the language."""
    own = [node] if node.is_error or node.is_missing else []
    return own + [fault for child in node.children for fault in faults(child)]


found = faults(tree.root_node)
for fault in found:
    print(f"{sys.argv[1]}:{fault.start_point.row + 1}: does not parse: {fault.text[:60]!r}")
if not source.isascii():
    # Windows PowerShell reads a file without a mark of its encoding as of the system's.
    print(f"{sys.argv[1]}: is not ASCII")
sys.exit(bool(found) or not source.isascii())
