import type { FolderTrustView, TrustedFoldersView } from '../generated/rest';

import type { SettingsApi } from './settingsapi';
import { RemoteData } from './remotedata';

/**
 * What a folder brings for the agent, and whether it is trusted.
 */
export class FolderTrustData extends RemoteData<FolderTrustView> {
  /**
   * @param task - The conversation whose folder is meant; `null` for the one
   * that new conversations work in.
   */
  constructor(
    private readonly _api: SettingsApi,
    private readonly _task: string | null = null
  ) {
    super();
  }

  /**
   * Whether somebody has to decide: it brings something, and nobody has.
   */
  get isQuestion(): boolean {
    return this.value?.verdict === 'undecided' && this.value.brings.length > 0;
  }

  /**
   * Decide about the folder that is known, and no other one. A second answer
   * to the same question is none.
   */
  async decide(trusted: boolean): Promise<boolean> {
    if (this.isBusy) {
      return false;
    }
    return this.act(async () => {
      if (this.value) {
        this.accept(await this._api.decideFolder(this.value.folder, trusted));
      }
    });
  }

  protected fetch(): Promise<FolderTrustView> {
    return this._api.folderTrust(this._task);
  }
}

/**
 * The folders somebody has decided about.
 */
export class TrustedFoldersData extends RemoteData<TrustedFoldersView> {
  constructor(private readonly _api: SettingsApi) {
    super();
  }

  /**
   * Take a folder off the list, so that it is asked about again.
   */
  forget(folder: string): Promise<boolean> {
    return this.act(async () => {
      await this._api.decideFolder(folder, null);
      this.accept(await this._api.trustedFolders());
    });
  }

  protected fetch(): Promise<TrustedFoldersView> {
    return this._api.trustedFolders();
  }
}
