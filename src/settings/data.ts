import type { JSONObject } from '@lumino/coreutils';

import type {
  IImportReport,
  ISettingsSchema,
  ISettingsView,
  SettingsApi
} from './api';
import type { IField } from './fields';
import { FieldForm } from './form';
import { RemoteData } from './remote';

/**
 * What can be set.
 */
export class SchemaData extends RemoteData<ISettingsSchema> {
  constructor(private readonly _api: SettingsApi) {
    super();
  }

  protected fetch(): Promise<ISettingsSchema> {
    return this._api.schema();
  }
}

/**
 * What is set for everything.
 */
export class SettingsData extends RemoteData<ISettingsView> {
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
   * Reset settings and profiles, and remove the keys.
   */
  resetAll(): Promise<boolean> {
    return this.act(async () => this.accept(await this._api.resetSettings()));
  }

  async importFile(content: JSONObject): Promise<IImportReport | null> {
    let report: IImportReport | null = null;
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

  protected override accept(value: ISettingsView): void {
    this.form.load(value.settings);
    super.accept(value);
  }

  protected fetch(): Promise<ISettingsView> {
    return this._api.settings();
  }
}
