import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';

import type { ErrorLike } from '../comm/requesterror';
import { RequestError } from '../comm/requesterror';
import type {
  EmbeddedChoice,
  Endpoints,
  FolderTrustView,
  GetLocalModel,
  ImportReport,
  LocalModelList,
  LocalModelView,
  LocalRuntimeView,
  ModelEntry,
  ProfileChange,
  ProfileList,
  ProfileView,
  RecallMeaningView,
  SettingsSchema,
  SettingsView,
  StorageBody,
  TrustedFoldersView
} from '../generated/rest';
import { API_PATH } from '../generated/rest';
import type { SecretStatus } from '../generated/wire';

/**
 * The settings' part of the server's REST interface.
 */
export class SettingsApi {
  constructor(serverSettings: ServerConnection.ISettings) {
    this._serverSettings = serverSettings;
  }

  settings(): Promise<SettingsView> {
    return this._request('GET /settings', {});
  }

  changeSettings(patch: JSONObject): Promise<SettingsView> {
    return this._request('PATCH /settings', { body: patch });
  }

  resetSettings(): Promise<SettingsView> {
    return this._request('DELETE /settings', {});
  }

  schema(): Promise<SettingsSchema> {
    return this._request('GET /settings/schema', {});
  }

  exportSettings(): Promise<JSONObject> {
    return this._request('GET /settings/export', {});
  }

  importSettings(content: JSONObject): Promise<ImportReport> {
    return this._request('POST /settings/import', { body: content });
  }

  profiles(): Promise<ProfileList> {
    return this._request('GET /profiles', {});
  }

  profile(name: string): Promise<ProfileView> {
    return this._request('GET /profiles/{name}', { path: { name } });
  }

  createProfile(name: string): Promise<ProfileView> {
    return this._request('POST /profiles', { body: { name } });
  }

  changeProfile(name: string, change: ProfileChange): Promise<ProfileView> {
    return this._request('PATCH /profiles/{name}', {
      path: { name },
      body: change
    });
  }

  deleteProfile(name: string): Promise<ProfileList> {
    return this._request('DELETE /profiles/{name}', { path: { name } });
  }

  activateProfile(name: string): Promise<ProfileList> {
    return this._request('POST /profiles/{name}/activate', { path: { name } });
  }

  /**
   * Let a mode use a profile of its own, or with `null` the current one again.
   */
  assignMode(mode: string, profile: string | null): Promise<ProfileList> {
    const path = { mode };
    return profile === null
      ? this._request('DELETE /modes/{mode}/profile', { path })
      : this._request('PUT /modes/{mode}/profile', { path, body: { profile } });
  }

  secrets(): Promise<SecretStatus> {
    return this._request('GET /secrets', {});
  }

  setSecret(
    profile: string,
    key: string,
    value: string
  ): Promise<SecretStatus> {
    return this._request('PUT /secrets/{profile}/{key}', {
      path: { profile, key },
      body: { value }
    });
  }

  deleteSecret(profile: string, key: string): Promise<SecretStatus> {
    return this._request('DELETE /secrets/{profile}/{key}', {
      path: { profile, key }
    });
  }

  useStorage(kind: StorageBody['kind']): Promise<SecretStatus> {
    return this._request('PUT /secrets/storage', { body: { kind } });
  }

  /**
   * The models of a provider, asked for with the key and the address of a
   * profile; without one, of the current profile or another one that uses it.
   */
  async models(
    provider: string,
    profile: string | null = null
  ): Promise<readonly ModelEntry[]> {
    const query = { provider, ...(profile !== null && { profile }) };
    return (await this._request('GET /models', { query })).models;
  }

  localModels(): Promise<LocalModelList> {
    return this._request('GET /local-models', {});
  }

  /**
   * The models of a repository of the hub, as it declares them.
   */
  async hubModels(name: string): Promise<readonly LocalModelView[]> {
    return (await this._request('POST /hub-models', { body: { name } })).models;
  }

  /**
   * The license of a listed model, in full.
   */
  async localModelLicence(model: string): Promise<string> {
    const path = { model };
    const answer = await this._request('GET /local-models/{model}/license', {
      path
    });
    return answer.licence;
  }

  /**
   * Begin to fetch an embedded model; it goes on when nobody looks.
   */
  getLocalModel(model: string, body: GetLocalModel): Promise<LocalModelView> {
    return this._request('POST /local-models/{model}', {
      path: { model },
      body
    });
  }

