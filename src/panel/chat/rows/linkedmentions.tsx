import * as React from 'react';

import { PlaceLink } from '../../../ui/controls/placelink';

/**
 * As the server reads them: at the beginning of a word, a space after a backslash.
 */
const MENTION =
  /(^|\s)@(?:(\/(?:\\ |[^\s\\])*)|(problems|git-changes|[0-9a-fA-F]{7,40})(?![\w@/\\-]|[.:]\w))/g;
const TRAILING = /[.,;:!?)\]}'"]+$/;

/**
 * What a person wrote, where each file they mention can be opened.
 */
export function linkedMentions(text: string): React.ReactNode {
  const parts: React.ReactNode[] = [];
  let end = 0;
  for (const { 1: before, 2: named, 3: word, index } of text.matchAll(
    MENTION
  )) {
    const start = index + before.length;
    const mention = word ?? named.replace(TRAILING, '');
    const path = mention.slice(1).replace(/\\ /g, ' ');
    // A folder is no document.
    if (word === undefined && (path === '' || path.endsWith('/'))) {
      continue;
    }
    parts.push(
      text.slice(end, start),
      word === undefined ? (
        <PlaceLink key={start} path={path}>
          @{mention}
        </PlaceLink>
      ) : (
        <span key={start} className="jp-hdspAgent-place">
          @{mention}
        </span>
      )
    );
    end = start + 1 + mention.length;
  }
  parts.push(text.slice(end));
  return parts;
}
