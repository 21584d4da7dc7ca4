import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type {
  ImportReport,
  ProviderInfo,
  SettingsSchema
} from '../../generated/rest';

import type { SettingsApi } from '../../rest/settingsapi';
import { SchemaData, SettingsData } from './settingsdata';
import { EmbeddedData } from '../../rest/embeddeddata';
import type { FieldTexts, IField, IFieldGroup } from '../fields/fields';
import { groupFields, readFields } from '../fields/fields';
import { TrustedFoldersData } from '../../rest/foldertrustdata';
import { MeaningData } from '../../rest/meaningdata';
import type { MemoryData } from '../../rest/memorydata';
import type { OtherAgentsData } from '../../rest/otheragentsdata';
import { KeysData } from './keysdata';
import type { McpServersData } from './mcpserversdata';
import { ProfilesData } from './profilesdata';
import type { ModesClient } from './modesdata';
import { CommandsData, ModesData } from './modesdata';
import type { RemoteData } from '../../rest/remotedata';
import { choiceKey } from '../fields/fieldvalues';
import { modeNames } from '../../ui/texts/modenames';
import { providerName } from '../../ui/texts/providernames';

const STORAGE_KEY = 'secretStorage';
const MODE_KEY = 'mode';
const PROVIDER_KEY = 'apiProvider';

// Settings that hold the id of a profile.
const PROFILE_KEYS = [
  'memoryApiConfigId',
  'ghostTextApiConfigId',
  'enhancementApiConfigId',
  'condensingApiConfigId'
];

/**
 * What the settings panel shows: the schema, and everything it describes.
 */
export class SettingsModel implements IDisposable {
  constructor(options: SettingsModel.IOptions) {
    this.texts = options.texts ?? {};
    this.schema = new SchemaData(options.api);
    this.settings = new SettingsData(options.api);
    this.profiles = new ProfilesData(options.api);
    this.keys = new KeysData(options.api);
    this.embedded = new EmbeddedData(options.api);
    this.folders = new TrustedFoldersData(options.api);
    this.meaning = new MeaningData(options.api);
    this.ownModes = options.client ? new ModesData(options.client) : null;
    this.slashCommands = options.client
      ? new CommandsData(options.client)
      : null;
    for (const part of [this.ownModes, this.slashCommands]) {
      part?.changed.connect(this._onChanged, this);
    }
    this.memory = options.memory ?? null;
    this.otherAgents = options.otherAgents ?? null;
    this.mcpServers = options.mcpServers ?? null;
    for (const part of [this.memory, this.otherAgents, this.mcpServers]) {
      part?.changed.connect(this._onChanged, this);
    }
    this._parts = [this.schema, this.settings, this.profiles, this.keys];
    this._shown = [this.embedded, this.folders, this.meaning];
    for (const part of [...this._parts, ...this._shown]) {
      part.changed.connect(this._onChanged, this);
    }
    this.settings.form.changed.connect(this._onChanged, this);
    this.profiles.form.changed.connect(this._onChanged, this);
  }

  /**
   * Titles and descriptions in the reader's language.
   */
  readonly texts: FieldTexts;

  /**
   * What can be set.
   */
  readonly schema: RemoteData<SettingsSchema>;

  /**
   * What is set for everything.
   */
  readonly settings: SettingsData;

  /**
   * What is set for talking to models.
   */
  readonly profiles: ProfilesData;

  /**
   * Which keys there are, and where they are kept.
   */
  readonly keys: KeysData;

  /**
   * The models that run on the server's own machine; asked for where they are shown.
   */
  readonly embedded: EmbeddedData;

  /**
   * The folders somebody has decided about; asked for where they are shown.
   */
  readonly folders: TrustedFoldersData;

  /**
   * How searching by meaning stands; asked for where it is shown.
   */
  readonly meaning: MeaningData;

  /**
   * What is remembered, asked for where it is shown; `null` where nobody is to see it.
   */
  readonly memory: MemoryData | null;

  /**
   * The other agents that work here, asked for where they are shown; `null` where
   * nobody is to see them.
   */
  readonly otherAgents: OtherAgentsData | null;

  /**
   * The MCP servers, asked for where they are shown; `null` without a channel.
   */
  readonly mcpServers: McpServersData | null;

  /**
   * The modes, asked for where they are shown; `null` without a channel.
   */
  readonly ownModes: ModesData | null;

  /**
   * The slash commands, asked for where they are shown; `null` without a channel.
   */
  readonly slashCommands: CommandsData | null;

  /**
   * Emitted when anything shown may be different.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * The settings for everything, under their headings.
   */
  get groups(): readonly IFieldGroup[] {
    this._readSchema();
    return this._groups;
  }

  /**
   * A setting for everything; `null` if this server has none of that name.
   */
  field(key: string): IField | null {
    const fields = this.groups.flatMap(({ fields }) => fields);
    return fields.find(field => field.key === key) ?? null;
  }

  /**
   * The setting for where keys are kept, which is shown with the keys.
   */
  get storageField(): IField | null {
    this._readSchema();
    return this._storageField;
  }

