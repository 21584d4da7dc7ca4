/**
 * What an error's text is filled in with.
 */
export type ErrorParams = Readonly<
  Record<string, string | number | boolean | null>
>;

/**
 * A request that was refused, by the server or because it could not be asked.
 *
 * #### Notes
 * `code` is one of the codes of the server's error tree; `message` is its
 * English sentence, for when no translation of the code exists.
 */
export class ChannelError extends Error {
  constructor(options: ChannelError.IOptions) {
    super(options.message);
    this.name = 'ChannelError';
    this.code = options.code;
    this.params = options.params ?? {};
    this.field = options.field ?? null;
  }

  /**
   * The stable code of the error.
   */
  readonly code: string;

  /**
   * What a translation of the code is filled in with.
   */
  readonly params: ErrorParams;

  /**
   * The field of the request that is to blame, if one is.
   */
  readonly field: string | null;
}

/**
 * The namespace for `ChannelError` statics.
 */
export namespace ChannelError {
  /**
   * The options of a channel error.
   */
  export interface IOptions {
    code: string;
    message: string;
    params?: ErrorParams | null;
    field?: string | null;
  }
}
