"""Checks every tool spec against the types that the vendors publish for their own clients.

usage: specs.py GRAMMAR_FOLDER SPECS.jsonl

SPECS.jsonl is what the example `specs` of file-tools prints. Where there is a published type, the
spec must pass it and come back unchanged, so that a field the vendor does not know is noticed. Where
there is none (inference engines), the grammar in it must load in the engine's own grammar library.
"""

import inspect
import json
import pathlib
import sys

import without_torch  # noqa: F401  (must come before xgrammar)
import anthropic.types
import botocore.loaders
import botocore.model
import botocore.validate
import google.genai.types
import jsonschema
import llguidance
import mcp.types
import mistralai.client.models
import ollama
import openai
import openai.types.chat
import openai.types.responses
import pydantic
import xgrammar
import xgrammar.structural_tag

STEM = {"whole": "apply_patch", "codex": "apply_patch_codex", "tight": "apply_patch_tight"}


def typed(kind):
    adapter = pydantic.TypeAdapter(kind, config=None)

    def check(spec):
        came_back = adapter.dump_python(adapter.validate_python(spec, strict=True))
        assert came_back == spec, f"not known to the vendor: {came_back} instead of {spec}"

    return check


responses = {
    name: typed(getattr(openai.types.responses, name))
    for name in ("CustomToolParam", "FunctionToolParam", "ApplyPatchToolParam")
}
responses_any = typed(openai.types.responses.ToolParam)
chat = {
    "custom": typed(openai.types.chat.ChatCompletionCustomToolParam),
    "function": typed(openai.types.chat.ChatCompletionFunctionToolParam),
}
anthropic_tool = typed(anthropic.types.ToolParam)
anthropic_editor = typed(anthropic.types.ToolTextEditor20250728Param)


def gemini_function(spec):
    declared = google.genai.types.FunctionDeclaration.model_validate(spec)
    came_back = declared.model_dump(by_alias=True, exclude_unset=True, mode="json")
    assert came_back == spec, f"not known to the vendor: {came_back} instead of {spec}"


def mcp_tool(spec):
    tool = mcp.types.Tool.model_validate(spec)
    assert tool.model_dump(by_alias=True, exclude_unset=True) == spec, tool


def mistral_tool(spec):
    tool = mistralai.client.models.Tool.model_validate(spec)
    assert tool.model_dump(exclude_unset=True) == spec, tool


def ollama_tool(spec):
    tool = ollama.Tool.model_validate(spec)
    assert tool.model_dump(exclude_unset=True, by_alias=True) == spec, tool


bedrock = botocore.model.ServiceModel(botocore.loaders.create_loader().load_service_model("bedrock-runtime", "service-2"))


def bedrock_tool(spec):
    report = botocore.validate.ParamValidator().validate(spec, bedrock.shape_for("Tool"))
    assert not report.has_errors(), report.generate_report()


PATCH = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch"


def structural_tag(spec, free_text):
    tag = xgrammar.structural_tag.StructuralTag.model_validate(spec)
    known = tag.model_dump()

    def same(given, came_back):
        if isinstance(given, dict):
            return all(key in came_back and same(value, came_back[key]) for key, value in given.items())
        if isinstance(given, list):
            return len(given) == len(came_back) and all(map(same, given, came_back))
        return given == came_back

    assert same(spec, known), f"not known to XGrammar: {known} instead of {spec}"
    compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo([]), cache_enabled=False)
    compiled = compiler.compile_structural_tag(tag)

    def verdict(text):
        matcher = xgrammar.GrammarMatcher(compiled, terminate_without_stop_token=True)
        if not matcher.accept_string(text):
            return "refused"
        return "finished" if matcher.is_completed() else "open"

    free = "finished" if free_text else "refused"
    for text, wanted in [
        (PATCH, "finished"),
        (f"I change a line.\n\n{PATCH}", free),
        ("No patch.", free),
        (PATCH.removesuffix("*** End Patch"), "open"),
        ("*** Begin Patch\nnonsense", "refused"),
        (f"{PATCH} and more", "refused"),
    ]:
        assert verdict(text) == wanted, (text, verdict(text), wanted)


def schema(spec, argument, strict=True):
    jsonschema.Draft202012Validator.check_schema(spec)
    jsonschema.validate({argument: "*** Begin Patch\n*** End Patch\n"}, spec)
    # Over MCP the server refuses what it does not know, and not the schema: converters of clients fail on the word.
    unknown = [{argument: "", "other": ""}] if strict else []
    for wrong in ({}, {argument: 1}, *unknown):
        try:
            jsonschema.validate(wrong, spec)
        except jsonschema.ValidationError:
            continue
        raise AssertionError(f"{wrong} passes {spec}")
    if strict:  # strict function calling wants that
        assert set(spec["required"]) == set(spec["properties"]), spec


def grammar_loads(text, notation, engine_lark):
    if notation == "lark":
        tokens = llguidance.LLMatcher.grammar_from_lark(text)
        error = llguidance.LLMatcher.validate_grammar(tokens)
        assert not error, error
        assert engine_lark == text.startswith("%llguidance {}\n"), text[:40]
    elif notation == "regex":
        xgrammar.Grammar.from_regex(text)
    else:
        xgrammar.Grammar.from_ebnf(text)


