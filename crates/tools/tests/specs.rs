//! The shapes of the tool specs, and the instructions with their examples.

use std::collections::BTreeSet;

use file_tools::specs::{
    Caller, Channel, Client, EXAMPLES, Provider, SpecError, SpecOptions, all_tools, prompt,
    tool_spec,
};
use patch_grammar::export::{self, Format};
use patch_grammar::{Dialect, ParseOptions, SectionOperation, parse, recognizes};

fn options(grammar: Option<Format>, client: Client) -> SpecOptions {
    SpecOptions { grammar, client, ..SpecOptions::default() }
}

/// The JSON without indentation, with short words for the long texts.
fn compact(provider: Provider, options: &SpecOptions) -> String {
    let spec = tool_spec(provider, options).unwrap_or_else(|error| panic!("{provider}: {error}"));
    let mut json: String = spec.to_json().lines().map(str::trim_start).collect::<Vec<_>>().join("");
    for format in Format::ALL {
        let text = serde_json::to_string(export::text(format, options.dialect)).expect("a string");
        json = json.replace(text.trim_matches('"'), &format!("<{}>", format.as_str()));
    }
    let body = serde_json::to_string(&export::body(options.dialect)).expect("a string");
    json = json.replace(body.trim_matches('"'), "<body>");
    let mut out = String::new();
    let mut rest = json.as_str();
    while let Some(at) = rest.find("\"description\": \"") {
        let (before, after) = rest.split_at(at + "\"description\": \"".len());
        out += before;
        out += "…";
        let end = (0..after.len())
            .find(|&at| after[at..].starts_with('"') && !after[..at].ends_with('\\'));
        rest = &after[end.expect("it ends")..];
    }
    out + rest
}

