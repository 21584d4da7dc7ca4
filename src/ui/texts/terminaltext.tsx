import * as React from 'react';

import { usePanel } from '../services';
import { BoundedText, OUTPUT_LINES } from './boundedtext';
import { GrowingText } from './growingtext';
import { RenderedOutput } from './renderedoutput';

/**
 * What a program wrote, with its colours. Of much of it the end is shown first.
 */
export function TerminalText({
  id,
  text
}: {
  id: string;
  text: string;
}): JSX.Element {
  const shown = React.useMemo(() => overwritten(text), [text]);
  return (
    <BoundedText
      id={id}
      text={shown}
      side="end"
      lines={OUTPUT_LINES}
      render={text => <Output text={text} />}
    />
  );
}

function Output({ text }: { text: string }): JSX.Element {
  const { trans } = usePanel();
  const hasColours = text.includes(ESCAPE);
  return (
    <div
      className="jp-hdspAgent-output"
      role="group"
      aria-label={trans.__('Output')}
      tabIndex={0}
    >
      {hasColours ? (
        <RenderedOutput mimeType={STDOUT} text={text} />
      ) : (
        <GrowingText text={text} />
      )}
    </div>
  );
}

const STDOUT = 'application/vnd.jupyter.stdout';
const ESCAPE = '\u001b';

/**
 * The text as a terminal would show it: what comes after a carriage return
 * takes the place of the line.
 */
function overwritten(text: string): string {
  return text
    .replace(/\r+\n/g, '\n')
    .replace(/[^\n\r]*\r(?=[^\n])/g, '')
    .replace(/\r/g, '');
}
