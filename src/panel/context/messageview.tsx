import * as React from 'react';

import type { SeenMessage } from '../../generated/rest';
import { fullCount } from '../../ui/texts/formats';
import { usePanel } from '../../ui/services';
import { Tokens } from './fixedparts';
import { HighlightedText } from './highlightedtext';

type Block = Exclude<SeenMessage['content'], string>[number];

/**
 * One message of the request as the model is sent it.
 */
export const ContextMessageView = React.memo(function SeenMessageView({
  index,
  message: { role, content, isSummary },
  tokens,
  isMarked,
  wanted
}: {
  index: number;
  message: SeenMessage;
  tokens: number;

  /**
   * Whether the provider's cache has a breakpoint at its end.
   */
  isMarked: boolean;
  wanted: string;
}): JSX.Element {
  const { trans } = usePanel();
  const blocks: readonly Block[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const name = isSummary
    ? trans.__('Summary of what came before')
    : role === 'assistant'
      ? trans.__('Agent')
      : blocks.some(({ type }) => type === 'tool_result')
        ? trans.__('You and tools')
        : trans.__('You');
  const id = React.useId();
  return (
    <>
      <article
        className="jp-hdspAgent-context-message"
        data-index={index}
        data-role={role}
        tabIndex={-1}
        aria-labelledby={id}
      >
        <h3 id={id}>
          <span>
            {fullCount(index + 1)} {name} <code>{role}</code>
          </span>
          <Tokens count={tokens} />
        </h3>
        {blocks.map((block, place) => (
          <SeenBlock key={place} block={block} wanted={wanted} />
        ))}
      </article>
      {isMarked && (
        <p className="jp-hdspAgent-context-mark">
          {trans.__('The provider caches everything up to here')}
        </p>
      )}
    </>
  );
});

function SeenBlock({
  block,
  wanted
}: {
  block: Block;
  wanted: string;
}): JSX.Element {
  const { trans } = usePanel();
  const { heading, text } = partOf(block, trans);
  return (
    <>
      {heading !== '' && <p>{heading}</p>}
      {text !== '' && <HighlightedText text={text} wanted={wanted} />}
    </>
  );
}

function partOf(
  block: Block,
  trans: ReturnType<typeof usePanel>['trans']
): { heading: string; text: string } {
  switch (block.type) {
    case 'text':
      return { heading: '', text: textOf(block.text) };
    case 'tool_use':
      return {
        heading: trans.__('Calls %1', textOf(block.name)),
        text: JSON.stringify(block.input ?? {}, null, 2)
      };
    case 'tool_result':
      return {
        heading: trans.__('Tool output'),
        text: textOf(block.content)
      };
    case 'thinking':
      return { heading: trans.__('Thoughts'), text: textOf(block.thinking) };
    case 'image':
      return { heading: trans.__('An image'), text: '' };
    default:
      return {
        heading: textOf(block.type),
        text: JSON.stringify(block, null, 2)
      };
  }
}

/**
 * What is to be read of a value: texts as they are, other things as JSON.
 */
function textOf(value: Block[string] | undefined): string {
  if (typeof value === 'string') {
    return value;
  }
  if (Array.isArray(value)) {
    return value
      .map(part =>
        typeof part === 'object' &&
        part !== null &&
        !Array.isArray(part) &&
        typeof part.text === 'string'
          ? part.text
          : textOf(part)
      )
      .join('\n');
  }
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
