import type { NotebookPanel } from '@jupyterlab/notebook';
import type { ServiceManager } from '@jupyterlab/services';
import { KernelAPI, SessionAPI } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate, DisposableSet } from '@lumino/disposable';

import type { ChannelClient } from '../../comm/client';
import { TimelineApi } from '../../rest/timelineapi';
import { CommandIDs } from '../../ui/commandids';
import type { OpenNotebooks } from '../opennotebooks';
import { KernelNotice } from './kernelnotice';
import { KernelReconnector } from './kernelreconnector';

/**
 * How far back a checkpoint is looked for that has the variables.
 */
const LOOKED_AT = 100;

/**
 * What new kernels work with.
 */
export interface IKernelsEnvironment {
  readonly client: ChannelClient;
  readonly commands: CommandRegistry;
  readonly notebooks: OpenNotebooks;
  readonly manager: ServiceManager.IManager;
  readonly trans: TranslationBundle;
}

/**
 * Give notebooks whose kernels ended with the server new ones, and say so where
 * something was lost.
 *
 * @returns A disposable that ends it.
 */
export function createKernels({
  client,
  commands,
  notebooks,
  manager,
  trans
}: IKernelsEnvironment): IDisposable {
  const { serverSettings, kernelspecs } = manager;
  const api = new TimelineApi(serverSettings);
  const notices = new Map<NotebookPanel, KernelNotice | null>();
  const reconnector = new KernelReconnector({
    client,
    notebooks,
    specs: () => kernelspecs.specs,
    listKernels: () => KernelAPI.listRunning(serverSettings),
    listSessions: () => SessionAPI.listRunning(serverSettings)
  });
  const offer = async (panel: NotebookPanel, notice: KernelNotice) => {
    const path = notebooks.pathOf(panel);
    if (path === null || !commands.hasCommand(CommandIDs.restoreCheckpoint)) {
      return;
    }
    const checkpoint = await Private.withVariables(api, path);
    if (checkpoint !== null && !notice.isDisposed) {
      notice.offer(async () => {
        const args = { path, checkpoint, parts: ['variables'] };
        const { restoreCheckpoint } = CommandIDs;
        return (await commands.execute(restoreCheckpoint, args)) !== null;
      });
    }
  };
  reconnector.reconnected.connect((_, context) => {
    for (const [panel, earlier] of notices) {
      if (panel.context === context && Private.hasRun(panel)) {
        earlier?.dispose();
        const notice = new KernelNotice(trans);
        panel.contentHeader.addWidget(notice);
        notices.set(panel, notice);
        void offer(panel, notice);
      }
    }
  });
  return DisposableSet.from([
    reconnector,
    notebooks.each(panel => {
      notices.set(panel, null);
      return new DisposableDelegate(() => {
        notices.get(panel)?.dispose();
        notices.delete(panel);
      });
    })
  ]);
}

/**
 * Functions of this module alone.
 */
namespace Private {
  /**
   * Whether a notebook may have had variables: something in it ran once.
   */
  export function hasRun({ context }: NotebookPanel): boolean {
    return context.model.sharedModel.cells.some(
      cell => 'execution_count' in cell && cell.execution_count !== null
    );
  }

  /**
   * The newest checkpoint with the variables of a notebook's kernel.
   */
  export async function withVariables(
    api: TimelineApi,
    path: string
  ): Promise<string | null> {
    try {
      const { operations } = await api.view({ path }, { limit: LOOKED_AT });
      const found = operations.find(({ checkpoint }) =>
        checkpoint?.variables.includes(path)
      );
      return found?.checkpoint?.id ?? null;
    } catch (reason) {
      // Then nothing is offered; the time line says why.
      console.warn('No checkpoint with variables could be looked for', reason);
      return null;
    }
  }
}
