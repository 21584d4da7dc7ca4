import { JSONExt } from '@lumino/coreutils';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { RestoreResult } from '../../generated/rest';
import type { APPROVAL_PRESETS, Attachment } from '../../generated/wire';
import { Listener } from '../../listener';
import { DismissedNotices } from './dismissednotices';
import type { DraftStorage } from './draftstorage';
import { PromptHistory } from './prompthistory';

type ApprovalPreset = keyof typeof APPROVAL_PRESETS;

/**
 * What the panel shows: the conversation on screen, or the list of all.
 */
export type PanelPage = 'chat' | 'history';

/**
 * What of a notebook, or from where, an attachment is.
 */
export type AttachmentKind = Attachment['kind'];

/**
 * A message that is not sent yet.
 */
export interface IDraft {
  readonly text: string;

  /**
   * Data URLs.
   */
  readonly images: readonly string[];

  /**
   * What goes along with the text, in the order it was added.
   */
  readonly attachments: readonly IAttachment[];
}

/**
 * Something that goes along with a message: of a notebook or a terminal, a file
 * from the person's own computer, another conversation, a checkpoint, a web page.
 */
export interface IAttachment {
  readonly kind: AttachmentKind;

  /**
   * The notebook; of a file or a terminal its name; of what the server reads the
   * id of the conversation or the checkpoint, or the address of the page.
   */
  readonly path: string;

  readonly cellId: string | null;

  /**
   * What the person sees of it, such as “Cell 3”.
   */
  readonly label: string;

  /**
   * What the model sees of it; `null` is read by the server when it is sent.
   */
  readonly content: string | null;
}

/**
 * What was brought back from a checkpoint, in a conversation.
 */
export interface IRestored {
  readonly taskId: string;
  readonly result: RestoreResult;

  /**
   * Whether the person wants to be told of it no more.
   */
  readonly isPutAway?: boolean;
}

/**
 * A message that is to be brought into sight.
 */
export interface IWantedMessage {
  readonly taskId: string;
  readonly ts: number;

  /**
   * Whether the focus stays where it is: somebody goes from one to the next.
   */
  readonly keepsFocus?: boolean;
}

/**
 * What is to be looked for in the history; nothing is to be typed.
 */
export interface IWantedSearch {
  readonly query: string;
}

/**
 * The notebook a conversation is going to be about: the one in front, one that
 * was chosen, or none.
 */
export type NotebookChoice =
  | { readonly kind: 'front' }
  | { readonly kind: 'chosen'; readonly path: string }
  | { readonly kind: 'none' };

/**
 * What only the panel knows, and no server.
 *
 * #### Notes
 * Values are replaced, never changed: as long as a getter returns the same
 * object, nothing in it is different.
 */
export class PanelState extends Listener {
  /**
   * @param storage - Where drafts outlive a reload; without it they do not.
   *
   * @param dismissed - What the person has put away.
   */
  constructor(
    storage: DraftStorage | null = null,
    readonly dismissed = new DismissedNotices()
  ) {
    super();
    this._storage = storage;
    this._drafts = storage?.load() ?? new Map<string, IDraft>();
  }

  /**
   * Emitted when anything changed.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * The page on screen.
   */
  get page(): PanelPage {
    return this._page;
  }
  set page(page: PanelPage) {
    if (page !== this._page) {
      this._page = page;
      this._changed.emit();
    }
  }

  /**
   * The running command whose row, with what can be done about it, is in sight.
   */
  get commandInSight(): string | null {
    return this._commandInSight;
  }
  set commandInSight(executionId: string | null) {
    if (executionId !== this._commandInSight) {
      this._commandInSight = executionId;
      this._changed.emit();
    }
  }

  /**
   * What was brought back last.
   */
  get restored(): IRestored | null {
    return this._restored;
  }
  set restored(restored: IRestored | null) {
    if (restored !== this._restored) {
      this._restored = restored;
      this._changed.emit();
    }
  }

  /**
   * Emitted when the newest message is to be shown.
   */
  get newestWanted(): ISignal<this, void> {
    return this._newestWanted;
  }

  /**
   * Show the newest message of the conversation on screen.
   */
  showNewest(): void {
    this.page = 'chat';
    this._newestWanted.emit();
  }

  /**
   * The message to bring into sight once its conversation is on screen.
   */
  get wantedMessage(): IWantedMessage | null {
    return this._wantedMessage;
  }
  set wantedMessage(message: IWantedMessage | null) {
    if (message !== this._wantedMessage) {
      this._wantedMessage = message;
      this._changed.emit();
    }
  }

  /**
   * What is to be looked for in the history, until its field has it.
   */
  get wantedSearch(): IWantedSearch | null {
    return this._wantedSearch;
  }
  set wantedSearch(search: IWantedSearch | null) {
    if (search !== this._wantedSearch) {
      this._wantedSearch = search;
      this._changed.emit();
    }
  }

  /**
   * What a conversation that is yet to begin will work on.
   */
  get notebookChoice(): NotebookChoice {
    return this._notebookChoice;
  }
  set notebookChoice(choice: NotebookChoice) {
    if (!JSONExt.deepEqual({ ...choice }, { ...this._notebookChoice })) {
      this._notebookChoice = choice;
      this._changed.emit();
    }
  }

