/**
 * What is read aloud of a text with marks of Markdown: the words without them.
 */
export function spokenText(markdown: string): string {
  return markdown
    .replace(/^\s*(```|~~~).*$/gm, '')
    .replace(/^\s*(#{1,6}|>|[-*+])\s+/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(\*\*|__|~~)(?=\S)([\s\S]*?\S)\1/g, '$2')
    .replace(/`([^`\n]+)`/g, '$1')
    .replace(/^[\s|:-]*-{3,}[\s|:-]*$/gm, '')
    .replace(/\n{2,}/g, '\n')
    .trim();
}

/**
 * What is read aloud of an error: of a traceback, what it ends with.
 */
export function spokenError(text: string): string {
  const lines = text.trim().split('\n');
  return (
    lines.some(line =>
      /^(-{10,}|Traceback \(most recent call last\))/.test(line)
    )
      ? (lines.at(-1) ?? '')
      : text.trim()
  ).trim();
}
