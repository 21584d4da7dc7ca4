import type { JSONObject } from '@lumino/coreutils';

/**
 * How a server is described: by a text to paste, by what starts it, or by where
 * it is.
 */
export type NewServerKind = 'paste' | 'command' | 'address';

/**
 * What is written about a server to add.
 */
export interface INewServer {
  readonly kind: NewServerKind;
  readonly name: string;

  /**
   * JSON, in the form that other programs use too.
   */
  readonly json: string;
  readonly command: string;

  /**
   * One a line.
   */
  readonly args: string;

  /**
   * Lines of `NAME=value`.
   */
  readonly env: string;
  readonly url: string;

  /**
   * Lines of `Name: value`.
   */
  readonly headers: string;
}

/**
 * Nothing is written yet.
 */
export const EMPTY: INewServer = {
  kind: 'paste',
  name: '',
  json: '',
  command: '',
  args: '',
  env: '',
  url: '',
  headers: ''
};

/**
 * Whether a pasted text is one server's entry, which has no name in it.
 */
export function isBareEntry(json: string): boolean {
  try {
    const content: unknown = JSON.parse(json);
    return (
      typeof content === 'object' &&
      content !== null &&
      ('command' in content || 'url' in content || 'httpUrl' in content) &&
      !('mcpServers' in content) &&
      !('servers' in content)
    );
  } catch {
    return false;
  }
}

/**
 * Whether enough is written to add it.
 */
export function isComplete(server: INewServer): boolean {
  const { kind, name, json, command, url } = server;
  const isNamed = name.trim() !== '';
  switch (kind) {
    case 'paste':
      return json.trim() !== '' && (isNamed || !isBareEntry(json));
    case 'command':
      return isNamed && command.trim() !== '';
    case 'address':
      return isNamed && url.trim() !== '';
  }
}

/**
 * What is written, as the server takes it.
 */
export function importBody(server: INewServer): {
  text: string;
  name?: string;
} {
  const name = server.name.trim();
  if (server.kind === 'paste') {
    return {
      text: server.json,
      ...(isBareEntry(server.json) ? { name } : {})
    };
  }
  return { text: JSON.stringify(entryOf(server), null, 2), name };
}

function entryOf(server: INewServer): JSONObject {
  if (server.kind === 'address') {
    const headers = pairs(server.headers, ':');
    return {
      url: server.url.trim(),
      ...(Object.keys(headers).length > 0 ? { headers } : {})
    };
  }
  const args = lines(server.args);
  const env = pairs(server.env, '=');
  return {
    command: server.command.trim(),
    ...(args.length > 0 ? { args } : {}),
    ...(Object.keys(env).length > 0 ? { env } : {})
  };
}

function lines(text: string): string[] {
  return text.split('\n').filter(line => line.trim() !== '');
}

function pairs(text: string, sign: string): Record<string, string> {
  return Object.fromEntries(
    lines(text).map(line => {
      const at = line.indexOf(sign);
      return at === -1
        ? [line.trim(), '']
        : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    })
  );
}
