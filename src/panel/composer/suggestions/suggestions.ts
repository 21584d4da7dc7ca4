import { StringExt } from '@lumino/algorithm';
import type { LabIcon } from '@jupyterlab/ui-components';

/**
 * The beginning of a mention or a command, as it is being typed.
 */
export interface ITrigger {
  readonly kind: 'mention' | 'command';

  /**
   * Where its `@` or `/` is.
   */
  readonly start: number;

  /**
   * What follows that, up to the caret.
   */
  readonly query: string;
}

/**
 * The mention or command that is being typed at the caret, if one is.
 *
 * #### Notes
 * Files are mentioned as `@/path`, with `\ ` for blanks. A command is at the
 * very beginning.
 */
export function triggerAt(text: string, caret: number): ITrigger | null {
  const before = text.slice(0, caret);
  const command = /^\/([\p{L}\p{N}_:.-]*)$/u.exec(before);
  if (command) {
    return { kind: 'command', start: 0, query: command[1] ?? '' };
  }
  // The address of a page may have an `@` in it.
  const mention =
    /(?:^|\s)@(https?:\/\/\S*)$/u.exec(before) ??
    /(?:^|\s)@((?:\\ |[^\s@])*)$/u.exec(before);
  if (mention) {
    const query = mention[1] ?? '';
    return {
      kind: 'mention',
      start: caret - query.length - 1,
      query: query.replace(/\\ /g, ' ').replace(/^\//, '')
    };
  }
  return null;
}

/**
 * Something that may be meant.
 */
export interface ISuggestion {
  /**
   * What tells it from others.
   */
  readonly key: string;
  readonly icon: LabIcon;
  readonly label: string;

  /**
   * What says more about it.
   */
  readonly detail?: string;

  /**
   * What choosing it does: it stands in the text then, or something happens and
   * what was typed to find it goes.
   */
  readonly choice:
    | {
        readonly kind: 'insert';
        readonly text: string;

        /**
         * Whether there may be more to choose, as in a folder.
         */
        readonly goesOn?: boolean;
      }
    | { readonly kind: 'run'; readonly run: () => void };
}

/**
 * A suggestion, and which characters of its label were typed.
 */
export interface IRanked {
  readonly suggestion: ISuggestion;
  readonly found: readonly number[];
}

/**
 * The suggestions that what is typed may mean, the likeliest first.
 */
export function rank(
  suggestions: readonly ISuggestion[],
  query: string
): IRanked[] {
  const wanted = query.toLowerCase();
  return suggestions
    .flatMap((suggestion, index) => {
      const label = suggestion.label.toLowerCase();
      const match = StringExt.matchSumOfSquares(label, wanted);
      const detail =
        match ??
        StringExt.matchSumOfSquares(
          (suggestion.detail ?? '').toLowerCase(),
          wanted
        );
      return detail
        ? [
            {
              suggestion,
              found: match?.indices ?? [],
              // Whose description alone matches comes last.
              score: detail.score + (match ? 0 : 1_000_000),
              index
            }
          ]
        : [];
    })
    .sort((a, b) => a.score - b.score || a.index - b.index)
    .map(({ suggestion, found }) => ({ suggestion, found }));
}

/**
 * Whether a file or commit that another query found may be meant by this one.
 */
export function mayMean(
  { label, detail }: ISuggestion,
  query: string
): boolean {
  const path = detail === undefined ? label : `${detail}/${label}`;
  return (
    StringExt.findIndices(path.toLowerCase(), query.toLowerCase()) !== null
  );
}

/**
 * A path as it is mentioned in a text.
 */
export function mentionOf(path: string): string {
  return `@/${path.replace(/^\/+/, '').replace(/ /g, '\\ ')}`;
}

/**
 * A text with files mentioned at its end.
 */
export function withMentions(text: string, paths: readonly string[]): string {
  const mentions = paths.map(path => `${mentionOf(path)} `).join('');
  return text === '' || /\s$/.test(text)
    ? text + mentions
    : `${text} ${mentions}`;
}

/**
 * Put a text in the place of a part of another.
 *
 * @returns The whole, and where the caret goes.
 */
export function replaced(
  text: string,
  start: number,
  end: number,
  by: string
): { readonly text: string; readonly caret: number } {
  return {
    text: text.slice(0, start) + by + text.slice(end),
    caret: start + by.length
  };
}
