import { ServerConnection } from '@jupyterlab/services';
import type { JSONObject, JSONValue } from '@lumino/coreutils';

import { PROVIDER_SCHEMA, PROVIDERS, WITH_SEARCH } from './settingsschema';

interface IStoredProfile {
  id: string;
  name: string;
  pinned: boolean;
  settings: JSONObject;
}

interface IAnswer {
  status: number;
  body: unknown;
}

/**
 * Our REST interface in memory: what the panel's requests meet in these tests.
 */
export class FakeServer {
  readonly requests: string[] = [];
  readonly bodies: string[] = [];
  settings: JSONObject = { autoApprovalEnabled: false, checkpointTimeout: 15 };
  fixed: string[] = [];
  profiles: IStoredProfile[] = [
    {
      id: 'p1',
      name: 'default',
      pinned: false,
      settings: { apiProvider: 'anthropic', apiModelId: 'claude' }
    },
    { id: 'p2', name: 'a/b 한글', pinned: true, settings: {} }
  ];
  current = 'default';
  modes: Record<string, string> = {};
  keys: Record<string, string> = {};
  storage: JSONObject = {
    kind: 'keyring',
    available: true,
    code: 'ok',
    message: ''
  };
  meaning: JSONObject = { by: 'bundled', installed: true, unread: 0 };
  isDown = false;

  /**
   * What is answered to other requests, by method and path.
   */
  readonly others = new Map<string, (body: JSONObject) => unknown>();

  /**
   * What a page at this server works with.
   */
  readonly serverSettings = ServerConnection.makeSettings({
    baseUrl: 'http://localhost:8888/user/ada/',
    fetch: (input, init) => this.fetch(new Request(input, init))
  });

  async fetch(request: Request): Promise<Response> {
    if (this.isDown) {
      throw new TypeError('Failed to fetch');
    }
    const url = new URL(request.url);
    const prefix = '/user/ada/hdsp-agent/api/';
    const [path, text] = [url.pathname, await request.text()];
    this.requests.push(`${request.method} ${path.replace(prefix, '')}`);
    this.bodies.push(text);
    const parts = path.replace(prefix, '').split('/').map(decodeURIComponent);
    const body = (text ? JSON.parse(text) : {}) as JSONObject;
    const { status, body: answer } = this.answer(request.method, parts, body);
    return new Response(JSON.stringify(answer), { status });
  }

  answer(method: string, parts: string[], body: JSONObject): IAnswer {
    const other = this.others.get(`${method} ${parts.join('/')}`)?.(body);
    if (other !== undefined) {
      return other instanceof Refusal ? other : ok(other);
    }
    switch (parts[0]) {
      case 'settings':
        return this.answerSettings(method, parts[1], body);
      case 'profiles':
        return this.answerProfiles(method, parts[1], parts[2], body);
      case 'modes':
        this.assign(parts[1], body.profile);
        return ok(this.listing());
      case 'secrets':
        return this.answerSecrets(method, parts[1], parts[2], body);
      case 'recall':
        return ok(this.meaning);
      case 'models':
        return ok({ models: [{ id: 'claude', contextWindow: 200000 }] });
      default:
        return { status: 404, body: { message: 'no such path' } };
    }
  }

  private answerSettings(
    method: string,
    what: string | undefined,
    body: JSONObject
  ): IAnswer {
    if (what === 'schema') {
      return ok({
        globalSettings: WITH_SEARCH,
        providerSettings: PROVIDER_SCHEMA,
        providers: PROVIDERS
      });
    }
    if (what === 'export') {
      return ok({ globalSettings: this.settings });
    }
    if (what === 'import') {
      const items = [
        { path: 'globalSettings.x', outcome: 'skipped', code: 'unknown' }
      ];
      return ok({ items, profiles: ['work'] });
    }
    if (method === 'PATCH') {
      if (Number(body.checkpointTimeout) > 60) {
        return refused('invalid_setting', 'checkpointTimeout', {
          reason: 'must be less than or equal to 60'
        });
      }
      this.settings = withoutNulls({ ...this.settings, ...body });
    }
    if (method === 'DELETE') {
      this.settings = {};
    }
    const defaults = { autoApprovalEnabled: false, checkpointTimeout: 15 };
    const settings = { ...defaults, ...this.settings };
    return ok({ settings, fixed: this.fixed, defaults });
  }

