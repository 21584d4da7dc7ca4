import type { ErrorBody } from '../generated/wire';

/**
 * An error as the server tells it, or one this page makes and says less of.
 */
export type ErrorLike = Pick<ErrorBody, 'code' | 'message'> &
  Partial<ErrorBody>;

/**
 * A request that was refused, by the server or because it could not be asked.
 *
 * #### Notes
 * `code` is one of the codes of the server's error tree, or of this page; `message` is an English
 * sentence, for when no translation of the code exists.
 */
export class RequestError extends Error implements ErrorBody {
  constructor({ code, message, params, field }: ErrorLike) {
    super(message);
    this.name = 'RequestError';
    this.code = code;
    this.params = params ?? {};
    this.field = field;
  }

  /**
   * The stable code of the error.
   */
  readonly code: string;

  /**
   * What a translation of the code is filled in with.
   */
  readonly params: ErrorBody['params'];

  /**
   * The field of the request that is to blame, if one is.
   */
  readonly field: string | undefined;
}
