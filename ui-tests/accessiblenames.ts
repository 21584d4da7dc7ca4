import type { Locator } from '@playwright/test';

import { expect } from './lab';

/**
 * What one uses, or goes to, by its name.
 */
const NAMED =
  /^( *)- '?(button|textbox|combobox|checkbox|radio|switch|link|tab|option|region|group|article|feed)\b(?: "((?:[^"\\]|\\.)*)")?/;

/**
 * What there may be many of under one name, each with its own place among them.
 */
const ROWS: readonly string[] = ['article', 'option', 'group'];

/**
 * Everything is called something by a screen reader, in words, and nothing as
 * something else in the same group.
 */
export async function expectNames(where: Locator): Promise<void> {
  const lines = (await where.ariaSnapshot()).split('\n');
  const parents: string[] = [];
  const known = new Set<string>();
  const wrong: string[] = [];
  lines.forEach((line, index) => {
    const depth = line.search(/\S/) / 2;
    const parent = parents[depth - 1] ?? '';
    parents[depth] = String(index);
    const [, , role, name = ''] = NAMED.exec(line) ?? [];
    if (role === undefined) {
      return;
    }
    const key = `${parent} ${role} ${name}`;
    if (!/[\p{L}\p{N}]/u.test(name)) {
      wrong.push(`no words: ${line.trim()}`);
    } else if (!ROWS.includes(role) && known.has(key)) {
      wrong.push(`twice: ${line.trim()}`);
    }
    known.add(key);
  });
  expect(wrong).toEqual([]);
}
