//! Tells a client about changed resources.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Semaphore, broadcast};

use crate::resources;

/// How many resources a client may subscribe to, and how many requests to listen may be open.
const MAX: usize = 64;

/// How many changes a listener may be late.
const LATE: usize = 16;

/// The resources that the client wants to be told about.
#[derive(Debug)]
pub(crate) struct Subscriptions {
    /// The resources, in the protocol with sessions.
    uris: Mutex<BTreeSet<String>>,
    /// Tells the listening requests, in the other protocol.
    changes: broadcast::Sender<Vec<String>>,
    /// The receivers of requests that are acknowledged and do not listen yet, the oldest first.
    /// Changes after the acknowledgement are news.
    acknowledged: Mutex<VecDeque<broadcast::Receiver<Vec<String>>>>,
    listeners: Semaphore,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Self {
            uris: Mutex::default(),
            changes: broadcast::Sender::new(LATE),
            acknowledged: Mutex::default(),
            listeners: Semaphore::new(MAX),
        }
    }
}

impl Subscriptions {
    /// Adds a resource.
    pub(crate) fn add(&self, uri: String) -> Result<(), ErrorData> {
        if !resources::can_change(&uri) {
            let message = "there is no such resource that changes; the log is one, and each \
                           transaction by its whole id";
            return Err(ErrorData::invalid_params(message, None));
        }
        let mut uris = self.uris.lock().unwrap_or_else(PoisonError::into_inner);
        if uris.len() >= MAX {
            return Err(ErrorData::invalid_params(format!("there are {MAX} subscriptions"), None));
        }
        uris.insert(uri);
        Ok(())
    }

    /// Removes a resource.
    pub(crate) fn remove(&self, uri: &str) {
        self.uris.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    /// Tells the client that these resources changed, as far as it wants to know.
    pub(crate) async fn tell(&self, peer: &Peer<RoleServer>, changed: Vec<String>) {
        let wanted: Vec<String> = {
            let uris = self.uris.lock().unwrap_or_else(PoisonError::into_inner);
            changed.iter().filter(|uri| uris.contains(*uri)).cloned().collect()
        };
        // There may be no request that listens.
        let _ = self.changes.send(changed);
        for uri in wanted {
            // A client that has gone is told nothing.
            let _ = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
        }
    }

    /// Keeps the changes from now on for a request that is about to be acknowledged.
    pub(crate) fn expect_listener(&self) {
        let mut waiting = self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
        // A request that was never acknowledged does not listen either.
        waiting.truncate(MAX - 1);
        waiting.push_back(self.changes.subscribe());
    }

    /// Tells one request about changes until `gone` ends or the request is cancelled.
    pub(crate) async fn listen(
        &self,
        context: &SubscriptionContext,
        gone: impl Future<Output = ()>,
    ) -> Result<(), ErrorData> {
        let waiting = self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Ok(_one) = self.listeners.try_acquire() else {
            let message = format!("{MAX} requests are listening already");
            return Err(ErrorData::invalid_params(message, None));
        };
        let accepted = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let mut changes = waiting.unwrap_or_else(|| self.changes.subscribe());
        tokio::pin!(gone);
        loop {
            let changed = tokio::select! {
                changed = changes.recv() => changed,
                () = context.cancelled() => return Ok(()),
                () = &mut gone => return Ok(()),
            };
            for uri in &accepted {
                // The missed updates may have been any.
                let is_news = match &changed {
                    Ok(changed) => changed.contains(uri),
                    Err(RecvError::Lagged(_)) => true,
                    Err(RecvError::Closed) => return Ok(()),
                };
                if is_news && context.sink().notify_resource_updated(uri).await.is_err() {
                    return Ok(());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::PoisonError;

    use super::Subscriptions;

    #[test]
    fn a_change_between_the_acknowledgement_and_the_listening_is_news() {
        let subscriptions = Subscriptions::default();
        subscriptions.expect_listener();
        subscriptions.changes.send(vec!["log".to_owned()]).expect("a receiver waits");
        let waiting = &subscriptions.acknowledged;
        let mut first = waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
            .expect("the receiver of the request");
        assert_eq!(first.try_recv(), Ok(vec!["log".to_owned()]));
    }
}
