// The commands: what VS Code asks for, in terms of the modules beside this one.
import * as vscode from "vscode";
import { chooseProgram, report } from "./messages";
import { apply, open, selection, undo } from "./patches";
import type { FileChange } from "./planning";
import { type Located, HistoryView } from "./historyView";
import { ProposalsView, type Waiting } from "./proposalsView";
import { type Item, Review } from "./review";
import {
  commentOnHunk,
  copyComments,
  reviewChanges,
  reviewSince,
  revertRejected,
  showDiff,
  undoChanges,
} from "./reviewing";
import { Texts } from "./texts";
import { folder } from "./workspace";

/** Called by VS Code when a command is used for the first time. */
export function activate(context: vscode.ExtensionContext): void {
  const review = new Review();
  const texts = new Texts();
  const proposals = new ProposalsView(texts);
  const history = new HistoryView(() => void proposals.refresh());
  const command = (name: string, run: (...args: never[]) => Promise<void>) =>
    vscode.commands.registerCommand(`applyPatch.${name}`, (...args: never[]) =>
      // What a message offers may fail, too.
      run(...args)
        .catch(report)
        .catch(report),
    );
  /** A command that may change files, after which the history is another one. */
  const change = (name: string, run: (...args: never[]) => Promise<void>) =>
    command(name, async (...args: never[]) => {
      try {
        await run(...args);
      } finally {
        history.refresh();
      }
    });
  context.subscriptions.push(
    ...review.subscriptions,
    ...texts.subscriptions,
    ...proposals.subscriptions,
    ...history.subscriptions,
    command("applySelection", async () => open(review, selection(), await folder())),
    command("applyClipboard", async () =>
      open(review, await vscode.env.clipboard.readText(), await folder()),
    ),
    command("applyFile", async (uri: vscode.Uri) =>
      open(review, (await vscode.workspace.openTextDocument(uri)).getText(), await folder(uri)),
    ),
    command("show", (item: FileChange) => review.show(item)),
    command("acceptHunk", () => review.decide(true)),
    command("rejectHunk", () => review.decide(false)),
    change("apply", () => apply(review)),
    command("discard", () => review.close()),
    change("undo", undo),
    command("reviewChanges", (item?: Located) => reviewChanges(review, item)),
    command("reviewSince", () => reviewSince(review)),
    change("revertRejected", () => revertRejected(review)),
    command("comment", (item?: Item) => commentOnHunk(review, item)),
    command("copyComments", () => copyComments(review)),
    command("endReview", () => review.close()),
    command("showDiff", (item: Located) => showDiff(texts, item)),
    change("undoChanges", (item: Located) => undoChanges(review, item)),
    command("showProposal", async (item: Waiting) => void (await proposals.show(item))),
    command("reviewProposal", (item: Waiting) => proposals.review(review, item)),
    change("approve", (item: Waiting) => proposals.approve(item)),
    change("decline", (item: Waiting) => proposals.decline(item)),
    command("refresh", async () => history.refresh()),
    change("chooseProgram", chooseProgram),
  );
}
