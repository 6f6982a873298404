#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod answer;
mod ask;
mod backlog;
mod call;
mod error;
mod handler;
mod host;
mod id;
mod links;
mod message;
mod prompts;
mod resources;
mod roots;
mod server;
mod settings;
mod subscriptions;
mod wire;
mod work;

pub use error::ServeError;
pub use settings::{
    Approval, BadTool, FindRules, MAX_MESSAGE, MAX_OUTPUT, Origin, ServerRules, ServerSettings,
    tools_named,
};

use std::io::{Read, Write};

/// Serves until `input` ends. Calls still at work then get a few seconds; after that they are
/// cancelled, so that before the commit point nothing has changed.
///
/// # Errors
///
/// When the workspace cannot be opened, or the client does not keep to the protocol at the start.
/// The end of `input` is not an error.
pub fn serve(
    settings: ServerSettings,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), ServeError> {
    let server = server::Server::new(settings)?;
    // Only the wait for the client is asynchronous; other threads read and write files.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(ServeError::system)?;
    let max_message = server.settings.max_message;
    let backlog = server.backlog.clone();
    let workers = server.workers.clone();
    let tools = server.tools.clone();
    let (transport, closed) =
        wire::Wire::start(input, output, max_message, backlog).map_err(ServeError::system)?;
    runtime.block_on(async {
        let served = server.run(transport, closed).await;
        // Started commits end.
        workers.finished().await;
        // With the session its turn ends.
        if let Some(opened) = tools.lock().await.take() {
            server::end_turn(&opened.session);
        }
        served
    })
}
