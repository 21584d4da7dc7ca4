import type {
  ModelEntry,
  ProfileChange,
  ProfileList,
  ProfileView
} from '../../generated/rest';
import type { ProfileEntry } from '../../generated/wire';

import type { SettingsApi } from '../../rest/settingsapi';
import { FieldForm } from '../fields/fieldform';
import { RemoteData } from '../../rest/remotedata';
import { byName } from '../fields/fieldvalues';

/**
 * The profiles: their list, and the one that is open for editing.
 */
export class ProfilesData extends RemoteData<ProfileList> {
  constructor(private readonly _api: SettingsApi) {
    super();
    this.form = this._newForm();
  }

  /**
   * The settings of the open profile while they are edited.
   */
  readonly form: FieldForm;

  /**
   * The profile that is open for editing.
   */
  get opened(): ProfileView | null {
    return this._opened;
  }

  /**
   * The provider of the open profile.
   */
  get provider(): string | null {
    return this._opened?.settings.apiProvider ?? null;
  }

  /**
   * The models that can be chosen in the open profile.
   */
  get models(): readonly ModelEntry[] {
    return this._models;
  }

  /**
   * The profiles as they are listed: pinned ones first.
   */
  get entries(): readonly ProfileEntry[] {
    const profiles = this.value?.profiles ?? [];
    return [
      ...profiles.filter(profile => profile.pinned),
      ...profiles.filter(profile => !profile.pinned)
    ];
  }

  override dispose(): void {
    this.form.dispose();
    super.dispose();
  }

  /**
   * Open a profile for editing.
   */
  open(name: string): Promise<boolean> {
    return this.act(async () => {
      const profile = await this._api.profile(name);
      if (profile.id !== this._opened?.id) {
        // What was typed into the profile left behind is stored there.
        this.form.flush();
        await this.form.settled;
        this.form.discard();
      }
      this._show(profile);
    });
  }

  create(name: string): Promise<boolean> {
    return this.act(async () => {
      const profile = await this._api.createProfile(name);
      this._show(profile);
      await this.refresh();
    });
  }

  rename(name: string, newName: string): Promise<boolean> {
    return this._change(name, { name: newName });
  }

  pin(name: string, pinned: boolean): Promise<boolean> {
    return this._change(name, { pinned });
  }

  activate(name: string): Promise<boolean> {
    return this.act(async () => {
      this.accept(await this._api.activateProfile(name));
    });
  }

  delete(name: string): Promise<boolean> {
    return this.act(async () => {
      const list = await this._api.deleteProfile(name);
      if (this._opened?.name === name) {
        this.form.discard();
        this._opened = null;
      }
      this.accept(list);
      await this._follow(list);
    });
  }

  /**
   * Let a mode use a profile of its own, or with `null` the current one again.
   */
  assignMode(mode: string, profile: string | null): Promise<boolean> {
    return this.act(async () => {
      this.accept(await this._api.assignMode(mode, profile));
    });
  }

  protected async fetch(): Promise<ProfileList> {
    const list = await this._api.profiles();
    await this._follow(list);
    return list;
  }

  /**
   * Keep a profile open: the one that was, even under a new name, or else the current one.
   */
  private async _follow(list: ProfileList): Promise<void> {
    const known = list.profiles.find(({ id }) => id === this._opened?.id);
    if (this._opened && !known) {
      this.form.discard();
    }
    const name = known?.name ?? list.current;
    if (list.profiles.some(profile => profile.name === name)) {
      this._show(await this._api.profile(name));
    }
  }

  private _show(profile: ProfileView): void {
    this._opened = profile;
    this.form.load(byName(profile.settings));
    this._loadModels();
    this.emitChanged();
  }

  private _change(name: string, change: ProfileChange): Promise<boolean> {
    return this.act(async () => {
      const profile = await this._api.changeProfile(name, change);
      if (profile.id === this._opened?.id) {
        this._show(profile);
      }
      await this.refresh();
    });
  }

  /**
   * Fetch the suggestions for the open profile's provider, once for each.
   */
  private _loadModels(): void {
    const provider = this.provider;
    if (provider === this._modelsOf) {
      return;
    }
    this._modelsOf = provider;
    this._models = [];
    if (provider === null) {
      return;
    }
    // Suggestions are a convenience: without them a model's id is typed.
    void this._api.models(provider).then(
      models => {
        if (this._modelsOf === provider) {
          this._models = models;
          this.emitChanged();
        }
      },
      () => {
        if (this._modelsOf === provider) {
          this._modelsOf = null;
        }
      }
    );
  }

  private _newForm(): FieldForm {
    return new FieldForm({
      save: async settings => {
        const name = this._opened?.name;
        if (name !== undefined) {
          const profile = await this._api.changeProfile(name, { settings });
          this._show(profile);
          if ('apiProvider' in settings) {
            await this.refresh();
          }
        }
      }
    });
  }

  private _opened: ProfileView | null = null;
  private _models: readonly ModelEntry[] = [];
  private _modelsOf: string | null = null;
}
