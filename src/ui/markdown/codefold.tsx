import * as React from 'react';
import { createPortal } from 'react-dom';

import { fullCount } from '../texts/formats';
import { MessageTime } from '../renamedpaths';
import { usePanel } from '../services';
import { useRenderContext } from '../rendercontext';
import { useFold } from '../texts/fold';
import type { ICodeBlock } from './codeblocks';

/**
 * How many lines of code are shown at first; the style sheet has them too.
 */
const MOST_LINES = 20;

const FOLDED = 'jp-mod-folded';

/**
 * Folds a long piece of code, and shows the rest of it when one wants to see it.
 *
 * @param startsOpen - Whether it was seen while it was written: what one reads
 * is not taken away.
 */
export function CodeFold({
  block,
  startsOpen
}: {
  block: ICodeBlock;
  startsOpen: boolean;
}): JSX.Element | null {
  const lines = block.code.split('\n').length;
  // A little more than that is shown whole: there is nothing to be gained.
  return lines > MOST_LINES * 1.2 ? (
    <LongCode block={block} lines={lines} startsOpen={startsOpen} />
  ) : null;
}

function LongCode({
  block: { frame, pre, foot, code },
  lines,
  startsOpen
}: {
  block: ICodeBlock;
  lines: number;
  startsOpen: boolean;
}): JSX.Element {
  const { trans } = usePanel();
  const ts = React.useContext(MessageTime);
  const { folds } = useRenderContext();
  const key = `${ts}:code:${code}`;
  const [isOpen, setOpen] = useFold(key, startsOpen);
  const id = React.useId();
  const wasOpen = React.useRef(isOpen);
  React.useEffect(() => {
    if (startsOpen && !folds.has(key)) {
      // It has its height again when its row comes back into sight.
      folds.set(key, true);
    }
  }, [folds, key, startsOpen]);
  React.useLayoutEffect(() => {
    pre.id = id;
    frame.classList.toggle(FOLDED, !isOpen);
    if (wasOpen.current && !isOpen) {
      pre.scrollTop = 0;
      // The button went up with the end of the code.
      foot.scrollIntoView?.({ block: 'nearest' });
    }
    wasOpen.current = isOpen;
  }, [frame, pre, foot, id, isOpen]);
  return createPortal(
    <button
      type="button"
      className="jp-hdspAgent-chat-link jp-hdspAgent-code-more"
      aria-expanded={isOpen}
      aria-controls={id}
      onClick={() => setOpen(!isOpen)}
    >
      {isOpen
        ? trans.__('Show less')
        : trans.__('Show all %1 lines', fullCount(lines))}
    </button>,
    foot
  );
}
