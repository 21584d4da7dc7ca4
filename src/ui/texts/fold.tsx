import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { useRenderContext } from '../rendercontext';

/**
 * Something that is shown when one wants to see it.
 *
 * @param id - Under which it is remembered whether it is open.
 */
export function Fold({
  id,
  summary,
  startsOpen = false,
  children
}: {
  id: string;
  summary: React.ReactNode;
  startsOpen?: boolean;
  children: React.ReactNode;
}): JSX.Element {
  const [isOpen, setOpen] = useFold(id, startsOpen);
  const content = React.useId();
  const Caret = isOpen ? caretDownIcon.react : caretRightIcon.react;
  return (
    <div className="jp-hdspAgent-chat-fold">
      <button
        className="jp-hdspAgent-chat-fold-summary"
        aria-expanded={isOpen}
        aria-controls={isOpen ? content : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <Caret tag="span" className="jp-hdspAgent-chat-fold-caret" />
        <span className="jp-hdspAgent-chat-fold-label">{summary}</span>
      </button>
      {isOpen && (
        <div id={content} className="jp-hdspAgent-chat-fold-content">
          {children}
        </div>
      )}
    </div>
  );
}

/**
 * Whether something is unfolded; remembered when its row leaves the screen.
 */
export function useFold(
  id: string,
  startsOpen: boolean
): [boolean, (isOpen: boolean) => void] {
  const { folds } = useRenderContext();
  const [chosen, choose] = React.useState(folds.get(id));
  return [
    chosen ?? startsOpen,
    (isOpen: boolean) => {
      folds.set(id, isOpen);
      choose(isOpen);
    }
  ];
}
