import * as React from 'react';

import { usePanel } from '../services';
import { BoundedText } from './boundedtext';
import { useRenderContext } from '../rendercontext';
import { GrowingText } from './growingtext';
import { secureLinks } from '../markdown/securelinks';

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
      {hasColours ? <Coloured text={text} /> : <GrowingText text={text} />}
    </div>
  );
}

/**
 * Text with escape sequences, by Lab's own renderer.
 */
function Coloured({ text }: { text: string }): JSX.Element {
  const { rendermime } = useRenderContext();
  const host = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    const renderer = rendermime.createRenderer(STDOUT);
    const model = rendermime.createModel({
      data: { [STDOUT]: text },
      trusted: false
    });
    let isWanted = true;
    renderer
      .renderModel(model)
      .then(() => {
        if (isWanted) {
          secureLinks(renderer.node);
          host.current?.replaceChildren(renderer.node);
        }
      })
      .catch(reason => console.warn('An output could not be rendered', reason));
    return () => {
      isWanted = false;
      renderer.dispose();
    };
  }, [rendermime, text]);
  return <div ref={host} />;
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