  private answerProfiles(
    method: string,
    name: string | undefined,
    action: string | undefined,
    body: JSONObject
  ): IAnswer {
    if (name === undefined) {
      if (method === 'GET') {
        return ok(this.listing());
      }
      const taken = this.profiles.some(one => one.name === body.name);
      if (taken) {
        return refused('profile_exists', 'name', { profile: body.name });
      }
      const id = `p${this.profiles.length + 1}`;
      const added = {
        id,
        name: body.name as string,
        pinned: false,
        settings: {}
      };
      this.profiles.push(added);
      return ok(this.view(added));
    }
    const profile = this.profiles.find(one => one.name === name);
    if (!profile) {
      return refused('unknown_profile', null, { profile: name });
    }
    if (action === 'activate') {
      this.current = name;
      return ok(this.listing());
    }
    if (method === 'DELETE') {
      this.profiles = this.profiles.filter(one => one !== profile);
      return ok(this.listing());
    }
    if (method === 'PATCH') {
      const settings = (body.settings ?? {}) as JSONObject;
      profile.name = (body.name ?? profile.name) as string;
      profile.pinned = Boolean(body.pinned ?? profile.pinned);
      profile.settings = withoutNulls({ ...profile.settings, ...settings });
    }
    return ok(this.view(profile));
  }

  private answerSecrets(
    method: string,
    name: string | undefined,
    key: string | undefined,
    body: JSONObject
  ): IAnswer {
    if (name === 'storage') {
      this.settings.secretStorage = body.kind;
      this.storage = { ...this.storage, kind: body.kind, available: true };
    } else if (name !== undefined) {
      const id =
        name === 'settings'
          ? 'k1'
          : this.profiles.find(one => one.name === name)?.id;
      if (method === 'PUT') {
        this.keys[`${id}/${key}`] = body.value as string;
      } else {
        delete this.keys[`${id}/${key}`];
      }
    }
    const secrets = Object.entries(this.keys).map(([place, value]) => ({
      profileId: place.split('/')[0],
      key: place.split('/')[1],
      present: true,
      last4: value.slice(-4),
      source: this.storage.kind
    }));
    return ok({ storage: this.storage, secrets });
  }

  private assign(mode: string, name: JSONValue | undefined): void {
    const id = this.profiles.find(one => one.name === name)?.id;
    if (id) {
      this.modes[mode] = id;
    } else {
      delete this.modes[mode];
    }
  }

  private listing(): unknown {
    return {
      current: this.current,
      modes: this.modes,
      profiles: this.profiles.map(({ id, name, pinned, settings }) => ({
        id,
        name,
        pinned,
        apiProvider: settings.apiProvider,
        modelId: settings.apiModelId
      }))
    };
  }

  private view(profile: IStoredProfile): unknown {
    return { ...profile, current: profile.name === this.current };
  }
}

/**
 * An answer that something was refused.
 */
export class Refusal implements IAnswer {
  constructor(code: string, message: string) {
    this.body = { code, message, params: {} };
  }

  readonly status = 400;
  readonly body: unknown;
}

function ok(body: unknown): IAnswer {
  return { status: 200, body };
}

function refused(
  code: string,
  field: string | null,
  params: Record<string, unknown>
): IAnswer {
  return {
    status: 400,
    body: { code, message: `English ${code}`, field, params }
  };
}

function withoutNulls(values: JSONObject): JSONObject {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null)
  );
}
