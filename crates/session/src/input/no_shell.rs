//! Stands in for `shell-intercept` in builds without the crate: no command is understood.
#![allow(dead_code, reason = "it has what the crate has")]

use std::borrow::Cow;
use std::convert::Infallible;

pub(super) enum Shell {
    Posix,
}

pub(super) enum Intercept<'s> {
    Body { patch: Cow<'s, str>, workdir: Option<Cow<'s, str>> },
    CorrectnessError(Infallible),
    ShellParseError(Infallible),
    NotApplyPatch,
}

impl Intercept<'_> {
    pub(super) fn patch_error(&self) -> Option<Infallible> {
        None
    }
}

pub(super) fn intercept<'s>(_: &[&'s str]) -> Intercept<'s> {
    Intercept::NotApplyPatch
}

pub(super) fn intercept_script(_: Shell, _: &str) -> Intercept<'_> {
    Intercept::NotApplyPatch
}
