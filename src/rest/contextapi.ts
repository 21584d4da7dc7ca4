import type { SeenContext } from '../generated/rest';
import { SettingsApi } from './settingsapi';

/**
 * So many messages are asked for at once of a whole request: to write down all
 * of a long one would hold the server up.
 */
const AT_ONCE = 500;

/**
 * So often it is begun anew when it changes meanwhile.
 */
const ATTEMPTS = 3;

/**
 * Which part of a request is looked at.
 */
export interface IContextPart {
  /**
   * The index of the first message.
   */
  readonly first?: number;

  /**
   * How many messages at most; without it, all.
   */
  readonly limit?: number;

  /**
   * A text whose places in all messages are wanted.
   */
  readonly find?: string;

  /**
   * Whether the system prompt and the tools are known already.
   */
  readonly onlyMessages?: boolean;
}

/**
 * The server's REST interface, with what the model sees of a conversation.
 */
export class ContextApi extends SettingsApi {
  seen(
    task: string,
    { first, limit, find, onlyMessages }: IContextPart = {}
  ): Promise<SeenContext> {
    return this._request('GET /tasks/{task}/context', {
      path: { task },
      query: {
        ...(first !== undefined && { first: String(first) }),
        ...(limit !== undefined && { limit: String(limit) }),
        ...(find !== undefined && { find }),
        ...(onlyMessages && { only: 'messages' })
      }
    });
  }

  /**
   * All of a request, as it was at one time.
   */
  async whole(task: string): Promise<SeenContext> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const seen = await this.seen(task, { limit: AT_ONCE });
      const messages = [...seen.messages];
      while (messages.length < seen.count) {
        const page = await this.seen(task, {
          first: messages.length,
          limit: AT_ONCE,
          onlyMessages: true
        });
        if (
          page.messages.length === 0 ||
          page.count !== seen.count ||
          page.tokens.total !== seen.tokens.total
        ) {
          break;
        }
        messages.push(...page.messages);
      }
      if (messages.length >= seen.count) {
        return { ...seen, messages };
      }
    }
    return this.seen(task);
  }
}
