import { sha256 } from '@noble/hashes/sha256';
import { bytesToHex } from '@noble/hashes/utils';

/**
 * The hash by which the server names what a cell says: sha256 of its source.
 *
 * #### Notes
 * The browser's own hash cannot be had inside a transaction, because it
 * answers later, nor on pages that came without encryption.
 */
export function sourceHash(source: string): string {
  return bytesToHex(sha256(new TextEncoder().encode(source)));
}
