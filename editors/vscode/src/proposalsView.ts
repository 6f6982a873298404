// The view “Proposals”: the changes that wait for a person, and the commands to decide.
import * as vscode from "vscode";
import { counted, timeOf } from "./history";
import { takeBack } from "./patches";
import { Differs, type Now, type Proposal, approve, decline, now, proposalsOf } from "./proposals";
import type { Review } from "./review";
import type { Texts } from "./texts";
import {
  Complaint,
  Files,
  NoProgram,
  Refused,
  attempt,
  folders,
  program,
  real,
  unsavedIn,
  unsavedOf,
} from "./workspace";

/** A proposal in the view. */
export interface Waiting {
  folder: vscode.Uri;
  proposal: Proposal;
}

/** The proposals of the open folders. */
export class ProposalsView implements vscode.TreeDataProvider<Waiting> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #view: vscode.TreeView<Waiting>;
  #waiting: Waiting[] = [];
  #calls = 0;
  readonly subscriptions: vscode.Disposable[];

  constructor(readonly texts: Texts) {
    this.#view = vscode.window.createTreeView("applyPatch.proposals", { treeDataProvider: this });
    this.subscriptions = [this.#view];
  }

  /** Makes the list again. The icon of the view says how many wait. */
  async refresh(): Promise<void> {
    const call = ++this.#calls;
    const found = new Map<string, Waiting>();
    const notes: string[] = [];
    for (const { uri: folder } of folders()) {
      try {
        for (const proposal of await proposalsOf(program(real(folder.fsPath)))) {
          // Two folders may lie in one project.
          if (!found.has(proposal.proposalId)) found.set(proposal.proposalId, { folder, proposal });
        }
      } catch (error) {
        // The view above says that there is no program.
        if (error instanceof Error && !(error instanceof NoProgram)) notes.push(error.message);
      }
    }
    // A later call knows more.
    if (call !== this.#calls) return;
    this.#waiting = [...found.values()];
    const { length } = this.#waiting;
    this.#view.message = notes.join(" ") || undefined;
    this.#view.badge =
      length > 0
        ? { value: length, tooltip: `${counted(length, "proposal")} to decide` }
        : undefined;
    this.#changed.fire();
  }

  /** Opens what a proposal would change, each file in the diff editor. */
  async show({ folder, proposal }: Waiting): Promise<Now> {
    const { proposalId: id } = proposal;
    const files = new Files(folder);
    const plan = await attempt(files, () => now(program(files.root), id));
    if (!plan) {
      await this.refresh();
      throw new Complaint(`Proposal ${id} is decided already.`);
    }
    const resources = plan.files.map(({ path, toPath, before, after }) => [
      vscode.Uri.joinPath(folder, toPath ?? path),
      this.texts.add(path, before),
      this.texts.add(toPath ?? path, after),
    ]);
    await vscode.commands.executeCommand("vscode.changes", `Proposal ${id}`, resources);
    return plan;
  }

  /** Shows a proposal, asks, and approves exactly what was shown. */
  async approve(waiting: Waiting, again = false): Promise<void> {
    const { folder, proposal } = waiting;
    const { proposalId: id } = proposal;
    const plan = await this.show(waiting);
    const detail = [
      again && "Nothing was changed: the files have changed again.",
      plan.differs && "The files have changed since it was proposed. This is the result now.",
      ...plan.notes,
    ];
    const items = [
      { label: "Approve", detail: detail.filter(Boolean).join(" ") },
      { label: "Cancel" },
    ];
    const title = `Approve ${id}, ${counted(plan.files.length, "file")}?`;
    const chosen = await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true });
    if (chosen?.label !== "Approve") return;
    const files = new Files(folder);
    const paths = plan.files.flatMap(({ path, toPath }) => (toPath ? [path, toPath] : [path]));
    const dirty = unsavedOf(plan.directory, paths);
    if (dirty.length > 0)
      throw new Complaint(`Nothing was changed: ${unsavedIn(dirty)}. Save or revert first.`);
    const maker = program(files.root);
    let transaction: string | undefined;
    try {
      transaction = await approve(maker, id, plan.digest);
    } catch (error) {
      if (error instanceof Differs) return this.approve(waiting, true);
      throw new Refused(files, error);
    }
    await this.refresh();
    const undo = transaction ? ["Undo"] : [];
    const answer = await vscode.window.showInformationMessage(`Approved: ${id}.`, ...undo);
    if (answer === "Undo" && transaction)
      await takeBack(maker, files, transaction, unsavedOf(plan.directory, paths));
  }

  /** Shows the hunks of a proposal, to accept some; the others stay proposed. */
  async review(review: Review, { folder, proposal }: Waiting): Promise<void> {
    const { proposalId: id } = proposal;
    const files = new Files(folder);
    const shown = await attempt(files, () => now(program(files.root), id));
    if (!shown) {
      await this.refresh();
      throw new Complaint(`Proposal ${id} is decided already.`);
    }
    if (shown.patch === undefined || shown.directory !== files.root)
      throw new Complaint(`Proposal ${id} cannot be taken apart here. Approve or decline all of it.`);
    const plan = await files.plan(shown.patch, { profile: "standard" });
    const message = [
      "What is checked is approved, the rest stays proposed.",
      proposal.why && `Why: ${proposal.why}.`,
      shown.differs && "The files have changed since it was proposed. This is the result now.",
    ];
    await review.open(plan, folder, message.filter(Boolean).join(" "), id);
  }

  /** Asks why, and declines a proposal. */
  async decline({ folder, proposal }: Waiting): Promise<void> {
    const { proposalId: id } = proposal;
    const why = await vscode.window.showInputBox({
      title: `Decline ${id}`,
      prompt: "Why it is declined, for the agent. It may be empty.",
      ignoreFocusOut: true,
    });
    if (why === undefined) return;
    const files = new Files(folder);
    await attempt(files, () => decline(program(files.root), id, why));
    await this.refresh();
    void vscode.window.showInformationMessage(`Declined: ${id}. Nothing was changed.`);
  }

  getChildren(item?: Waiting): Waiting[] {
    return item ? [] : this.#waiting;
  }

  getTreeItem(waiting: Waiting): vscode.TreeItem {
    const {
      proposalId: id,
      state,
      time,
      agent,
      session,
      why,
      files = [],
      reasons = [],
    } = waiting.proposal;
    const item = new vscode.TreeItem(why ?? id);
    item.id = id;
    if (state === "not_verified") {
      item.description = "not verified";
      item.tooltip = `${id} was altered, or is not signed with a key that is here. It can only be removed.`;
      item.iconPath = new vscode.ThemeIcon("warning");
      item.contextValue = state;
      return item;
    }
    const names = files.map(
      ({ operation, path, toPath }) => `${operation} ${path}${toPath ? ` → ${toPath}` : ""}`,
    );
    const when = time && timeOf(new Date(time), new Date());
    item.description = [when, counted(files.length, "file"), agent ?? session]
      .filter(Boolean)
      .join(", ");
    item.tooltip = [`${id}, ${item.description}`, ...reasons, ...names].join("\n");
    item.iconPath = new vscode.ThemeIcon("git-pull-request");
    item.contextValue = "proposal";
    item.command = { command: "applyPatch.showProposal", title: "Show", arguments: [waiting] };
    return item;
  }
}
