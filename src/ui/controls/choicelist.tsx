import * as React from 'react';

import { isComposing } from '../inputmethod';
import { onPress } from '../onpress';

/**
 * Something to choose in a list.
 */
export interface IChoice {
  /**
   * Another one for each choice.
   */
  readonly key: string;
  readonly label: string;

  /**
   * What is said of it, in a line.
   */
  readonly detail?: string;

  /**
   * What is shown when one points at it.
   */
  readonly hint?: string;
  readonly isChosen: boolean;
  readonly isEnabled: boolean;
}

/**
 * Choices under a name.
 */
export interface IChoiceGroup<C extends IChoice> {
  readonly label: string;

  /**
   * Whether the name is only for who hears the page.
   */
  readonly isLabelHidden?: boolean;
  readonly choices: readonly C[];
}

/**
 * Which choice the keys are at, and what they do.
 */
export interface IChoiceKeys {
  readonly activeKey: string | null;
  readonly setActive: (key: string | null) => void;
  readonly onKeyDown: (event: React.KeyboardEvent) => void;
}

/**
 * Lets one go through choices with the arrow keys, and choose with Enter.
 *
 * @param initialKey - Where one is before a key was pressed, and whenever the
 * choice one was at is gone.
 */
export function useChoiceKeys<C extends IChoice>(
  groups: readonly IChoiceGroup<C>[],
  initialKey: string | null,
  onChoose: (choice: C) => void
): IChoiceKeys {
  const [key, setActive] = React.useState<string | null>(null);
  const choices = groups
    .flatMap(group => group.choices)
    .filter(({ isEnabled }) => isEnabled);
  const indexOf = (wanted: string | null) =>
    choices.findIndex(choice => choice.key === wanted);
  const own = indexOf(key);
  const index = own === -1 ? indexOf(initialKey) : own;
  const active = choices.at(index === -1 ? choices.length : index);
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) {
      return;
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      if (active !== undefined) {
        onChoose(active);
      }
      return;
    }
    const steps: Partial<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1
    };
    const step = steps[event.key];
    if (step !== undefined && choices.length > 0) {
      event.preventDefault();
      const first = step === 1 ? 0 : choices.length - 1;
      const next = (index + step + choices.length) % choices.length;
      setActive(choices[index === -1 ? first : next].key);
    }
  };
  return { activeKey: active?.key ?? null, setActive, onKeyDown };
}

/**
 * The id of a choice's node.
 */
export function choiceId(list: string, key: string | null): string | undefined {
  // An id has no spaces in it.
  return key === null ? undefined : `${list}-${encodeURIComponent(key)}`;
}

/**
 * Choices one below the other, in groups.
 */
export function ChoiceList<C extends IChoice>({
  id,
  label,
  groups,
  activeKey,
  onChoose,
  focus
}: {
  readonly id: string;
  readonly label: string;
  readonly groups: readonly IChoiceGroup<C>[];
  readonly activeKey: string | null;
  readonly onChoose: (choice: C) => void;

  /**
   * What the list needs to have the focus itself; without it, something else
   * has it.
   */
  readonly focus?: {
    readonly ref: React.RefObject<HTMLDivElement>;
    readonly onKeyDown: (event: React.KeyboardEvent) => void;
  };
}): JSX.Element {
  const own = React.useRef<HTMLDivElement>(null);
  const list = focus?.ref ?? own;
  React.useEffect(() => {
    const active = list.current?.querySelector('[data-active="true"]');
    // Not every environment lays anything out.
    active?.scrollIntoView?.({ block: 'nearest' });
  }, [list, activeKey]);
  return (
    <div
      ref={list}
      id={id}
      className="jp-hdspAgent-choices"
      role="listbox"
      aria-label={label}
      {...(focus && {
        tabIndex: 0,
        onKeyDown: focus.onKeyDown,
        'aria-activedescendant': choiceId(id, activeKey)
      })}
    >
      {groups.map(group => (
        <div key={group.label} role="group" aria-label={group.label}>
          {!group.isLabelHidden && (
            <div className="jp-hdspAgent-choices-label" aria-hidden="true">
              {group.label}
            </div>
          )}
          {group.choices.map(choice => (
            <div
              key={choice.key}
              id={choiceId(id, choice.key)}
              className="jp-hdspAgent-choice"
              role="option"
              aria-selected={choice.isChosen}
              aria-disabled={!choice.isEnabled}
              data-active={choice.key === activeKey}
              title={choice.hint}
              // The focus stays where the keys are read.
              {...onPress(() => {
                if (choice.isEnabled) {
                  onChoose(choice);
                }
              })}
            >
              <span className="jp-hdspAgent-choice-label" dir="auto">
                {choice.label}
              </span>
              {choice.detail && (
                <span className="jp-hdspAgent-choice-detail">
                  {choice.detail}
                </span>
              )}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}
