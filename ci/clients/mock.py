"""A model on loopback that says what a conversation has, in the language of whichever provider it is asked in."""

import http.server
import json
import threading


class Mock:
    """Says turn N once it has seen N results of tools."""

    def __init__(self, turns: list[dict]):
        self.turns = turns
        self.listed: set[str] = set()
        self.results: list[str] = []
        mock = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.answer(b'{"data":[],"models":[]}', "application/json")

            def do_POST(self):
                length = int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(length) or b"{}")
                path = self.path.split("?")[0]
                for ending, speak in LANGUAGES.items():
                    if path.endswith(ending):
                        return self.answer(speak(mock, body).encode(), "text/event-stream")
                self.answer(b"{}", "application/json")

            def answer(self, body: bytes, kind: str):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def turn(self, tools: dict[str, object], results: list[str]) -> tuple[str, object]:
        """What to say: ("text", text), or the name of the tool that the client has for ours, and its arguments."""
        self.listed |= set(tools)
        self.results = max(self.results, results, key=len)
        # A request without tools asks for something else, such as a title.
        if not tools:
            return "text", "a title"
        turn = self.turns[min(len(results), len(self.turns) - 1)]
        if "text" in turn:
            return "text", turn["text"]
        # A tool of the client's own, such as one that reads resources.
        if "own" in turn:
            return turn["own"], turn["arguments"]
        # Clients put the name of the server in front.
        return next(name for name in sorted(tools) if name.endswith(f"_{turn['tool']}")), turn["arguments"]


def events(*all_of_them: dict, named: bool = False) -> str:
    return "".join((f"event: {one['type']}\n" if named else "") + f"data: {json.dumps(one)}\n\n" for one in all_of_them)


def responses(mock: Mock, body: dict) -> str:
    tools = {}
    for tool in body.get("tools", []):
        if tool.get("type") == "namespace":
            tools |= {f"{tool['name']}__{inner['name']}": (tool["name"], inner["name"]) for inner in tool["tools"]}
        elif tool.get("type") == "function":
            tools[tool["name"]] = (None, tool["name"])
    tools = {name: place for name, place in tools.items() if name.startswith("mcp__apply_patch")}
    results = [json.dumps(item["output"]) for item in body["input"] if item.get("type") == "function_call_output"]
    name, said = mock.turn(tools, results)
    if name == "text":
        item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}
    else:
        space, plain = tools.get(name, (None, name))
        item = {"type": "function_call", "call_id": f"call_{len(results)}", "name": plain, "arguments": json.dumps(said)}
        if space:
            item["namespace"] = space
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return events(
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": {"id": "r", "usage": usage}},
        named=True,
    )


def gemini(mock: Mock, body: dict) -> str:
    declared = [one["name"] for tool in body.get("tools", []) for one in tool.get("functionDeclarations", [])]
    parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
    results = [json.dumps(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]
    name, said = mock.turn({one: one for one in declared if one.startswith("mcp_")}, results)
    part = {"text": said} if name == "text" else {"functionCall": {"name": name, "args": said}}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return events({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage})


def chat(mock: Mock, body: dict) -> str:
    declared = [tool["function"]["name"] for tool in body.get("tools", [])]
    results = [json.dumps(message["content"]) for message in body["messages"] if message["role"] == "tool"]
    name, said = mock.turn({one: one for one in declared if one.startswith("apply-patch")}, results)
    delta, reason = {"role": "assistant", "content": said}, "stop"
    if name != "text":
        call = {"index": 0, "id": f"call_{len(results)}", "type": "function"}
        call["function"] = {"name": name, "arguments": json.dumps(said)}
        delta, reason = {"role": "assistant", "tool_calls": [call]}, "tool_calls"
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "mock"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    said_chunk = chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    last_chunk = chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}
    return events(said_chunk, last_chunk) + "data: [DONE]\n\n"


def messages(mock: Mock, body: dict) -> str:
    declared = [tool["name"] for tool in body.get("tools", [])]
    contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    results = [json.dumps(part["content"]) for content in contents for part in content if part["type"] == "tool_result"]
    name, said = mock.turn({one: one for one in declared if one.startswith("mcp__apply-patch")}, results)
    usage = {"input_tokens": 1, "output_tokens": 1}
    start = {"id": "m", "type": "message", "role": "assistant", "model": "mock", "content": [], "usage": usage}
    block, delta, reason = {"type": "text", "text": ""}, {"type": "text_delta", "text": said}, "end_turn"
    if name != "text":
        block = {"type": "tool_use", "id": f"toolu_{len(results)}", "name": name, "input": {}}
        delta, reason = {"type": "input_json_delta", "partial_json": json.dumps(said)}, "tool_use"
    return events(
        {"type": "message_start", "message": start | {"stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
        named=True,
    )


LANGUAGES = {
    "/responses": responses,
    ":streamGenerateContent": gemini,
    "/chat/completions": chat,
    "/messages": messages,
}
