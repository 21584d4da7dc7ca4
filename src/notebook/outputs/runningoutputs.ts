import type { ICodeCellModel } from '@jupyterlab/cells';
import type * as nbformat from '@jupyterlab/nbformat';

import type { ChangeOutputsMessage } from '../../generated/wire';

type OutputChange = ChangeOutputsMessage['changes'][number];

/**
 * Shows what cells print that the server runs.
 *
 * #### Notes
 * Lab drops what a kernel sends in answer to somebody else, so the server
 * tells it. The kernel's control characters are worked in already.
 */
export class RunningOutputs {
  /**
   * Take up how the outputs of a cell went on.
   *
   * @returns Whether the cell shows it now.
   */
  apply(model: ICodeCellModel, message: ChangeOutputsMessage): boolean {
    const { runId, cellId, base, version, changes, state } = message;
    if (base === 0) {
      this._begin(model);
    } else {
      const known = this._versions.get(cellId);
      if (known?.runId !== runId || known.version !== base) {
        return false;
      }
    }
    for (const change of changes) {
      Private.apply(model, change);
    }
    this._versions.set(cellId, { runId, version });
    if (state === 'running' || state === 'queued') {
      Private.setState(model, 'running');
    } else {
      Private.setState(model, 'idle');
      // Together with the end, as Lab does it: earlier it would take the star away.
      model.executionCount = message.executionCount ?? null;
    }
    return true;
  }

  /**
   * Nothing is known of running cells any more: the server begins anew.
   */
  clear(): void {
    this._versions.clear();
  }

  private _begin(model: ICodeCellModel): void {
    model.clearExecution();
    // The person's own kernel ran it at their wish, so its outputs may be shown.
    model.trusted = true;
  }

  private readonly _versions = new Map<
    string,
    { runId: string; version: number }
  >();
}

/**
 * Functions of this module alone.
 */
namespace Private {
  export function apply(model: ICodeCellModel, change: OutputChange): void {
    const { outputs } = model;
    switch (change.change) {
      case 'put': {
        const output = change.output as unknown as nbformat.IOutput;
        if (change.index < outputs.length) {
          outputs.set(change.index, output);
        } else {
          outputs.add(output);
        }
        break;
      }
      case 'extend': {
        const text = outputs.get(change.index)?.streamText;
        if (text) {
          const keep = unitsOf(text.text, change.keep);
          if (keep < text.text.length) {
            text.remove(keep, text.text.length);
          }
          if (change.text) {
            text.insert(keep, change.text);
          }
        }
        break;
      }
      case 'truncate': {
        const kept = outputs.toJSON().slice(0, change.count);
        outputs.fromJSON(kept);
        break;
      }
    }
  }

  /**
   * How many code units the first characters of a text take: Python counts
   * characters, and an emoji as one.
   */
  function unitsOf(text: string, characters: number): number {
    let units = 0;
    for (let seen = 0; seen < characters && units < text.length; seen++) {
      units += (text.codePointAt(units) as number) > 0xffff ? 2 : 1;
    }
    return units;
  }

  /**
   * Lab 4.2 has no execution state in the model; there the prompt alone tells.
   */
  export function setState(
    model: ICodeCellModel,
    state: 'running' | 'idle'
  ): void {
    if ('executionState' in model) {
      model.executionState = state;
    }
  }
}
