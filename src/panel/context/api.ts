import type { SeenContext } from '../../generated/rest';
import { SettingsApi } from '../../settings/api';

/**
 * Which part of a request is looked at.
 */
export interface ISeenPart {
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
    { first, limit, find, onlyMessages }: ISeenPart = {}
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
}
