import type { ICodeCellModel } from '@jupyterlab/cells';
import type * as nbformat from '@jupyterlab/nbformat';
import type { PartialJSONObject, PartialJSONValue } from '@lumino/coreutils';
import { JSONExt } from '@lumino/coreutils';

/**
 * Give a cell these outputs.
 *
 * @param trusted - Whether the person trusts them. Without it they are trusted
 *   as those before them were: the cell ran, and they come from that.
 *
 * #### Notes
 * Outputs that are there already stay as they are: what is drawn anew
 * flickers, and a widget in it would be lost.
 */
export function setOutputs(
  cell: ICodeCellModel,
  outputs: nbformat.IOutput[],
  trusted?: boolean
): void {
  const { outputs: shown } = cell;
  if (JSONExt.deepEqual(shown.toJSON().map(joined), outputs.map(joined))) {
    if (trusted) {
      cell.trusted = true;
    }
    return;
  }
  if (trusted !== undefined) {
    // Before they are there: what is trusted for a moment has run.
    shown.clear();
    setTrusted(cell, trusted);
  }
  shown.fromJSON(outputs);
}

/**
 * Have the cell's outputs shown as the person trusts them or not, now and when
 * the cell is made anew.
 */
function setTrusted(cell: ICodeCellModel, trusted: boolean): void {
  cell.trusted = trusted;
  cell.sharedModel.setMetadata('trusted', trusted);
}

/**
 * The output with texts in one piece: nbformat allows them in lines as well.
 */
export function joined(output: nbformat.IOutput): PartialJSONObject {
  const { text, data, ...others } = output as PartialJSONObject;
  const bundle = Object.entries((data ?? {}) as PartialJSONObject);
  return {
    ...others,
    ...(text === undefined ? {} : { text: Private.inOne(text) }),
    data: Object.fromEntries(
      bundle.map(([mime, value]) => [mime, Private.inOne(value)])
    )
  };
}

/**
 * Functions of this module alone.
 */
namespace Private {
  export function inOne(value: PartialJSONValue | undefined): PartialJSONValue {
    return Array.isArray(value) && value.every(line => typeof line === 'string')
      ? value.join('')
      : (value ?? null);
  }
}
