import type {
  AttachmentTokensAsked,
  AttachmentTokensView
} from '../generated/rest';
import { SettingsApi } from './settingsapi';

/**
 * The server's REST interface, with what is asked about attachments.
 */
export class AttachmentsApi extends SettingsApi {
  /**
   * How many tokens go along with a message.
   */
  countTokens(
    body: AttachmentTokensAsked,
    signal: AbortSignal
  ): Promise<AttachmentTokensView> {
    return this._request('POST /attachments/tokens', { body }, signal);
  }
}