#[test]
fn every_provider_gets_its_shape() {
    let plain = |grammar| options(grammar, Client::Raw);
    let python = |grammar| options(grammar, Client::Python);
    for (provider, options, json) in [
        (
            Provider::OpenAi,
            plain(None),
            r#"{"type": "custom","name": "apply_patch","description": "…","format": {"type": "grammar","syntax": "lark","definition": "<lark>"}}"#,
        ),
        (
            Provider::OpenAi,
            plain(Some(Format::Regex)),
            r#"{"type": "custom","name": "apply_patch","description": "…","format": {"type": "grammar","syntax": "regex","definition": "<regex>"}}"#,
        ),
        (
            Provider::OpenAiChat,
            python(None),
            r#"{"type": "custom","custom": {"name": "apply_patch","description": "…","format": {"type": "grammar","grammar": {"syntax": "lark","definition": "<lark>"}}}}"#,
        ),
        (
            Provider::OpenAiFunction,
            plain(None),
            r#"{"type": "function","name": "apply_patch","description": "…","strict": true,"parameters": {"type": "object","properties": {"input": {"type": "string","description": "…"}},"required": ["input"],"additionalProperties": false}}"#,
        ),
        (
            Provider::OpenAiFunctionChat,
            plain(None),
            r#"{"type": "function","function": {"name": "apply_patch","description": "…","strict": true,"parameters": {"type": "object","properties": {"input": {"type": "string","description": "…"}},"required": ["input"],"additionalProperties": false}}}"#,
        ),
        (Provider::OpenAiBuiltin, plain(None), r#"{"type": "apply_patch"}"#),
        (
            Provider::Anthropic,
            plain(None),
            r#"{"name": "apply_patch","description": "…","input_schema": {"type": "object","properties": {"patch": {"type": "string","description": "…"}},"required": ["patch"],"additionalProperties": false},"strict": true}"#,
        ),
        (
            Provider::AnthropicEditor,
            plain(None),
            r#"{"type": "text_editor_20250728","name": "str_replace_based_edit_tool"}"#,
        ),
        (
            Provider::AnthropicEditor,
            SpecOptions { max_characters: Some(9), ..SpecOptions::default() },
            r#"{"type": "text_editor_20250728","name": "str_replace_based_edit_tool","max_characters": 9}"#,
        ),
        (
            Provider::Mcp,
            plain(None),
            r#"{"name": "apply_patch","title": "Apply a patch","description": "…","inputSchema": {"type": "object","properties": {"patch": {"type": "string","description": "…"},"expectedSha256ByPath": {"type": "array","description": "…","items": {"type": "object","properties": {"path": {"type": "string"},"sha256": {"type": "string"}},"required": ["path","sha256"]}},"atomic": {"type": "boolean","description": "…","default": true},"dryRun": {"type": "boolean","description": "…","default": false},"profile": {"type": "string","description": "…","enum": ["strict","standard","codex"]}},"required": ["patch"]},"annotations": {"readOnlyHint": false,"destructiveHint": true,"idempotentHint": false,"openWorldHint": false}}"#,
        ),
        (Provider::LlamaCpp, plain(None), r#"{"grammar": "<gbnf>"}"#),
        (
            Provider::LlamaCpp,
            plain(Some(Format::Lark)),
            r#"{"grammar": "%llguidance {}\n\n<lark>"}"#,
        ),
        (Provider::LlamaCpp, python(None), r#"{"extra_body": {"grammar": "<gbnf>"}}"#),
        (Provider::Vllm, plain(None), r#"{"structured_outputs": {"grammar": "<ebnf>"}}"#),
        (
            Provider::Vllm,
            plain(Some(Format::Lark)),
            r#"{"structured_outputs": {"grammar": "<lark>"}}"#,
        ),
        (
            Provider::Vllm,
            python(Some(Format::Regex)),
            r#"{"extra_body": {"structured_outputs": {"regex": "<regex>"}}}"#,
        ),
        (Provider::SgLang, plain(None), r#"{"ebnf": "<ebnf>"}"#),
        (Provider::SgLang, plain(Some(Format::Gbnf)), r#"{"ebnf": "<gbnf>"}"#),
        (Provider::SgLang, plain(Some(Format::Regex)), r#"{"regex": "<regex>"}"#),
        (
            Provider::SgLang,
            python(Some(Format::Lark)),
            r#"{"extra_body": {"ebnf": "%llguidance {}\n\n<lark>"}}"#,
        ),
        (
            Provider::XGrammar,
            plain(None),
            r#"{"type": "structural_tag","format": {"type": "grammar","grammar": "<ebnf>"}}"#,
        ),
        (
            Provider::Mistral,
            plain(None),
            r#"{"type": "function","function": {"name": "apply_patch","description": "…","strict": true,"parameters": {"type": "object","properties": {"patch": {"type": "string","description": "…"}},"required": ["patch"],"additionalProperties": false}}}"#,
        ),
        (
            Provider::Bedrock,
            plain(None),
            r#"{"toolSpec": {"name": "apply_patch","description": "…","inputSchema": {"json": {"type": "object","properties": {"patch": {"type": "string","description": "…"}},"required": ["patch"],"additionalProperties": false}},"strict": true}}"#,
        ),
        (
            Provider::Ollama,
            plain(None),
            r#"{"type": "function","function": {"name": "apply_patch","description": "…","parameters": {"type": "object","properties": {"patch": {"type": "string","description": "…"}},"required": ["patch"]}}}"#,
        ),
    ] {
        assert_eq!(compact(provider, &options), json, "{provider}");
    }
}

fn free_text(client: Client) -> SpecOptions {
    SpecOptions { free_text: true, client, ..SpecOptions::default() }
}

#[test]
fn free_text_may_come_before_a_bound_patch() {
    const TAG: &str = r#"{"type": "structural_tag","format": {"type": "triggered_tags","triggers": ["*** Begin Patch"],"tags": [{"type": "tag","begin": "*** Begin Patch\n","content": {"type": "grammar","grammar": "<body>"},"end": "*** End Patch"}],"at_least_one": false,"stop_after_first": true}}"#;
    const LAZY: &str = r#"{"grammar": "<gbnf>","grammar_lazy": true,"grammar_triggers": [{"type": 1,"value": "*** Begin Patch"}]}"#;
    let response = format!(r#"{{"response_format": {TAG}}}"#);
    for (provider, client, json) in [
        (Provider::XGrammar, Client::Raw, TAG.to_owned()),
        (Provider::XGrammar, Client::Python, TAG.to_owned()),
        (Provider::Vllm, Client::Raw, response.clone()),
        (Provider::SgLang, Client::Raw, response.clone()),
        (Provider::SgLang, Client::Python, format!(r#"{{"extra_body": {response}}}"#)),
        (Provider::LlamaCpp, Client::Raw, LAZY.to_owned()),
        (Provider::LlamaCpp, Client::Python, format!(r#"{{"extra_body": {LAZY}}}"#)),
    ] {
        assert_eq!(compact(provider, &free_text(client)), json, "{provider}");
    }
}

#[test]
fn a_grammar_for_files_may_follow_free_text() {
    let definition = "root ::= \"*** Begin Patch\\n\" a\na ::= \"*** End Patch\\n\"\n";
    let options = SpecOptions { definition: Some(definition.to_owned()), ..free_text(Client::Raw) };
    let spec = tool_spec(Provider::XGrammar, &options).expect("it is taken").to_value();
    let tag = &spec["format"]["tags"][0];
    assert_eq!(tag["content"]["grammar"], "root ::= a\na ::= \"*** End Patch\\n\"\n");
    assert_eq!(tag["end"], "");
    let lazy = tool_spec(Provider::LlamaCpp, &options).expect("it is taken").to_value();
    assert_eq!(lazy["grammar"], definition);
    let other = SpecOptions { definition: Some("root ::= a".to_owned()), ..options };
    let error = tool_spec(Provider::SgLang, &other).expect_err("refused");
    assert!(matches!(error, SpecError::NotTaken { .. }), "{error}");
}

#[test]
fn the_grammar_of_a_body_has_no_markers() {
    for dialect in Dialect::ALL {
        let body = export::body(dialect);
        assert_eq!(body.matches("root ::= (").count(), 1, "{dialect}: {body}");
        assert!(!body.contains("begin_patch"), "{dialect}: {body}");
        assert!(!body.contains("End Patch"), "{dialect}: {body}");
    }
}

#[test]
fn the_responses_api_is_told_who_may_call() {
    let callers = vec![Caller::Direct, Caller::Programmatic];
    let options = SpecOptions { allowed_callers: callers, ..SpecOptions::default() };
    for provider in [Provider::OpenAi, Provider::OpenAiFunction, Provider::OpenAiBuiltin] {
        let spec = tool_spec(provider, &options).expect("it is taken").to_value();
        assert_eq!(spec["allowed_callers"], serde_json::json!(["direct", "programmatic"]));
    }
    let builtin = compact(Provider::OpenAiBuiltin, &options);
    assert_eq!(builtin, r#"{"type": "apply_patch","allowed_callers": ["direct","programmatic"]}"#);
}

#[test]
fn what_a_provider_has_no_place_for_is_refused() {
    let default = SpecOptions::default;
    let callers = SpecOptions { allowed_callers: vec![Caller::Direct], ..default() };
    let characters = SpecOptions { max_characters: Some(1), ..default() };
    let lark = SpecOptions { grammar: Some(Format::Lark), ..free_text(Client::Raw) };
    for (provider, options, message) in [
        (Provider::OpenAi, free_text(Client::Raw), "openai does not take free text"),
        (Provider::Anthropic, free_text(Client::Raw), "anthropic does not take free text"),
        (Provider::OpenAiChat, callers.clone(), "openai-chat does not take allowed callers"),
        (Provider::Mcp, callers, "mcp does not take allowed callers"),
        (Provider::Anthropic, characters, "anthropic does not take a limit of characters"),
        (Provider::Vllm, lark, "vllm does not take another notation with free text"),
    ] {
        let error = tool_spec(provider, &options).expect_err("refused");
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn the_dialect_decides_the_grammar_and_the_words() {
    for provider in Provider::ALL {
        let spec = |dialect| {
            let options = SpecOptions { dialect, ..SpecOptions::default() };
            tool_spec(provider, &options).expect("the default grammar is taken").to_json()
        };
        let (whole, codex) = (spec(Dialect::Whole), spec(Dialect::Codex));
        let has_words = !matches!(provider, Provider::OpenAiBuiltin | Provider::AnthropicEditor);
        assert_eq!(whole != codex, has_words, "{provider}");
        assert!(!codex.contains("*** Move File"), "{provider}");
    }
}

#[test]
fn the_same_bytes_come_every_time_and_mean_the_same_as_a_value() {
    for provider in Provider::ALL {
        let spec =
            tool_spec(provider, &SpecOptions::default()).expect("the default grammar is taken");
        let again =
            tool_spec(provider, &SpecOptions::default()).expect("the default grammar is taken");
        assert_eq!(spec.to_json(), again.to_json());
        let read: serde_json::Value = serde_json::from_str(&spec.to_json()).expect("it is JSON");
        assert_eq!(read, spec.to_value());
        // Large tool lists cost models attention; the grammar is the only long part.
        assert!(spec.to_json().len() < 4096, "{provider}: {} bytes", spec.to_json().len());
    }
}

#[test]
fn a_notation_that_a_provider_does_not_take_is_refused() {
    for (provider, format) in [
        (Provider::OpenAi, Format::Gbnf),
        (Provider::OpenAi, Format::Pest),
        (Provider::OpenAiChat, Format::Ebnf),
        (Provider::LlamaCpp, Format::Regex),
        (Provider::LlamaCpp, Format::Ebnf),
        (Provider::Vllm, Format::Pest),
        (Provider::SgLang, Format::Pest),
    ] {
        let error = tool_spec(provider, &options(Some(format), Client::Raw)).expect_err("refused");
        assert_eq!(error, SpecError::WrongFormat { provider, format });
    }
    for provider in
        [Provider::OpenAiFunction, Provider::OpenAiBuiltin, Provider::Anthropic, Provider::Mcp]
    {
        let error =
            tool_spec(provider, &options(Some(Format::Lark), Client::Raw)).expect_err("refused");
        assert_eq!(error, SpecError::NoGrammar { provider });
        assert_eq!(error.to_string(), format!("{provider} takes no grammar"));
    }
    let error = tool_spec(Provider::OpenAi, &options(Some(Format::Gbnf), Client::Raw))
        .expect_err("refused");
    assert_eq!(error.to_string(), "openai takes no grammar as gbnf; it takes `lark`, `regex`");
}

#[test]
fn every_provider_has_a_name_and_says_what_the_json_does_not() {
    for provider in Provider::ALL {
        assert_eq!(provider.as_str().parse(), Ok(provider));
        let spec =
            tool_spec(provider, &SpecOptions::default()).expect("the default grammar is taken");
        assert!(!spec.caveats().is_empty(), "{provider}");
        for caveat in spec.caveats() {
            assert!(!caveat.ends_with('.'), "{caveat:?}");
            assert!(!caveat.contains("  "), "{caveat:?}");
        }
    }
    let error = "nobody".parse::<Provider>().expect_err("unknown");
    let message = error.to_string();
    assert!(message.starts_with("\"nobody\" is not one of openai, openai-chat"), "{message}");
}

#[test]
fn the_examples_are_sentences_of_their_dialect_and_name_the_files_they_change() {
    for example in EXAMPLES {
        let title = example.title;
        assert!(recognizes(Dialect::Whole, example.patch), "{title}: {}", example.patch);
        assert_eq!(recognizes(Dialect::Codex, example.patch), example.codex, "{title}");
        let patch = parse(example.patch, &ParseOptions::default())
            .unwrap_or_else(|error| panic!("{title}: {error}"));
        let before: BTreeSet<_> = example.before.iter().map(|file| file.path).collect();
        let mut after = before.clone();
        for section in patch.sections() {
            match &section.operation {
                SectionOperation::Add(_) => assert!(after.insert(&*section.path.text), "{title}"),
                SectionOperation::Delete(_) => {
                    assert!(after.remove(&*section.path.text), "{title}")
                }
                SectionOperation::Copy { .. } => unreachable!("no envelope has copies"),
                SectionOperation::Update { move_to, hunks } => {
                    assert!(after.contains(&*section.path.text), "{title}");
                    // Every hunk stands in one place of the file alone.
                    let file = example
                        .before
                        .iter()
                        .find(|file| file.path == section.path.text)
                        .expect("it exists");
                    for hunk in hunks {
                        let old: String = hunk
                            .old_lines()
                            .map(|line| format!("{}\n", line.text_lossy()))
                            .collect();
                        assert_eq!(
                            format!("\n{}", file.content).matches(&format!("\n{old}")).count(),
                            1,
                            "{title}: {old:?}"
                        );
                    }
                    if let Some(to) = move_to {
                        after.remove(&*section.path.text);
                        assert!(after.insert(&*to.text), "{title}");
                    }
                }
            }
        }
        assert_eq!(after, example.after.iter().map(|file| file.path).collect(), "{title}");
    }
}

#[test]
fn the_instructions_show_the_examples_of_their_dialect_and_no_others() {
    for dialect in Dialect::ALL {
        for channel in Channel::ALL {
            let text = prompt(dialect, channel);
            for example in EXAMPLES {
                let shown = recognizes(dialect, example.patch);
                assert_eq!(text.contains(example.patch), shown, "{}", example.title);
            }
            assert_eq!(text.contains("*** Move File:"), dialect == Dialect::Whole);
            assert!(text.ends_with("```\n"), "{} bytes", text.len());
            assert!(!text.contains("  -"), "{} bytes", text.len());
            assert!(text.len() < 6000, "{} bytes", text.len());
            assert_eq!(text, prompt(dialect, channel));
        }
    }
    assert!(prompt(Dialect::Whole, Channel::Message).contains("nothing else"));
    assert!(!prompt(Dialect::Whole, Channel::Message).contains("tool"));
}

#[test]
fn all_tools_have_the_form_of_each_provider() {
    let forms = [
        (Provider::OpenAi, "parameters", ""),
        (Provider::OpenAiChat, "parameters", "/function"),
        (Provider::LlamaCpp, "parameters", "/function"),
        (Provider::Anthropic, "input_schema", ""),
        (Provider::Mcp, "inputSchema", ""),
    ];
    let legal = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    for brief in [false, true] {
        for (provider, schema, at) in forms {
            let tools = all_tools::spec(provider, brief).expect("there are some");
            assert_eq!(
                tools.as_array().map(Vec::len),
                Some(patch_session::Tool::usual().count()),
                "{provider}"
            );
            for tool in tools.as_array().expect("a list") {
                let tool = tool.pointer(at).expect("a tool");
                assert!(tool["name"].as_str().is_some_and(legal), "{tool}");
                assert!(tool["description"].is_string(), "{tool}");
                assert_eq!(tool[schema]["type"], "object", "{provider}: {tool}");
            }
        }
    }
    // OpenAI's strict schemas: no free names, every property required, and null for what may be
    // missing.
    fn strict(schema: &serde_json::Value) {
        if let Some(properties) = schema["properties"].as_object() {
            let names: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
            let required = schema["required"]
                .as_array()
                .expect("a list")
                .iter()
                .filter_map(|name| name.as_str());
            assert_eq!(names, required.collect(), "{schema}");
            assert_eq!(schema["additionalProperties"], false, "{schema}");
            properties.values().for_each(strict);
        }
        if schema["items"].is_object() {
            strict(&schema["items"]);
        }
        assert!(!schema["additionalProperties"].is_object(), "{schema}");
    }
    let tools = all_tools::spec(Provider::OpenAi, false).expect("there are some");
    tools.as_array().expect("a list").iter().for_each(|tool| strict(&tool["parameters"]));
    // Nothing of a tool is left out for it: `apply_patch` has its list of expected files.
    let lists = |tool: &serde_json::Value| {
        tool["parameters"]["properties"]["expectedSha256ByPath"]["items"].is_object()
    };
    assert!(
        tools
            .as_array()
            .expect("a list")
            .iter()
            .any(|tool| tool["name"] == "apply_patch" && lists(tool))
    );
    let edit = tools
        .as_array()
        .expect("a list")
        .iter()
        .find(|tool| tool["name"] == "edit_file")
        .expect("it is there");
    let edits = &edit["parameters"]["properties"]["edits"]["items"]["properties"];
    assert_eq!(edits["replaceAll"]["type"], serde_json::json!(["boolean", "null"]), "{edit}");
    // Gemini's are a part of OpenAPI.
    let gemini = all_tools::spec(Provider::Gemini, false).expect("there are some").to_string();
    assert!(gemini.contains("\"type\":\"OBJECT\""), "{gemini}");
    assert!(!gemini.contains("\"type\":\"object\""), "{gemini}");
    assert!(!gemini.contains("additionalProperties"), "{gemini}");
    assert!(gemini.contains("functionDeclarations"), "{gemini}");
    for own in [Provider::OpenAiBuiltin, Provider::AnthropicEditor] {
        assert_eq!(all_tools::spec(own, false), Err(SpecError::OwnTool { provider: own }));
    }
}
