import * as React from 'react';

/**
 * A stretch of a text, and whether it is what was looked for.
 */
export interface IMarkedPart {
  readonly text: string;
  readonly found: boolean;
}

/**
 * A text in which what was looked for stands out.
 */
export function Marked({
  parts
}: {
  parts: readonly IMarkedPart[];
}): JSX.Element {
  return (
    <>
      {parts.map(({ text, found }, index) =>
        found ? <mark key={index}>{text}</mark> : text
      )}
    </>
  );
}

/**
 * The text without marks.
 */
export function textOf(parts: readonly IMarkedPart[]): string {
  return parts.map(({ text }) => text).join('');
}
