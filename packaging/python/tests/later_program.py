"""One run of an agent with a fake model, in a process of its own: `later_program.py SDK STEP ROOT [DECISION]`.

STEP `begin` runs until a person is needed, writes the state of the run to `state` beside ROOT, and is killed. `go` goes on in another
process: DECISION is JSON, `true`, a text (why not), or a digest as `{"digest": …}`. Prints what the model was told last, or `waits`.
"""

import asyncio
import json
import os
import pathlib
import pickle
import signal
import sys

from apply_patch import Workspace

PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n*** End Patch\n"
ARGUMENTS = {"patch": PATCH}


def openai_agents(workspace, step, state_file, decision):
    import agents
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from apply_patch.openai_agents import approve, reject, shown, tools

    class Model(agents.Model):
        async def get_response(self, system_instructions, input, *args, **kwargs):
            items = input if isinstance(input, list) else []
            told = [item["output"] for item in items if item.get("type") == "function_call_output"]
            if told:
                text = ResponseOutputText(type="output_text", text=str(told[-1]), annotations=[])
                item = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
            else:
                arguments = json.dumps(ARGUMENTS)
                item = ResponseFunctionToolCall(
                    type="function_call", call_id="c1", name="apply_patch", arguments=arguments, id="f1"
                )
            return agents.ModelResponse(output=[item], usage=agents.Usage(), response_id=None)

        def stream_response(self, *args, **kwargs):
            raise NotImplementedError

    agent = agents.Agent(name="coder", model=Model(), tools=tools(workspace, ["apply_patch", "read_file"], later=True))

    async def run():
        if step == "begin":
            result = await agents.Runner.run(agent, "change it")
            state_file.write_text(result.to_state().to_string())
            print(json.dumps([shown(workspace, item) for item in result.interruptions]), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        state = await agents.RunState.from_string(agent, state_file.read_text())
        (item,) = state.get_interruptions()
        if isinstance(decision, str):
            reject(workspace, state, item, decision)
        else:
            digest = decision["digest"] if isinstance(decision, dict) else None
            if not approve(workspace, state, item, digest=digest):
                print(json.dumps({"waits": shown(workspace, item)}))
                return
        print((await agents.Runner.run(agent, state)).final_output)

    asyncio.run(run())


def pydantic_ai(workspace, step, state_file, decision):
    from pydantic_ai import Agent, DeferredToolRequests
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    from apply_patch.pydantic_ai import decided, toolset

    def model(messages, info):
        last = messages[-1].parts[-1]
        if isinstance(last, ToolReturnPart):
            return ModelResponse(parts=[TextPart(str(last.content))])
        return ModelResponse(parts=[ToolCallPart("apply_patch", ARGUMENTS, tool_call_id="c1")])

    agent = Agent(
        FunctionModel(model), toolsets=[toolset(workspace, later=True)], output_type=[str, DeferredToolRequests]
    )
    if step == "begin":
        result = agent.run_sync("change it")
        metadata = result.output.metadata
        state_file.write_text(json.dumps([result.all_messages_json().decode(), metadata]))
        print(json.dumps(list(metadata.values())), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    messages, metadata = json.loads(state_file.read_text())
    if isinstance(decision, dict):
        metadata["c1"]["digest"] = decision["digest"]
        decision = True
    answers = decided(workspace, DeferredToolRequests(metadata=metadata), {"c1": decision})
    history = ModelMessagesTypeAdapter.validate_json(messages)
    result = agent.run_sync(message_history=history, deferred_tool_results=answers)
    if isinstance(result.output, DeferredToolRequests):
        print(json.dumps({"waits": result.output.metadata["c1"]}))
    else:
        print(result.output)


def langgraph(workspace, step, state_file, decision):
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode
    from langgraph.types import Command

    from apply_patch.langchain import tools

    saver = InMemorySaver()
    names = ("storage", "writes", "blobs")
    if step == "go":
        for name, value in pickle.loads(state_file.read_bytes()).items():
            getattr(saver, name).update(value)

    def keep():
        plain = {name: _plain(getattr(saver, name)) for name in names}
        state_file.write_bytes(pickle.dumps(plain))

    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode(tools(workspace, ["apply_patch", "read_file"], later=True)))
    builder.add_edge(START, "tools")
    builder.add_edge("tools", END)
    graph = builder.compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "1"}}
    if step == "begin":
        call = {"name": "apply_patch", "args": ARGUMENTS, "id": "c1"}
        result = graph.invoke({"messages": [AIMessage("", tool_calls=[call])]}, config)
        keep()
        print(json.dumps([one.value for one in result["__interrupt__"]]), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if isinstance(decision, str):
        resume = {"approve": False, "why": decision}
    elif isinstance(decision, dict):
        resume = {"approve": True, **decision}
    else:
        resume = {"approve": decision}
    result = graph.invoke(Command(resume=resume), config)
    keep()
    if "__interrupt__" in result:
        print(json.dumps({"waits": result["__interrupt__"][0].value}))
    else:
        print(result["messages"][-1].content)


def _plain(value):
    """Without the functions that make what is missing: they cannot be pickled."""
    return {key: _plain(one) for key, one in value.items()} if isinstance(value, dict) else value


if __name__ == "__main__":
    sdk, step, root, *rest = sys.argv[1:]
    os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
    root = pathlib.Path(root)
    workspace = Workspace(root, session="agent", durability="none")
    programs = {"openai_agents": openai_agents, "pydantic_ai": pydantic_ai, "langgraph": langgraph}
    programs[sdk](workspace, step, root.parent / "state", json.loads(rest[0]) if rest else None)
