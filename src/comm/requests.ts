import { PromiseDelegate } from '@lumino/coreutils';

import type { JsonValue } from '../generated/wire';
import type { RequestError } from './requesterror';

/**
 * What the server answered a request with, if with anything.
 */
export type RequestResult = JsonValue | undefined;

/**
 * The requests that have no answer yet, in the order they were made.
 *
 * #### Notes
 * Each is kept as the text that was sent: after a reconnect the very same
 * request goes out again, and the server recognises its id.
 */
export class PendingRequests {
  /**
   * How many requests wait.
   */
  get size(): number {
    return this._pending.size;
  }

  /**
   * The ids and texts of all waiting requests, oldest first.
   */
  waiting(): [string, string][] {
    return [...this._pending].map(([id, { text }]) => [id, text]);
  }

  /**
   * Wait for the answer to a request.
   */
  add(requestId: string, text: string): Promise<RequestResult> {
    const answer = new PromiseDelegate<RequestResult>();
    this._pending.set(requestId, { text, answer });
    return answer.promise;
  }

  /**
   * The answer has come; a second one for the same request is ignored.
   */
  resolve(requestId: string, result: RequestResult): void {
    this._take(requestId)?.answer.resolve(result);
  }

  /**
   * The request was refused.
   */
  reject(requestId: string, error: RequestError): void {
    this._take(requestId)?.answer.reject(error);
  }

  /**
   * No answer will ever come.
   */
  rejectAll(error: RequestError): void {
    const waiting = [...this._pending.values()];
    this._pending.clear();
    for (const { answer } of waiting) {
      answer.reject(error);
    }
  }

  private _take(requestId: string): Private.IRequest | undefined {
    const request = this._pending.get(requestId);
    this._pending.delete(requestId);
    return request;
  }

  private readonly _pending = new Map<string, Private.IRequest>();
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * A request and who waits for it.
   */
  export interface IRequest {
    readonly text: string;
    readonly answer: PromiseDelegate<RequestResult>;
  }
}
