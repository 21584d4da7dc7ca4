import {
  acceptChunk,
  getChunks,
  getOriginalDoc,
  originalDocChangeEffect,
  unifiedMergeView,
  updateOriginalDoc
} from '@codemirror/merge';
import { ChangeSet, Compartment, Text } from '@codemirror/state';
import type { ViewUpdate } from '@codemirror/view';
import { EditorView } from '@codemirror/view';
import type { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import type { IChangedPart } from './agentchanges';

/**
 * What an editor says, shown as a difference to an earlier text.
 *
 * #### Notes
 * This module brings the merge view along: load it when there is something to
 * show.
 */
export class CellDiff implements IDisposable {
  constructor(options: CellDiff.IOptions) {
    this._options = options;
    const { editor, before } = options;
    const known = Private.places.get(editor);
    this._place = known ?? new Compartment();
    const shown = this._extension(before);
    if (known) {
      editor.editor.dispatch({ effects: known.reconfigure(shown) });
    } else {
      Private.places.set(editor, this._place);
      editor.injectExtension(this._place.of(shown));
    }
  }

  /**
   * The editor that shows the difference.
   */
  get editor(): CodeMirrorEditor {
    return this._options.editor;
  }

  /**
   * The text that what the editor says is compared with.
   */
  get before(): string {
    return getOriginalDoc(this._view.state).toString();
  }
  set before(before: string) {
    const old = getOriginalDoc(this._view.state);
    const text = Private.textOf(before);
    if (!old.eq(text)) {
      const changes = ChangeSet.of(
        { from: 0, to: old.length, insert: text },
        old.length
      );
      this._view.dispatch({
        effects: originalDocChangeEffect(this._view.state, changes)
      });
    }
  }

  /**
   * Whether the difference is shown no more.
   */
  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Leave the editor as it was.
   */
  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    if (!this.editor.isDisposed) {
      this._view.dispatch({ effects: this._place.reconfigure([]) });
    }
  }

  /**
   * Keep the part the cursor is in.
   *
   * @returns Whether there is one.
   */
  keepPart(): boolean {
    return acceptChunk(this._view);
  }

  /**
   * Take back the part the cursor is in.
   *
   * @returns Whether there is one.
   */
  undoPart(): boolean {
    return this._undoPart(this._view.state.selection.main.head);
  }

  private _undoPart(place: number): boolean {
    const { doc } = this._view.state;
    const chunk = getChunks(this._view.state)?.chunks.find(
      ({ fromB, endB }) => fromB <= place && endB >= place
    );
    if (!chunk) {
      return false;
    }
    const old = getOriginalDoc(this._view.state);
    const [from, to] = Private.linesOf(doc, chunk.fromB, chunk.toB);
    const [first, behind] = Private.linesOf(old, chunk.fromA, chunk.toA);
    const before = old.toJSON().slice(first, behind);
    this._options.onUndo({ from, to, before });
    return true;
  }

  private get _view(): EditorView {
    return this.editor.editor;
  }

  private _extension(before: string) {
    const { trans } = this._options;
    return [
      unifiedMergeView({
        original: Private.textOf(before),
        gutter: false,
        mergeControls: (type, action) =>
          type === 'accept'
            ? Private.button(
                type,
                trans.__('Keep'),
                trans.__('Keep this part of what the agent changed'),
                action
              )
            : Private.button(
                type,
                trans.__('Undo'),
                trans.__('Undo this part of what the agent changed'),
                event => this._undoPart(this._placeOf(event))
              )
      }),
      EditorView.updateListener.of(update => this._onUpdate(update))
    ];
  }

  private _placeOf({ currentTarget }: MouseEvent): number {
    return this._view.posAtDOM(currentTarget as HTMLElement);
  }

  private _onUpdate({ transactions }: ViewUpdate): void {
    for (const transaction of transactions) {
      if (transaction.isUserEvent('accept')) {
        for (const effect of transaction.effects) {
          if (effect.is(updateOriginalDoc)) {
            this._options.onKept(effect.value.doc.toString());
          }
        }
      }
    }
  }

  private readonly _options: CellDiff.IOptions;
  private readonly _place: Compartment;
  private _isDisposed = false;
}

/**
 * The namespace for `CellDiff` statics.
 */
export namespace CellDiff {
  /**
   * What is needed to show a difference.
   */
  export interface IOptions {
    readonly editor: CodeMirrorEditor;
    readonly before: string;
    readonly trans: TranslationBundle;

    /**
     * The person kept a part: the rest is compared with `before` now.
     */
    readonly onKept: (before: string) => void;

    /**
     * The person wants a part taken back.
     */
    readonly onUndo: (part: IChangedPart) => void;
  }
}

/**
 * Functions of this module alone.
 */
namespace Private {
  /**
   * Where an editor shows differences: extensions cannot be taken away again,
   * so each editor has one place, which is filled and emptied.
   */
  export const places = new WeakMap<CodeMirrorEditor, Compartment>();

  export function textOf(text: string): Text {
    return Text.of(text.split(/\r?\n/));
  }

  /**
   * The lines, from 0, that a chunk has between these places of a text.
   */
  export function linesOf(
    text: Text,
    from: number,
    to: number
  ): [number, number] {
    if (from > text.length) {
      return [text.lines, text.lines];
    }
    const first = text.lineAt(from).number - 1;
    const last = Math.min(to - 1, text.length);
    return [first, from === to ? first : text.lineAt(last).number];
  }

  export function button(
    type: 'accept' | 'reject',
    label: string,
    title: string,
    action: (event: MouseEvent) => void
  ): HTMLElement {
    const node = document.createElement('button');
    node.type = 'button';
    node.name = type;
    node.className = `jp-hdspAgent-hunk-button jp-mod-${type}`;
    node.textContent = label;
    node.title = title;
    // The editor would move its cursor; the keyboard makes clicks as well.
    node.addEventListener('mousedown', event => event.preventDefault());
    node.addEventListener('click', action);
    return node;
  }
}
