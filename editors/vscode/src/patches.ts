// The commands for a patch: it is shown, applied and undone.
import * as vscode from "vscode";
import { chosenAs, isAccepted, pathsOf, summary } from "./planning";
import type { Program } from "./program";
import { approveParts } from "./proposals";
import type { Review } from "./review";
import {
  Complaint,
  Files,
  attempt,
  folder,
  program,
  rules,
  unsavedIn,
  unsavedOf,
} from "./workspace";

export function selection(): string {
  const editor = vscode.window.activeTextEditor;
  if (!editor) throw new Complaint("Open an editor and select a patch.");
  return editor.document.getText(editor.selection.isEmpty ? undefined : editor.selection);
}

/** Shows what a patch would change. Nothing is written. */
export async function open(
  review: Review,
  patch: string,
  where: vscode.Uri | undefined,
): Promise<void> {
  if (!where) return;
  const plan = await new Files(where).plan(patch, rules());
  if (plan.files.length === 0) {
    void vscode.window.showInformationMessage(
      "Nothing to do: the files are as the patch has them.",
    );
    return;
  }
  const how =
    plan.where === "disk"
      ? "Will be written to the disk. Undo Last Patch undoes it."
      : `Will be made in the editor and not saved, because ${unsavedIn(plan.unsaved)}. The editor's Undo undoes it.`;
  await review.open(
    plan,
    where,
    [`${plan.summary}.`, how, ...plan.notes.map((note) => `Note: ${note}.`)].join(" "),
  );
}

/** Applies what is accepted of the patch under review. */
export async function apply(review: Review, inEditor = false): Promise<void> {
  const { plan, folder } = review;
  if (!plan || !folder)
    throw new Complaint(
      "There is no patch under review. Apply one from a file, a selection or the clipboard.",
    );
  const taken = plan.files.filter(isAccepted);
  if (taken.length === 0) throw new Complaint("Nothing was applied: all of the patch is rejected.");
  // The person may have typed, saved or switched branches meanwhile: what was shown is applied, or
  // nothing is.
  const files = new Files(folder);
  const now = await files.plan(plan.patch, plan.rules);
  if (now.where !== plan.where || now.digest !== plan.digest) {
    throw new Complaint(
      "The files have changed since the patch was shown, and nothing was applied. Apply the patch again.",
    );
  }
  if (review.proposal && (plan.where === "editor" || inEditor))
    throw new Complaint(`Nothing was changed: ${unsavedIn(plan.unsaved)}. Save or revert first.`);
  const done = summary(taken);
  if (plan.where === "editor" || inEditor) {
    const asDocuments =
      plan.where === "editor"
        ? plan
        : chosenAs(plan, await files.plan(plan.patch, plan.rules, true));
    if (!(await vscode.workspace.applyEdit(files.edit(asDocuments.files.filter(isAccepted))))) {
      throw new Complaint("VS Code refused the edit. Look at the files before trying again.");
    }
    await review.close();
    void vscode.window.showInformationMessage(`Applied in the editor, not saved: ${done}.`);
    return;
  }
  const { proposal } = review;
  const maker = program(files.root, proposal ? undefined : () => apply(review, true));
  const id = await attempt(files, () =>
    proposal ? approveParts(maker, proposal, plan) : maker.commit(plan),
  );
  await review.close();
  const answer = await vscode.window.showInformationMessage(
    `Applied to the disk: ${done}.`,
    "Undo",
  );
  if (answer === "Undo")
    await takeBack(maker, files, id, unsavedOf(files.root, taken.flatMap(pathsOf)));
}

export async function undo(): Promise<void> {
  const where = await folder();
  if (!where) return;
  const files = new Files(where);
  const maker = program(files.root);
  const transaction = await attempt(files, () => maker.last());
  if (!transaction) {
    void vscode.window.showInformationMessage("No patch to undo in this folder.");
    return;
  }
  const items = [{ label: "Undo", detail: transaction.paths.join(", ") }, { label: "Cancel" }];
  const title = `Undo the last patch? ${transaction.title}`;
  if ((await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true }))?.label !== "Undo")
    return;
  const dirty = unsavedOf(files.root, transaction.paths);
  await takeBack(maker, files, transaction.id, dirty);
}

/** Undoes a transaction, unless some of its files have unsaved changes. */
export async function takeBack(
  maker: Program,
  files: Files,
  id: string,
  unsaved: string[],
): Promise<void> {
  if (unsaved.length > 0)
    throw new Complaint(`Nothing was undone: ${unsavedIn(unsaved)}. Save or revert first.`);
  await attempt(files, () => maker.undo(id));
  void vscode.window.showInformationMessage("The patch is undone.");
}
