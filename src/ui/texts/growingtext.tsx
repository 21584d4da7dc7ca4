import * as React from 'react';

import type { IChunkedText } from './textchunks';
import { chunked } from './textchunks';

/**
 * A plain text that may still grow; only its last part is laid out anew.
 */
export function GrowingText({ text }: { text: string }): JSX.Element {
  const before = React.useRef<IChunkedText | null>(null);
  before.current = chunked(text, before.current);
  return (
    <>
      {before.current.chunks.map((chunk, index) => (
        <Chunk key={index} text={chunk} />
      ))}
    </>
  );
}

const Chunk = React.memo(function Chunk({ text }: { text: string }) {
  return <div className="jp-hdspAgent-chunk">{text}</div>;
});
