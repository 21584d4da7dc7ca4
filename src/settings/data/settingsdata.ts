import type { JSONObject, JSONValue } from '@lumino/coreutils';

import type {
  ImportReport,
  SettingsSchema,
  SettingsView
} from '../../generated/rest';

import type { SettingsApi } from '../../rest/settingsapi';
import type { IField } from '../fields/fields';
import { FieldForm } from '../fields/fieldform';
import { RemoteData } from '../../rest/remotedata';
import { byName } from '../fields/fieldvalues';

/**
 * What can be set.
 */
export class SchemaData extends RemoteData<SettingsSchema> {
  constructor(private readonly _api: SettingsApi) {
    super();
  }

  protected fetch(): Promise<SettingsSchema> {
    return this._api.schema();
  }
}

/**
 * What is set for everything.
 */
export class SettingsData extends RemoteData<SettingsView> {
  constructor(private readonly _api: SettingsApi) {
    super();
    this.form = new FieldForm({
      save: async patch => this.accept(await this._api.changeSettings(patch))
    });
  }

  /**
   * The settings while they are edited.
   */
  readonly form: FieldForm;

  override dispose(): void {
    this.form.dispose();
    super.dispose();
  }

  /**
   * Whether an operator decided this for everybody.
   */
  isFixed(field: IField): boolean {
    return this.value?.fixed.includes(field.key) ?? false;
  }

  /**
   * The value a setting has when nobody sets it; the server leaves out what has none.
   */
  defaultOf(field: IField): JSONValue {
    return this.value ? (byName(this.value.defaults)[field.key] ?? null) : null;
  }

  /**
   * Reset settings and profiles, and remove the keys.
   */
  resetAll(): Promise<boolean> {
    return this.act(async () => this.accept(await this._api.resetSettings()));
  }

  async importFile(content: JSONObject): Promise<ImportReport | null> {
    let report: ImportReport | null = null;
    await this.act(async () => {
      report = await this._api.importSettings(content);
    });
    return report;
  }

  /**
   * Everything but the keys, to be kept in a file.
   */
  async exportFile(): Promise<JSONObject | null> {
    let content: JSONObject | null = null;
    await this.act(async () => {
      content = await this._api.exportSettings();
    });
    return content;
  }

  protected override accept(value: SettingsView): void {
    this.form.load(byName(value.settings));
    super.accept(value);
  }

  protected fetch(): Promise<SettingsView> {
    return this._api.settings();
  }
}