def check(entry, read):
    provider, notation, spec = entry["provider"], entry["grammar"], entry["spec"]
    engine = provider in ("llama-cpp", "vllm", "sglang")
    if engine and entry["python"]:
        assert list(spec) == ["extra_body"], spec
        spec = spec["extra_body"]
    text = read(notation) if notation else None
    if provider == "openai":
        responses["CustomToolParam"](spec)
        responses_any(spec)
        assert spec["format"]["definition"] == text and spec["format"]["syntax"] == notation
    elif provider == "openai-chat":
        chat["custom"](spec)
        assert spec["custom"]["format"]["grammar"] == {"syntax": notation, "definition": text}
    elif provider == "openai-function":
        responses["FunctionToolParam"](spec)
        schema(spec["parameters"], "input")
    elif provider == "openai-function-chat":
        chat["function"](spec)
        schema(spec["function"]["parameters"], "input")
    elif provider == "openai-builtin":
        responses["ApplyPatchToolParam"](spec)
    elif provider == "anthropic":
        anthropic_tool(spec)
        schema(spec["input_schema"], "patch")
    elif provider == "anthropic-editor":
        anthropic_editor(spec)
    elif provider == "gemini":
        gemini_function(spec)
        assert spec["parameters"]["required"] == ["patch"] and list(spec["parameters"]["properties"]) == ["patch"], spec
    elif provider == "mistral":
        mistral_tool(spec)
        schema(spec["function"]["parameters"], "patch")
    elif provider == "bedrock":
        bedrock_tool(spec)
        schema(spec["toolSpec"]["inputSchema"]["json"], "patch")
    elif provider == "ollama":
        ollama_tool(spec)
        jsonschema.validate({"patch": PATCH}, spec["function"]["parameters"])
    elif provider == "xgrammar":
        structural_tag(spec, entry["freeText"])
    elif entry["freeText"] and provider in ("vllm", "sglang"):
        assert list(spec) == ["response_format"], spec
        structural_tag(spec["response_format"], free_text=True)
    elif entry["freeText"]:
        trigger = {"type": 1, "value": PATCH.splitlines()[0]}
        grammar = read("gbnf")
        assert provider == "llama-cpp" and grammar.count(trigger["value"]) == 1, entry
        assert spec == {"grammar": grammar, "grammar_lazy": True, "grammar_triggers": [trigger]}, spec
    elif provider == "mcp":
        mcp_tool(spec)
        schema(spec["inputSchema"], "patch", strict=False)
    else:
        (field, value), = spec.items()
        if provider == "vllm":
            assert field == "structured_outputs"
            (field, value), = value.items()
            assert field == ("regex" if notation == "regex" else "grammar")
        elif provider == "sglang":
            assert field == ("regex" if notation == "regex" else "ebnf")
        else:
            assert provider == "llama-cpp" and field == "grammar", entry
        grammar_loads(value, notation, engine_lark=provider != "vllm")
        assert value.removeprefix("%llguidance {}\n\n") == text


def refuses(check, spec):
    try:
        check(spec)
    except (pydantic.ValidationError, AssertionError):
        return
    raise AssertionError(f"the check has no teeth: {spec} passed")


def main():
    folder, specs = map(pathlib.Path, sys.argv[1:])
    entries = [json.loads(line) for line in specs.read_text(encoding="utf-8").splitlines()]
    for entry in entries:
        stem = folder / STEM[entry["dialect"]]
        try:
            check(entry, lambda notation: stem.with_suffix("." + notation).read_text(encoding="utf-8"))
        except Exception:
            print({key: entry[key] for key in ("provider", "grammar", "dialect", "python")}, file=sys.stderr)
            raise

    spec = {entry["provider"]: entry["spec"] for entry in entries}
    # The two APIs of one vendor nest differently, and refuse each other's form.
    refuses(chat["custom"], spec["openai"])
    refuses(responses["CustomToolParam"], spec["openai-chat"])
    refuses(chat["function"], spec["openai-function"])
    refuses(responses["FunctionToolParam"], spec["openai-function-chat"])
    refuses(anthropic_tool, spec["openai-function"])
    refuses(anthropic_tool, {**spec["anthropic"], "parameters": {}})
    refuses(mcp_tool, {**spec["mcp"], "input_schema": 1})
    refuses(gemini_function, {**spec["gemini"], "strict": True})
    refuses(gemini_function, spec["anthropic"])
    refuses(mistral_tool, spec["anthropic"])
    refuses(bedrock_tool, spec["anthropic"])
    refuses(ollama_tool, spec["mistral"])
    refuses(lambda it: structural_tag(it, free_text=False), spec["xgrammar"])  # the last one has free text
    refuses(lambda it: structural_tag(it, free_text=True), {**spec["xgrammar"], "formats": {}})
    assert "extra_body" in inspect.signature(openai.OpenAI(api_key="none").chat.completions.create).parameters

    providers = sorted(spec)
    print(f"{len(entries)} tool specs of {len(providers)} providers pass the vendors' types: {', '.join(providers)}")


if __name__ == "__main__":
    main()
