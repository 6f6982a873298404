// Changes that wait for a person between two runs of an agent: proposals of the workspace, by the id of the call.
"use strict";

const { PatchError } = require("./index.js");

/** Calls a tool: its answer, the id of the proposal if the change waits as one, and whether one of this call was decided. */
async function begin(workspace, name, args, callId, options) {
  const answer = await workspace.callLater(name, args, callId, options);
  const isDecided = answer.data?.proposalId !== undefined && answer.data.callId === callId;
  return { answer, proposalId: answer.error?.details?.proposalId, isDecided };
}

/** What a person has to see of a proposal. */
async function shown(workspace, proposalId) {
  const proposal = await workspace.proposal(proposalId);
  return {
    proposalId: proposal.proposalId,
    state: proposal.state,
    files: proposal.files,
    diff: (proposal.changedFiles ?? []).map((file) => file.diff ?? "").join(""),
    digest: proposal.digestNow ?? proposal.digest,
    differs: proposal.differs ?? false,
    why: proposal.why,
    reasons: proposal.reasons,
    error: proposal.error?.message,
  };
}

/** What became of a proposal, as the answer of a tool. */
const outcome = (workspace, proposalId) => workspace.call("proposal", { id: proposalId });

/** Commits a proposal: the answer of the call, or undefined if its result has to be shown again. */
async function approve(workspace, proposalId, digest) {
  try {
    const data = await workspace.approve(proposalId, { digest });
    return { ok: true, output: `approved by a person: ${proposalId}`, data };
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    if (error.details?.reason === "plan_differs") return undefined;
    if (error.details?.reason === "decided") return outcome(workspace, proposalId);
    throw error;
  }
}

/** Does the same within the call of a tool: a model is answered what went wrong. */
async function answered(workspace, proposalId) {
  try {
    return await approve(workspace, proposalId);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    const { kind, message, path, details, hints, recoverable, suggestedNextAction } = error;
    return { ok: false, error: { kind, message, path, details, hints, recoverable, suggestedNextAction } };
  }
}

/** Declines a proposal, unless it is decided already. */
async function decline(workspace, proposalId, why) {
  try {
    await workspace.decline(proposalId, why);
  } catch (error) {
    if (!(error instanceof PatchError) || error.details?.reason !== "decided") throw error;
  }
}

/** The proposal that a call of this session made. */
async function ofCall(workspace, callId) {
  const { proposals } = await workspace.proposals();
  const found = proposals.find((one) => one.callId === callId && one.session === workspace.session);
  if (!found) throw new Error(`the call ${callId} made no proposal in this session`);
  return found.proposalId;
}

/** What the model is told of a change that was declined. */
const declined = (why) => (why ? `declined by a person: ${why}` : "declined by a person");

module.exports = { answered, approve, begin, decline, declined, ofCall, outcome, shown };
