import * as React from 'react';
import { createPortal } from 'react-dom';

import { useRenderContext } from '../rendercontext';
import { GrowingText } from '../texts/growingtext';
import type { IMarkdownBlocks } from './markdownblocks';
import { isOpenFence, markdownBlocks } from './markdownblocks';
import { codeBlocksOf } from './codeblocks';
import type { ICodeBlock } from './codeblocks';
import { CodeFold } from './codefold';
import { CodeTools } from './codetools';
import { diagramsOf } from '../diagrams/diagrams';
import type { IDiagram } from '../diagrams/diagrams';
import { DiagramTools } from '../diagrams/diagramtools';
import { LiveBlock } from './liveblock';

/**
 * A text in Markdown, which may still grow.
 */
export function Markdown({
  text,
  isGrowing = false
}: {
  text: string;
  isGrowing?: boolean;
}): JSX.Element {
  const steady = useSteady(text, isGrowing);
  const before = React.useRef<IMarkdownBlocks | null>(null);
  const isWhole = !isGrowing && before.current === null;
  if (!isWhole) {
    before.current = markdownBlocks(steady, before.current);
  }
  // What does not grow is rendered at once, which is quicker than in parts.
  const blocks = before.current?.blocks ?? [text];
  return (
    <div className="jp-hdspAgent-markdown">
      {blocks.map((block, index) => (
        <MarkdownBlock
          key={index}
          text={block}
          isGrowing={isGrowing && index === blocks.length - 1}
          wasGrowing={!isWhole}
        />
      ))}
    </div>
  );
}

/**
 * A text that grows with every word, in steps a reader takes for steady. What
 * comes after a pause is shown at once.
 */
function useSteady(text: string, isGrowing: boolean): string {
  const shown = React.useRef(text);
  const last = React.useRef(-Infinity);
  const [, draw] = React.useReducer((count: number) => count + 1, 0);
  const left = last.current + SHOW_EVERY - performance.now();
  if (shown.current !== text && (!isGrowing || left <= 0)) {
    shown.current = text;
    last.current = performance.now();
  }
  const isBehind = shown.current !== text;
  React.useEffect(() => {
    if (!isBehind) {
      return;
    }
    const timer = setTimeout(draw, left);
    return () => clearTimeout(timer);
  });
  return shown.current;
}

/**
 * How often more of a text that grows is shown, in milliseconds.
 */
const SHOW_EVERY = 50;

/**
 * How many characters a block has at most that is rendered while it grows.
 */
const LONGEST_LIVE = 8_000;

const FENCE = /^\s*[`~]{3,}[^\n]*\n?/;

/**
 * One block. Until it is rendered its source stands in for it, and so it does
 * for what is not all there and is code, or very long: to render that anew
 * with each line costs more with each line.
 */
const MarkdownBlock = React.memo(function MarkdownBlock({
  text,
  isGrowing,
  wasGrowing
}: {
  text: string;
  isGrowing: boolean;
  wasGrowing: boolean;
}): JSX.Element {
  const host = React.useRef<HTMLDivElement>(null);
  const isPlain =
    isGrowing && (text.length > LONGEST_LIVE || isOpenFence(text));
  const isCode = isPlain && FENCE.test(text);
  const framed = useLiveBlock(host, text, isGrowing, isPlain);
  return (
    <div className="jp-hdspAgent-markdown-block">
      <div ref={host} hidden={isPlain || framed === null} />
      {isCode && (
        <pre className="jp-hdspAgent-markdown-growing">
          <GrowingText text={text.replace(FENCE, '')} />
        </pre>
      )}
      {isPlain && !isCode && (
        <div className="jp-hdspAgent-markdown-source">
          <GrowingText text={text} />
        </div>
      )}
      {!isPlain && framed === null && (
        <div className="jp-hdspAgent-markdown-source">{text}</div>
      )}
      {!isGrowing &&
        framed?.codes.map((block, index) => (
          <React.Fragment key={index}>
            {createPortal(
              <CodeTools code={block.code} language={block.language} />,
              block.host
            )}
            <CodeFold block={block} startsOpen={wasGrowing} />
          </React.Fragment>
        ))}
      {!isGrowing &&
        framed?.diagrams.map((diagram, index) =>
          createPortal(
            <DiagramTools diagram={diagram} />,
            diagram.host,
            `diagram ${index}`
          )
        )}
    </div>
  );
});

/**
 * What of a rendered block has buttons.
 */
interface IFramed {
  readonly codes: readonly ICodeBlock[];
  readonly diagrams: readonly IDiagram[];
}

/**
 * What has buttons in a block that is rendered into a host; `null` before it is.
 */
function useLiveBlock(
  host: React.RefObject<HTMLDivElement>,
  text: string,
  isGrowing: boolean,
  isPlain: boolean
): IFramed | null {
  const { blocks } = useRenderContext();
  const [framed, setFramed] = React.useState<IFramed | null>(null);
  const live = React.useRef<LiveBlock | null>(null);
  React.useLayoutEffect(() => {
    if (host.current === null) {
      return;
    }
    const block = new LiveBlock({
      host: host.current,
      blocks,
      onShown: node =>
        setFramed({ codes: codeBlocksOf(node), diagrams: diagramsOf(node) })
    });
    live.current = block;
    return () => block.dispose();
  }, [host, blocks]);
  React.useLayoutEffect(() => {
    if (isPlain) {
      // What was rendered of it is behind by now.
      setFramed(null);
    } else {
      live.current?.update(text, isGrowing);
    }
  }, [text, isGrowing, isPlain, blocks]);
  return framed;
}
