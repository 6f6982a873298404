// Says why a command failed, and offers what can be done about it.
import * as vscode from "vscode";
import { type Place, describe } from "./refusal";
import { type Files, NoProgram, Refused, settings } from "./workspace";

export async function chooseProgram(): Promise<void> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: "The program apply-patch",
      openLabel: "Choose",
    })) ?? [];
  if (file) await settings().update("program", file.fsPath, vscode.ConfigurationTarget.Global);
}

/**
 * Shows why a command failed; refusals can be copied for the model, and lead to the lines that they
 * are about.
 */
export async function report(error: unknown): Promise<void> {
  if (error instanceof NoProgram) return offer(error);
  if (!(error instanceof Refused)) {
    void vscode.window.showErrorMessage(describe(error).message);
    return;
  }
  const { message, full, places } = describe(error.reason);
  const actions = places.length > 0 ? ["Show", "Copy for the Model"] : ["Copy for the Model"];
  const action = await vscode.window.showErrorMessage(message, ...actions);
  if (action === "Copy for the Model") await vscode.env.clipboard.writeText(full);
  if (action === "Show") await reveal(error.files, places);
}

/** Says what to do without the program. */
async function offer({ instead }: NoProgram): Promise<void> {
  const message =
    "The program apply-patch, which writes and undoes patches on the disk, was not found here.";
  const actions = [
    "How to Install",
    "Choose the Program",
    ...(instead ? ["Apply in the Editor"] : []),
  ];
  const action = await vscode.window.showWarningMessage(message, ...actions);
  if (action === "How to Install")
    await vscode.commands.executeCommand(
      "workbench.action.openWalkthrough",
      "apply-patch.apply-patch#start",
      true,
    );
  if (action === "Choose the Program") await chooseProgram();
  if (action === "Apply in the Editor") await instead?.();
}

async function reveal(files: Files, places: Place[]): Promise<void> {
  const items = places.map((place) => ({ label: `${place.path}:${place.line}`, place }));
  const chosen =
    items.length === 1
      ? items[0]
      : await vscode.window.showQuickPick(items, { title: "Show which place?" });
  if (!chosen) return;
  const { path, line } = chosen.place;
  const at = new vscode.Range(line - 1, 0, line - 1, 0);
  await vscode.window.showTextDocument(files.uri(path), { selection: at });
}
