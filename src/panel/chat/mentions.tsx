import * as React from 'react';

import { PlaceLink } from './placelink';

/**
 * As the server reads them: at the beginning of a word, a space after a backslash.
 */
const MENTION = /(^|\s)@(\/(?:\\ |[^\s\\])*)/g;
const TRAILING = /[.,;:!?)\]}'"]+$/;

/**
 * What a person wrote, where each file they mention can be opened.
 */
export function withPlaces(text: string): React.ReactNode {
  const parts: React.ReactNode[] = [];
  let end = 0;
  for (const { 0: whole, 1: before, 2: named, index } of text.matchAll(
    MENTION
  )) {
    const mention = named.replace(TRAILING, '');
    const path = mention.slice(1).replace(/\\ /g, ' ');
    // A folder is no document.
    if (path !== '' && !path.endsWith('/')) {
      const start = index + before.length;
      parts.push(
        text.slice(end, start),
        <PlaceLink key={start} path={path}>
          @{mention}
        </PlaceLink>
      );
      end = index + whole.length - (named.length - mention.length);
    }
  }
  parts.push(text.slice(end));
  return parts;
}
