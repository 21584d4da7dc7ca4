import type { NotebookPanel } from '@jupyterlab/notebook';
import { DisposableDelegate } from '@lumino/disposable';

import { Listener } from '../listener';
import type { OpenNotebooks } from './opennotebooks';

type Context = NotebookPanel['context'];

/**
 * Has a notebook saved by one at a time, whoever saves it: the person with
 * Ctrl+S, Lab by itself, or the agent.
 *
 * #### Notes
 * Of two saves at once, Lab takes what the first one wrote for a change by
 * somebody else, and asks the person what to keep.
 */
export class SaveOrder extends Listener {
  constructor(notebooks: OpenNotebooks) {
    super();
    this._each = notebooks.each(({ context }) => {
      if (!this._last.has(context)) {
        this._last.set(context, Promise.resolve());
        const save = context.save.bind(context);
        context.save = () =>
          this.inTurn(context, () =>
            context.isDisposed ? Promise.resolve() : save()
          );
      }
      return new DisposableDelegate(() => undefined);
    });
  }

  /**
   * Do something with a notebook's file once what was begun before is done.
   * `context.save()` does that by itself.
   */
  inTurn<T>(context: Context, work: () => Promise<T>): Promise<T> {
    const now = (this._last.get(context) ?? Promise.resolve()).then(work);
    this._last.set(
      context,
      now.catch(() => undefined)
    );
    return now;
  }

  protected override release(): void {
    this._each.dispose();
  }

  private readonly _each;
  private readonly _last = new WeakMap<Context, Promise<unknown>>();
}
