//! The requests of the protocol to the server.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use apply_patch_api::tools::ToolInfo;
use apply_patch_api::tools::{Tool, ToolError};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, GetPromptRequestParams, GetPromptResponse,
    Icon, Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool as Listed, ToolAnnotations,
    UnsubscribeRequestParams,
};
use rmcp::service::{
    NotificationContext, RequestContext, RoleServer, ServerInitializeError, ServiceExt as _,
    SubscriptionContext,
};
use serde_json::Value;
use tokio::sync::watch;

use crate::call::CallOf;
use crate::error::ServeError;
use crate::message::ArgumentsText;
use crate::server::{OpenedProject, Server, has_data};
use crate::wire::Wire;
use crate::{answer, prompts, resources};

const INSTRUCTIONS: &str = "File tools for one workspace; paths are relative to it. Read a file \
    before you change it and pass its sha256, so that nothing is overwritten unseen. Prefer \
    edit_file for small changes and apply_patch for several files. Every change answers with a \
    transactionId for undo.";

/// The beginnings of the names of clients that give the data of results to the model. Others may
/// give the text only: Gemini CLI, opencode, and the SDKs of OpenAI, Anthropic and LangChain do.
const READ_DATA: [&str; 4] = ["@cline/", "claude-code", "codex", "goose"];

/// A sheet with a line that goes and one that comes.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' \
    viewBox='0 0 16 16' fill='none' stroke-width='2'%3E\
    %3Cpath d='M3 1h10v14H3z' stroke='%23777'/%3E%3Cpath d='M5 6h6' stroke='%23c33'/%3E\
    %3Cpath d='M5 10h6M8 7.5v5' stroke='%23393'/%3E%3C/svg%3E";

impl Server {
    /// Serves until the client goes.
    pub(crate) async fn run(
        mut self,
        wire: Wire,
        closed: watch::Receiver<bool>,
    ) -> Result<(), ServeError> {
        self.closed = Some(closed);
        match self.serve(wire).await {
            Ok(running) => running.waiting().await.map(drop).map_err(ServeError::system),
            // A client that leaves before its first request is not a failure.
            Err(
                ServerInitializeError::ConnectionClosed(_)
                | ServerInitializeError::TransportError { .. },
            ) => Ok(()),
            Err(error) => Err(ServeError::Protocol(error.to_string())),
        }
    }

    /// Returns whether there is a tool that takes patches.
    fn takes_patches(&self) -> bool {
        self.settings.tools.iter().any(|tool| matches!(tool, Tool::ApplyPatch | Tool::EditPatch))
    }

    fn offered(&self, text: &str) -> Result<Tool, ErrorData> {
        let offered = &self.settings.tools;
        Tool::named(text).filter(|tool| offered.contains(tool)).ok_or_else(|| {
            let names: Vec<_> = offered.iter().map(|tool| tool.legal_name()).collect();
            ErrorData::invalid_params(
                format!(
                    "there is no tool {:?} here; there are {}",
                    apply_patch_api::files::shortened(text),
                    names.join(", ")
                ),
                None,
            )
        })
    }
}

/// Returns whether the client is known to give the data of results to the model, in a version of
/// the protocol with data.
fn reads_data(context: &RequestContext<RoleServer>) -> bool {
    has_data(context)
        && context
            .client_info()
            .is_some_and(|client| READ_DATA.iter().any(|known| client.name.starts_with(known)))
}

/// Refuses a cursor: each list is one page, so none was given.
fn first_page(page: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match page.and_then(|page| page.cursor) {
        Some(cursor) if !cursor.is_empty() => {
            Err(ErrorData::invalid_params("there is one page: leave `cursor` out", None))
        }
        _ => Ok(()),
    }
}

fn object(schema: Value) -> Arc<serde_json::Map<String, Value>> {
    match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}

fn not_found(error: ToolError) -> ErrorData {
    ErrorData::resource_not_found(error.message, None)
}

