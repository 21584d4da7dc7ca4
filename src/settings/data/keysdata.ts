import type { StorageBody } from '../../generated/rest';
import type { ErrorBody } from '../../generated/wire';
import type { SecretPresence, SecretStatus } from '../../generated/wire';

import type { SettingsApi } from '../../rest/settingsapi';
import { RemoteData } from '../../rest/remotedata';

/**
 * The keys: which there are and where they are kept. What they are, only the server knows.
 */
export class KeysData extends RemoteData<SecretStatus> {
  constructor(private readonly _api: SettingsApi) {
    super();
  }

  /**
   * What is known of one key of a profile.
   */
  statusOf(profileId: string, key: string): SecretPresence {
    const found = this.value?.secrets.find(
      secret =>
        secret.key === key &&
        (secret.profileId === profileId || profileId === NO_PROFILE.id)
    );
    return found ?? { profileId, key, present: false };
  }

  /**
   * Why the last change of this key was refused.
   */
  errorOf(profileId: string, key: string): ErrorBody | null {
    return this._lastOne === `${profileId}/${key}` ? this.error : null;
  }

  /**
   * Why the last change of the storage was refused.
   */
  get storageError(): ErrorBody | null {
    return this._lastOne === null ? this.error : null;
  }

  /**
   * Keep a key, in place of the one there may be.
   */
  save(profile: KeysData.IOwner, key: string, value: string): Promise<boolean> {
    this._lastOne = `${profile.id}/${key}`;
    return this.act(async () => {
      this.accept(await this._api.setSecret(profile.name, key, value));
    });
  }

  remove(profile: KeysData.IOwner, key: string): Promise<boolean> {
    this._lastOne = `${profile.id}/${key}`;
    return this.act(async () => {
      this.accept(await this._api.deleteSecret(profile.name, key));
    });
  }

  /**
   * Keep keys somewhere else, or try again where they are kept now.
   */
  useStorage(kind: StorageBody['kind']): Promise<boolean> {
    this._lastOne = null;
    return this.act(async () => {
      this.accept(await this._api.useStorage(kind));
    });
  }

  protected fetch(): Promise<SecretStatus> {
    return this._api.secrets();
  }

  private _lastOne: string | null = null;
}

/**
 * The namespace for `KeysData` statics.
 */
export namespace KeysData {
  /**
   * Whose a key is.
   */
  export interface IOwner {
    readonly id: string;
    readonly name: string;
  }
}

/**
 * Whose the keys are that belong to no profile.
 */
export const NO_PROFILE: KeysData.IOwner = { id: 'settings', name: 'settings' };