  /**
   * The settings of a profile, for all providers.
   */
  get profileFields(): readonly IField[] {
    this._readSchema();
    return this._profileFields;
  }

  /**
   * The providers people can choose from.
   */
  get providers(): readonly ProviderInfo[] {
    const providers = this.schema.value?.providers ?? [];
    return providers.filter(provider => !provider.hidden);
  }

  /**
   * The setting that holds the open profile's model.
   */
  get modelField(): string | null {
    const { provider } = this.profiles;
    const found = this.providers.find(({ id }) => id === provider);
    return found?.modelField ?? null;
  }

  /**
   * All modes: the ones everybody has, people's own, and those a profile is assigned to.
   *
   * @param names - The names of the modes everybody has.
   */
  modes(
    names: Readonly<Record<string, string>>
  ): { slug: string; name: string }[] {
    const all = new Map(Object.entries(names));
    const own = this.settings.value?.settings.customModes ?? [];
    for (const { slug, name } of own) {
      all.set(slug, name);
    }
    for (const slug of Object.keys(this.profiles.value?.modes ?? {})) {
      all.set(slug, all.get(slug) ?? slug);
    }
    return [...all].map(([slug, name]) => ({ slug, name }));
  }

  /**
   * A field with the choices people really have: their profiles and modes, the providers offered.
   */
  withChoices(field: IField, trans: TranslationBundle): IField {
    if (PROFILE_KEYS.includes(field.key)) {
      const choices = this.profiles.entries.map(({ id, name }) => ({
        value: id,
        title: name
      }));
      return { ...field, kind: 'choice', choices };
    }
    if (field.key === PROVIDER_KEY) {
      const offered = new Set<string>(this.providers.map(({ id }) => id));
      const choices = field.choices
        .map(({ value }) => choiceKey(value))
        .filter(id => offered.has(id))
        .map(id => ({ value: id, title: providerName(id, trans) }));
      return { ...field, choices };
    }
    if (field.key === MODE_KEY) {
      const choices = this.modes(modeNames(trans)).map(({ slug, name }) => ({
        value: slug,
        title: name
      }));
      return { ...field, kind: 'choice', choices };
    }
    return field;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    for (const part of [...this._parts, ...this._shown]) {
      part.dispose();
    }
    this.memory?.dispose();
    this.otherAgents?.dispose();
    this.mcpServers?.dispose();
    this.ownModes?.dispose();
    this.slashCommands?.dispose();
    Signal.clearData(this);
  }

  /**
   * Ask the server for everything again.
   */
  async refresh(): Promise<void> {
    await Promise.all(this._parts.map(part => part.refresh()));
  }

  /**
   * Go back to how everything was before anything was set.
   */
  async resetEverything(): Promise<boolean> {
    const done = await this.settings.resetAll();
    if (done) {
      await this._startAfresh();
    }
    return done;
  }

  /**
   * Take over an exported file.
   */
  async importFile(content: JSONObject): Promise<ImportReport | null> {
    const report = await this.settings.importFile(content);
    if (report) {
      await this._startAfresh();
    }
    return report;
  }

  private async _startAfresh(): Promise<void> {
    this.settings.form.discard();
    this.profiles.form.discard();
    await this.refresh();
  }

  private _readSchema(): void {
    const schema = this.schema.value;
    if (schema === this._readFrom || schema === null) {
      return;
    }
    this._readFrom = schema;
    const { globalSettings, providerSettings } = schema;
    const fields = readFields(globalSettings, this.texts);
    this._storageField = fields.find(({ key }) => key === STORAGE_KEY) ?? null;
    this._groups = groupFields(
      globalSettings,
      fields.filter(({ key }) => key !== STORAGE_KEY),
      this.texts
    );
    this._profileFields = readFields(providerSettings, this.texts, 'profile.');
  }

  private _onChanged(): void {
    this._changed.emit();
  }

  private readonly _parts: readonly RemoteData<unknown>[];
  private readonly _shown: readonly RemoteData<unknown>[];
  private readonly _changed = new Signal<this, void>(this);
  private _readFrom: SettingsSchema | null = null;
  private _storageField: IField | null = null;
  private _groups: readonly IFieldGroup[] = [];
  private _profileFields: readonly IField[] = [];
  private _isDisposed = false;
}

/**
 * The namespace for `SettingsModel` statics.
 */
export namespace SettingsModel {
  /**
   * The options of a model.
   */
  export interface IOptions {
    api: SettingsApi;

    /**
     * Asks for modes and slash commands.
     */
    client?: ModesClient | null;

    /**
     * What is remembered; the model owns it.
     */
    memory?: MemoryData | null;

    /**
     * The other agents that work here; the model owns it.
     */
    otherAgents?: OtherAgentsData | null;

    /**
     * The MCP servers; the model owns it.
     */
    mcpServers?: McpServersData | null;

    /**
     * Titles and descriptions in the reader's language.
     */
    texts?: FieldTexts;
  }
}
