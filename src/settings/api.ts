import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';

import type { IErrorBody } from '../errors';

/**
 * The settings as they hold.
 */
export interface ISettingsView {
  readonly settings: JSONObject;

  /**
   * The settings an operator fixed.
   */
  readonly fixed: readonly string[];
  readonly defaults: JSONObject;
}

/**
 * A model provider.
 */
export interface IProvider {
  readonly id: string;
  readonly name: string;
  readonly keyRequired?: boolean;

  /**
   * The setting that holds the model's id.
   */
  readonly modelField?: string;

  /**
   * The secret setting that holds its main key.
   */
  readonly keyField?: string;

  /**
   * Whether it is not offered to people.
   */
  readonly hidden?: boolean;
}

/**
 * What the panel is built from.
 */
export interface ISettingsSchema {
  readonly globalSettings: JSONObject;
  readonly providerSettings: JSONObject;
  readonly providers: readonly IProvider[];
}

/**
 * A profile in the list.
 */
export interface IProfileEntry {
  readonly id: string;
  readonly name: string;
  readonly apiProvider?: string;
  readonly modelId?: string;
  readonly pinned?: boolean;

  /**
   * False if the operator does not allow its provider.
   */
  readonly allowed?: boolean;
}

/**
 * All profiles, and which mode uses which.
 */
export interface IProfileList {
  readonly current: string;
  readonly profiles: readonly IProfileEntry[];

  /**
   * Ids of profiles by mode.
   */
  readonly modes: Readonly<Record<string, string>>;
}

/**
 * One profile with its settings; keys are never among them.
 */
export interface IProfile {
  readonly id: string;
  readonly name: string;
  readonly pinned: boolean;
  readonly current: boolean;
  readonly settings: JSONObject;
}

/**
 * What is known of a key.
 */
export interface IKeyStatus {
  readonly profileId: string;
  readonly key: string;
  readonly present: boolean;
  readonly last4?: string;

  /**
   * Where it is kept, or who provides it.
   */
  readonly source?: string;

  /**
   * The environment variable it comes from.
   */
  readonly variable?: string;
}

/**
 * Where keys are kept, or why they cannot be.
 */
export interface ISecretStorage {
  readonly kind?: string;
  readonly available: boolean;
  readonly code: string;
  readonly message: string;
  readonly params?: JSONObject;
}

/**
 * Which keys are there and where they are kept.
 */
export interface ISecretStatus {
  readonly storage: ISecretStorage;
  readonly secrets: readonly IKeyStatus[];
}

/**
 * What became of one value of an imported file.
 */
export interface IImportItem {
  /**
   * Where it is in the file.
   */
  readonly path: string;
  readonly outcome: 'taken' | 'changed' | 'skipped';
  readonly code: string;
  readonly message: string;
}

/**
 * What an import did, value by value.
 */
export interface IImportReport {
  readonly items: readonly IImportItem[];

  /**
   * The profiles it made or changed.
   */
  readonly profiles: readonly string[];
  readonly current?: string;
}

/**
 * A model that can be chosen; prices are US dollars for a million tokens.
 */
export interface IModelEntry {
  readonly id: string;
  readonly name?: string;
  readonly contextWindow?: number;
  readonly inputPrice?: number;
  readonly outputPrice?: number;
  readonly deprecated?: boolean;
}

/**
 * A request that was refused or never arrived.
 */
export class RequestError extends Error implements IErrorBody {
  constructor(body: IErrorBody) {
    super(body.message);
    this.name = 'RequestError';
    this.code = body.code;
    this.params = body.params;
    this.field = body.field;
  }

  readonly code: string;
  readonly params: IErrorBody['params'];
  readonly field: IErrorBody['field'];
}

/**
 * The settings' part of the server's REST interface.
 */
export class SettingsApi {
  constructor(serverSettings: ServerConnection.ISettings) {
    this._serverSettings = serverSettings;
  }

  settings(): Promise<ISettingsView> {
    return this._request('GET', ['settings']);
  }

  changeSettings(patch: JSONObject): Promise<ISettingsView> {
    return this._request('PATCH', ['settings'], patch);
  }

