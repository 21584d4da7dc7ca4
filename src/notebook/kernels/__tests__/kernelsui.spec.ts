import type { ISharedCodeCell } from '@jupyter/ydoc';
import type { ServiceManager } from '@jupyterlab/services';
import { ServerConnection } from '@jupyterlab/services';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';

import type { ChannelClient } from '../../../comm/client';
import { RestServer } from '../../../panel/history/__tests__/restserver';
import {
  checkpoint,
  operation,
  view
} from '../../../timeline/__tests__/openedtimeline';
import { CommandIDs } from '../../../ui/commandids';
import { OpenedNotebook } from '../../__tests__/openednotebook';
import { createKernels } from '../kernelsui';

describe('a notebook whose kernel ended with the server', () => {
  let opened: OpenedNotebook;
  let rest: RestServer;
  let kernels: IDisposable;
  let commands: CommandRegistry;
  let restored: ReadonlyPartialJSONObject[];
  let result: object | null;
  let kernel: { id: string; name: string; status: string } | null;

  beforeEach(async () => {
    rest = new RestServer();
    rest.answers.set('GET /api/kernels', () => []);
    rest.answers.set('GET /api/sessions', () => []);
    rest.answers.set('GET checkpoints', () => view([]));
    opened = await OpenedNotebook.open();
    const { sessionContext } = opened.context;
    kernel = { id: 'old', name: 'python3', status: 'idle' };
    jest
      .spyOn(sessionContext, 'session', 'get')
      .mockImplementation(
        () =>
          ({ kernel, dispose: () => undefined }) as unknown as ReturnType<
            () => typeof sessionContext.session
          >
      );
    jest.spyOn(sessionContext, 'changeKernel').mockImplementation(() => {
      kernel = { id: 'new', name: 'python3', status: 'idle' };
      return Promise.resolve(null);
    });
    commands = new CommandRegistry();
    restored = [];
    result = {};
    commands.addCommand(CommandIDs.restoreCheckpoint, {
      execute: args => {
        restored.push(args);
        return result;
      }
    });
    kernels = createKernels({
      client: opened.client as unknown as ChannelClient,
      commands,
      notebooks: opened.notebooks,
      manager: {
        serverSettings: ServerConnection.makeSettings(),
        kernelspecs: { specs: { kernelspecs: { python3: {} } } }
      } as unknown as ServiceManager.IManager,
      trans: nullTranslator.load('hdsp_agent')
    });
  });

  afterEach(() => {
    kernels.dispose();
    opened.close();
    rest.dispose();
  });

  const run = () => {
    const cell = opened.model.sharedModel.getCell(0);
    (cell as ISharedCodeCell).execution_count = 1;
  };

  const restart = async () => {
    opened.client.setPhase('reconnecting');
    opened.client.place.epoch = 'second';
    opened.client.setPhase('open');
    await opened.settle();
  };

  const notices = (panel = opened.panel) =>
    panel.contentHeader.widgets.map(({ node }) => node);
  const buttons = () => [
    ...opened.panel.contentHeader.node.querySelectorAll('button')
  ];

  it('says that variables are gone, until one has read it', async () => {
    run();
    await restart();
    expect(notices().map(({ textContent }) => textContent)).toEqual([
      'The kernel restarted with the server, so its variables are gone.'
    ]);
    const [close] = buttons();
    expect(close.title).toBe('Dismiss');
    close.click();
    expect(notices()).toEqual([]);
  });

  it('says nothing where nothing had run', async () => {
    await restart();
    expect(kernel?.id).toBe('new');
    expect(notices()).toEqual([]);
  });

  it('offers the variables of the newest checkpoint that has them', async () => {
    const { path } = opened;
    const of = (id: string, variables: string[]) =>
      operation(id, { checkpoint: checkpoint(id, { variables }) });
    rest.answers.set('GET checkpoints', () =>
      view([
        operation('failed', { checkpoint: undefined }),
        of('later', ['other.ipynb']),
        of('wanted', ['other.ipynb', path]),
        of('older', [path])
      ])
    );
    run();
    await restart();
    const [restore] = buttons();
    expect(restore.textContent).toBe('Restore variables…');
    result = null;
    restore.click();
    await opened.settle();
    expect(restored).toEqual([
      { path, checkpoint: 'wanted', parts: ['variables'] }
    ]);
    expect(notices()).toHaveLength(1);
    result = {};
    restore.click();
    await opened.settle();
    expect(notices()).toEqual([]);
  });

  it('offers nothing where it is not known what there is', async () => {
    const complaint = jest.spyOn(console, 'warn').mockImplementation();
    rest.answers.delete('GET checkpoints');
    run();
    await restart();
    expect(buttons().map(({ title }) => title)).toEqual(['Dismiss']);
    expect(complaint).toHaveBeenCalledTimes(1);
    complaint.mockRestore();
  });

  it('says so in each view, and no more when it is closed', async () => {
    const other = opened.addView();
    await opened.settle();
    run();
    await restart();
    expect(notices(other)).toHaveLength(1);
    other.dispose();
    kernels.dispose();
    expect(notices()).toEqual([]);
  });

  it('says it once more when the server restarts again', async () => {
    run();
    await restart();
    opened.client.setPhase('reconnecting');
    opened.client.place.epoch = 'third';
    opened.client.setPhase('open');
    await opened.settle();
    expect(notices()).toHaveLength(1);
  });
});
