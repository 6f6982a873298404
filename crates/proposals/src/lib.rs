#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod answer;
mod approve;
mod bases;
mod later;
mod part;
mod proposal;
mod propose;
mod store;

pub use answer::{FileData, PlannedProposal, ProposalData, ProposalList, ProposalNow, differs};
pub use approve::{Approval, Shown};
pub use later::{Later, proposed_later};
pub use proposal::{Decision, Proposal, ProposalPart, ProposalState, ProposedFile};
pub use propose::{Proposed, ProposedPatch};
pub use store::{Listed, Proposals};
