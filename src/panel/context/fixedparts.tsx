import * as React from 'react';

import type { SeenContext, SeenTool } from '../../generated/rest';
import { fullCount } from '../../ui/texts/formats';
import { usePanel } from '../../ui/services';
import { HighlightedText } from './highlightedtext';

/**
 * The system prompt and the tools, folded: they are long, and the same in each
 * request.
 */
export function FixedParts({
  request: { system, tools, tokens },
  wanted
}: {
  request: SeenContext;
  wanted: string;
}): JSX.Element {
  const { trans } = usePanel();
  const has = (text: string) =>
    wanted !== '' && text.toLowerCase().includes(wanted.toLowerCase());
  const inTools = tools.filter(tool => has(textOf(tool)));
  return (
    <>
      <details key={`system:${wanted}`} open={has(system) || undefined}>
        <summary>
          <span>{trans.__('System prompt')}</span>
          <Tokens count={tokens.system} />
        </summary>
        <HighlightedText text={system} wanted={wanted} />
      </details>
      <details key={`tools:${wanted}`} open={inTools.length > 0 || undefined}>
        <summary>
          <span>{trans._n('%1 tool', '%1 tools', tools.length)}</span>
          <Tokens count={tokens.tools} />
        </summary>
        {tools.map(tool => (
          <details key={tool.name} open={inTools.includes(tool) || undefined}>
            <summary>
              <code>{tool.name}</code>
            </summary>
            <HighlightedText text={textOf(tool)} wanted={wanted} />
          </details>
        ))}
      </details>
    </>
  );
}

/**
 * A number of tokens beside what has them.
 */
export function Tokens({ count }: { count: number }): JSX.Element {
  const { trans } = usePanel();
  return (
    <span className="jp-hdspAgent-context-tokens">
      {trans.__('%1 tokens', fullCount(count))}
    </span>
  );
}

function textOf({ description, parameters }: SeenTool): string {
  return `${description}\n\n${JSON.stringify(parameters, null, 2)}`;
}
