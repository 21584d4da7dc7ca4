import type { RecallFound } from '../generated/rest';
import { SettingsApi } from './settingsapi';

/**
 * What is looked for in what was said and written before.
 */
export interface IRecallQuery {
  readonly query: string;
  readonly kinds: readonly RecallFound['kind'][];
  readonly workspace: string | null;

  /**
   * Milliseconds; the first moment that is within.
   */
  readonly since: number | null;

  /**
   * Milliseconds; the first moment that is not within any more.
   */
  readonly until: number | null;
  readonly limit: number;
}

/**
 * The part of the server's REST interface that searches conversations, memory
 * and notebooks for passages.
 */
export class RecallApi extends SettingsApi {
  /**
   * The passages that answer best, the best first.
   *
   * @param signal - Ends the request when nobody waits for it any more.
   */
  async search(
    { query, kinds, workspace, since, until, limit }: IRecallQuery,
    signal: AbortSignal
  ): Promise<readonly RecallFound[]> {
    const { found } = await this._request(
      'GET /recall',
      {
        query: {
          query,
          kinds: kinds.join(','),
          limit: String(limit),
          ...(workspace !== null && { workspace }),
          ...(since !== null && { since: String(since) }),
          ...(until !== null && { until: String(until) })
        }
      },
      signal
    );
    return found;
  }
}
