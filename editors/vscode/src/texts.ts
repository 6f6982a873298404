// Texts that are shown in an editor and are not files: diffs, and files before and after a change.
import * as vscode from "vscode";

const SCHEME = "apply-patch-text";

/** More texts are not kept. The editor asks again for one whose tab comes to the front. */
const COUNT = 500;

/** The texts that are shown. */
export class Texts implements vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, string>();
  #number = 0;
  readonly subscriptions = [vscode.workspace.registerTextDocumentContentProvider(SCHEME, this)];

  /** The address of a text; its language is that of a file of this name. */
  add(path: string, text: string): vscode.Uri {
    const query = `${++this.#number}`;
    this.#texts.set(query, text);
    this.#texts.delete(`${this.#number - COUNT}`);
    return vscode.Uri.from({ scheme: SCHEME, path: `/${path}`, query });
  }

  provideTextDocumentContent({ query }: vscode.Uri): string {
    return this.#texts.get(query) ?? "";
  }
}
