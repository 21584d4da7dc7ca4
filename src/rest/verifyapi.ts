import type { VerificationView } from '../generated/rest';
import { SettingsApi } from './settingsapi';

/**
 * The server's REST interface, with what is asked about verifying notebooks.
 */
export class VerifyApi extends SettingsApi {
  /**
   * Begin to verify a notebook as it is.
   */
  verify(path: string): Promise<VerificationView> {
    return this._request('POST /verifications', { body: { path } });
  }

  /**
   * How far a verification is, or what came of it.
   *
   * @param task - The conversation whose workspace has the report; without it,
   * the server's own folder has.
   */
  verification(id: string, task?: string): Promise<VerificationView> {
    return this._request('GET /verifications/{verification}', {
      path: { verification: id },
      query: { ...(task !== undefined && { task }) }
    });
  }

  /**
   * Stop it.
   */
  stopVerification(id: string): Promise<VerificationView> {
    return this._request('POST /verifications/{verification}/stop', {
      path: { verification: id }
    });
  }
}
