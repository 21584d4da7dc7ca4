import type { RecallMeaningView } from '../generated/rest';

import { RemoteData } from './remotedata';
import type { SettingsApi } from './settingsapi';

/**
 * How searching by meaning stands.
 */
export class MeaningData extends RemoteData<RecallMeaningView> {
  constructor(private readonly _api: SettingsApi) {
    super();
  }

  /**
   * Whether the server still has passages to read.
   */
  get isReading(): boolean {
    const { value } = this;
    return value !== null && value.unread > 0 && value.failure === undefined;
  }

  /**
   * Have one word read; what went wrong is in the value.
   */
  try(): Promise<boolean> {
    return this.act(async () => this.accept(await this._api.tryMeaning()));
  }

  protected fetch(): Promise<RecallMeaningView> {
    return this._api.meaning();
  }
}
