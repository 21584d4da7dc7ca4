import type { JSONObject, JSONValue } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { asErrorBody } from '../../errors';
import type { ErrorBody } from '../../generated/wire';

import type { IField } from './fields';
import { formatValue, readValue, sameValue } from './fieldvalues';

/**
 * Where a field stands between what is typed and what is stored.
 */
export type SaveStatus = 'idle' | 'waiting' | 'saving' | 'saved' | 'failed';

/**
 * The fields of one object on the server: what is stored, what is being typed, what was refused.
 *
 * #### Notes
 * Stored values may change under a person's hands, from another tab or program. What is being typed
 * is a draft beside them, so nothing that arrives can overwrite it; it goes when it has been stored.
 */
export class FieldForm implements IDisposable {
  constructor(options: FieldForm.IOptions) {
    this._save = options.save;
    this._pauseMs = options.pauseMs ?? 600;
    this._praiseMs = options.praiseMs ?? 3000;
  }

  /**
   * Emitted when anything shown may be different.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Store what is still waiting, then let go.
   */
  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this.flush();
    for (const entry of this._entries.values()) {
      clearTimeout(entry.timer ?? undefined);
    }
    this._isDisposed = true;
    Signal.clearData(this);
  }

  /**
   * Resolves when nothing is on its way to the server.
   */
  get settled(): Promise<void> {
    return this._last;
  }

  /**
   * Store now what is still waiting for a pause.
   */
  flush(): void {
    for (const entry of [...this._entries.values()]) {
      if (entry.status === 'waiting') {
        this._commitEntry(entry);
      }
    }
  }

  /**
   * Take over what the server holds; drafts stay.
   */
  load(values: JSONObject): void {
    this._values = values;
    this._changed.emit();
  }

  /**
   * Forget every draft and refusal, as after a reset.
   */
  discard(): void {
    for (const entry of this._entries.values()) {
      clearTimeout(entry.timer ?? undefined);
    }
    this._entries.clear();
    this._changed.emit();
  }

  /**
   * The stored value; `null` when the setting has none.
   */
  valueOf(field: IField): JSONValue {
    return this._values[field.key] ?? null;
  }

  /**
   * The text of the field's input.
   */
  textOf(field: IField): string {
    const draft = this._entries.get(field.key)?.draft ?? null;
    return draft ?? formatValue(field, this.valueOf(field));
  }

  statusOf(field: IField): SaveStatus {
    return this._entries.get(field.key)?.status ?? 'idle';
  }

  errorOf(field: IField): ErrorBody | null {
    return this._entries.get(field.key)?.error ?? null;
  }

  hasDraft(field: IField): boolean {
    return (this._entries.get(field.key)?.draft ?? null) !== null;
  }

  /**
   * Someone types: store it when they pause.
   */
  type(field: IField, text: string): void {
    const entry = this._entry(field);
    clearTimeout(entry.timer ?? undefined);
    entry.draft = text;
    entry.status = 'waiting';
    entry.timer = setTimeout(() => this.commit(field), this._pauseMs);
    this._changed.emit();
  }

  /**
   * Someone chose: store it now.
   */
  choose(field: IField, text: string): void {
    this._entry(field).draft = text;
    this.commit(field);
  }

  /**
   * Store the draft now, if there is one.
   */
  commit(field: IField): void {
    const entry = this._entry(field);
    if (entry.draft !== null) {
      this._commitEntry(entry);
    }
  }

  /**
   * Throw the draft away and show what is stored.
   */
  revert(field: IField): void {
    const entry = this._entry(field);
    clearTimeout(entry.timer ?? undefined);
    this._entries.delete(field.key);
    this._changed.emit();
  }

  /**
   * Go back to the default.
   */
  reset(field: IField): void {
    const entry = this._entry(field);
    entry.draft = null;
    this._send(entry, null);
  }

  private _entry(field: IField): Private.IEntry {
    let entry = this._entries.get(field.key);
    if (!entry) {
      entry = {
        field,
        draft: null,
        status: 'idle',
        error: null,
        timer: null,
        underWay: 0
      };
      this._entries.set(field.key, entry);
    }
    return entry;
  }

  private _commitEntry(entry: Private.IEntry): void {
    const { field, draft } = entry;
    const reading = readValue(field, draft ?? '');
    if (!reading.ok) {
      entry.status = 'failed';
      entry.error = { code: reading.code, message: '', params: {} };
      this._changed.emit();
    } else if (
      entry.underWay === 0 &&
      sameValue(reading.value, this.valueOf(field))
    ) {
      this.revert(field);
    } else {
      this._send(entry, reading.value);
    }
  }

  private _send(entry: Private.IEntry, value: JSONValue): void {
    clearTimeout(entry.timer ?? undefined);
    entry.timer = null;
    entry.status = 'saving';
    entry.underWay++;
    const sent = entry.draft;
    this._changed.emit();
    // One request after the other, so that the last one typed is the last one stored.
    this._last = this._last
      .then(() => this._save({ [entry.field.key]: value }))
      .finally(() => entry.underWay--)
      .then(
        () => this._stored(entry, sent),
        (reason: unknown) => this._refused(entry, sent, reason)
      );
  }

  private _stored(entry: Private.IEntry, sent: string | null): void {
    if (this._isDisposed || this._entries.get(entry.field.key) !== entry) {
      return;
    }
    entry.error = null;
    if (entry.draft !== sent || entry.underWay > 0) {
      // They went on; that is stored in its turn.
      return;
    }
    entry.draft = null;
    entry.status = 'saved';
    entry.timer = setTimeout(() => this.revert(entry.field), this._praiseMs);
    this._changed.emit();
  }

  private _refused(
    entry: Private.IEntry,
    sent: string | null,
    reason: unknown
  ): void {
    if (this._isDisposed || this._entries.get(entry.field.key) !== entry) {
      return;
    }
    entry.error = asErrorBody(reason);
    if (entry.draft === sent) {
      entry.status = 'failed';
    }
    this._changed.emit();
  }

  private readonly _save: FieldForm.IOptions['save'];
  private readonly _pauseMs: number;
  private readonly _praiseMs: number;
  private readonly _entries = new Map<string, Private.IEntry>();
  private readonly _changed = new Signal<this, void>(this);
  private _values: JSONObject = {};
  private _last: Promise<void> = Promise.resolve();
  private _isDisposed = false;
}

/**
 * The namespace for `FieldForm` statics.
 */
export namespace FieldForm {
  /**
   * The options of a form.
   */
  export interface IOptions {
    /**
     * Store one change; resolves when it is stored and loaded, rejects with the server's reason.
     */
    save: (patch: JSONObject) => Promise<void>;

    /**
     * How long someone must pause before what they type is stored, in milliseconds.
     */
    pauseMs?: number;

    /**
     * How long "saved" is said, in milliseconds.
     */
    praiseMs?: number;
  }
}

namespace Private {
  export interface IEntry {
    readonly field: IField;
    draft: string | null;
    status: SaveStatus;
    error: ErrorBody | null;
    timer: ReturnType<typeof setTimeout> | null;

    /**
     * Requests about this field that have no answer yet.
     */
    underWay: number;
  }
}
