import * as React from 'react';

import type { AskAnswers } from '../../state/panel/askanswers';

/**
 * How it stands with the person's answers; the component is rendered again when that is different.
 *
 * @param select - Picks a value. It must return the same object as long as
 * nothing changed.
 */
export function useAnswers<T>(
  answers: AskAnswers,
  select: (answers: AskAnswers) => T
): T {
  const subscribe = React.useCallback(
    (listener: () => void) => {
      answers.changed.connect(listener);
      return () => void answers.changed.disconnect(listener);
    },
    [answers]
  );
  return React.useSyncExternalStore(subscribe, () => select(answers));
}
