import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';

import type { AgentNotebooks } from '../agentnotebooks';
import { ViewFollower } from './viewfollower';

/**
 * What following works with.
 */
export interface IFollowEnvironment {
  readonly agentNotebooks: AgentNotebooks;
  readonly trans: TranslationBundle;

  /**
   * Whether the person wants it.
   */
  readonly isOn: () => boolean;
}

/**
 * Bring what the agent does into sight in all notebooks.
 */
export class Followers implements IDisposable {
  constructor({ agentNotebooks, trans, isOn }: IFollowEnvironment) {
    const now = () => performance.now();
    this._everywhere = agentNotebooks.notebooks.each(panel => {
      const follower = new ViewFollower({
        agentNotebooks,
        panel,
        trans,
        isOn,
        now
      });
      this._followers.set(panel, follower);
      return new DisposableDelegate(() => {
        this._followers.delete(panel);
        follower.dispose();
      });
    });
  }

  get isDisposed(): boolean {
    return this._everywhere.isDisposed;
  }

  dispose(): void {
    this._everywhere.dispose();
  }

  /**
   * Go on in a notebook where the person had looked elsewhere.
   */
  resume(panel: NotebookPanel | null): void {
    if (panel !== null) {
      this._followers.get(panel)?.resume();
    }
  }

  private readonly _followers = new Map<NotebookPanel, ViewFollower>();
  private readonly _everywhere: IDisposable;
}
