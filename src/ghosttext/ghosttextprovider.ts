import { EditorView } from '@codemirror/view';
import type {
  CompletionHandler,
  IInlineCompletionContext,
  IInlineCompletionItem,
  IInlineCompletionList,
  IInlineCompletionProvider
} from '@jupyterlab/completer';
import type { ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { asErrorBody } from '../errors';
import type { ErrorBody } from '../generated/wire';
import type { AgentStore } from '../state/store';
import { agentIcon } from '../ui/icons/agenticon';
import { GhostTextApi } from './ghosttextapi';
import type { Place } from './place';
import { placeIn } from './place';

/**
 * How long nothing is typed, in milliseconds, before it is asked for.
 */
const PAUSE = 120;

/**
 * How long nothing is asked, in milliseconds, after something went wrong: a
 * server that refuses one pause in typing refuses the next.
 */
const RETRY = 10_000;

/**
 * How many suggestions there are for who asks for them with a key.
 */
const SEVERAL = 3;

/**
 * `InlineCompletionTriggerKind.Invoke`; as a value Lab does not have it before 4.1.
 */
const INVOKED = 0;

/**
 * Asks the server what may be written at the cursor, and hands it to Lab, which
 * shows it.
 */
export class GhostTextProvider implements IInlineCompletionProvider {
  constructor({ serverSettings, store, trans }: GhostTextProvider.IOptions) {
    this._api = new GhostTextApi(serverSettings);
    this._store = store;
    this._trans = trans;
  }

  readonly identifier = 'hdsp-agent:ghost-text';
  readonly icon = agentIcon;

  get name(): string {
    return this._trans.__('HDSP Agent');
  }

  /**
   * Emitted when a try goes wrong, or does not any more.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * Why nothing could be suggested the last time; `null` if it could.
   */
  get problem(): ErrorBody | null {
    return this._problem;
  }

  /**
   * What is suggested now. Lab shortens the texts by what is typed of them.
   */
  get items(): readonly IInlineCompletionItem[] {
    return this._items;
  }

  /**
   * A part of what is suggested was taken: the rest is wanted, and no more.
   */
  goOn(): void {
    this._goesOn = true;
  }

  /**
   * What may be written at the cursor.
   */
  async fetch(
    request: CompletionHandler.IRequest,
    context: IInlineCompletionContext
  ): Promise<IInlineCompletionList> {
    this._asking?.abort();
    const asking = new AbortController();
    this._asking = asking;
    this._items = [];
    if (this._store.state?.settings?.ghostTextEnabled !== true) {
      return { items: [] };
    }
    const isInvoked = Number(context.triggerKind) === INVOKED;
    const editor = focusedEditor(context.widget);
    if (!isInvoked && (editor === null || !document.hasFocus())) {
      // The agent, or somebody else, writes there.
      return { items: [] };
    }
    if (editor?.state.readOnly) {
      // Lab would write into it what is taken.
      return { items: [] };
    }
    const place = placeIn(request, context);
    if (place === null) {
      return { items: [] };
    }
    if (!isInvoked && editor?.composing) {
      // Half a syllable is no text to go on from, and grey text would disturb
      // the input method.
      await composed(editor, asking.signal);
      if (asking.signal.aborted) {
        return { items: [] };
      }
    }
    const known = this._known(place, isInvoked && !this._goesOn);
    this._goesOn = false;
    if (known !== null) {
      return this._suggest(known);
    }
    if (!isInvoked) {
      if (performance.now() < this._notBefore) {
        return { items: [] };
      }
      await new Promise(resolve => setTimeout(resolve, PAUSE));
    }
    if (asking.signal.aborted) {
      return { items: [] };
    }
    const count = isInvoked ? SEVERAL : 1;
    try {
      const suggestions = await this._api.suggest(
        { ...place, count },
        asking.signal
      );
      this._notBefore = 0;
      this._tell(null);
      if (asking.signal.aborted) {
        return { items: [] };
      }
      this._last =
        suggestions.length === 0
          ? null
          : { place, suggestions, isWhole: isInvoked };
      return this._suggest(suggestions);
    } catch (reason) {
      if (!asking.signal.aborted) {
        this._notBefore = performance.now() + RETRY;
        this._tell(asErrorBody(reason));
      }
      return { items: [] };
    }
  }

  /**
   * What was suggested at this place, or before what was typed of it since.
   */
  private _known(place: Place, isWhole: boolean): string[] | null {
    const last = this._last;
    if (
      last === null ||
      (isWhole && !last.isWhole) ||
      !place.before.startsWith(last.place.before) ||
      around(place) !== around(last.place)
    ) {
      return null;
    }
    const typed = place.before.slice(last.place.before.length);
    const left = last.suggestions
      .filter(text => text.startsWith(typed) && text !== typed)
      .map(text => text.slice(typed.length));
    return left.length > 0 ? left : null;
  }

  private _suggest(texts: readonly string[]): IInlineCompletionList {
    const items = texts.map(insertText => ({ insertText }));
    this._items = items;
    return { items };
  }

  private _tell(problem: ErrorBody | null): void {
    if (problem?.code !== this._problem?.code) {
      this._problem = problem;
      this._changed.emit();
    }
  }

  private readonly _api: GhostTextApi;
  private readonly _store: AgentStore;
  private readonly _trans: TranslationBundle;
  private readonly _changed = new Signal<this, void>(this);
  private _asking: AbortController | null = null;
  private _items: readonly IInlineCompletionItem[] = [];
  private _problem: ErrorBody | null = null;
  private _notBefore = 0;
  private _goesOn = false;
  private _last: {
    readonly place: Place;
    readonly suggestions: readonly string[];

    /**
     * Whether all were asked for that there may be.
     */
    readonly isWhole: boolean;
  } | null = null;
}

/**
 * All of a place but what is typed there.
 */
function around(place: Place): string {
  return JSON.stringify({ ...place, before: '' });
}

/**
 * The editor in a widget that the person is in; `null` where they are elsewhere,
 * as in a field in which they write to the agent.
 */
function focusedEditor({
  node
}: IInlineCompletionContext['widget']): EditorView | null {
  const content = document.activeElement?.closest<HTMLElement>('.cm-content');
  return content && node.contains(content)
    ? EditorView.findFromDOM(content)
    : null;
}

/**
 * Resolves when the input method is done with its syllable or word, or nobody
 * waits for it any more.
 */
function composed(editor: EditorView, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const done = () => resolve();
    editor.contentDOM.addEventListener('compositionend', done, { once: true });
    signal.addEventListener('abort', done, { once: true });
  });
}

/**
 * A namespace for `GhostTextProvider` statics.
 */
export namespace GhostTextProvider {
  export interface IOptions {
    readonly serverSettings: ServerConnection.ISettings;
    readonly store: AgentStore;
    readonly trans: TranslationBundle;
  }
}
