import type {
  MemoryView,
  NewNoteBody,
  NoteChangeBody,
  NoteLine
} from '../generated/rest';

import { SettingsApi } from './settingsapi';

/**
 * From where memory is looked at: from a conversation, or from a notebook.
 */
export interface IMemoryPlace {
  readonly task?: string;
  readonly notebook?: string;
}

/**
 * What can be forgotten at once.
 */
export type Forgettable = 'notes' | 'learned' | 'all';

/**
 * The part of the server's REST interface that is about memory.
 */
export class MemoryApi extends SettingsApi {
  /**
   * Everything that is remembered, as it counts in a place.
   */
  memory(place: IMemoryPlace): Promise<MemoryView> {
    return this._request('GET /memory', { query: { ...place } });
  }

  addNote(body: NewNoteBody, place: IMemoryPlace): Promise<NoteLine> {
    return this._request('POST /memory/notes', { query: { ...place }, body });
  }

  changeNote(
    note: string,
    body: NoteChangeBody,
    place: IMemoryPlace
  ): Promise<NoteLine> {
    return this._request('PATCH /memory/notes/{note}', {
      path: { note },
      query: { ...place },
      body
    });
  }

  deleteNote(note: string, place: IMemoryPlace): Promise<NoteLine> {
    return this._request('DELETE /memory/notes/{note}', {
      path: { note },
      query: { ...place }
    });
  }

  changeLearned(item: string, text: string): Promise<unknown> {
    return this._request('PATCH /memory/learned/{item}', {
      path: { item },
      body: { text }
    });
  }

  deleteLearned(item: string): Promise<unknown> {
    return this._request('DELETE /memory/learned/{item}', { path: { item } });
  }

  /**
   * Make a note of a line that was learned.
   */
  keepLearned(item: string): Promise<NoteLine> {
    return this._request('POST /memory/learned/{item}/keep', {
      path: { item }
    });
  }

  /**
   * Begin to learn from finished conversations; it goes on when nobody looks.
   */
  learn(): Promise<unknown> {
    return this._request('POST /memory/run', {});
  }

  /**
   * Go back to what was learned before the last change.
   */
  undoLearning(): Promise<unknown> {
    return this._request('POST /memory/undo', {});
  }

  forget(what: Forgettable): Promise<unknown> {
    return this._request('DELETE /memory', { query: { what } });
  }
}
