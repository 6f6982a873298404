"""The file tools for LangChain and LangGraph.

    from apply_patch import Workspace
    from apply_patch.langchain import tools

    agent = create_agent(model, tools=tools(Workspace(".")))
"""

from ._tools import functions


def tools(workspace, only=None, *, brief=False, approve=None, observe=None):
    """A `StructuredTool` for each file tool of the workspace; `only` names those that are wanted."""
    from langchain_core.tools import StructuredTool

    return [
        StructuredTool.from_function(function, name=name, description=description, args_schema=schema)
        for name, description, schema, function in functions(
            workspace, only, brief=brief, approve=approve, observe=observe
        )
    ]
