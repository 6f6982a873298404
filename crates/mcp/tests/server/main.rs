//! The server, driven over pipes with raw messages, in both eras of the protocol.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at files behind the guard's back"
)]

mod approval;
mod calls;
mod proposals;
mod protocol;
mod resources;
mod support;
