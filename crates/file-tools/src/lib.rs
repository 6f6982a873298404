//! What an agent calls to read and change files.
//!
//! [`specs`] has what is sent to a model's provider: the patch tool in the shape that each of them
//! wants, and the instructions for the model.
#![forbid(unsafe_code)]

pub mod ops;
pub mod specs;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