  cancelLocalModel(model: string): Promise<LocalModelView> {
    return this._request('POST /local-models/{model}/cancel', {
      path: { model }
    });
  }

  /**
   * Delete an embedded model.
   *
   * @returns How many bytes were freed.
   */
  async removeLocalModel(model: string): Promise<number> {
    const path = { model };
    return (await this._request('DELETE /local-models/{model}', { path }))
      .freed;
  }

  /**
   * Have an embedded model say a few words, to see whether it runs here and how fast.
   */
  tryLocalModel(choice: EmbeddedChoice): Promise<LocalRuntimeView> {
    return this._request('POST /local-runtime', { body: choice });
  }

  /**
   * Give the memory of the embedded model back, unless it is at work.
   */
  releaseLocalModel(): Promise<LocalRuntimeView> {
    return this._request('DELETE /local-runtime', {});
  }

  /**
   * Make a profile of an embedded model, and the current one.
   */
  useLocalModel(choice: EmbeddedChoice): Promise<ProfileView> {
    return this._request('POST /setup/embedded', { body: choice });
  }

  /**
   * What the folder of a conversation brings, or the one that new ones work in.
   */
  folderTrust(task: string | null): Promise<FolderTrustView> {
    const query = task === null ? {} : { task };
    return this._request('GET /folder-trust', { query });
  }

  /**
   * Trust a folder, or do not; `null` has it asked about again.
   */
  decideFolder(
    folder: string,
    trusted: boolean | null
  ): Promise<FolderTrustView> {
    return this._request('PUT /folder-trust', { body: { folder, trusted } });
  }

  trustedFolders(): Promise<TrustedFoldersView> {
    return this._request('GET /trusted-folders', {});
  }

  /**
   * How searching by meaning stands.
   */
  meaning(): Promise<RecallMeaningView> {
    return this._request('GET /recall/meaning', {});
  }

  /**
   * Have what compares meanings read one word.
   */
  tryMeaning(): Promise<RecallMeaningView> {
    return this._request('POST /recall/meaning', {});
  }

  protected async _request<E extends keyof Endpoints>(
    endpoint: E,
    input: Omit<Endpoints[E], 'answer'>,
    signal: AbortSignal | null = null
  ): Promise<Endpoints[E]['answer']> {
    const response = await this._respond(endpoint, input, signal);
    try {
      return (await response.json()) as Endpoints[E]['answer'];
    } catch {
      // A login page says 200 too.
      throw new RequestError({
        code: 'bad_answer',
        message: response.headers.get('Content-Type') ?? ''
      });
    }
  }

  /**
   * The answer as it comes; rejected if it says that something was refused.
   */
  protected async _respond<E extends keyof Endpoints>(
    endpoint: E,
    input: Omit<Endpoints[E], 'answer'>,
    signal: AbortSignal | null = null
  ): Promise<Response> {
    const { body }: Private.IInput = input;
    const url = this._url(endpoint, input);
    const [method] = endpoint.split(' ');
    const init: RequestInit = { method, ...(signal !== null && { signal }) };
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
      throw new RequestError(await Private.readError(response));
    }
    return response;
  }

  protected _url<E extends keyof Endpoints>(
    endpoint: E,
    input: Omit<Endpoints[E], 'answer'>
  ): string {
    const { path = {}, query = {} }: Private.IInput = input;
    const filled = endpoint
      .split(' ')[1]
      .replace(/\{(\w+)\}/g, (_, name: string) =>
        encodeURIComponent(path[name])
      );
    return (
      URLExt.join(this._serverSettings.baseUrl, API_PATH, filled) +
      URLExt.objectToQueryString(query)
    );
  }

  private readonly _serverSettings: ServerConnection.ISettings;
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * What any endpoint may take.
   */
  export interface IInput {
    readonly path?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string>>;
    readonly body?: object;
  }

  const CODES_BY_STATUS: Readonly<Record<number, string>> = {
    401: 'login_expired',
    403: 'not_allowed',
    404: 'extension_missing'
  };

  /**
   * The reason in an answer. Not every one is ours: a proxy, a login page or Jupyter itself may
   * have answered.
   */
  export async function readError(response: Response): Promise<ErrorLike> {
    const text = await response.text();
    try {
      const body = JSON.parse(text) as Partial<ErrorLike>;
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
}