  /**
   * How much the agent may do without asking in a conversation that is yet to
   * begin; `null` for what the settings say.
   */
  get approvalChoice(): ApprovalPreset | null {
    return this._approvalChoice;
  }
  set approvalChoice(choice: ApprovalPreset | null) {
    if (choice !== this._approvalChoice) {
      this._approvalChoice = choice;
      this._changed.emit();
    }
  }

  /**
   * What was sent from this tab, oldest first.
   */
  get sent(): readonly string[] {
    return this._sent;
  }

  /**
   * Remember what was sent, to be sent again.
   */
  addSent(text: string): void {
    this._sent = [...this._sent.filter(other => other !== text), text].slice(
      -Private.MOST_SENT
    );
  }

  /**
   * What other conversations began with, newest first, as far as it is known.
   */
  get firstPrompts(): readonly string[] {
    return this._firstPrompts;
  }

  /**
   * Learn what other conversations began with, once.
   *
   * @param load - Asks for it, newest first; asked again another time if it
   * fails.
   */
  async loadFirstPrompts(
    load: () => Promise<readonly string[]>
  ): Promise<void> {
    if (this._hasFirstPrompts) {
      return;
    }
    this._hasFirstPrompts = true;
    try {
      this._firstPrompts = await load();
    } catch {
      // What was sent from this page is there all the same.
      this._hasFirstPrompts = false;
    }
  }

  protected override release(): void {
    this._storage?.dispose();
  }

  /**
   * What is typed in a conversation and not sent.
   *
   * @param taskId - The conversation; `null` is one that is yet to begin.
   */
  draft(taskId: string | null): IDraft {
    return this._drafts.get(taskId ?? '') ?? Private.EMPTY;
  }

  /**
   * Replace parts of what is typed.
   */
  setDraft(taskId: string | null, change: Partial<IDraft>): void {
    const before = this.draft(taskId);
    const after = { ...before, ...change };
    if (JSONExt.deepEqual(plainDraft(before), plainDraft(after))) {
      return;
    }
    const isEmpty = Private.isEmpty(after);
    if (isEmpty) {
      this._drafts.delete(taskId ?? '');
    } else {
      this._drafts.set(taskId ?? '', after);
    }
    this._storage?.save(taskId ?? '', isEmpty ? null : after);
    this._changed.emit();
  }

  /**
   * Take what is typed, to send it: the field is empty then.
   */
  takeDraft(taskId: string | null): IDraft {
    const draft = this.draft(taskId);
    this.setDraft(taskId, Private.EMPTY);
    this._histories.delete(taskId);
    this._offered.delete(taskId);
    return draft;
  }

  /**
   * Let what is typed in a conversation go on in another one.
   */
  moveDraft(from: string | null, into: string): void {
    const history = this._histories.get(from);
    const draft = this.takeDraft(from);
    this.returnDraft(into, draft);
    if (history) {
      this._histories.set(into, history);
    }
  }

  /**
   * Where one is in going through what was said before in a conversation.
   */
  promptHistory(taskId: string | null): PromptHistory {
    const history = this._histories.get(taskId) ?? new PromptHistory();
    this._histories.set(taskId, history);
    return history;
  }

  /**
   * Put a text into the field for a person who may send or change it.
   *
   * #### Notes
   * What the person typed stays above it; a text that was put there in this way
   * before, and is still the same, goes.
   */
  offerText(taskId: string | null, text: string): void {
    const { text: before } = this.draft(taskId);
    const offered = this._offered.get(taskId);
    const typed =
      offered !== undefined && before.endsWith(offered)
        ? before.slice(0, -offered.length).trimEnd()
        : before.trimEnd();
    this._offered.set(taskId, text);
    this.setDraft(taskId, {
      text: typed === '' ? text : `${typed}\n\n${text}`
    });
  }

  /**
   * Put back what was taken and could not be sent: before what was typed since.
   */
  returnDraft(taskId: string | null, taken: IDraft): void {
    const since = this.draft(taskId);
    this.setDraft(taskId, {
      text: [taken.text, since.text].filter(text => text !== '').join('\n\n'),
      images: [...taken.images, ...since.images],
      attachments: [...taken.attachments, ...since.attachments]
    });
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _newestWanted = new Signal<this, void>(this);
  private readonly _storage: DraftStorage | null;
  private readonly _drafts: Map<string, IDraft>;
  private readonly _histories = new Map<string | null, PromptHistory>();
  private readonly _offered = new Map<string | null, string>();
  private _notebookChoice: NotebookChoice = { kind: 'front' };
  private _approvalChoice: ApprovalPreset | null = null;
  private _sent: readonly string[] = [];
  private _firstPrompts: readonly string[] = [];
  private _hasFirstPrompts = false;
  private _commandInSight: string | null = null;
  private _restored: IRestored | null = null;
  private _page: PanelPage = 'chat';
  private _wantedMessage: IWantedMessage | null = null;
  private _wantedSearch: IWantedSearch | null = null;
}

/**
 * What is in a draft, to be compared.
 */
export function plainDraft({ text, images, attachments }: IDraft) {
  return {
    text,
    images: [...images],
    attachments: attachments.map(attachment => ({ ...attachment }))
  };
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * The same empty draft each time, so that nothing seems to have changed.
   */
  export const EMPTY: IDraft = { text: '', images: [], attachments: [] };

  /**
   * How many sent texts are remembered.
   */
  export const MOST_SENT = 100;

  export function isEmpty({ text, images, attachments }: IDraft): boolean {
    return text === '' && images.length === 0 && attachments.length === 0;
  }
}
