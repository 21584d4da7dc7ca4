import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';

import { ChannelClient } from '../../comm/client';
import { ScriptedServer } from '../../comm/__tests__/scriptedserver';
import { addCommands } from '../panelcommands';
import { connectionDetails } from '../connectiondetails';
import { CommandIDs } from '../../ui/commandids';

const trans = nullTranslator.load('hdsp_agent');

describe('addCommands()', () => {
  let server: ScriptedServer;
  let client: ChannelClient;
  let commands: CommandRegistry;
  let done: string[];

  beforeEach(() => {
    server = new ScriptedServer();
    client = new ChannelClient({
      openSocket: server.open,
      clientId: 'tab-7',
      version: '0.1.0',
      protocol: 1
    });
    commands = new CommandRegistry();
    done = [];
  });

  afterEach(() => {
    client.dispose();
  });

  function add() {
    return addCommands(commands, {
      client,
      panel: { open: () => void done.push('open') },
      leave: () => void done.push('leave'),
      trans
    });
  }

  it('should open the panel and leave it', async () => {
    add();
    await commands.execute(CommandIDs.open);
    await commands.execute(CommandIDs.leave);
    expect(done).toEqual(['open', 'leave']);
  });

  it('should offer to reconnect only while there is no connection', async () => {
    add();
    expect(commands.isEnabled(CommandIDs.reconnect)).toBe(true);
    await commands.execute(CommandIDs.reconnect);
    server.accept();
    expect(commands.isEnabled(CommandIDs.reconnect)).toBe(false);
  });

  it('should describe every command and its arguments', async () => {
    add();
    const ids = commands.listCommands();
    expect(ids).toHaveLength(4);
    for (const id of ids) {
      const { args } = await commands.describedBy(id);
      expect(args).toMatchObject({ type: 'object' });
      expect(commands.label(id)).not.toBe('');
      expect(commands.caption(id)).not.toBe('');
    }
  });

  it('should remove its commands when it is disposed of', () => {
    const added = add();
    added.dispose();
    expect(commands.listCommands()).toEqual([]);
  });
});

describe('detailsOf()', () => {
  it('should name what a report of a problem needs', () => {
    const server = new ScriptedServer();
    const client = new ChannelClient({
      openSocket: server.open,
      clientId: 'tab-7',
      version: '0.1.0',
      protocol: 1
    });
    client.connect();
    server.accept({ version: '0.1.1' }, 4);
    server.state(4);
    expect(Object.fromEntries(connectionDetails(client, trans))).toMatchObject({
      State: 'Connected',
      'Page version': '0.1.0',
      'Server version': '0.1.1',
      'This tab': 'tab-7',
      'Last message': '4'
    });
    client.dispose();
  });
});
