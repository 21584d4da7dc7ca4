import type { GhostTextAsked } from '../generated/rest';
import { SettingsApi } from '../rest/settingsapi';

/**
 * The server's REST interface, with what ghost text asks.
 */
export class GhostTextApi extends SettingsApi {
  /**
   * What may be written at a place, the likeliest first.
   */
  async suggest(body: GhostTextAsked, signal: AbortSignal): Promise<string[]> {
    const answer = await this._request('POST /ghost-text', { body }, signal);
    return answer.suggestions;
  }
}
