import type {
  AnswerNumbersView,
  FoundMessages,
  HistoryList,
  HistoryPlacesView,
  KeyCheckView,
  KeyToTry,
  ProfileView,
  SetupCandidates,
  SetupUse,
  ShareBody,
  SharedLinkView,
  ShareOffer,
  StatisticsView
} from '../generated/rest';
import type { HistoryItem, HistorySort } from '../generated/wire';
import { SettingsApi } from './settingsapi';

/**
 * Which conversations are listed, and in what order.
 */
export interface IHistoryFilter {
  readonly query: string;
  readonly sort: HistorySort;
  readonly workspace: string | null;
  readonly notebook: string | null;
  readonly favorites: boolean;

  /**
   * Milliseconds; the first moment that is within.
   */
  readonly since: number | null;

  /**
   * Milliseconds; the first moment that is not within any more.
   */
  readonly until: number | null;
}

/**
 * The server's REST interface, with what the panel asks beyond settings.
 */
export class HistoryApi extends SettingsApi {
  /**
   * A page of the history.
   */
  history(
    filter: IHistoryFilter,
    cursor: string | null,
    limit: number | null = null
  ): Promise<HistoryList> {
    const { query, sort, workspace, notebook, favorites, since, until } =
      filter;
    return this._request('GET /history', {
      query: {
        sort,
        ...(query !== '' && { query }),
        ...(workspace !== null && { workspace }),
        ...(notebook !== null && { notebook }),
        ...(favorites && { favorites: 'true' }),
        ...(since !== null && { since: String(since) }),
        ...(until !== null && { until: String(until) }),
        ...(cursor !== null && { cursor }),
        ...(limit !== null && { limit: String(limit) })
      }
    });
  }

  /**
   * What the newest conversations began with, newest first.
   *
   * #### Notes
   * Subtasks began with the agent's words. A very long text is not whole here.
   */
  async firstPrompts(): Promise<string[]> {
    const { taskHistory } = await this._request('GET /history', {
      query: { sort: 'newest', limit: '50' }
    });
    return taskHistory
      .filter(({ task, parentTaskId }) => !parentTaskId && task.length < 4_000)
      .map(({ task }) => task);
  }

  /**
   * The folders and notebooks that conversations are about.
   */
  historyPlaces(): Promise<HistoryPlacesView> {
    return this._request('GET /history/places', {});
  }

  /**
   * One conversation of the history.
   */
  conversation(task: string): Promise<HistoryItem> {
    return this._request('GET /history/{task}', { path: { task } });
  }

  /**
   * Which messages of a conversation have a text.
   */
  find(task: string, text: string): Promise<FoundMessages> {
    return this._request('GET /tasks/{task}/find', {
      path: { task },
      query: { text }
    });
  }

  /**
   * Where the numbers of an answer stand.
   */
  numbers(task: string, ts: number): Promise<AnswerNumbersView> {
    return this._request('GET /tasks/{task}/numbers', {
      path: { task },
      query: { ts: String(ts) }
    });
  }

  /**
   * What a link to a conversation would show to others of the hub.
   */
  shareOffer(task: string): Promise<ShareOffer> {
    return this._request('GET /tasks/{task}/share', { path: { task } });
  }

  /**
   * Share a conversation as a link.
   */
  share(task: string, body: ShareBody): Promise<SharedLinkView> {
    return this._request('POST /tasks/{task}/share', { path: { task }, body });
  }

  /**
   * What conversations used since a moment, in milliseconds; `null` is all they ever did.
   */
  statistics(since: number | null): Promise<StatisticsView> {
    return this._request('GET /statistics', {
      query: { ...(since !== null && { since: String(since) }) }
    });
  }

  /**
   * What a first profile can be made of: keys and model servers that are there already.
   */
  setupCandidates(): Promise<SetupCandidates> {
    return this._request('GET /setup/candidates', {});
  }

  /**
   * Make a profile of a candidate, and the current one.
   */
  useCandidate(use: SetupUse): Promise<ProfileView> {
    return this._request('POST /setup/use', { body: use });
  }

  /**
   * Try a key at its provider; nothing of it is kept.
   */
  checkKey(body: KeyToTry): Promise<KeyCheckView> {
    return this._request('POST /setup/check', { body });
  }
}
