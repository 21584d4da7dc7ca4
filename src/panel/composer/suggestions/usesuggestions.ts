import * as React from 'react';

import type { ErrorBody } from '../../../generated/wire';
import type { PromptField } from '../promptfield';
import type { IRanked, ITrigger } from './suggestions';
import { replaced, triggerAt } from './suggestions';
import { useSuggestionItems } from './usesuggestionitems';

/**
 * The id of the list, which the field names.
 */
const LIST_ID = 'jp-hdspAgent-suggestions';

/**
 * What the list of suggestions shows.
 */
export interface ISuggestionsView {
  readonly id: string;
  readonly kind: ITrigger['kind'];
  readonly items: readonly IRanked[];
  readonly active: number;
  readonly isLoading: boolean;
  readonly error: ErrorBody | null;
  readonly onPick: (index: number) => void;
  readonly onPoint: (index: number) => void;
}

/**
 * The suggestions for what is being typed.
 *
 * @returns What the field needs of them, and what the list shows; `null` if
 * there is nothing to suggest.
 */
export function useSuggestions(
  options: useSuggestions.IOptions
): [PromptField.ISuggestions, ISuggestionsView | null] {
  const { text, place, onChange } = options;
  const [seen, setSeen] = React.useState<ISeen | null>(null);
  // A text that came in another way is not what somebody types.
  const trigger =
    seen?.text === text && seen.place === place ? seen.trigger : null;
  const [dismissed, setDismissed] = React.useState<number | null>(null);
  const [pointed, setActive] = React.useState(0);
  const isOpen = trigger !== null && trigger.start !== dismissed;
  const { items, isLoading, error } = useSuggestionItems(
    isOpen ? trigger : null,
    options
  );
  const active = Math.max(0, Math.min(pointed, items.length - 1));
  const known = React.useRef({ text, trigger });
  known.current = { text, trigger };

  React.useEffect(() => setActive(0), [trigger?.query, trigger?.kind]);

  const close = () => setDismissed(trigger?.start ?? null);
  const pick = (index: number) => {
    const suggestion = items[index]?.suggestion;
    const { text, trigger } = known.current;
    if (!suggestion || !trigger) {
      return;
    }
    const { choice } = suggestion;
    const end = Private.endOf(text, trigger);
    const by =
      choice.kind === 'run' ? '' : choice.text + (choice.goesOn ? '' : ' ');
    const after = replaced(text, trigger.start, end, by);
    onChange(after.text, after.caret);
    setSeen(
      choice.kind === 'insert' && choice.goesOn
        ? Private.seen(after.text, place, triggerAt(after.text, after.caret))
        : null
    );
    if (choice.kind === 'run') {
      choice.run();
    }
  };
  const isTyped = (index: number): boolean => {
    const choice = items[index]?.suggestion.choice;
    return (
      trigger !== null &&
      choice?.kind === 'insert' &&
      text.slice(trigger.start, Private.endOf(text, trigger)) === choice.text
    );
  };
  /**
   * Whether Enter sends: what is typed in full is meant, whatever else resembles
   * it, unless one has gone on to something else.
   */
  const isMeantAsTyped = (): boolean =>
    isTyped(active) ||
    (pointed === 0 &&
      items.some(
        ({ suggestion: { choice } }, at) =>
          choice.kind === 'insert' && !choice.goesOn && isTyped(at)
      ));
  const field: PromptField.ISuggestions = {
    look: (value, caret, isTyping) => {
      const found = caret === null ? null : triggerAt(value, caret);
      setSeen(before =>
        !isTyping && (before?.text !== value || before.place !== place)
          ? null
          : Private.seen(value, place, found, before)
      );
      if (found?.start !== dismissed) {
        setDismissed(null);
      }
    },
    onKey: event => {
      if (!isOpen || event.ctrlKey || event.metaKey || event.altKey) {
        return false;
      }
      switch (event.key) {
        case 'Escape':
          close();
          return true;
        case 'ArrowDown':
        case 'ArrowUp': {
          const step = event.key === 'ArrowDown' ? 1 : items.length - 1;
          setActive((active + step) % Math.max(1, items.length));
          return items.length > 0;
        }
        case 'Enter':
        case 'Tab':
          if (event.shiftKey || items.length === 0) {
            return false;
          }
          if (event.key === 'Enter' && isMeantAsTyped()) {
            close();
            return false;
          }
          pick(active);
          return true;
        default:
          return false;
      }
    },
    onBlur: () => setSeen(null),
    isOpen,
    aria: isOpen
      ? {
          role: 'combobox',
          'aria-autocomplete': 'list',
          'aria-expanded': items.length > 0,
          'aria-haspopup': 'listbox',
          ...(items.length > 0
            ? {
                'aria-controls': LIST_ID,
                'aria-activedescendant': `${LIST_ID}-${active}`
              }
            : {})
        }
      : {}
  };
  const view = isOpen
    ? {
        id: LIST_ID,
        kind: trigger.kind,
        items,
        active,
        isLoading,
        error,
        onPick: pick,
        onPoint: setActive
      }
    : null;
  return [field, view];
}

/**
 * The namespace for `useSuggestions` statics.
 */
export namespace useSuggestions {
  /**
   * What the suggestions are for.
   */
  export interface IOptions {
    /**
     * What is typed.
     */
    readonly text: string;

    /**
     * The conversation it is typed in; `null` is one that is yet to begin.
     */
    readonly place: string | null;

    /**
     * Change it, and put the caret there.
     */
    readonly onChange: (text: string, caret: number) => void;

    /**
     * Told in words why something was not attached.
     */
    readonly onRefused: (refusal: string) => void;

    readonly onMode: (slug: string) => void;
  }
}

/**
 * A mention or command that is being typed, and where.
 */
interface ISeen {
  readonly text: string;
  readonly place: string | null;
  readonly trigger: ITrigger;
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * What was seen; the same trigger as before if it is no other.
   */
  export function seen(
    text: string,
    place: string | null,
    trigger: ITrigger | null,
    before: ISeen | null = null
  ): ISeen | null {
    if (trigger === null) {
      return null;
    }
    const known = before?.trigger;
    const isKnown =
      known?.kind === trigger.kind &&
      known.start === trigger.start &&
      known.query === trigger.query;
    return isKnown && before?.text === text && before.place === place
      ? before
      : { text, place, trigger: isKnown ? known : trigger };
  }

  /**
   * Where what is being typed ends: at the next blank that is not part of it.
   */
  export function endOf(text: string, { start }: ITrigger): number {
    const rest = /^(?:\\ |\S)*/.exec(text.slice(start));
    return start + (rest?.[0].length ?? 0);
  }
}