/// Describes a tool for the protocol's list.
fn listed(tool: Tool, brief: bool) -> Listed {
    let info = if brief { ToolInfo::brief(tool) } else { ToolInfo::of(tool) };
    let hints = info.annotations;
    let mut listed = Listed::new(tool.legal_name(), info.description, object(info.input_schema));
    listed.title = Some(info.title.to_owned());
    listed.output_schema = (!info.output_schema.is_null()).then(|| object(info.output_schema));
    listed.annotations = Some(
        ToolAnnotations::new()
            .read_only(hints.read_only_hint)
            .destructive(hints.destructive_hint)
            .idempotent(hints.idempotent_hint)
            .open_world(hints.open_world_hint),
    );
    listed
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe();
        let icon = Icon::new(ICON).with_mime_type("image/svg+xml").with_sizes(vec!["any".into()]);
        let server = Implementation::new("apply-patch", env!("CARGO_PKG_VERSION"))
            .with_title("Files and patches")
            .with_icons(vec![icon]);
        ServerConfig::new(capabilities.build())
            .with_server_info(server)
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.negotiate_initialize(&request)?;
        context.peer.set_peer_info(request);
        if result.protocol_version.as_str() < "2025-11-25" {
            result.server_info.icons = None;
        }
        Ok(result)
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        first_page(page)?;
        let reads_data = reads_data(&context);
        let list = self.settings.tools.iter().map(|&tool| {
            let mut listed = listed(tool, self.settings.brief);
            // A tool that promises data has to give it.
            if reads_data && answer::shows_text(tool) {
                listed.output_schema = None;
            }
            listed
        });
        Ok(ListToolsResult::with_all_items(list.collect()))
    }

    fn get_tool(&self, text: &str) -> Option<Listed> {
        self.offered(text).ok().map(|tool| listed(tool, self.settings.brief))
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        first_page(page)?;
        Ok(ListResourcesResult::with_all_items(resources::listed(&self.proposals)))
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        first_page(page)?;
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if let Some(contents) = self.proposals.read(&request.uri) {
            return Ok(ReadResourceResult::new(vec![contents]).into());
        }
        let OpenedProject { session, rules, .. } = self.tools(&context).await.map_err(not_found)?;
        let max = rules.tool_settings.max_output.unwrap_or(usize::MAX);
        let place = self.in_order(Tool::ReadFile).await;
        let ran = self.workers.run(move || {
            let _place = place;
            resources::read(&session, &request.uri, max)
        });
        match ran
            .await
            .ok_or_else(|| ErrorData::internal_error("reading ended in a defect", None))?
        {
            Ok(Some(contents)) => Ok(ReadResourceResult::new(vec![contents]).into()),
            Ok(None) => Err(ErrorData::resource_not_found("there is no such resource", None)),
            Err(error) => Err(not_found(error)),
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.add(request.uri)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let uris = requested.resource_subscriptions.iter().flatten();
        let known = uris.filter(|uri| resources::can_change(uri)).cloned();
        self.subscriptions.expect_listener();
        Some(SubscriptionFilter::builder().resource_subscriptions(known).build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.subscriptions.listen(&context, self.gone()).await
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        first_page(page)?;
        let prompts = if self.takes_patches() { prompts::listed() } else { Vec::new() };
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if !self.takes_patches() {
            return Err(ErrorData::invalid_params("there are no prompts here", None));
        }
        prompts::text(&request).map(Into::into)
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.new_roots.store(true, Ordering::SeqCst);
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.offered(&request.name)?;
        let tools = match self.tools(&context).await {
            Ok(tools) => tools,
            Err(error) => return Ok(answer::failed(tool, error).into()),
        };
        let Some(ArgumentsText(args)) = context.extensions.get::<ArgumentsText>().cloned() else {
            return Err(ErrorData::internal_error("the call has lost its arguments", None));
        };
        let call = CallOf::new(self, tools, tool, args, &context);
        let state = request.request_state.as_deref();
        let response = call.answer(state, request.input_responses.as_ref()).await?;
        Ok(match response {
            CallToolResponse::Complete(result) if reads_data(&context) => {
                answer::for_reader_of_data(tool, result).into()
            }
            CallToolResponse::Complete(result) => answer::with_data_as_text(result).into(),
            response => response,
        })
    }
}
