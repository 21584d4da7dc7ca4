import { nullTranslator } from '@jupyterlab/translation';
import type { JSONValue } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import * as React from 'react';
import { act } from 'react';
import type { Root } from 'react-dom/client';
import { createRoot } from 'react-dom/client';

import type { ChannelClient } from '../../../comm/client';
import { RequestError } from '../../../comm/requesterror';
import type { Command, ExtensionMessage } from '../../../generated/wire';
import { SettingsApi } from '../../../rest/settingsapi';
import type { IDialogs } from '../../../ui/dialogs';
import { SettingsModel } from '../../data/settingsmodel';
import type { ModesClient } from '../../data/modesdata';
import { SettingsPanel } from '../../settingspanel';
import { FakeServer } from '../../__tests__/fakeserver';

(globalThis as Record<string, unknown>).IS_REACT_ACT_ENVIRONMENT = true;

const CODE = {
  slug: 'code',
  name: 'Code',
  roleDefinition: 'You write code.',
  groups: ['read', 'edit', 'command', 'mcp']
};
const PLOTS = {
  slug: 'plots',
  name: 'Plots',
  roleDefinition: 'You draw plots.',
  whenToUse: 'To plot.',
  groups: ['read', ['edit', { fileRegex: '\\.ipynb$' }], 'mcp'],
  source: 'global'
};

/**
 * Answers as the server does, and keeps what it was asked.
 */
class Server {
  readonly asked: ChannelClient.Request[] = [];
  modes: JSONValue[] = [CODE, PLOTS];
  commands: Command[] = [
    { name: 'explain', source: 'built-in' as const },
    { name: 'sum', source: 'global' as const, filePath: '/home/sum.md' }
  ];
  refusal: string | null = null;
  readonly messages = new Signal<this, ExtensionMessage>(this);

  readonly client = {
    messageReceived: this.messages,
    request: async (request: ChannelClient.Request) => {
      await Promise.resolve();
      this.asked.push(request);
      if (this.refusal !== null && !request.type.startsWith('request')) {
        throw new RequestError({ code: 'conflict', message: this.refusal });
      }
      switch (request.type) {
        case 'requestModes':
          return this.modes;
        case 'requestCommands':
          this.messages.emit({ type: 'commands', commands: this.commands });
          break;
        case 'getSystemPrompt':
          this.messages.emit({
            type: 'systemPrompt',
            text: 'You are told this.',
            mode: request.mode ?? ''
          });
          break;
        case 'importMode':
          this.messages.emit({ type: 'importModeResult', slug: 'plots' });
          break;
        case 'openCommandFile':
          return 'Sum up.';
        default:
          break;
      }
      return undefined;
    }
  } as unknown as ModesClient;

  /**
   * What was asked for besides lists.
   */
  changes(): ChannelClient.Request[] {
    return this.asked.filter(({ type }) => !type.startsWith('request'));
  }
}

