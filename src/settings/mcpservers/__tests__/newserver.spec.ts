import { EMPTY, importBody, isBareEntry, isComplete } from '../newserver';

describe('a new MCP server', () => {
  it('should be sent as it was pasted, with a name where it has none', () => {
    const json = '{"mcpServers": {"a": {"command": "x"}}}';
    expect(importBody({ ...EMPTY, json })).toEqual({ text: json });
    expect(isComplete({ ...EMPTY, json })).toBe(true);
    const bare = '{"command": "x"}';
    expect(isBareEntry(bare)).toBe(true);
    expect(isComplete({ ...EMPTY, json: bare })).toBe(false);
    expect(importBody({ ...EMPTY, json: bare, name: ' a ' })).toEqual({
      text: bare,
      name: 'a'
    });
  });

  it('should leave it to the server what is no JSON', () => {
    expect(isBareEntry('{"command"')).toBe(false);
    expect(isComplete({ ...EMPTY, json: '{"command"' })).toBe(true);
    expect(isComplete({ ...EMPTY, json: ' ' })).toBe(false);
  });

  it('should be made of a command, its arguments and its variables', () => {
    const { text, name } = importBody({
      ...EMPTY,
      kind: 'command',
      name: 'db',
      command: ' uvx ',
      args: 'server\n--a b\n\n',
      env: 'KEY=a=b\nEMPTY'
    });
    expect(name).toBe('db');
    expect(JSON.parse(text)).toEqual({
      command: 'uvx',
      args: ['server', '--a b'],
      env: { KEY: 'a=b', EMPTY: '' }
    });
  });

  it('should be made of an address and its headers', () => {
    const server = {
      ...EMPTY,
      kind: 'address' as const,
      name: 'far',
      url: 'https://a.example/mcp'
    };
    expect(JSON.parse(importBody(server).text)).toEqual({ url: server.url });
    const headers = 'Authorization: Bearer a:b';
    expect(JSON.parse(importBody({ ...server, headers }).text)).toEqual({
      url: server.url,
      headers: { Authorization: 'Bearer a:b' }
    });
  });
});
