import type * as nbformat from '@jupyterlab/nbformat';
import type { PartialJSONValue } from '@lumino/coreutils';

import { joined } from './celloutputs';

/**
 * A short text that is the same for the same outputs.
 *
 * #### Notes
 * It is kept of every cell for as long as a notebook is open, where outputs
 * may take many megabytes. It names nothing outside of this page, and is made
 * in a fifth of the time that sha256 takes: pages wait for it.
 */
export function outputsHash(outputs: readonly nbformat.IOutput[]): string {
  const hash = new Private.Hash();
  hash.add(outputs.map(joined));
  return hash.toString();
}

/**
 * Functions of this module alone.
 */
namespace Private {
  const ONE = 0x9e3779b1;
  const OTHER = 0x5f356495;
  const FLOAT = new Float64Array(1);
  const BITS = new Uint32Array(FLOAT.buffer);

  /**
   * A product alone hands nothing down to lower digits, so they are turned.
   */
  function turned(
    hash: number,
    digits: number,
    prime: number,
    unit: number
  ): number {
    return Math.imul(
      ((hash << digits) | (hash >>> (32 - digits))) ^ unit,
      prime
    );
  }

  /**
   * Two numbers that every character goes into, each by a prime of its own.
   */
  export class Hash {
    /**
     * A value with all that is in it; the order of keys does not count.
     */
    add(value: PartialJSONValue | undefined): void {
      if (Array.isArray(value)) {
        this._addText(`[${value.length}`);
        value.forEach(each => this.add(each));
      } else if (typeof value === 'object' && value !== null) {
        const keys = Object.keys(value).filter(key => value[key] !== undefined);
        this._addText(`{${keys.length}`);
        for (const key of keys.sort()) {
          this.add(key);
          this.add(value[key]);
        }
      } else if (typeof value === 'string') {
        this._addText(`"${value.length}:`);
        this._addText(value);
      } else if (typeof value === 'number') {
        // As text it would take longer than all else.
        FLOAT[0] = value;
        this._addUnit(BITS[0]);
        this._addUnit(BITS[1]);
      } else {
        this._addText(`=${String(value)}`);
      }
    }

    toString(): string {
      return `${this._one >>> 0}-${this._other >>> 0}`;
    }

    private _addUnit(unit: number): void {
      this._one = turned(this._one, 5, ONE, unit);
      this._other = turned(this._other, 13, OTHER, unit);
    }

    private _addText(text: string): void {
      let one = this._one;
      let other = this._other;
      for (let at = 0; at < text.length; at++) {
        const unit = text.charCodeAt(at);
        one = turned(one, 5, ONE, unit);
        other = turned(other, 13, OTHER, unit);
      }
      this._one = one;
      this._other = other;
    }

    private _one = 0x2545f491;
    private _other = 0x41c6ce57;
  }
}