describe('modes and slash commands in the settings', () => {
  let server: Server;
  let rest: FakeServer;
  let model: SettingsModel;
  let node: HTMLElement;
  let root: Root;

  async function settled(action: () => unknown): Promise<void> {
    await act(async () => {
      await action();
      for (let step = 0; step < 10; step++) {
        await new Promise(resolve => setTimeout(resolve, 3));
      }
    });
  }

  async function open(section: string): Promise<void> {
    const dialogs: IDialogs = {
      confirm: () => Promise.resolve(true),
      askName: () => Promise.resolve(null)
    };
    root = createRoot(node);
    await settled(() =>
      root.render(
        <SettingsPanel
          model={model}
          trans={nullTranslator.load('hdsp_agent')}
          dialogs={dialogs}
          section={section}
          onSection={() => undefined}
        />
      )
    );
    await settled(() => model.refresh());
  }

  function button(label: string): HTMLButtonElement {
    const all = [...node.querySelectorAll('button')];
    const found = all.find(
      one => (one.getAttribute('aria-label') ?? one.textContent) === label
    );
    if (!found) {
      throw new Error(`no button ${label} in ${node.innerHTML}`);
    }
    return found;
  }

  const press = (label: string) => settled(() => button(label).click());

  async function type(label: string, text: string): Promise<void> {
    const found = [...node.querySelectorAll('label')].find(
      one => one.textContent === label
    );
    const input = document.getElementById(found?.htmlFor ?? '') as
      HTMLInputElement | HTMLTextAreaElement;
    const kind = Object.getPrototypeOf(input) as object;
    await settled(() => {
      Object.getOwnPropertyDescriptor(kind, 'value')?.set?.call(input, text);
      input.dispatchEvent(new Event('input', { bubbles: true }));
    });
  }

  beforeEach(() => {
    server = new Server();
    rest = new FakeServer();
    model = new SettingsModel({
      api: new SettingsApi(rest.serverSettings),
      client: server.client
    });
    node = document.body.appendChild(document.createElement('div'));
  });

  afterEach(() => {
    act(() => root.unmount());
    model.dispose();
    node.remove();
  });

  it('should make a mode of what is written', async () => {
    await open('customModes');
    await press('New mode…');
    await type('Name', 'My Charts');
    await type('Role', 'You draw charts.');
    await press('Save');
    expect(server.changes()).toEqual([
      {
        type: 'updateCustomMode',
        modeConfig: {
          slug: 'my-charts',
          name: 'My Charts',
          roleDefinition: 'You draw charts.',
          groups: ['read', 'edit', 'command']
        }
      }
    ]);
    expect(node.querySelector('form')).toBeNull();
  });

  it('should keep what is written when it is refused, and say why', async () => {
    await open('customModes');
    await press('New mode…');
    await type('Name', 'Charts');
    await type('Role', 'You draw.');
    server.refusal = 'The name is taken.';
    await press('Save');
    expect(node.querySelector('[role="alert"]')?.textContent).toContain(
      'The name is taken.'
    );
    expect(node.querySelector('form')).not.toBeNull();
  });

  it('should change a mode of ones own, and keep what the form does not show', async () => {
    rest.settings.customModes = [PLOTS];
    await open('customModes');
    await press('Edit “Plots”');
    await type('When to use it', '');
    await press('Save');
    expect(server.changes()).toEqual([
      {
        type: 'updateCustomMode',
        slug: 'plots',
        modeConfig: {
          slug: 'plots',
          name: 'Plots',
          roleDefinition: 'You draw plots.',
          groups: ['read', ['edit', { fileRegex: '\\.ipynb$' }], 'mcp'],
          source: 'global'
        }
      }
    ]);
    await press('Delete “Plots”…');
    expect(server.changes().at(-1)).toEqual({
      type: 'deleteCustomMode',
      slug: 'plots'
    });
  });

  it('should change only what was changed about another mode, and put it back', async () => {
    await open('customModes');
    await press('Edit “Agent”');
    await type('Instructions', 'Be brief.');
    await press('Save');
    expect(server.changes()).toEqual([
      {
        type: 'updatePrompt',
        promptMode: 'code',
        customPrompt: { customInstructions: 'Be brief.' }
      }
    ]);
    rest.settings.customModePrompts = {
      code: { customInstructions: 'Be brief.' }
    };
    await settled(() => model.refresh());
    await press('Edit “Agent”');
    await press('Restore the default');
    expect(server.changes().at(-1)).toEqual({
      type: 'updatePrompt',
      promptMode: 'code',
      customPrompt: {}
    });
  });

  it('should show what a mode tells the model, and import one', async () => {
    await open('customModes');
    await press('Show the system prompt of “Agent”');
    expect(node.querySelector('pre')?.textContent).toBe('You are told this.');
    const picker = node.querySelector<HTMLInputElement>('input[type="file"]');
    const file = { text: () => Promise.resolve('customModes: []') };
    Object.defineProperty(picker, 'files', { value: [file] });
    await settled(() =>
      picker?.dispatchEvent(new Event('change', { bubbles: true }))
    );
    expect(server.changes().at(-1)).toEqual({
      type: 'importMode',
      text: 'customModes: []'
    });
    expect(node.querySelector('[role="status"]')).not.toBeNull();
  });

  it('should make, change and delete slash commands', async () => {
    await open('slashCommands');
    await press('New command…');
    await type('Name', '/plot');
    await type('Prompt', 'Plot $ARGUMENTS');
    await press('Save');
    await press('Edit “/sum”');
    await type('Prompt', 'Sum up all.');
    await press('Save');
    await press('Delete “/sum”…');
    expect(server.changes()).toEqual([
      {
        type: 'createCommand',
        text: 'plot',
        values: { source: 'global', content: 'Plot $ARGUMENTS', isNew: true }
      },
      { type: 'openCommandFile', text: 'sum', values: { source: 'global' } },
      {
        type: 'createCommand',
        text: 'sum',
        values: { source: 'global', content: 'Sum up all.' }
      },
      { type: 'deleteCommand', text: 'sum', values: { source: 'global' } }
    ]);
    expect(() => button('Edit “/explain”')).toThrow();
  });

  it('should show what a team shares, and let nobody change it', async () => {
    server.commands.push({ name: 'units', source: 'team' });
    server.modes.push({ ...PLOTS, slug: 'review', name: 'R', source: 'team' });
    await open('slashCommands');
    expect(node.querySelector('[data-command="units"]')?.textContent).toContain(
      'From your team'
    );
    expect(() => button('Edit “/units”')).toThrow();
    expect(() => button('Delete “/units”…')).toThrow();
    await settled(() => root.unmount());
    await open('customModes');
    expect(node.querySelector('[data-mode="review"]')?.textContent).toContain(
      'From your team'
    );
    expect(() => button('Edit “R”')).toThrow();
    button('Export “R”');
  });
});