  resetSettings(): Promise<ISettingsView> {
    return this._request('DELETE', ['settings']);
  }

  schema(): Promise<ISettingsSchema> {
    return this._request('GET', ['settings', 'schema']);
  }

  exportSettings(): Promise<JSONObject> {
    return this._request('GET', ['settings', 'export']);
  }

  importSettings(content: JSONObject): Promise<IImportReport> {
    return this._request('POST', ['settings', 'import'], content);
  }

  profiles(): Promise<IProfileList> {
    return this._request('GET', ['profiles']);
  }

  profile(name: string): Promise<IProfile> {
    return this._request('GET', ['profiles', name]);
  }

  createProfile(name: string, settings: JSONObject): Promise<IProfile> {
    return this._request('POST', ['profiles'], { name, settings });
  }

  changeProfile(name: string, change: JSONObject): Promise<IProfile> {
    return this._request('PATCH', ['profiles', name], change);
  }

  deleteProfile(name: string): Promise<IProfileList> {
    return this._request('DELETE', ['profiles', name]);
  }

  activateProfile(name: string): Promise<{ current: string }> {
    return this._request('POST', ['profiles', name, 'activate'], {});
  }

  /**
   * Let a mode use a profile of its own, or with `null` the current one again.
   */
  assignMode(mode: string, profile: string | null): Promise<IProfileList> {
    const path = ['modes', mode, 'profile'];
    return profile === null
      ? this._request('DELETE', path)
      : this._request('PUT', path, { profile });
  }

  secrets(): Promise<ISecretStatus> {
    return this._request('GET', ['secrets']);
  }

  setSecret(
    profile: string,
    key: string,
    value: string
  ): Promise<ISecretStatus> {
    return this._request('PUT', ['secrets', profile, key], { value });
  }

  deleteSecret(profile: string, key: string): Promise<ISecretStatus> {
    return this._request('DELETE', ['secrets', profile, key]);
  }

  useStorage(kind: string): Promise<ISecretStatus> {
    return this._request('PUT', ['secrets', 'storage'], { kind });
  }

  async models(provider: string): Promise<readonly IModelEntry[]> {
    const query = URLExt.objectToQueryString({ provider });
    const answer = await this._request<{ models: IModelEntry[] }>('GET', [
      `models${query}`
    ]);
    return answer.models;
  }

  private async _request<T>(
    method: string,
    path: readonly string[],
    body?: JSONObject
  ): Promise<T> {
    // Only the last part may carry a query, and only ours does.
    const [last, ...before] = [...path].reverse();
    const parts = [...before.reverse(), last].map((part, index) =>
      index === 0 ? part : encodeURIComponent(part)
    );
    const url = URLExt.join(
      this._serverSettings.baseUrl,
      'hdsp-agent/api',
      ...parts
    );
    const init: RequestInit = { method };
    if (body !== undefined) {
      init.body = JSON.stringify(body);
    }
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(
        url,
        init,
        this._serverSettings
      );
    } catch (reason) {
      throw new RequestError({
        code: 'unreachable',
        message: reason instanceof Error ? reason.message : String(reason)
      });
    }
    if (!response.ok) {
      throw new RequestError(await readError(response));
    }
    try {
      return (await response.json()) as T;
    } catch {
      // A login page says 200 too.
      throw new RequestError({
        code: 'bad_answer',
        message: response.headers.get('Content-Type') ?? ''
      });
    }
  }

  private readonly _serverSettings: ServerConnection.ISettings;
}

const CODES_BY_STATUS: Readonly<Record<number, string>> = {
  401: 'login_expired',
  403: 'not_allowed',
  404: 'extension_missing'
};

/**
 * The reason in an answer. Not every one is ours: a proxy, a login page or Jupyter itself may have answered.
 */
async function readError(response: Response): Promise<IErrorBody> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as Partial<IErrorBody>;
    if (typeof body.code === 'string' && typeof body.message === 'string') {
      return { ...body, code: body.code, message: body.message };
    }
  } catch {
    // Not JSON, so not ours.
  }
  return {
    code: CODES_BY_STATUS[response.status] ?? 'bad_answer',
    message: `${response.status} ${response.statusText}`,
    params: { status: response.status }
  };
}
